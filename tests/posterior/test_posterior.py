"""A posterior is put together from a record, and a fit keeps it whatever comes next."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from fairmix import FairBayesianClustering, Posterior
from fairmix.posterior.posterior import warn_if_chains_disagree
from tests.sampler.stub import StubChain, do_nothing, make_recorder


def make_record(n_chains=2, n_kept=120):
    recorder = make_recorder(n_chains, n_kept)
    for number in range(n_chains):
        chain = StubChain(number, do_nothing)
        recorder.open(number, chain).write(chain.run(n_kept))
    return recorder.finish(list(range(n_chains)), n_kept)


def test_a_posterior_uses_the_arrays_of_a_record():
    record = make_record()
    posterior = Posterior.from_record(record)
    assert posterior.labels is record.arrays["labels"]
    assert posterior.group_names == ("b", "c")
    assert list(posterior.acceptance) == list(record.moves)
    for k, rates in enumerate(posterior.acceptance.values()):
        assert np.array_equal(rates, record.arrays["acceptance"][..., k], equal_nan=True)
    assert set(posterior.summary().index) >= {"n_clusters", "cost", "gap of b", "gap of c"}


def test_the_warning_of_chains_that_disagree_names_the_line_of_the_user():
    record = make_record()
    record.arrays["log_posterior"][0] += 100.0
    with pytest.warns(ConvergenceWarning, match=r"(?s)R-hat is \d.*n_warmup") as caught:
        warn_if_chains_disagree(Posterior.from_record(record))
    assert caught[0].filename == __file__


def test_an_estimate_that_fails_loses_no_draws(monkeypatch):
    def fail(*arguments):
        raise MemoryError

    monkeypatch.setattr("fairmix.posterior.pairs.distances_between", fail)
    model = FairBayesianClustering(n_chains=1, n_warmup=0, n_draws=2, random_state=0)
    with pytest.raises(MemoryError):
        model.fit(np.arange(40.0).reshape(20, 2), sensitive_features=["a", "b"] * 10)
    assert model.posterior_.labels.shape == (1, 2, 20)
