"""The compiled sampler: cached, never stale, and the same as plain Python."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fairmix.compilation import _cache_folder, _fingerprint
from fairmix.distances import Euclidean
from fairmix.families.gaussian import TabulatedGaussian
from fairmix.kernels.collapsed import Collapsed

SCALE = 1.0


def scaled(x):
    return SCALE * x


class UsesHelper(NamedTuple):
    rate: float = 1.0

    def log_marginal(self, count, stats):
        return scaled(count) * self.rate


class Inherits(UsesHelper):
    pass


class UsesObject(NamedTuple):
    rate: float = 1.0

    def log_marginal(self, count, stats):
        return STRANGE.value


def fingerprint(family):
    return _fingerprint((Collapsed, (family,)), (Euclidean,))


STRANGE = type("Strange", (), {"value": 1.0})()

FIT = """
import numpy as np
from fairmix import FairBayesianClustering
X = np.random.default_rng(0).normal(size=(21, 2))
X[:10] += 3
model = FairBayesianClustering(
    n_masked=2, n_chains=1, n_warmup=2, n_draws=6, random_state=0
).fit(X, sensitive_features=np.repeat([0, 1], [10, 11]))
print(model.posterior_.labels.tolist())
print([round(value, 6) for value in model.posterior_.log_posterior[0].tolist()])
"""


def run_fit(code=FIT, **environment):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )


def test_plain_python_gives_the_same_draws():
    compiled, plain = run_fit(), run_fit(NUMBA_DISABLE_JIT="1")
    assert compiled.stdout == plain.stdout
    assert compiled.stdout.count("\n") == 2


def test_a_second_process_does_not_compile():
    run_fit()
    assert run_fit().stderr == ""


OWN_FAMILY = """
import math
from typing import NamedTuple

RATE = 1.0

class Own(NamedTuple):
    shape: float = 1.0

    def n_statistics(self, n_columns):
        return n_columns

    def write_statistics(self, rows, out):
        out[:] = abs(rows)

    def log_marginal(self, count, stats):
        total = 0.0
        for j in range(stats.size):
            total += math.lgamma(self.shape + count) - math.lgamma(self.shape)
            total -= (self.shape + count) * math.log(RATE + stats[j])
        return total
"""


def test_a_family_in_a_module_is_cached(tmp_path):
    """Names it refers to come in another order in every process; the cache must not mind."""
    (tmp_path / "own_families.py").write_text(OWN_FAMILY)
    code = FIT.replace("import numpy", "from own_families import Own\nimport numpy")
    code = code.replace("FairBayesianClustering(\n", "FairBayesianClustering(Own(),\n")
    for seed in ("1", "2"):
        done = run_fit(code, PYTHONPATH=str(tmp_path), PYTHONHASHSEED=seed)
    assert done.stderr == ""


def test_what_a_family_refers_to_is_part_of_the_cache(monkeypatch):
    before = fingerprint(UsesHelper)
    assert before == fingerprint(UsesHelper) == fingerprint(Inherits)
    assert before != fingerprint(TabulatedGaussian)
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert before != fingerprint(UsesHelper)
    assert before != fingerprint(Inherits)


def test_a_family_that_cannot_be_hashed_is_not_cached():
    assert fingerprint(UsesObject) is None


def test_a_cache_that_cannot_be_written_is_replaced(tmp_path, monkeypatch):
    blocked = tmp_path / "a file, not a folder"
    blocked.write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(blocked))
    folder = _cache_folder("abc")
    assert folder.is_dir()
    assert not folder.is_relative_to(tmp_path / "a file, not a folder")
    folder.rmdir()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert _cache_folder("abc") == Path(tmp_path) / "fairmix" / "abc"


def test_fingerprint_depends_on_arrays(monkeypatch):
    monkeypatch.setitem(globals(), "SCALE", np.arange(3.0))
    before = fingerprint(UsesHelper)
    monkeypatch.setitem(globals(), "SCALE", np.arange(4.0))
    assert before != fingerprint(UsesHelper)
