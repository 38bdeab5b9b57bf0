"""A schema is learned from one table, kept as text, and reads any other."""

import json
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairmix import FairBayesianClustering
from fairmix.families import Bernoulli, Exponential, Gaussian, GaussianTied, Poisson, Product
from fairmix.families.choice import FAMILIES, choose_family, describe_family, family_from
from fairmix.model.problem import family_of_kept, read_table
from fairmix.tables.schema import Schema, Wanted


def make_table(n_rows=40, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": 1e9 + rng.normal(size=n_rows),
            "visits": rng.poisson(3.0, n_rows),
            "job": rng.choice(["cook", "driver", "nurse"], n_rows),
            "one": 1.0,
            "owner": rng.random(n_rows) < 0.5,
            "floor": rng.choice([2, 5, 7], n_rows),
        }
    )


def learn(frame, **options):
    family = choose_family({"floor": "categorical"}, frame)
    with pytest.warns(UserWarning, match="'one' is constant"):
        return read_table(frame, family, **options)


def as_polars(frame):
    """Give the same frame; missing text is null."""
    parts = {name: [None if pd.isna(v) else v for v in frame[name].tolist()] for name in frame}
    return pl.DataFrame(parts)


def assert_same(table, other):
    for name in ("rows", "points", "is_category"):
        np.testing.assert_array_equal(getattr(table, name), getattr(other, name), strict=True)


def test_what_is_learned():
    schema, _ = learn(make_table(), group_names=[("f", 1), ("m", 2)])
    kinds = {column.name: column.kind for column in schema.columns}
    assert list(kinds.values()) == [
        "numbers", "counts", "categories", "counts", "binary", "categories",
    ]  # fmt: skip
    assert [column.name for column in schema.kept] == ["income", "visits", "job", "owner", "floor"]
    levels = {column.name: column.levels for column in schema.columns}
    assert levels["job"] == ("cook", "driver", "nurse")
    assert levels["owner"] == (False, True)
    assert levels["floor"] == (2, 5, 7)
    income, visits = schema.columns[:2]
    assert income.is_scaled
    assert not visits.is_scaled
    assert visits.units is not None
    assert income.units.scale * 2.0**income.units.exponent == pytest.approx(
        make_table()["income"].std(ddof=0)
    )


def test_the_table_itself_is_read_to_the_same_bits():
    frame = make_table()
    frame.loc[[3, 7], ["income", "job"]] = np.nan
    schema, table = learn(frame, allow_missing=True)
    assert np.isnan(table.rows).sum() == 4
    assert_same(schema.read(frame), table)
    again = Schema.from_json(schema.to_json())
    assert again == schema
    assert_same(again.read(frame), table)
    shuffled = frame[["floor", "owner", "job", "visits", "income"]].assign(more="x")
    assert_same(again.read(shuffled), table)
    assert_same(again.read(as_polars(frame)), table)
    assert_same(again.read(frame.to_numpy()), table)


def test_parts_of_the_table_are_read_to_the_same_bits():
    frame = make_table()
    schema, table = learn(frame)
    part = schema.read(frame.iloc[5:6])
    assert np.array_equal(part.rows, table.rows[5:6])
    assert np.array_equal(part.points, table.points[5:6])


names = st.one_of(st.text(max_size=5), st.integers(), st.booleans(), st.floats(allow_nan=False))


@settings(max_examples=50, deadline=None)
@given(levels=st.lists(names, min_size=2, max_size=5), groups=st.lists(st.tuples(names, names)))
def test_levels_keep_their_types(levels, groups):
    schema = Schema.fit([["a"], ["b"]], Wanted("categories"), group_names=groups)
    column = schema.columns[0].__class__("c", "categories", tuple(levels))
    schema = Schema((column,), tuple(groups))
    again = Schema.from_json(schema.to_json())
    assert again == schema
    assert repr(again) == repr(schema)  # 1, 1.0 and True are equal, but not the same
    json.loads(schema.to_json(), parse_constant=pytest.fail)  # what other languages read


def test_all_problems_are_in_one_message():
    schema, _ = learn(make_table())
    frame = make_table(seed=1).rename(columns={"visits": "visit"})
    frame["income"] = "much"
    frame.loc[3, "job"] = "pilot"
    frame["floor"] = frame["floor"].astype(str)
    frame["owner"] = frame["owner"].astype(object)
    frame.loc[7, "owner"] = None
    with pytest.raises(ValueError, match="X has 5 columns that cannot be used:\n") as caught:
        schema.read(frame)
    lines = str(caught.value).split("\n- ")[1:]
    for line, words in zip(
        lines,
        [
            "column 'income' holds text such as 'much', but held numbers",
            "column 'visits' is missing; do you mean 'visit'?",
            "column 'job' holds 'pilot' (in rows 3)",
            "column 'owner' has missing cells (NaN) in rows 7",
            "column 'floor' holds text such as '2', but held numbers",
        ],
        strict=True,
    ):
        assert words in line or words.replace("'2'", "'5'") in line or "'7'" in line


def test_a_single_problem_is_one_line():
    schema, _ = learn(make_table())
    with pytest.raises(
        ValueError, match=r"^X: column 'job' is missing; the columns are income, vis"
    ):
        schema.read(make_table().rename(columns={"job": "x"}))


def test_unseen_categories_may_have_a_code_of_their_own():
    schema, table = learn(make_table())
    frame = make_table()
    frame.loc[[3, 5], "job"] = ["pilot", "king"]
    found = schema.read(frame, unseen="code")
    assert found.rows[[3, 5], 2].tolist() == [3.0, 3.0]
    others = np.delete(np.arange(40), [3, 5])
    assert np.array_equal(found.rows[others], table.rows[others])
    with pytest.raises(ValueError, match="unseen must be one of 'error', 'code', got 'drop'"):
        schema.read(frame, unseen="drop")


def test_tables_without_names_need_all_columns():
    schema = Schema.fit(np.random.default_rng(0).normal(size=(20, 3)), Wanted())
    with pytest.raises(ValueError, match="X has 2 columns, but the table that was fitted had 3"):
        schema.read(np.zeros((4, 2)))


@pytest.mark.parametrize("text", ["", "[1]", '{"columns": []}', '{"format": 99}', "3"])
def test_what_is_no_schema_is_refused(text):
    with pytest.raises(ValueError, match="schema"):
        Schema.from_json(text)


def written(**changes):
    """Give the JSON of a schema, changed."""
    schema = Schema.fit([["a", 1.0], ["b", 2.0]], [Wanted("categories"), Wanted()])
    return json.loads(schema.to_json()) | changes


@pytest.mark.parametrize(
    "changes",
    [
        {"columns": None},
        {"columns": [{"name": "x"}]},
        {"columns": [written()["columns"][0] | {"kind": "colours"}]},
        {"columns": [written()["columns"][1] | {"units": [1, 2.0]}]},
        {"more": 1},
        {"group_names": {}},
        {"merged_groups": [["a", "other"], ["b"]]},
        {"merged_groups": 1},
    ],
    ids=str,
)
def test_half_a_schema_is_refused(changes):
    with pytest.raises(ValueError, match="text is not the JSON of a whole schema"):
        Schema.from_json(json.dumps(written(**changes)))


def test_json_that_is_too_deep_is_refused():
    with pytest.raises(ValueError, match="text is not the JSON of a schema"):
        Schema.from_json("[" * 100_000)


def test_missing_cells_of_another_table_are_told_without_parameters_of_the_fit():
    schema, _ = learn(make_table())
    frame = make_table()
    frame.loc[[3, 7], "income"] = np.nan
    with pytest.raises(
        ValueError, match=r"'income' has missing cells \(NaN\) in rows 3, 7, .*drop them"
    ):
        schema.read(frame)


def test_groups_are_read_by_name():
    schema, _ = learn(make_table(), group_names=["a", "b", "c"])
    assert schema.read_groups(["b", "c"], np.array([0, 1, 1])).tolist() == [1, 2, 2]
    with pytest.raises(ValueError, match=r"'d', which is no group.*\['a', 'b', 'c'\]"):
        schema.read_groups(["b", "d"], np.array([0, 1]))


def test_groups_that_were_put_together_are_known_by_their_old_names():
    schema, _ = learn(make_table(), group_names=[("f", 1), ("m", 1), "other"])
    schema = replace(schema, merged_groups=((("f", 2), "other"), (("m", 2), "other")))
    again = Schema.from_json(schema.to_json())
    assert again == schema
    names = [("f", 1), ("f", 2), ("m", 2), "other"]
    assert again.read_groups(names, np.arange(4)).tolist() == [0, 2, 2, 2]
    with pytest.raises(ValueError, match=r"\('f', 3\), which is no group.*'other', \('f', 2\)"):
        again.read_groups([("f", 3)], np.array([0]))
    before = json.loads(schema.to_json())
    del before["merged_groups"]  # as schemas were written before there were such groups
    assert Schema.from_json(json.dumps(before)) == replace(schema, merged_groups=())


def test_estimators_keep_their_schema():
    frame = make_table()[["income", "job"]].assign(sex=["f", "m"] * 20)
    model = FairBayesianClustering("auto", n_chains=1, n_warmup=0, n_draws=1)
    model.fit(frame, sensitive_features="sex")
    assert model.schema_.group_names == ("f", "m")
    assert model.schema_.names == ["income", "job"]
    assert model.schema_.columns[1].family == {"name": "categorical", "fields": {"alpha": 1.0}}
    assert model.schema_.read(frame).rows.shape == (40, 2)


# --- families in words ---------------------------------------------------------------------------


class Own(NamedTuple):
    rates: tuple = (1.0, np.inf)
    table: np.ndarray = np.arange(3.0)
    odd: object = None

    def log_marginal(self, count, stats):
        return 0.0


SHIPPED = [*FAMILIES.values(), Gaussian(np.float64(2.0), 3), Exponential(rate=0.1)]
MIXED = Product((Gaussian(), Poisson(), Bernoulli(0.5)))


@pytest.mark.parametrize("family", [*SHIPPED, MIXED, Own()], ids=str)
def test_families_come_back(family):
    description = json.loads(json.dumps(describe_family(family), allow_nan=False))
    again = family_from(description)
    assert type(again) is type(family)
    assert repr(again) == repr(family)


def test_families_that_cannot_come_back_say_why():
    class Local(NamedTuple):
        rate: float = 1.0

    with pytest.raises(ValueError, match="Local cannot be imported from"):
        family_from(describe_family(Local()))
    with pytest.raises(ValueError, match="hyperparameter odd = <object object"):
        family_from(describe_family(Own(odd=object())))
    with pytest.raises(ValueError, match="system of 'os' is no family, so it is not made"):
        family_from({"module": "os", "qualname": "system", "fields": {"command": "true"}})
    with pytest.raises(ValueError, match="'gamma' is not one of 'gaussian'"):
        family_from({"name": "gamma", "fields": {}})


def test_the_family_of_kept_columns_is_in_the_schema():
    frame = make_table()
    family = choose_family({"floor": "categorical", "income": GaussianTied(0.5)}, frame)
    with pytest.warns(UserWarning, match="'one' is constant"):
        schema, _ = read_table(frame, family)
    kept = Product(tuple(family_from(column.family) for column in schema.kept))
    assert repr(kept) == repr(family_of_kept(family, schema))
