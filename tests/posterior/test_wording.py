"""Numbers and shares in words say no more than is known, and nothing that is not true."""

import pytest

from fairmix.posterior.summaries import round_by
from fairmix.posterior.wording import constant, number, percent, short_text, text_of_group


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.0, "0 %"),
        (1e-9, "<0.1 %"),
        (0.004, "0.4 %"),
        (0.351, "35 %"),
        (0.996, "99.6 %"),
        (1 - 1e-9, ">99.9 %"),
        (1.0, "100 %"),
    ],
)
def test_percent(share, expected):
    assert percent(share) == expected


@pytest.mark.parametrize(
    ("value", "spread", "expected"),
    [
        (46.37, 14.5, "46"),
        (1.2345, 0.83, "1.23"),
        (1985.44, 3.2, "1985.4"),
        (46213.0, 15102.0, "46,000"),
        (4213.0, 802.0, "4210"),
        (0.0000012345, 0.0000002, "1.23e-06"),
        (1e300, 1e299, "1e+300"),
        (7.25, 0.0, "7.25"),
        (-0.5, 10.0, "0"),
    ],
)
def test_numbers_have_two_digits_of_their_spread(value, spread, expected):
    assert number(value, spread) == expected


@pytest.mark.parametrize(
    ("value", "spread", "expected"),
    [(2009.0, 0.81, "2009"), (0.0, 3.0, "0"), (0.25, 1.0, "0.25"), (100.0, 30.0, "100")],
)
def test_a_constant_has_the_digits_that_it_has(value, spread, expected):
    assert constant(value, spread) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("age", "age"),
        (3, "3"),
        (3.0, "3"),
        (2.5, "2.5"),
        (True, "True"),
        (("f", 1.0), "f, 1"),
        ("a\tb\x1b", "a\\tb\\x1b"),
        ("y" * 50, "y" * 37 + "..."),
    ],
)
def test_text(value, expected):
    assert short_text(value) == expected


def test_groups():
    assert text_of_group("sex", "f") == "sex f"
    assert text_of_group("", True) == "True"
    assert text_of_group(("sex", "age"), ("f", 3)) == "sex f, age 3"


@pytest.mark.parametrize(
    ("value", "spread", "digits", "expected"),
    [(46.371, 14.5, 3, 46.4), (46213.0, 15102.0, 3, 46200.0), (1 / 3, 0.0, 3, 1 / 3),
     (1.2345e-300, 1e-301, 2, 1.23e-300), (5e300, 1e300, 1, 5e300)],
)  # fmt: skip
def test_rounding(value, spread, digits, expected):
    assert round_by(value, spread, digits) == pytest.approx(expected, rel=1e-12)
