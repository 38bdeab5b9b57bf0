"""Plain values come back as they were; nothing else is ever made."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from fairmix import Fixed, Geometric, ShiftedPoisson, Uniform, families
from fairmix.posterior.options import own_names, pack_parameters, settings_of_draws
from fairmix.posterior.packing import KEPT_CLASSES, pack, unpack
from tests.twins import InstantiatedGaussian

VALUES = [
    None,
    True,
    -3,
    2**80,
    0.1,
    "text",
    ["a", ("b", 1.5), []],
    {"few": 40, ("a", 1): {"deep": (None,)}, 3: "three"},
    families.Gaussian(rate=0.5),
    families.Product((families.Gaussian(), families.Poisson(rate=2.0))),
    Geometric(0.2),
    Fixed(3),
    Uniform(4),
    ShiftedPoisson(1.5),
    {"array": 3},
    {"own": "a column of this name"},
    -math.inf,
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_come_back(value):
    text = json.dumps(pack(value), allow_nan=False)
    again = unpack(json.loads(text))
    assert again == value
    assert type(again) is type(value)


def test_arrays_come_back():
    rows = np.array([[1.0, np.nan], [np.inf, -0.0]])
    value = {"rows": rows, "more": [np.array([True, False]), {"codes": np.arange(3)}]}
    arrays = []
    again = unpack(json.loads(json.dumps(pack(value, arrays))), arrays)
    assert np.array_equal(again["rows"], rows, equal_nan=True)
    assert again["more"][0].tolist() == [True, False]
    assert again["more"][1]["codes"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("value", [np.array([1, 2]), pd.Series([1, 2]), range(1, 3)])
def test_without_room_for_arrays_they_are_lists(value):
    assert unpack(pack(value)) == [1, 2]


@pytest.mark.parametrize("value", [np.float64(0.1), np.int8(3), np.bool_(True), np.str_("a")])
def test_numpys_scalars_are_pythons(value):
    assert unpack(pack(value)) == value.item()


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", print, InstantiatedGaussian()])
def test_other_objects_are_refused(value):
    with pytest.raises(TypeError, match="cannot be kept in a file"):
        pack({"a": [value]})


@pytest.mark.parametrize(
    "packed",
    [
        {},
        {"a": "Popen", "with": {"args": "true"}},
        {"a": "Geometric", "with": [0.5]},
        {"a": "Geometric", "with": {"success_prob": 0.5}, "and": 1},
        {"tuple": 3},
        {"float": 1.0},
        {"other": 1},
    ],
    ids=repr,
)
def test_nothing_else_is_unpacked(packed):
    with pytest.raises(ValueError, match="stands for nothing that is kept"):
        unpack(packed)


@pytest.mark.parametrize(
    ("packed", "error"),
    [
        ({"a": "Geometric", "with": {"success_prob": 7}}, ValueError),
        ({"a": "Gaussian", "with": {"bandwidth": 7}}, TypeError),
        ({"array": 0}, IndexError),
        ({"pairs": [[1]]}, ValueError),
    ],
)
def test_what_is_wrong_inside_is_an_error(packed, error):
    with pytest.raises(error):
        unpack(packed)


def test_a_class_of_the_same_name_is_another_one():
    class Gaussian(families.Gaussian):
        pass

    with pytest.raises(TypeError, match="cannot be kept"):
        pack(Gaussian())


def test_all_families_are_kept():
    ours = {name for name in families.__all__ if isinstance(getattr(families, name), type)}
    assert ours - KEPT_CLASSES.keys() == {"Bundled", "Family"}  # made from others, and a protocol


class Steep:
    def log_pmf(self, n_components):
        return -3.0 * n_components


def test_code_of_the_users_is_its_name_and_its_numbers():
    def flat(k):
        return 0.0 if k < 3 else -math.inf

    packed = pack_parameters({"family": InstantiatedGaussian(2.0), "a": Steep(), "b": flat, "c": 1})
    json.dumps(packed, allow_nan=False)
    name = "tests.posterior.test_packing"
    assert own_names(packed) == [
        "tests.twins.InstantiatedGaussian",
        f"{name}.Steep",
        f"{name}.test_code_of_the_users_is_its_name_and_its_numbers.<locals>.flat",
    ]
    assert unpack(packed["family"]) == "tests.twins.InstantiatedGaussian"
    assert unpack(packed["c"]) == 1
    assert packed != pack_parameters({"family": InstantiatedGaussian(3.0), "a": Steep(), "b": flat})
    steeper = pack_parameters({"b": lambda k: -k})["b"]
    assert steeper["values"][:3] == [-1.0, -2.0, -3.0]


def test_settings_of_draws_do_not_say_how_a_fit_is_run():
    given = {"n_draws": 3, "n_jobs": 2, "checkpoint": "there", "thin": 2, "random_state": 0}
    assert settings_of_draws(given) == {"thin": 2}
