"""A fit that goes on draws what one long fit would have drawn, or says why it can't."""

import copy
import pickle
import re

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from fairmix import FairBayesianClustering, Fixed, course
from fairmix.baselines import FairletMixture, MixtureOfFiniteMixtures
from fairmix.course import is_converged
from tests.fits import QUICK, assert_same_draws, two_clumps

X, GROUP = two_clumps()


def fit(model, **changes):
    return model.set_params(**changes).fit(X, sensitive_features=GROUP)


@pytest.fixture(scope="module")
def long():
    return fit(FairBayesianClustering(**QUICK, n_draws=90, thin=2))


def make(n_draws, **changes):
    return FairBayesianClustering(**QUICK | {"thin": 2} | changes, n_draws=n_draws)


@pytest.mark.parametrize("legs", [(20, 90), (3, 5, 41, 90), (90, 90)])
def test_a_warm_start_goes_on_bit_for_bit(long, legs):
    model = make(legs[0], warm_start=True)
    for n_draws in legs:
        fit(model, n_draws=n_draws)
    assert_same_draws(model.posterior_, long.posterior_)
    assert np.array_equal(model.labels_, long.labels_)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_a_warm_start_in_other_processes(long, backend):
    model = make(20)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        fit(model)
        fit(model, warm_start=True, n_draws=90)
    assert_same_draws(model.posterior_, long.posterior_)


CASES = {
    "masked": {"n_masked": {"many": 5}, "extra": "free"},
    "gap": {"max_gap": 0.1},
    "paper": {"matching_step": "joint", "matching_moves": 10, "split_merge_moves": 0},
}


@pytest.mark.parametrize("case", CASES)
def test_all_kinds_of_chains_go_on(case):
    whole = fit(make(40, **CASES[case]))
    model = fit(make(11, **CASES[case]))
    assert_same_draws(fit(model, warm_start=True, n_draws=40).posterior_, whole.posterior_)


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(3)])
def test_a_seed_that_nobody_knows_is_kept(random_state):
    model = fit(make(10, random_state=random_state, warm_start=True))
    first = model.posterior_.labels
    fit(model, n_draws=20)
    assert np.array_equal(model.posterior_.labels[:, :5], first)


def test_without_a_warm_start_a_fit_is_new():
    model = make(10, random_state=None)
    one = fit(model).posterior_.log_posterior
    assert not np.array_equal(fit(model).posterior_.log_posterior, one)


def test_a_run_that_was_interrupted_goes_on(long, monkeypatch):
    from fairmix.sampler import run

    monkeypatch.setattr("fairmix.sampler.run.CHUNK_SECONDS", 1e-9)
    monkeypatch.setattr("fairmix.sampler.trail.MARK_SECONDS", 0.0)
    original, n_calls = run._Pace.run, []

    def interrupt(self, chain, n_draws, sweeps_per_draw):
        n_calls.append(1)
        draws = original(self, chain, n_draws, sweeps_per_draw)
        if len(n_calls) == 61:  # 30 of the first warm-up, and some draws that are lost
            raise KeyboardInterrupt
        return draws

    monkeypatch.setattr(run._Pace, "run", interrupt)
    model = make(90)
    with pytest.warns(UserWarning, match="had 30, 0 of 45 draws"):
        fit(model)
    assert model.posterior_.labels.shape == (1, 30, 90)
    fit(model, warm_start=True)
    assert_same_draws(model.posterior_, long.posterior_)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"temperature": 2.0}, r"temperature was 1\.0 and is 2.0"),
        ({"thin": 1}, "thin was 2 and is 1"),
        ({"n_chains": 3}, "n_chains was 2 and is 3"),
        ({"random_state": 1}, "seed was"),
        ({"components_prior": Fixed(2)}, "components_prior"),
        ({"components_prior": lambda k: -k}, "components_prior"),
        ({"n_draws": 8}, "n_draws = 8, but 40 sweeps were made already.*n_draws=40"),
    ],
)
def test_other_settings_are_refused(changes, told):
    model = fit(make(40))
    labels = model.posterior_.labels
    with pytest.raises(ValueError, match=told):
        fit(model, warm_start=True, **changes)
    assert model.posterior_.labels is labels


def test_other_data_are_refused():
    model = fit(make(10)).set_params(warm_start=True)
    with pytest.raises(ValueError, match=r"what differs: X\. Fit as before"):
        model.fit(X + np.arange(90)[:, None], sensitive_features=GROUP)
    with pytest.raises(ValueError, match=r"what differs: X\. "):  # the same in standard units
        model.fit(2 * X, sensitive_features=GROUP)
    with pytest.raises(ValueError, match=r"what differs: sensitive_features\. Fit as before"):
        model.fit(X, sensitive_features=GROUP[::-1].to_numpy())


@pytest.mark.parametrize("lose", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy])
def test_copies_have_draws_but_no_chains(lose):
    model = lose(fit(make(10)))
    assert model.posterior_.labels.shape == (2, 5, 90)
    with pytest.raises(ValueError, match=r"warm_start = True.*draws only.*warm_start=False"):
        fit(model, warm_start=True)
    fit(clone(model))


@pytest.mark.parametrize("kind", [FairletMixture, MixtureOfFiniteMixtures])
def test_the_other_mixtures_say_where_their_draws_come_from(kind):
    provenance = fit(kind(**QUICK, n_draws=10)).provenance_
    assert provenance["seed"] == fit(make(10)).provenance_["seed"]
    assert re.fullmatch("[0-9a-f]{64}", provenance["sha256"]["X"])
    assert provenance["versions"].keys() == {"fairmix", "numpy", "numba", "python"}
    assert provenance["seconds"] > 0


def test_a_time_limit_ends_all_chains_with_draws(long, capsys):
    model = make(10**6, max_seconds=0.2)
    fit(model)
    shape = model.posterior_.labels.shape
    assert 1 <= shape[1] < 10**5
    told = capsys.readouterr().err
    assert "at its time limit, when its 2 chains had" in told
    assert f"the first {shape[1]:,} of each. To go on, fit again with warm_start=True" in told
    seen = min(shape[1], 45)
    assert np.array_equal(model.posterior_.labels[0, :seen], long.posterior_.labels[0, :seen])


def test_the_warm_up_is_never_cut(long):
    model = fit(make(90, max_seconds=1e-6))
    assert model.posterior_.n_draws >= 1
    seen = model.posterior_.n_draws
    assert np.array_equal(model.posterior_.labels, long.posterior_.labels[:, :seen])
    fit(model, warm_start=True, max_seconds=None)
    assert_same_draws(model.posterior_, long.posterior_)


def test_chains_share_the_time():
    model = make(10**6, max_seconds=1.0, n_chains=3, warm_start=True)
    lengths = [len(past.draws["labels"]) for past in fit(model)._left.pasts.values()]
    assert len(lengths) == 3
    assert max(lengths) < 10 * min(lengths)


def test_until_converged(monkeypatch):
    monkeypatch.setattr(course, "LEAST_ESS", 60.0)
    monkeypatch.setattr(course, "MOST_R_HAT", 1.1)
    model = fit(make(20, thin=1, until="converged"))
    n_draws = model.posterior_.n_draws
    assert n_draws in (20, 30, 45, 68, 102, 153, 200)
    assert n_draws > 20
    for had, expected in ((n_draws, True), (20, False)):
        arrays = {
            name: getattr(model.posterior_, name)[:, :had]
            for name in ("log_posterior", "n_clusters")
        }
        assert is_converged(arrays) == expected
    assert_same_draws(fit(make(n_draws, thin=1)).posterior_, model.posterior_)
    again = fit(copy.copy(make(20, thin=1, until="converged")), warm_start=True)
    assert_same_draws(fit(again).posterior_, model.posterior_)


def test_what_never_converges_ends_with_a_warning(monkeypatch):
    monkeypatch.setattr(course, "LEAST_ESS", 1e9)
    model = make(10, thin=1, until="converged")
    with pytest.warns(ConvergenceWarning, match=r"after 100 draws, 10 times n_draws.*R-hat"):
        fit(model)
    assert model.posterior_.n_draws == 100


def test_convergence_needs_agreement_and_enough_draws():
    rng = np.random.default_rng(0)
    good = rng.normal(size=(4, 500))
    constant = np.full((4, 500), 3)
    assert is_converged({"log_posterior": good, "n_clusters": constant})
    apart = good + np.arange(4)[:, None]
    assert not is_converged({"log_posterior": apart, "n_clusters": constant})
    assert not is_converged({"log_posterior": good, "n_clusters": apart})
    few = {"log_posterior": good[:, :80], "n_clusters": constant[:, :80]}
    assert not is_converged(few)
    assert not is_converged({name: values[:, :3] for name, values in few.items()})


@pytest.mark.parametrize(
    ("changes", "error", "told"),
    [
        ({"max_seconds": 0}, ValueError, r"max_seconds \(or None\) must be a positive number"),
        ({"max_seconds": "5"}, TypeError, "max_seconds"),
        ({"until": "bored"}, ValueError, r"until \(or None\) must be one of 'converged'"),
        ({"warm_start": "yes"}, TypeError, "warm_start must be True or False"),
        ({"checkpoint": 3}, TypeError, "checkpoint must be None or the path of a folder, got 3"),
    ],
)
def test_wrong_arguments(changes, error, told):
    with pytest.raises(error, match=told):
        fit(make(10, **changes))
