"""Prepared families as arrays and text come back as they were."""

import json

import numpy as np
import pytest

from fairmix.families import (
    Categorical,
    Gaussian,
    GaussianTied,
    Poisson,
    Product,
    StudentT,
    prepare,
)
from fairmix.families.plain import prepared_from_plain, prepared_to_plain

ROWS = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [2.0, 1.0, 7.0]])
FAMILIES = [
    Gaussian(rate=0.5),
    Categorical(),
    Poisson(),
    GaussianTied(),
    StudentT(shape=2.0),
    Product((Categorical(), GaussianTied(), Poisson())),
]


def assert_same(family, other):
    assert type(family) is type(other)
    for value, again in zip(family, other, strict=True):
        if hasattr(value, "_fields"):
            assert_same(value, again)
        else:
            assert type(value) is type(again)
            assert np.array_equal(value, again)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: type(family).__name__)
def test_a_family_comes_back(family):
    prepared = prepare(family, ROWS)
    text, arrays = prepared_to_plain(prepared)
    assert_same(prepared_from_plain(json.dumps(json.loads(text)), dict(arrays)), prepared)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "not those of a whole family"),
        ('{"module": "os", "qualname": "system", "fields": {}}', "no code but fairmix's own"),
        ('{"module": "fairmix.families.no", "qualname": "X", "fields": {}}', "cannot be imported"),
        ('{"module": "fairmix.families", "qualname": "prepare", "fields": {}}', "no family"),
        ('{"module": "fairmix.families", "qualname": "Gaussian", "fields": {"x": 1}}', "whole"),
    ],
)
def test_another_text_is_an_error(text, message):
    with pytest.raises(ValueError, match=message):
        prepared_from_plain(text, {})


def test_an_array_that_is_missing_is_an_error():
    text, _ = prepared_to_plain(prepare(Gaussian(), ROWS))
    with pytest.raises(ValueError, match="log_constant"):
        prepared_from_plain(text, {})
