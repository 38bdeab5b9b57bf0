"""The compiled sampler: cached, never stale, and the same as plain Python."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pytest

import fairmix
from fairmix import FairBayesianClustering
from fairmix.baselines import FairletMixture
from fairmix.families import Bernoulli, Categorical, Gaussian, Poisson, Product
from fairmix.sampler import code_cache
from fairmix.sampler.fingerprint import digest_of_sampler, digest_of_tuple
from fairmix.sampler.kernels.verbs import FAMILY_VERBS
from tests.tables.test_tables import make_customers

SCALE = 1.0


def scaled(x):
    return SCALE * x


class UsesHelper(NamedTuple):
    rate: float = 1.0

    def log_marginal(self, count, stats):
        return scaled(count) * self.rate


class UsesObject(NamedTuple):
    rate: float = 1.0

    def log_marginal(self, count, stats):
        return STRANGE.value


def fingerprint(family):
    digest = digest_of_sampler()
    digest_of_tuple(digest, family, FAMILY_VERBS)
    return digest.hexdigest()


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


def test_what_a_family_refers_to_is_part_of_its_name(monkeypatch):
    before = fingerprint(UsesHelper())
    assert before == fingerprint(UsesHelper())
    other = Gaussian().prepare(np.zeros((2, 2)))
    assert before != fingerprint(other)
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert before != fingerprint(UsesHelper())
    monkeypatch.setitem(globals(), "SCALE", np.arange(3.0))
    with_array = fingerprint(UsesHelper())
    monkeypatch.setitem(globals(), "SCALE", np.arange(4.0))
    assert with_array != fingerprint(UsesHelper())


def test_a_family_that_cannot_be_hashed_is_refused():
    with pytest.raises(TypeError, match="cannot tell whether"):
        fingerprint(UsesObject())


def test_a_user_function_that_the_sampler_called_can_be_called_from_python():
    """What is compiled on the way to an entry has no machine code of its own until it is wanted."""
    code = OWN_FAMILY.replace(
        "class Own", "import numba\n\n@numba.njit\ndef double(x):\n    return 2.0 * x\n\nclass Own"
    )
    code = code.replace("total = 0.0", "total = double(0.0)")
    code += FIT.replace("FairBayesianClustering(\n", "FairBayesianClustering(Own(),\n")
    done = run_fit(code + "print(double(3.0), numba.njit(lambda x: double(x) + 1.0)(1.0))")
    assert done.stdout.splitlines()[-1] == "6.0 3.0"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Give a cache of one's own."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path / "fairmix"


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:20],
        lambda content: content[:-1],
        lambda content: content[:50] + bytes([content[50] ^ 1]) + content[51:],
        lambda content: b"x" * len(content),
    ],
)
def test_what_is_damaged_is_removed(folder, damage):
    code_cache.store("module.bin", {"machine": b"code" * 100})
    assert code_cache.load("module.bin") == {"machine": b"code" * 100}
    path = folder / "module.bin"
    path.write_bytes(damage(path.read_bytes()))
    assert code_cache.load("module.bin") is None
    assert not path.exists()


@pytest.fixture
def blocked(tmp_path, monkeypatch):
    """Give a cache that cannot be made, even by root: there is a file in its place."""
    path = tmp_path / "a file, not a folder"
    path.write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return path


def test_a_cache_that_cannot_be_written_is_replaced(blocked):
    path = code_cache.store("module.bin", 1)
    assert not path.is_relative_to(blocked)
    assert code_cache.folder_for_more() == path.parent
    assert code_cache.load("module.bin") == 1
    code_cache.remove("module.bin")
    assert code_cache.load("module.bin") is None
    assert code_cache.store("module.bin", 2) == path  # where the next process finds it, too


def test_a_cache_that_cannot_be_written_is_read(folder, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code_cache.store("module.bin", 1)

    def refuse(**kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)  # root may write into any folder
    assert code_cache.folder_for_more() is None
    assert code_cache.load("module.bin") == 1


def test_other_users_may_read_what_is_stored(folder):
    """An image is built by root, and run by others."""
    before = os.umask(0o022)
    try:
        path = code_cache.store("module.bin", 1)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o644
    assert folder.stat().st_mode & 0o777 == 0o755


def test_nothing_is_kept_if_nothing_can_be_written(blocked, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(blocked))
    assert code_cache.folder_for_more() is None
    assert code_cache.store("module.bin", 1) is None
    assert code_cache.load("module.bin") is None


@pytest.mark.parametrize("make", [lambda p: p.mkdir(0o777), lambda p: p.symlink_to(p.parent)])
def test_code_that_others_may_have_written_is_not_run(blocked, make, tmp_path):
    path = code_cache.store("module.bin", 1)
    path.rename(tmp_path / "module.bin")
    path.parent.rmdir()
    make(path.parent)
    path.parent.chmod(0o777)
    if not path.exists():
        (tmp_path / "module.bin").rename(path)
    assert code_cache.load("module.bin") is None
    assert code_cache.folder_for_more() is None


def test_a_full_disk_leaves_nothing_half_written(folder, monkeypatch):
    def refuse(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(OSError, match="No space"):
        code_cache._put(folder / "module.bin", b"content")
    assert list(folder.iterdir()) == []


def test_seconds_are_remembered(folder):
    assert code_cache.known_seconds("the sampler", 30.0) == 30.0
    code_cache.note_seconds("the sampler", 12.34)
    code_cache.note_seconds("a family", 2.0)
    assert code_cache.known_seconds("the sampler", 30.0) == 12.3
    (folder / "seconds.json").write_text("[")
    assert code_cache.known_seconds("the sampler", 30.0) == 30.0
    code_cache.note_seconds("the sampler", 5.0)
    assert code_cache.known_seconds("the sampler", 30.0) == 5.0
    for odd in ("NaN", "1e999", "-5", "null", "[1]", '"x"'):
        (folder / "seconds.json").write_text(f'{{"the sampler": {odd}}}')
        assert code_cache.known_seconds("the sampler", 30.0) == 30.0


@pytest.mark.slow
def test_damaged_machine_code_is_compiled_anew(tmp_path):
    """A whole fit, with a family of its own so that only this is compiled."""
    code = OWN_FAMILY.replace("RATE = 1.0", "RATE = 1.25")
    code += FIT.replace("FairBayesianClustering(\n", "FairBayesianClustering(Own(),\n")
    shutil.copytree(code_cache.cache_folder(), tmp_path / "fairmix")
    before = set((tmp_path / "fairmix").iterdir())
    first = run_fit(code, NUMBA_CACHE_DIR=str(tmp_path))
    (path,) = {p for p in (tmp_path / "fairmix").iterdir() if p.suffix == ".bin"} - before
    path.write_bytes(path.read_bytes()[:1000])
    again = run_fit(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert "compiling Own" in first.stderr
    assert "compiling Own" in again.stderr
    assert first.stdout == again.stdout
    for parent in (tmp_path / "fairmix", tmp_path):  # as in a container
        parent.chmod(0o555)
    last = run_fit(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert last.stderr == ""
    assert last.stdout == first.stdout


@pytest.mark.slow
def test_processes_that_compile_at_once_do_no_harm(tmp_path):
    """With a family of its own, so that only this is compiled."""
    code = OWN_FAMILY.replace("RATE = 1.0", "RATE = 1.5")
    code += FIT.replace("FairBayesianClustering(\n", "FairBayesianClustering(Own(),\n")
    shutil.copytree(code_cache.cache_folder(), tmp_path / "fairmix")
    before = set((tmp_path / "fairmix").iterdir())
    with ThreadPoolExecutor() as pool:  # each of them waits for a process
        both = list(pool.map(lambda _: run_fit(code, NUMBA_CACHE_DIR=str(tmp_path)), range(2)))
    assert all("compiling Own" in done.stderr for done in both)
    last = run_fit(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert last.stderr == ""
    assert {done.stdout for done in (*both, last)} == {last.stdout}
    new = {path.suffix for path in set((tmp_path / "fairmix").iterdir()) - before}
    assert new == {".bin"}  # nothing is left of what was being written


@pytest.mark.slow
def test_what_is_compiled_beforehand_is_there_for_a_fit(tmp_path):
    """With a family of its own, so that only this is compiled."""
    own = OWN_FAMILY.replace("RATE = 1.0", "RATE = 1.75")
    shutil.copytree(code_cache.cache_folder(), tmp_path / "fairmix")
    beforehand = run_fit(own + "import fairmix; fairmix.compile(Own())", NUMBA_CACHE_DIR=tmp_path)
    assert beforehand.stderr.count("compiling Own") == 1
    code = own + FIT.replace("FairBayesianClustering(\n", "FairBayesianClustering(Own(),\n")
    assert run_fit(code, NUMBA_CACHE_DIR=tmp_path).stderr == ""


def test_a_set_of_families_is_compiled_once_whatever_the_order_of_columns(capfd):
    fairmix.compile(("gaussian", "poisson", "bernoulli", "categorical"))
    capfd.readouterr()
    others = ("categorical", Gaussian(rate=0.5), "bernoulli", "poisson")
    fairmix.compile([others, Product((Bernoulli(), Categorical(), Gaussian(), Poisson()))])
    frame, groups, _ = make_customers()
    model = FairBayesianClustering("auto", n_chains=1, n_warmup=0, n_draws=4, random_state=0)
    model.fit(frame[frame.columns[::-1]], sensitive_features=groups)
    assert len(set(map(type, model.families_.values()))) == 4
    assert capfd.readouterr().err == ""


def test_bundles_are_compiled_beforehand(capfd):
    fairmix.compile("gaussian", bundled=True)
    capfd.readouterr()
    X, groups = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    FairletMixture(n_chains=1, n_warmup=0, n_draws=4).fit(X, sensitive_features=groups)
    assert capfd.readouterr().err == ""


def test_nothing_is_compiled_if_kernels_run_as_plain_python(tmp_path):
    code = "import fairmix; fairmix.compile(['gaussian', ('gaussian', 'poisson')])"
    done = run_fit(code, NUMBA_DISABLE_JIT="1", NUMBA_CACHE_DIR=tmp_path)
    assert (done.stderr, list(tmp_path.iterdir())) == ("", [])


@pytest.mark.parametrize(
    ("families", "error", "message"),
    [
        ("gausian", ValueError, "families must be one of 'gaussian', .* got 'gausian'"),
        (["gaussian", ("poisson", "gausian")], ValueError, "families must be .* got 'gausian'"),
        (Gaussian, TypeError, "families must be one of .* a family object such as"),
        ({"age": "gaussian"}, TypeError, "a tuple of these for a table that mixes them"),
        (None, TypeError, "families must be .* got None"),
        (UsesHelper(), TypeError, "families: UsesHelper is conjugate and lacks n_statistics"),
        ("auto", ValueError, "families: 'auto' chooses .* name what it may choose"),
        ((), ValueError, "families has an empty tuple"),
        ([], ValueError, "families is an empty list"),
        (("gaussian", "student-t"), ValueError, "StudentT has no conjugate prior"),
    ],
)
def test_what_cannot_be_compiled_is_said_in_words(families, error, message):
    with pytest.raises(error, match=message):
        fairmix.compile(families)


@pytest.mark.parametrize("family", ["student-t", "gaussian-tied"])
def test_what_cannot_be_bundled_is_said_in_words(family):
    with pytest.raises(ValueError, match="cannot be used for fairlets"):
        fairmix.compile(family, bundled=True)
