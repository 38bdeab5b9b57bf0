import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from fairmix import Fixed, Geometric, ShiftedPoisson, Uniform
from fairmix.model.partition_prior import PartitionPrior, as_components_prior
from tests.exact.enumeration import set_partitions
from tests.monte_carlo import assert_mean

# log V_n(t) and log V_n(t + 1) / V_n(t) for Geometric(0.1), computed elsewhere to 20 digits:
# (gamma, n, t, log V, log ratio).
REFERENCE = [
    (1.0, 5, 1, -6.6648106520474728947, -0.38597242518112990295),
    (1.0, 5, 2, -7.0507830772286027977, 0.90777211795252350425),
    (1.0, 5, 10, 15.003388023619071801, 4.0393137851373675493),
    (1.0, 100, 1, -366.02381549591202108, -3.9910969302388755433),
    (1.0, 100, 10, -379.97705465296361964, 0.091620868475839426874),
    (1.0, 1000, 3, -5925.9642795319988981, -4.524002116746562033),
    (1.0, 32561, 1, -305784.55230433807249, -9.8030040144672285069),
    (1.0, 32561, 10, -305851.11054044683319, -5.7954496743942832799),
    (0.5, 5, 1, -5.0077136171129353117, 0.19767521873348450952),
    (0.5, 5, 10, 18.31417686249843358, 4.0589260867794413514),
    (0.5, 100, 3, -366.4391225944936563, -0.68758769670095244871),
    (0.5, 1000, 10, -5924.0194725994401539, -0.27675419986186845091),
    (0.5, 32561, 2, -305783.95125082320301, -4.3136673282302360933),
    (0.5, 32561, 10, -305808.66121556955979, -2.1054454301711352076),
]
PRIORS = [
    Geometric(0.1),
    Geometric(0.9),
    Fixed(3),
    Uniform(4),
    ShiftedPoisson(2.5),
    as_components_prior(lambda k: -0.3 * k + math.log(k)),
]


@pytest.mark.parametrize(("gamma", "n", "t", "log_v", "log_ratio"), REFERENCE)
def test_log_v_to_machine_precision(gamma, n, t, log_v, log_ratio):
    prior = PartitionPrior(n, gamma, Geometric(0.1), max_clusters=t + 1)
    assert prior.log_v[t] == pytest.approx(log_v, rel=1e-15)
    assert prior.log_ratio[t] == pytest.approx(log_ratio, rel=1e-14, abs=1e-14)


def direct_log_v(n, t, gamma, prior, k_max=5000):
    k = np.arange(max(t, 1), k_max)
    log_terms = prior.log_pmf(k) + [
        math.lgamma(i + 1)
        - math.lgamma(i - t + 1)
        - math.lgamma(gamma * i + n)
        + math.lgamma(gamma * i)
        for i in k
    ]
    return np.logaddexp.reduce(log_terms)


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("gamma", [0.01, 1.0, 30.0])
def test_log_v_equals_the_direct_sum(prior, gamma):
    n = 30
    table = PartitionPrior(n, gamma, prior)
    for t in range(n + 1):
        assert table.log_v[t] == pytest.approx(direct_log_v(n, t, gamma, prior), rel=1e-9)


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: type(p).__name__)
def test_recursion_over_n(prior):
    gamma, n = 0.7, 40
    smaller, larger = PartitionPrior(n, gamma, prior), PartitionPrior(n + 1, gamma, prior)
    for t in range(1, n + 1):
        expected = np.logaddexp(
            np.log(n + gamma * t) + larger.log_v[t], np.log(gamma) + larger.log_v[t + 1]
        )
        assert smaller.log_v[t] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("prior", [p for p in PRIORS if not hasattr(p, "function")], ids=repr)
@pytest.mark.parametrize("gamma", [0.3, 1.0, 2.0])
def test_probabilities_of_all_set_partitions_sum_to_one(prior, gamma):
    table = PartitionPrior(6, gamma, prior)
    total = sum(
        math.exp(table.log_prob(np.bincount(labels)))
        for labels in set_partitions(6)
        if table.log_v[max(labels) + 1] > -math.inf
    )
    assert total == pytest.approx(1.0, rel=1e-12)


def test_prior_of_the_number_of_clusters():
    table = PartitionPrior(5, 1.0, Geometric(0.1))
    found = [
        math.exp(table.log_v[t]) * math.comb(4, t - 1) * math.factorial(5) / math.factorial(t)
        for t in range(1, 6)
    ]
    expected = [
        0.152999762593798,
        0.208015193996914,
        0.257813398725398,
        0.248565976385053,
        0.132605668298837,
    ]
    assert found == pytest.approx(expected, rel=1e-13)


def test_components_given_clusters():
    table = PartitionPrior(12, 0.8, Geometric(0.2))
    for t in (1, 4, 12):
        values, probabilities = table.components_given_clusters(t)
        assert values[0] == t
        assert probabilities.sum() == pytest.approx(1.0)
        log_terms = [
            math.lgamma(k + 1)
            - math.lgamma(k - t + 1)
            - math.lgamma(0.8 * k + 12)
            + math.lgamma(0.8 * k)
            + k * math.log(0.8)
            for k in values[:40]
        ]
        expected = np.exp(np.array(log_terms) - log_terms[0])
        assert probabilities[:40] / probabilities[0] == pytest.approx(expected, rel=1e-9)
        draws = table.draw_components(np.random.default_rng(0), np.full(20_000, t))
        assert_mean(draws, values @ probabilities)


@pytest.mark.parametrize("possible", [(2, 100), (1, 3000)])
def test_a_prior_may_have_gaps(possible):
    prior = as_components_prior(lambda k: 0.0 if k in possible else -math.inf)
    table = PartitionPrior(10, 1.0, prior)
    for t in range(11):
        assert table.log_v[t] == pytest.approx(direct_log_v(10, t, 1.0, prior), rel=1e-9)


# log V_n(t + 1) / V_n(t) for n = 350,000 and gamma = 1, the series summed with 40 digits.
LARGE = [
    (Geometric(0.1), 1, -12.177894339968866),
    (Geometric(0.1), 1023, 0.9932630263626331),
    (Geometric(0.1), 1500, 1.7594962248104327),
    (Geometric(0.1), 20_000, 6.982451101064797),
    (Geometric(0.1), 200_003, 12.064618136458787),
    (Geometric(0.1), 262_144, 12.772432414454222),
    (Geometric(0.1), 349_999, 13.53685068780469),
    (ShiftedPoisson(3), 1, -10.973923250008971),
    (ShiftedPoisson(3), 1500, -4.35745737151514),
    (ShiftedPoisson(3), 20_000, -1.8191007748507255),
    (ShiftedPoisson(3), 200_003, 0.08702939327847915),
    (ShiftedPoisson(3), 349_999, 0.40546867953239907),
]


@pytest.mark.parametrize("prior", [Geometric(0.1), ShiftedPoisson(3)], ids=repr)
def test_a_large_table_needs_few_sums(prior, monkeypatch):
    summed = []
    series = PartitionPrior._series
    monkeypatch.setattr(
        PartitionPrior, "_series", lambda self, t, *walk: summed.append(t) or series(self, t, *walk)
    )
    table = PartitionPrior(350_000, 1.0, prior)
    assert len(summed) < 2000
    assert np.isfinite(table.log_v).all()
    for of_prior, t, log_ratio in LARGE:
        if of_prior == prior:
            # A Poisson probability of e^(-4 million) is known to 1e-9 itself.
            bound = 1e-12 if prior == Geometric(0.1) else 1e-9
            assert table.log_ratio[t] == pytest.approx(log_ratio, rel=1e-12, abs=bound)


UNEVEN = {
    "geometric": Geometric(0.1),
    "poisson": ShiftedPoisson(3),
    "ends": Uniform(1500),
    "ends late": Uniform(2999),
    "every seventh": lambda k: -0.1 * k if k % 7 == 0 else -math.inf,
    "a lump": lambda k: -0.5 * k + (900.0 if k == 1900 else 0.0),
    "a gap": lambda k: -math.inf if 1400 < k < 1700 else -0.2 * k,
    "a kink": lambda k: -0.9 * k if k < 2100 else -1890.0 - 0.05 * (k - 2100),
}


@pytest.mark.parametrize("prior", UNEVEN.values(), ids=UNEVEN)
def test_ratios_read_off_a_polynomial_equal_those_summed_one_by_one(prior, monkeypatch):
    n, prior = 3000, as_components_prior(prior)
    table = PartitionPrior(n, 0.8, prior)
    monkeypatch.setattr("fairmix.model.partition_prior.ONE_BY_ONE", n)
    one_by_one = PartitionPrior(n, 0.8, prior)
    assert np.array_equal(table.log_v[:1025], one_by_one.log_v[:1025])
    assert table.log_ratio == pytest.approx(one_by_one.log_ratio, abs=1e-10)
    assert table.log_v == pytest.approx(one_by_one.log_v, rel=1e-12)


def test_threads_may_share_a_prior():
    alone = PartitionPrior(2, 0.1, Geometric(0.001))
    expected = [alone.components_given_clusters(t)[1] for t in (1, 2)]
    shared = PartitionPrior(2, 0.1, Geometric(0.001))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda t: shared.components_given_clusters(t)[1], [1, 2] * 20))
    for k, probabilities in enumerate(found):
        assert np.array_equal(probabilities, expected[k % 2])


def test_fixed_components_are_certain():
    table = PartitionPrior(10, 1.0, Fixed(4))
    draws = table.draw_components(np.random.default_rng(0), np.array([1, 2, 4]))
    assert draws.tolist() == [4, 4, 4]
    assert np.isneginf(table.log_v[5:]).all()


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Geometric(0.0), "success_prob"),
        (lambda: Geometric(1.5), "success_prob"),
        (lambda: Geometric("a"), "success_prob"),
        (lambda: Fixed(0), "n_components"),
        (lambda: Fixed(10**9), "n_components must be .* at most"),
        (lambda: Uniform(10**30), "max_components must be .* at most"),
        (lambda: ShiftedPoisson(10**400), "rate"),
        (lambda: ShiftedPoisson("a"), "rate"),
        (
            lambda: PartitionPrior(5, 1.0, as_components_prior(lambda k: "a")),
            "components_prior: the function .* failed for k = 1 .*log p_K",
        ),
        (lambda: PartitionPrior(5, 1.0, as_components_prior(lambda: 0.0)), "failed for k = 1"),
        (lambda: PartitionPrior(5, 1.0, as_components_prior(lambda k: 1 / 0)), "ZeroDivision"),
        (lambda: Fixed(2.5), "n_components"),
        (lambda: Uniform(-1), "max_components"),
        (lambda: ShiftedPoisson(-1.0), "rate"),
        (
            lambda: PartitionPrior(5, 1.0, as_components_prior(lambda k: math.nan)),
            "components_prior",
        ),
        (
            lambda: PartitionPrior(5, 1.0, as_components_prior(lambda k: -math.inf)),
            "no probability",
        ),
        (lambda: PartitionPrior(2, 1.0, as_components_prior(lambda k: 0.0)), "too slowly"),
    ],
)
def test_bad_priors(make, match, monkeypatch):
    monkeypatch.setattr("fairmix.model.partition_prior.MAX_TERMS", 2**13)
    with pytest.raises((ValueError, TypeError), match=match):
        make()


def test_prior_of_the_wrong_type():
    with pytest.raises(TypeError, match=r"Fixed\(3\)"):
        as_components_prior(3)
    with pytest.raises(TypeError, match="components_prior"):
        as_components_prior(Geometric)
