"""scikit-learn's callbacks hear of fits, chains and parts of chains, and may stop them."""

import pickle
import sys

import numpy as np
import pytest
from sklearn.base import clone

from fairmix import FairBayesianClustering

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn is older than 1.9")

QUICK = {"n_warmup": 20, "n_draws": 30, "n_chains": 2, "random_state": 0}
ROWS = np.random.default_rng(0).normal(size=(30, 2))
GROUPS = ["a", "b"] * 15


class Witness:
    """A callback that keeps what it hears; it may ask to stop, or fail."""

    def __init__(self, stop_at=None, fail_at=None):
        self.stop_at, self.fail_at = stop_at, fail_at
        self.heard = []

    def setup(self, estimator, context):
        self.heard.append("setup")

    def teardown(self, estimator, context):
        self.heard.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X, metadata):
        assert X is ROWS
        assert metadata["sensitive_features"] is GROUPS
        self.heard.append(("begin", self._path(context)))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        path = self._path(context)
        self.heard.append(("end", path))
        if path == ("fit",):
            assert fitted_estimator.labels_.shape == (30,)
        if path == self.fail_at:
            raise RuntimeError("the callback failed")
        return path == self.stop_at

    def _path(self, context):
        names = callback._callback_context.get_context_path(context)
        return tuple(one.task_name if not k else one.task_id for k, one in enumerate(names))


def fit(*callbacks, **settings):
    model = FairBayesianClustering(**(QUICK | settings)).set_callbacks(*callbacks)
    return model.fit(ROWS, sensitive_features=GROUPS)


@pytest.fixture(scope="module")
def usual():
    return fit()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_is_heard(usual, n_jobs):
    witness = Witness()
    model = fit(witness, n_jobs=n_jobs)
    heard = witness.heard
    assert heard[:2] == ["setup", ("begin", ("fit",))]
    assert heard[-2:] == [("end", ("fit",)), "teardown"]
    for chain in range(2):
        mine = [(what, path[2:]) for what, path in heard[2:-2] if path[1] == chain]
        assert mine[0] == ("begin", ())
        assert mine[-1] == ("end", ())
        parts = [(what, (part,)) for part in range(100) for what in ("begin", "end")]
        assert mine[1:-1] == parts
    assert np.array_equal(model.posterior_.labels, usual.posterior_.labels)


def test_a_callback_may_stop_the_fit(monkeypatch):
    monkeypatch.setattr("fairmix.sampler.run.CHUNK_SECONDS", 1e-9)
    with pytest.warns(UserWarning, match="interrupted when its 2 chains had"):
        model = fit(witness := Witness(stop_at=("fit", 0, 70)))
    assert model.posterior_.n_chains == 1
    assert model.posterior_.n_draws < 30
    assert witness.heard[-1] == "teardown"


def test_what_a_callback_raises_ends_the_fit():
    witness = Witness(fail_at=("fit", 0, 1))
    with pytest.raises(RuntimeError, match="the callback failed"):
        fit(witness)
    assert witness.heard[-1] == "teardown"


def test_progress_bar_of_scikit_learn(capsys):
    fit(callback.ProgressBar(), verbose=0)
    told = capsys.readouterr().out
    assert "FairBayesianClustering - fit" in told
    assert "chain #1" in told
    assert told.count("100%") == 3


def test_callbacks_can_be_taken_back():
    witness = Witness()
    model = FairBayesianClustering(**QUICK).set_callbacks(witness).set_callbacks()
    model.fit(ROWS, sensitive_features=GROUPS)
    assert witness.heard == []
    assert not hasattr(clone(model), "_skl_callbacks")
    assert pickle.loads(pickle.dumps(model)).n_clusters_ == model.n_clusters_
    with pytest.raises(TypeError, match="FitCallback"):
        model.set_callbacks("bar")


def test_older_versions_have_none(monkeypatch, usual):
    monkeypatch.setitem(sys.modules, "sklearn.callback", None)
    with pytest.raises(ImportError, match=r"version 1\.9"):
        FairBayesianClustering().set_callbacks()
    model = FairBayesianClustering(**QUICK).fit(ROWS, sensitive_features=GROUPS)
    assert np.array_equal(model.labels_, usual.labels_)
