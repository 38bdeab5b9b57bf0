"""Predictive densities: against direct marginals, by quadrature, and with sampled parameters."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from fairmix.families import Gaussian
from fairmix.model.partition_prior import Fixed, Geometric, PartitionPrior
from fairmix.model.places import fill_places, share_out
from fairmix.posterior import prediction as module
from fairmix.posterior.prediction import ARRAYS, Prediction, log_weights_of
from tests.exact.marginals import GRIDS, make_log_marginal
from tests.monte_carlo import assert_mean
from tests.posterior.made import make_training
from tests.tiny import FAMILIES

#: Rows that are fitted and new ones; in the columns of counts and durations all have mean 2, so
#: that hyperparameters that follow from means are the same with the new rows and without.
NUMBERS = np.array([[0.3, -1.2], [0.8, 0.1], [-1.1, 0.4], [1.9, 0.2], [0.2, 0.7], [-3.0, 2.5]])
COUNTS = np.array([[2.0, 1.0], [4.0, 2.0], [0.0, 3.0], [2.0, 2.0], [1.0, 4.0], [3.0, 0.0]])
CODES = np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 1.0], [0.0, 0.0], [2.0, 1.0], [0.0, 1.0]])
N_FITTED = 4
LABELS = np.array([0, 1, 0, 0])
TABLES = {
    "gaussian": NUMBERS,
    "gaussian-spherical": NUMBERS,
    "gaussian-full": NUMBERS,
    "gaussian-tied, given": NUMBERS,
    "poisson": COUNTS,
    "exponential": COUNTS,
    "categorical": CODES,
    "bernoulli": CODES[:, 1:],
    "mixed": np.column_stack(
        [NUMBERS[:, 0], CODES[:, 0], COUNTS[:, 0], NUMBERS[:, 1], CODES[:, 1]]
    ),
}


@pytest.fixture
def without_compiler(monkeypatch):
    """Run verbs as plain Python, so that no family has to be compiled."""
    monkeypatch.setattr("fairmix.sampler.compilation.is_compiled", lambda: False)


def learn(rows, family, labels=LABELS, **options):
    training = make_training(rows, family, **{"standardize": False, **options})
    log_weights = log_weights_of(np.bincount(labels), 1.0, Geometric(0.1))
    return Prediction.learn(training, labels, log_weights)


def members_of(labels, cluster):
    return tuple(np.flatnonzero(labels == cluster).tolist())


@pytest.mark.filterwarnings("ignore:X")
@pytest.mark.parametrize("family", TABLES)
def test_densities_are_ratios_of_marginals(family, request):
    if family != "gaussian-tied, given":  # whose variance a chain is asked for
        request.getfixturevalue("without_compiler")
    rows = TABLES[family]
    log_marginal, _ = make_log_marginal(family, rows)
    prediction = learn(rows[:N_FITTED], FAMILIES[family])
    found = prediction.log_predictive(rows[N_FITTED:])
    for new in (4, 5):
        for cluster in (0, 1):
            members = members_of(LABELS, cluster)
            expected = log_marginal((*members, new)) - log_marginal(members)
            assert found[new - N_FITTED, cluster] == pytest.approx(expected, rel=1e-9)
        assert found[new - N_FITTED, 2] == pytest.approx(log_marginal((new,)), rel=1e-9)


@pytest.mark.parametrize("family", ["gaussian", "mixed"])
def test_missing_cells_are_left_out(family, without_compiler):
    """New rows may have holes although the rows that were fitted have none."""
    rows = TABLES[family].copy()
    rows[4, 0] = rows[5, 1] = np.nan
    log_marginal, _ = make_log_marginal(f"{family}, missing" if family != "mixed" else family, rows)
    prediction = learn(rows[:N_FITTED], FAMILIES[family], allow_missing=True)
    found = prediction.log_predictive(rows[N_FITTED:])
    for new in (4, 5):
        members = members_of(LABELS, 0)
        expected = log_marginal((*members, new)) - log_marginal(members)
        assert found[new - N_FITTED, 0] == pytest.approx(expected, rel=1e-9)


def test_compiled_and_plain_code_agree(monkeypatch):
    rng = np.random.default_rng(0)
    old, new = rng.normal(size=(40, 3)), rng.normal(size=(25, 3))
    prediction = learn(old, Gaussian(), np.arange(40) % 5)
    monkeypatch.setattr(module, "BLOCK", 10)  # in parts
    compiled = prediction.log_predictive(new)
    monkeypatch.setattr("fairmix.sampler.compilation.is_compiled", lambda: False)
    assert compiled == pytest.approx(prediction.log_predictive(new), rel=1e-12)
    # Room for a call is that call's own, so that calls from threads do not meet.
    assert prediction._densities() is not prediction._densities()


def test_scores_are_densities_in_the_users_units():
    """With a column in thousands, densities are a thousandth, and integrate to 1 all the same."""
    values = 1000.0 * np.array([[0.3], [0.8], [-1.1], [1.9], [5.0]])
    prediction = learn(values, Gaussian(), np.array([0, 0, 0, 1, 1]), standardize=True)
    x = np.linspace(-4e6, 4e6, 800_001)
    table = prediction.schema.read(x[:, None])
    density = np.exp(prediction.log_density(table.rows))
    assert np.trapezoid(density, x) == pytest.approx(1.0, abs=1e-3)


def test_the_score_counts_a_new_cluster(without_compiler):
    """And a cluster of all rows has tables for one more."""
    rows = np.array([[0.0], [0.1], [0.2], [0.15]])
    prediction = learn(rows, Gaussian(), np.zeros(4, dtype=int))
    far = np.array([[50.0]])
    alone = prediction.log_predictive(far)[0, -1] + prediction.log_weights[-1]
    joined = prediction.log_predictive(far)[0, 0] + prediction.log_weights[0]
    assert alone > joined
    assert prediction.log_density(far)[0] == pytest.approx(np.logaddexp(alone, joined))


@pytest.mark.parametrize("prior", [Geometric(0.1), Fixed(3)])
@pytest.mark.parametrize("sizes", [(3, 1), (5, 2, 2), (4,)])
def test_weights_are_those_of_the_prior_on_partitions(prior, sizes):
    sizes = np.array(sizes)
    larger = PartitionPrior(int(sizes.sum()) + 1, 0.7, prior)
    joined = [larger.log_prob(sizes + np.eye(len(sizes), dtype=int)[c]) for c in range(len(sizes))]
    opened = larger.log_prob(np.append(sizes, 1))
    before = PartitionPrior(int(sizes.sum()), 0.7, prior).log_prob(sizes)
    expected = np.array([*joined, opened]) - before
    assert logsumexp(expected) == pytest.approx(0, abs=1e-9)
    assert np.exp(log_weights_of(sizes, 0.7, prior)) == pytest.approx(np.exp(expected))


def test_prices_are_those_of_rows_without_themselves(without_compiler):
    rng = np.random.default_rng(1)
    rows, labels = rng.normal(size=(30, 2)), np.arange(30) % 3
    groups = np.where(np.arange(30) % 5 < 2, "few", "many")
    prediction = learn(rows, Gaussian(), labels, sensitive=groups)
    log_marginal, _ = make_log_marginal("gaussian", rows)
    for place, group in enumerate(prediction.schema.group_names):
        own = np.flatnonzero(groups == group)
        costs = np.empty((len(own), 3))
        for k, row in enumerate(own):
            for cluster in range(3):
                others = tuple(j for j in members_of(labels, cluster) if j != row)
                costs[k, cluster] = log_marginal(others) - log_marginal((*others, row))
        expected = fill_places(costs, share_out(np.bincount(labels) / 30, len(own))).prices
        assert prediction.prices[place] == pytest.approx(expected, abs=1e-8)


def log_predictives_by_draw(prediction, name, rows):
    """Give the densities of rows given each draw of the parameters by itself."""
    draws = getattr(prediction, name)
    return np.array(
        [np.exp(replace(prediction, **{name: each[None]}).log_predictive(rows)) for each in draws]
    )


def test_a_variance_that_is_inferred_is_averaged_over():
    rows = NUMBERS[:, :1]
    log_marginal, combine = make_log_marginal("gaussian-tied", rows)
    prediction = learn(rows[:N_FITTED], FAMILIES["gaussian-tied"])
    assert len(prediction.shared) == module.N_DRAWS
    by_draw = log_predictives_by_draw(prediction, "shared", rows[N_FITTED:])
    found = np.exp(prediction.log_predictive(rows[N_FITTED:]))
    assert found == pytest.approx(by_draw.mean(axis=0))
    members = [members_of(LABELS, cluster) for cluster in (0, 1)]
    before = combine(sum(map(log_marginal, members)))
    expected = np.empty((2, 3))
    for k, new in enumerate((4, 5)):
        for cluster in (0, 1):
            after = [(*m, new) if c == cluster else m for c, m in enumerate(members)]
            expected[k, cluster] = np.exp(combine(sum(map(log_marginal, after))) - before)
        after = [*members, (new,)]
        expected[k, 2] = np.exp(combine(sum(map(log_marginal, after))) - before)
    assert_mean(by_draw, expected)


@pytest.mark.parametrize("family", GRIDS)
def test_parameters_that_are_sampled_are_averaged_over(family, monkeypatch):
    monkeypatch.setattr(module, "N_DRAWS", 400)
    rows = NUMBERS[:, :1]
    densities, log_weights = GRIDS[family](rows)
    prediction = learn(rows[:N_FITTED], FAMILIES[family])
    by_draw = log_predictives_by_draw(prediction, "parameters", rows[N_FITTED:])
    expected = np.empty((2, 3))
    for k, new in enumerate((4, 5)):
        for cluster, members in enumerate([*(members_of(LABELS, c) for c in (0, 1)), ()]):
            given = densities[list(members)].sum(axis=0) + log_weights
            expected[k, cluster] = np.exp(logsumexp(given + densities[new]) - logsumexp(given))
    assert_mean(by_draw, expected)


def test_everything_comes_back_from_plain_arrays():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(20, 2))
    prediction = learn(rows, Gaussian(), np.arange(20) % 2, sensitive=["a", "b"] * 10)
    plain = prediction.to_plain()
    assert all(isinstance(value, (str, np.ndarray)) for value in plain.values())
    held = np.concatenate([v.ravel() for v in plain.values() if isinstance(v, np.ndarray)])
    assert not np.isin(rows, held).any(), "no row is in it"
    again = Prediction.from_plain(plain)
    assert again.schema == prediction.schema
    assert again.fingerprint == prediction.fingerprint
    for name in ARRAYS:
        assert np.array_equal(getattr(again, name), getattr(prediction, name)), name
    pickled = pickle.loads(pickle.dumps(prediction))
    for other in (again, pickled):
        assert np.array_equal(other.log_predictive(rows), prediction.log_predictive(rows))
    del plain["counts"]
    with pytest.raises(ValueError, match="lacks 'counts'"):
        Prediction.from_plain(plain)
