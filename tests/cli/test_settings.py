"""Settings: options, keys of a file, parameters of the estimator."""

from dataclasses import fields, replace

import pytest

from fairmix import FairBayesianClustering
from fairmix.cli.settings import Settings
from fairmix.cli.telling import CommandError, in_options

#: Names that a hostile table may have.
ODD = ('a"b', "c\\d", "é\n\t", "x = 1", "\x7f\x01", "#", "🙂")


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "config.toml"
    settings = Settings(
        data=str(tmp_path / "t.csv"),
        sensitive=ODD,
        id=ODD[0],
        max_gap=dict.fromkeys(ODD, 0.1),
        min_balance=1e-7,
        family={"a": "gaussian"},
        na=("-999", ""),
        until_converged=True,
        seed=7,
    )
    path.write_text(settings.as_toml("a note\nof two lines"), encoding="utf-8")
    assert Settings.of_file(path) == settings


def test_data_are_looked_for_beside_the_file(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text('data = "t.csv"\nmax_gap = {sex = 0.1}\n')
    assert Settings.of_file(path) == Settings(data=str(tmp_path / "t.csv"), max_gap={"sex": 0.1})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("drws = 3", "drws is no setting; do you mean 'draws'?"),
        ("draws = 1.5", "--draws takes a whole number, got 1.5"),
        ("draws = true", "--draws takes a whole number, got True"),
        ("id = 3", "--id takes text, got 3"),
        ('until_converged = "no"', "--until-converged takes true or false, got 'no'"),
        ("max_gap = {sex = 'x'}", "--max-gap takes a number"),
        ('extra = "most"', "--extra is one of auto, random, medoids, free, got 'most'"),
        ("draws = ", "is not TOML"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path, text, message):
    path = tmp_path / "run.toml"
    path.write_text(text)
    with pytest.raises(CommandError) as caught:
        Settings.of_file(path)
    assert message in str(caught.value)


def test_values_by_name():
    given = {"max_gap": "sex=0.05, age group=0.1", "family": "a=b=poisson", "n_masked": "3"}
    settings = Settings().with_given(given)
    assert settings.max_gap == {"sex": 0.05, "age group": 0.1}
    assert settings.family == {"a=b": "poisson"}
    assert settings.n_masked == 3


def test_no_limit():
    assert Settings(max_minutes=3.0).with_given({"max_minutes": float("inf")}) == Settings()


def test_parameters_are_those_of_the_estimator():
    settings = Settings(k=3, max_minutes=2.0, until_converged=True, seed=5, chains=2)
    given = FairBayesianClustering(**settings.parameters()).get_params()
    assert given["components_prior"].n_components == 3
    assert (given["max_seconds"], given["until"]) == (120.0, "converged")
    assert (given["random_state"], given["n_chains"], given["family"]) == (5, 2, "auto")


def test_defaults_are_those_of_the_estimator_but_for_what_tables_need():
    own, library = Settings().parameters(), FairBayesianClustering().get_params()
    differing = {name for name, value in own.items() if value != library[name]}
    assert differing == {"family", "missing", "n_jobs"}


def test_every_setting_makes_another_run_or_is_free_to_change():
    settings = Settings()
    others = {str: "x", int: 3, float: 0.5, bool: True, "names": ("x",), "cells": ("x",)}
    for field in fields(Settings):
        kind = field.metadata["kind"]
        value = others[kind[0] if isinstance(kind, tuple) else kind]
        assert replace(settings, **{field.name: value}) != settings


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("pass missing='ignore', which", "pass --missing ignore, which"),
        ("Take n_chains=4 and n_draws=1000.", "Take --chains 4 and --draws 1000."),
        ("n_chains must be at least 1", "--chains must be at least 1"),
        ("family must be one of", "--family must be one of"),
        ("its family takes text", "its family takes text"),
        ("such as max_gap=0.05.", "such as --max-gap 0.05."),
        ("until='converged'\nor", "--until-converged or"),
        ("max_gap must be None or a number", "--max-gap must be a number"),
        ("time_limit = 90 s left no room", "--max-minutes 1.5 left no room"),
        ("n_seeds must be", "--seeds must be"),
        ("kept. Fit again to have all.", "kept. fairmix resume goes on from there."),
        ("X: column 'family' is constant", "column 'family' is constant"),
    ],
)
def test_messages_are_told_in_options(text, told):
    assert in_options(text) == told
