"""A fit that was killed goes on as if it had never stopped, or says why it can't."""

import io
import json
import os
import signal
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import joblib
import numpy as np
import pytest

from fairmix import FairBayesianClustering
from fairmix.sampler.checkpoint import Checkpoint, read_checkpoint
from fairmix.sampler.past import Bookmark, Past
from tests.fits import QUICK, assert_same_draws, two_clumps

X, GROUP = two_clumps()
SETTINGS = QUICK | {"n_draws": 60}


def fit(folder=None, **changes):
    model = FairBayesianClustering(**SETTINGS | changes, checkpoint=folder)
    return model.fit(X, sensitive_features=GROUP)


@pytest.fixture(scope="module")
def whole():
    return fit()


@pytest.fixture
def often(monkeypatch):
    """Write a checkpoint after every draw."""
    monkeypatch.setattr("fairmix.sampler.run.CHUNK_SECONDS", 1e-9)
    monkeypatch.setattr("fairmix.sampler.checkpoint.CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr("fairmix.sampler.checkpoint.LARGEST_SHARE", 1.0)


def make_past(n_draws=4, seed=0):
    """Give something that a chain may have done."""
    rng = np.random.default_rng(seed)
    state = rng.bit_generator.state
    snapshot = {
        "state": {"labels": rng.integers(9, size=7), "masked": np.array([True, False])},
        "likelihood": {"shared": rng.random(3)},
        "generator": state,
        "seed": {"entropy": 2**100, "spawn_key": (1,), "pool_size": 4, "n_children_spawned": 1},
        "warmth": {"n_done": 3, "power": 1.0, "mask_price": np.inf, "next_price": np.nan},
    }
    draws = {"labels": rng.integers(9, size=(n_draws, 7), dtype=np.uint8)}
    draws["cost"] = np.full(n_draws, np.nan)
    return Past(Bookmark(snapshot, state, n_draws), draws, ("gibbs", "split"))


def test_what_is_written_is_read(tmp_path):
    identity = {"X": "abc", "settings": {"thin": 2, "max_gap": None}}
    past = make_past()
    assert read_checkpoint(tmp_path / "new") == (None, {})
    Checkpoint(tmp_path / "new", identity).write(12, past)
    found, pasts = read_checkpoint(tmp_path / "new")
    assert found == identity
    assert list(pasts) == [12]
    again = pasts[12]
    assert again.moves == past.moves
    assert again.bookmark.generator == past.bookmark.generator
    assert again.n_draws == 4
    for part, expected in past.bookmark.snapshot.items():
        other = again.bookmark.snapshot[part]
        assert other.keys() == expected.keys()
        for name, value in expected.items():
            assert np.array_equal(other[name], value, equal_nan=part == "warmth"), name
    for name, values in past.draws.items():
        assert again.draws[name].dtype == values.dtype
        assert np.array_equal(again.draws[name], values, equal_nan=name == "cost")


def test_the_last_two_are_kept(tmp_path):
    for n_draws in range(1, 6):
        Checkpoint(tmp_path, {}).write(0, make_past(n_draws))
    (tmp_path / ".chain-0-000006.npz.abc.part").write_bytes(b"killed")
    Checkpoint(tmp_path, {}).write(1, make_past(9))
    Checkpoint(tmp_path, {}).write(0, make_past(6))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["chain-0-000005.npz", "chain-0-000006.npz", "chain-1-000001.npz"]
    _, pasts = read_checkpoint(tmp_path)
    assert {number: past.n_draws for number, past in pasts.items()} == {0: 6, 1: 9}


def test_the_same_call_goes_on(whole, tmp_path):
    fit(tmp_path, n_draws=20)
    assert_same_draws(fit(str(tmp_path)).posterior_, whole.posterior_)
    before = {path.name for path in tmp_path.iterdir()}
    assert len(before) == 4
    assert_same_draws(fit(tmp_path).posterior_, whole.posterior_)  # all is there
    assert {path.name for path in tmp_path.iterdir()} == before
    assert fit(tmp_path, random_state=None).provenance_["seed"] == whole.provenance_["seed"]


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_chains_side_by_side(whole, tmp_path, backend):
    with joblib.parallel_config(backend=backend, n_jobs=2):
        fit(tmp_path, n_draws=20)
        assert len(list(tmp_path.iterdir())) == 4
        assert_same_draws(fit(tmp_path).posterior_, whole.posterior_)


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("at", [3, 29, 32, 61, 95, 150])
def test_a_fit_that_fails_anywhere_goes_on(whole, tmp_path, monkeypatch, at):
    from fairmix.sampler import run

    original, n_calls = run._Pace.run, []

    def fail(self, chain, n_draws, sweeps_per_draw):
        n_calls.append(1)
        if len(n_calls) == at:
            raise RuntimeError("no way on")
        return original(self, chain, n_draws, sweeps_per_draw)

    with monkeypatch.context() as patched:
        patched.setattr(run._Pace, "run", fail)
        with pytest.raises(RuntimeError, match="no way on"):
            fit(tmp_path)
    _, pasts = read_checkpoint(tmp_path)
    n_sweeps = sum(past.n_warmed + past.n_draws for past in pasts.values())
    assert n_sweeps == at - 1
    assert_same_draws(fit(tmp_path).posterior_, whole.posterior_)


def last_file(folder, number=0):
    return max(folder.glob(f"chain-{number}-*.npz"))


DAMAGES = {
    "torn": lambda contents: contents[: len(contents) // 2],
    "empty": lambda contents: b"",
    "text": lambda contents: b"hello",
    "flipped": lambda contents: contents[:900] + bytes([contents[900] ^ 4]) + contents[901:],
    "at the end": lambda contents: contents[:-30] + bytes([contents[-30] ^ 1]) + contents[-29:],
}


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_falls_back_to_the_one_before(whole, tmp_path, damage):
    fit(tmp_path, n_draws=40)
    path = last_file(tmp_path)
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    with pytest.warns(UserWarning, match=rf"{path.name} is damaged.*goes on from the file before"):
        _, pasts = read_checkpoint(tmp_path)
    assert [pasts[number].n_draws for number in (0, 1)] == [39, 40]
    with pytest.warns(UserWarning, match="is damaged"):
        model = fit(tmp_path)
    assert_same_draws(model.posterior_, whole.posterior_)


@pytest.mark.usefixtures("often")
def test_a_chain_without_a_good_file_begins_anew(whole, tmp_path):
    fit(tmp_path, n_draws=40)
    for path in tmp_path.glob("chain-1-*.npz"):
        path.write_bytes(b"hello")
    with pytest.warns(UserWarning, match="is damaged") as caught:
        model = fit(tmp_path, random_state=None)  # the seed is that of the other chain
    assert len(caught) == 2
    assert_same_draws(model.posterior_, whole.posterior_)


def test_any_byte_may_be_wrong(tmp_path):
    Checkpoint(tmp_path, {"X": 1}).write(0, make_past())
    path = last_file(tmp_path)
    contents = path.read_bytes()
    expected = read_checkpoint(tmp_path)[1][0]
    rng = np.random.default_rng(0)
    n_damaged = 0
    for at in rng.integers(len(contents), size=200):
        changed = bytearray(contents)
        changed[at] ^= 1 << rng.integers(8)
        path.write_bytes(changed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            _, pasts = read_checkpoint(tmp_path)
        n_damaged += len(caught)
        if pasts:  # a time or a flag of the archive, which nobody reads
            assert np.array_equal(pasts[0].draws["labels"], expected.draws["labels"])
            assert pasts[0].bookmark.generator == expected.bookmark.generator
    assert n_damaged > 100


def test_other_runs_are_refused(tmp_path):
    fit(tmp_path, n_draws=10)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ValueError, match=r"checkpoint = .*what differs: temperature was 1\.0 and"):
        fit(tmp_path, temperature=0.5)
    with pytest.raises(ValueError, match=r"what differs: seed was \d+ and is"):
        fit(tmp_path, random_state=1)
    with pytest.raises(ValueError, match="n_draws = 5, but 10 sweeps were made already"):
        fit(tmp_path, n_draws=5)
    model = FairBayesianClustering(**SETTINGS, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="what differs: X; sensitive_features"):
        model.fit(X[:80], sensitive_features=GROUP[:80])
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_another_version_is_refused(tmp_path, monkeypatch):
    fit(tmp_path, n_draws=10)
    monkeypatch.setattr("fairmix.course.__version__", "99")
    with pytest.raises(ValueError, match=r"what differs: fairmix was '.*' and is '99'"):
        fit(tmp_path)


def test_files_of_two_runs_in_a_folder_are_refused(tmp_path):
    Checkpoint(tmp_path, {"X": 1}).write(0, make_past())
    Checkpoint(tmp_path, {"X": 2}).write(1, make_past())
    with pytest.raises(ValueError, match=r"chain-1-000001\.npz and the other.*X was 1 and is 2"):
        read_checkpoint(tmp_path)


def test_a_disk_that_is_full_does_not_end_the_fit(whole, tmp_path, monkeypatch):
    fit(tmp_path, n_draws=20)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        with pytest.warns(UserWarning, match="could not be written down.*No space.*still there"):
            model = fit(tmp_path)
    assert_same_draws(model.posterior_, whole.posterior_)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "it").write_text("")
    with pytest.raises(OSError, match=r"checkpoint = .*cannot be a folder to write to"):
        fit(tmp_path / "it")


def test_a_folder_that_may_only_be_read(tmp_path, monkeypatch):
    """Root may write anywhere, so the system's answer is made up."""
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    with pytest.raises(PermissionError, match=r"cannot be a folder to write to .*may only be read"):
        fit(tmp_path)


def rewrite(path, change):
    """Change a file on purpose, with right checksums."""
    members = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            members[name] = archive.read(name)
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, contents in members.items():
            archive.writestr(name, contents)


def set_array(name, value):
    def change(members):
        values = np.load(io.BytesIO(members[name]))
        values.flat[0] = value
        buffer = io.BytesIO()
        np.save(buffer, values)
        members[name] = buffer.getvalue()

    return change


def set_page(**changes):
    def change(members):
        members["page.json"] = json.dumps(json.loads(members["page.json"]) | changes).encode()

    return change


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (set_array("state.labels.npy", 10**6), "labels cannot be the state"),
        (set_array("state.row_at.npy", -7), "row_at cannot be the state"),
        (set_array("state.anchor_at.npy", 1), "anchor_at cannot be the state"),
        (set_array("state.n_clusters.npy", 0), "n_clusters cannot be the state"),
        (set_array("state.place.npy", 3), "place cannot be the state"),
        (set_page(generator={"bit_generator": "seed"}), "'seed' is no generator"),
        (set_page(generator={"bit_generator": "__import__"}), "is no generator"),
    ],
)
def test_a_state_that_would_lead_compiled_code_astray_is_refused(tmp_path, change, match):
    fit(tmp_path, n_draws=10)
    rewrite(last_file(tmp_path), change)
    with pytest.raises(ValueError, match=match):
        fit(tmp_path)


SCRIPT = """
import os, sys
from fairmix.sampler import checkpoint, run
from tests.sampler.test_checkpoint import fit_long

checkpoint.CHECKPOINT_SECONDS, checkpoint.LARGEST_SHARE = 0.02, 1.0
run.CHUNK_SECONDS = 0.01
write = checkpoint.Checkpoint.write

def write_and_tell(self, number, past):
    seconds = write(self, number, past)
    os.write(1, b"written\\n")
    return seconds

checkpoint.Checkpoint.write = write_and_tell
fit_long(sys.argv[1], int(sys.argv[2]))
"""


def fit_long(folder, n_kills):
    """Fit for some seconds, more if it is killed more often."""
    return fit(folder, n_draws=1500 * n_kills, n_warmup=500 * n_kills, n_jobs=2)


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL on Windows")
@pytest.mark.parametrize("n_kills", [2, pytest.param(20, marks=pytest.mark.thorough)])
def test_a_fit_that_is_killed_again_and_again(tmp_path, n_kills):
    rng = np.random.default_rng()
    moments = []
    for _ in range(n_kills):
        with subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", SCRIPT, str(tmp_path / "it"), str(n_kills)],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        ) as process:
            assert process.stdout.readline() == b"written\n"
            try:
                process.wait(rng.uniform(0, 0.6))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
        _, pasts = read_checkpoint(tmp_path / "it")
        moments.append(sum(past.n_warmed + past.n_draws for past in pasts.values()))
        assert process.returncode in (-signal.SIGKILL, 0)
    assert moments == sorted(moments)
    assert moments[0] < 4000 * n_kills  # it was not done when it was killed
    model = fit_long(tmp_path / "it", n_kills)
    assert_same_draws(model.posterior_, fit_long(None, n_kills).posterior_)
