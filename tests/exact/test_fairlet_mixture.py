"""Fair MFM follows the enumerated posterior of partitions of its fairlets."""

import math

import numpy as np
import pytest

from fairmix.baselines import FairletMixture
from tests.exact.enumeration import canonical, log_v, set_partitions
from tests.exact.marginals import gaussian_log_marginal
from tests.monte_carlo import assert_law, share_of


def posterior_of_fairlets(rows, fairlets):
    """Weigh all partitions of fairlets; the prior counts fairlets, the likelihood rows."""
    n_fairlets = fairlets.max() + 1
    weights = {}
    for labels in set_partitions(n_fairlets):
        t = max(labels) + 1
        log_weight = log_v(n_fairlets, t, 1.0, 0.1)
        for cluster in range(t):
            inside = [k for k, label in enumerate(labels) if label == cluster]
            log_weight += math.lgamma(1 + len(inside))  # the rising factorial of 1
            members = rows[np.isin(fairlets, inside)]
            log_weight += sum(gaussian_log_marginal(column) for column in members.T)
        weights[labels] = math.exp(log_weight)
    return weights


def test_enumeration():
    rng = np.random.default_rng(0)
    groups = np.arange(14) % 7 < 3  # six and eight rows
    rows = rng.normal(size=(14, 2)) + 1.5 * rng.integers(-1, 2, 14)[:, None]
    model = FairletMixture(
        p=1,
        q=2,
        n_chains=1,
        n_warmup=100,
        n_draws=share_of(40_000),
        thin=2,
        init_partition="one",
        standardize=False,
        random_state=0,
    )
    with pytest.warns(UserWarning, match="has 6 rows"):
        model.fit(rows, sensitive_features=groups)
    fairlets = model.fairlets_
    sizes = np.bincount(fairlets)
    assert len(sizes) >= 4
    assert len(set(sizes)) > 1  # of different make-up
    first_row = [int(np.flatnonzero(fairlets == k)[0]) for k in range(len(sizes))]
    labels = model.posterior_.labels[0]
    assert (labels == labels[:, np.array(first_row)[fairlets]]).all()  # fairlets stay whole
    draws = [canonical(draw) for draw in labels[:, first_row].tolist()]
    assert_law(draws, posterior_of_fairlets(rows, fairlets))


def test_every_draw_is_balanced(diabetes):
    X, groups = diabetes
    model = FairletMixture(n_chains=2, n_warmup=20, n_draws=50, random_state=0)
    posterior = model.fit(X, sensitive_features=groups).posterior_
    p, q = model.ratio_
    assert posterior.balance.min() >= p / q - 1e-12
    assert posterior.fairness_gap.max() <= 1 - p / q * 396 / 372 + 1e-12
    assert set(model.groups_) == set(groups)
