"""What the recorder keeps is what was drawn, in arrays that are made once."""

import pickle
import tracemalloc

import numpy as np
import pytest

from fairmix import FairBayesianClustering, metrics
from fairmix.sampler.memory import memory_limit
from fairmix.sampler.recorder import canonical_labels, label_type
from tests.sampler.stub import AUDIT, GROUP_CODES, MODEL, StubChain, do_nothing, make_recorder


def record_chain(recorder, number, chunks):
    """Let a chain write its draws in such chunks."""
    writer = recorder.open(number, chain := StubChain(number, do_nothing))
    for n_draws in chunks:
        writer.write(chain.run(n_draws))
    return writer


def test_what_is_kept_is_what_was_drawn():
    recorder = make_recorder(n_chains=2, n_kept=6)
    for number in range(2):
        record_chain(recorder, number, [6])
    arrays = recorder.finish([0, 1], 6).arrays
    names = np.array(AUDIT.group_names)[GROUP_CODES]
    for number in range(2):
        draws = StubChain(number, do_nothing).run(6)
        for draw in range(6):
            kept = {name: values[number, draw] for name, values in arrays.items()}
            # The row of X at place p of the chain is order[p].
            raw = np.empty(12, dtype=int)
            raw[MODEL.grouping.order] = draws.labels[draw]
            assert kept["labels"].tolist() == canonical_labels(raw, 5).tolist()
            assert kept["n_clusters"] == len(np.unique(raw))
            assert kept["n_components"] >= kept["n_clusters"]
            masked = MODEL.grouping.order[draws.masked_rows[draw]]
            assert kept["masked_rows"].tolist() == sorted(masked)
            assert kept["fairness_gap"] == metrics.gap_of_counts(
                metrics.count_groups(raw, GROUP_CODES, 3)
            )
            assert kept["group_gaps"].mean() == pytest.approx(kept["fairness_gap"])
            assert kept["balance"] == metrics.balance(raw, names)
            assert kept["cost"] == AUDIT.cost(kept["labels"][None])[0]
            parts = (draws.log_likelihood, draws.prior_log_density, draws.log_energy)
            assert kept["log_posterior"] == sum(part[draw] for part in parts)


@pytest.mark.parametrize("chunks", [[1] * 7, [3, 4], [6, 1]])
def test_chunks_make_no_difference(chunks):
    records = []
    for sizes in ([7], chunks):
        recorder = make_recorder(n_chains=1, n_kept=7)
        record_chain(recorder, 0, sizes)
        records.append(recorder.finish([0], 7))
    for name, values in records[0].arrays.items():
        assert np.array_equal(values, records[1].arrays[name], equal_nan=True), name


def test_a_copy_in_another_process_gives_a_parcel():
    recorder, other = make_recorder(), make_recorder()
    record_chain(recorder, 1, [3, 5])
    copy = pickle.loads(pickle.dumps(other))
    writer = record_chain(copy, 1, [3, 5])
    parcel = pickle.loads(pickle.dumps(writer.close()))
    assert other.lengths() == [0, 0, 0]
    other.receive(1, parcel)
    assert recorder.lengths() == other.lengths() == [0, 8, 0]
    here, there = recorder.finish([1], 8), other.finish([1], 8)
    assert here.moves == there.moves
    for name, values in here.arrays.items():
        assert np.array_equal(values, there.arrays[name], equal_nan=True), name


def test_a_writer_in_this_process_has_nothing_to_hand_over():
    writer = record_chain(make_recorder(), 0, [2])
    assert writer.close() is None


def test_an_interrupt_while_a_draw_is_written_leaves_whole_draws(monkeypatch):
    recorder = make_recorder(n_chains=1)
    writer = record_chain(recorder, 0, [4])

    def interrupt(counts):
        raise KeyboardInterrupt

    monkeypatch.setattr("fairmix.sampler.recorder.balance_of_counts", interrupt)
    with pytest.raises(KeyboardInterrupt):
        writer.write(StubChain(0, do_nothing).run(5))
    assert recorder.lengths() == [4]


@pytest.mark.parametrize(("chains", "n_draws"), [([0, 1, 2], 2000), ([0, 2], 1500), ([2], 1999)])
def test_the_peak_is_what_was_announced(chains, n_draws):
    n_kept = 2000
    tracemalloc.start()
    try:
        recorder = make_recorder(n_kept=n_kept)
        announced = recorder.n_bytes
        for number in range(3):
            record_chain(recorder, number, [10] * (n_kept // 10))
        record = recorder.finish(chains, n_draws)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    held = sum(values.nbytes for values in record.arrays.values())
    assert held <= announced
    assert peak < 1.2 * announced
    again = make_recorder(n_kept=n_kept)
    for number in range(3):
        record_chain(again, number, [10] * (n_kept // 10))
    everything = again.finish([0, 1, 2], n_kept)
    for name, values in record.arrays.items():
        assert np.array_equal(values, everything.arrays[name][chains, :n_draws], equal_nan=True)


@pytest.mark.parametrize(
    ("n_labels", "dtype"), [(1, np.uint8), (256, np.uint8), (257, np.uint16), (65_537, np.uint32)]
)
def test_labels_have_the_smallest_type(n_labels, dtype):
    assert label_type(n_labels) == dtype


def test_canonical_labels():
    labels = np.array([7, 7, 2, 2, 2, 5, 0, 0])
    assert canonical_labels(labels, 9).tolist() == [1, 1, 0, 0, 0, 3, 2, 2]


def test_draws_that_do_not_fit_are_refused(monkeypatch):
    needed = make_recorder(n_kept=1000).n_bytes
    monkeypatch.setattr("fairmix.sampler.memory.memory_limit", lambda: needed / 0.7)
    make_recorder(n_kept=1000)
    monkeypatch.setattr("fairmix.sampler.memory.memory_limit", lambda: needed)
    with pytest.raises(ValueError, match=r"n_chains = 3, 1,000 draws kept, 12 rows.*thin=2 times"):
        make_recorder(n_kept=1000)
    monkeypatch.setattr("fairmix.sampler.memory.memory_limit", lambda: None)  # nobody can tell
    make_recorder(n_kept=1000)


def test_the_estimator_refuses_what_does_not_fit():
    model = FairBayesianClustering(n_draws=10**15, n_warmup=0)
    with pytest.raises(ValueError, match=r"1,000,000,000,000,000 draws kept.*GB.*thin="):
        model.fit(np.arange(40.0).reshape(20, 2), sensitive_features=["a", "b"] * 10)


@pytest.mark.parametrize(
    ("own", "files", "limit"),
    [
        ("0::/", {"sys/fs/cgroup/memory.max": "5000\n"}, 5000),
        ("0::/", {"sys/fs/cgroup/memory.max": "max\n"}, None),
        ("0::/job/step", {"sys/fs/cgroup/job/memory.max": "7000\n"}, 7000),
        (
            "0::/job/step",
            {
                "sys/fs/cgroup/job/memory.max": "7000\n",
                "sys/fs/cgroup/job/step/memory.max": "6000\n",
                "sys/fs/cgroup/another/memory.max": "10\n",
            },
            6000,
        ),
        (
            "5:memory:/docker/1\n2:cpu:/x\n0::/",
            {
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "4000\n",
                "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "10\n",
            },
            4000,
        ),
        ("0::/", {}, None),
    ],
)
def test_the_limit_of_a_container_counts(tmp_path, own, files, limit):
    for name, text in {"proc/self/cgroup": own, **files}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    machine = memory_limit(tmp_path / "nothing")
    assert memory_limit(tmp_path) == (limit or machine)
    assert machine is None or machine > 10_000
