"""Draws as an xarray Dataset and back, and what ArviZ makes of it."""

import warnings

import numpy as np
import pytest
import xarray

from fairmix import Posterior
from fairmix.posterior.diagnostics import r_hat
from fairmix.posterior.posterior import SCALARS
from tests.fits import assert_same_draws


def make_posterior(n_masked=2, groups=("b", 3), dtype=np.uint8, moves=("gibbs", "split")):
    """Give a posterior of two chains, five draws and six rows."""
    rng = np.random.default_rng(0)
    labels = np.zeros((2, 5, 6), dtype=dtype)
    labels[:, :, 3:] = 1
    labels[1, :, 5] = 2
    scalars = {name: rng.normal(size=(2, 5)) for name in SCALARS}
    scalars |= {"n_clusters": labels.max(axis=2).astype(np.int64) + 1}
    acceptance = {move: rng.random((2, 5)) for move in moves}
    for rates in acceptance.values():
        rates[0, 0] = np.nan
    return Posterior(
        labels=labels,
        **scalars,
        group_gaps=rng.random((2, 5, len(groups))),
        masked_rows=rng.integers(6, size=(2, 5, n_masked)),
        group_names=groups,
        acceptance=acceptance,
    )


CASES = [{}, {"n_masked": 0}, {"groups": (("a", 1), True), "dtype": np.uint16}, {"moves": ()}]


@pytest.mark.parametrize("case", CASES)
def test_draws_come_back(case):
    posterior = make_posterior(**case)
    dataset = posterior.to_dataset()
    assert dataset["labels"].dims == ("chain", "draw", "row")
    again = Posterior.from_dataset(dataset)
    assert_same_draws(posterior, again)
    assert again.training is None


def test_dimensions_may_come_in_any_order():
    posterior = make_posterior()
    turned = posterior.to_dataset().transpose("row", "draw", ...)
    assert_same_draws(posterior, Posterior.from_dataset(turned))


def test_groups_and_moves_are_found_by_name():
    posterior = make_posterior()
    dataset = posterior.to_dataset()
    gaps = dataset["group_gaps"].sel(group="3").to_numpy()
    assert np.array_equal(gaps, posterior.group_gaps[..., 1])
    rates = dataset["acceptance"].sel(move="split").to_numpy()
    assert np.array_equal(rates, posterior.acceptance["split"], equal_nan=True)


@pytest.mark.parametrize(
    ("spoil", "match"),
    [
        (lambda d: d.drop_vars("cost"), "lacks cost.*to_dataset"),
        (lambda d: xarray.Dataset(d.variables), "lack group_names, moves"),
        (lambda d: d.assign(labels=d["labels"].astype(np.int64)), "shape"),
        (lambda d: d.assign(labels=d["labels"] * 2), "not as many as n_clusters says"),
        (lambda d: d.isel(group=slice(1)), "group_gaps"),
        (lambda d: d.isel(row=slice(0)), "shape"),
    ],
)
def test_what_does_not_belong_together_is_refused(spoil, match):
    with pytest.raises(ValueError, match=match):
        Posterior.from_dataset(spoil(make_posterior().to_dataset()))


def test_arviz_agrees_about_convergence():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it says about itself as it is imported
        arviz = pytest.importorskip("arviz")
    rng = np.random.default_rng(1)
    values = rng.normal(size=(4, 200)).cumsum(axis=1) / 10
    labels = np.zeros((4, 200, 3), dtype=np.uint8)
    scalars = dict.fromkeys(SCALARS, values) | {"n_clusters": np.ones((4, 200), dtype=np.int64)}
    posterior = Posterior(
        labels=labels,
        **scalars,
        group_gaps=values[..., None],
        masked_rows=np.empty((4, 200, 0), dtype=np.int64),
        group_names=("b",),
        acceptance={},
    )
    dataset = posterior.to_arviz()
    assert "labels" not in dataset
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constant figures
        found = arviz.rhat(dataset[["cost", "group_gaps"]])
    assert float(found["cost"]) == pytest.approx(r_hat(values), abs=1e-6)
    assert found["group_gaps"].dims == ("group",)
