"""The posterior of tiny problems by enumeration: plain Python, shares no code with fairmix.

A state is (labels of the anchors, match of the followers, masked followers, free match of
the masked ones).
"""

import itertools
import math
from collections import defaultdict
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from tests.exact.marginals import make_log_marginal


@dataclass(frozen=True)
class TinyProblem:
    """A problem that is small enough to be enumerated; rows anchors first."""

    rows: tuple  # of tuples of numbers
    sizes: tuple  # of the groups, anchors first
    extra: tuple | None = ()  # for each follower group the anchors with one more; None: R is free
    n_masked: tuple = ()  # for each follower group
    family: str = "gaussian"
    temperature: float = 1.0
    concentration: float = 1.0
    success_prob: float = 0.1
    max_gap: float = math.inf
    min_balance: float = 0.0
    power: float = 1.0  # of the likelihood
    # Rows that are not matched may be capped: for each attribute the group of every row, its
    # groups numbered from the smallest on.
    attributes: tuple = ()
    gap_kind: str = "paper"
    cap_price: float = math.inf  # of an excess of 1

    @property
    def n_anchors(self):
        return self.sizes[0]

    def group_rows(self, group):
        start = sum(self.sizes[:group])
        return range(start, start + self.sizes[group])

    def distance(self, i, j):
        a, b = self.rows[i], self.rows[j]
        if self.family in ("bernoulli", "categorical"):
            return float(sum(x != y for x, y in zip(a, b, strict=True)))
        return math.dist(np.nan_to_num(a), np.nan_to_num(b))


def set_partitions(n):
    """Give all label tuples of n things, in order of first appearance."""
    labels = [(0,)]
    for _ in range(n - 1):
        labels = [(*lab, k) for lab in labels for k in range(max(lab) + 2)]
    return labels


def canonical(labels):
    """Number labels in order of first appearance."""
    seen = {}
    return tuple(seen.setdefault(label, len(seen)) for label in labels)


def log_v(n, t, gamma, success_prob):
    """Sum the series of V_n(t) directly."""
    total = 0.0
    for k in range(t, 3000):
        log_term = math.lgamma(k + 1) - math.lgamma(k - t + 1)
        log_term -= math.lgamma(gamma * k + n) - math.lgamma(gamma * k)
        log_term += math.log(success_prob) + (k - 1) * math.log1p(-success_prob)
        total += math.exp(log_term)
    return math.log(total)


def group_maps(problem, group):
    """Give all maps of a follower group's rows to anchors with the right capacities."""
    base, remainder = divmod(problem.sizes[group], problem.n_anchors)
    if problem.extra is None:
        choices = itertools.combinations(range(problem.n_anchors), remainder)
    else:
        choices = [problem.extra[group - 1] if problem.extra else ()]
    maps = set()
    for extra in choices:
        seats = [i for i in range(problem.n_anchors) for _ in range(base + (i in extra))]
        maps |= set(itertools.permutations(seats))
    return sorted(maps)


def is_inside(problem, members):
    """Tell whether clusters, given as lists of rows, obey the cap."""
    groups = range(len(problem.sizes))
    counts = [[sum(i in problem.group_rows(b) for i in m) for b in groups] for m in members]
    # Fractions, so that a gap equal to the cap is inside.
    gap = Fraction(0)
    for b in groups[1:]:
        for count in counts:
            gap += abs(Fraction(count[b], problem.sizes[b]) - Fraction(count[0], problem.sizes[0]))
    gap /= 2 * max(len(groups) - 1, 1)
    balance = min(Fraction(min(count), max(count)) for count in counts)
    return gap <= problem.max_gap + 1e-12 and balance >= problem.min_balance - 1e-12


def attribute_gap(problem, codes, members):
    """Give the gap of clusters, given as lists of rows, between the groups of an attribute."""
    every = range(max(codes) + 1)
    size = [codes.count(b) for b in every]
    n_rows = len(codes)

    def distance(b, compared):
        total = Fraction(0)
        for rows in members:
            own = Fraction(sum(codes[i] == b for i in rows), size[b])
            if compared is None:
                total += abs(own - Fraction(len(rows), n_rows))
            else:
                total += abs(
                    own - Fraction(sum(codes[i] == compared for i in rows), size[compared])
                )
        return total / 2

    if problem.gap_kind == "paper":
        return sum(distance(b, 0) for b in every[1:]) / (len(every) - 1)
    distances = [distance(b, None) for b in every]
    if problem.gap_kind == "worst":
        return max(distances)
    return sum(Fraction(size[b], n_rows) * distances[b] for b in every)


def excess_of(problem, members):
    """Give by how much clusters are outside the cap on rows that are not matched."""
    excess = 0.0
    for codes in problem.attributes:
        gap = attribute_gap(problem, codes, members)
        if gap > problem.max_gap + 1e-12:
            excess += float(gap) - problem.max_gap
        for rows in members:
            counts = [sum(codes[i] == b for i in rows) for b in range(max(codes) + 1)]
            lack = Fraction(problem.min_balance).limit_denominator(100) * max(counts) - min(counts)
            excess += max(float(lack), 0.0) / len(codes)
    return excess


def enumerate_priced(problem):
    """Give the same for a chain that may be outside at a price."""
    weights = {}
    for state, weight in enumerate_states(replace(problem, attributes=())).items():
        members = [[i for i, c in enumerate(state[0]) if c == k] for k in set(state[0])]
        excess = excess_of(problem, members)
        if excess == 0.0 or problem.cap_price < math.inf:
            weights[state] = weight - (problem.cap_price * excess if excess else 0.0)
    return weights


def enumerate_states(problem):
    """Give {state: log weight} for all states."""
    if problem.attributes:
        return enumerate_priced(replace(problem, cap_price=math.inf))
    n_anchors = problem.n_anchors
    followers = range(n_anchors, sum(problem.sizes))
    groups = range(1, len(problem.sizes))
    n_masked = problem.n_masked or (0,) * len(groups)
    log_marginal, total_of = make_log_marginal(problem.family, problem.rows)
    log_prior = {
        labels: log_v(n_anchors, max(labels) + 1, problem.concentration, problem.success_prob)
        + sum(
            math.lgamma(problem.concentration + labels.count(c))
            - math.lgamma(problem.concentration)
            for c in set(labels)
        )
        for labels in set_partitions(n_anchors)
    }
    masks = [
        frozenset().union(*choice)
        for choice in itertools.product(
            *(itertools.combinations(problem.group_rows(b), n_masked[b - 1]) for b in groups)
        )
    ]
    weights = {}
    for parts in itertools.product(*(group_maps(problem, b) for b in groups)):
        match = tuple(itertools.chain(*parts))
        log_energy = 0.0
        for b in groups:
            for j in problem.group_rows(b):
                separation = problem.distance(match[j - n_anchors], j)
                log_energy -= separation / (problem.sizes[b] * problem.temperature)
        for mask in masks:
            for free in itertools.product(range(n_anchors), repeat=len(mask)):
                free_of = dict(zip(sorted(mask), free, strict=True))
                for labels, prior in log_prior.items():
                    state = (labels, match, mask, free)
                    members = defaultdict(list)
                    for i in range(n_anchors):
                        members[labels[i]].append(i)
                    for j in followers:
                        members[labels[free_of.get(j, match[j - n_anchors])]].append(j)
                    if not is_inside(problem, members.values()):
                        continue
                    total = sum(log_marginal(tuple(m)) for m in members.values())
                    likelihood = total_of(problem.power * total)
                    weights[state] = prior + log_energy + likelihood
    return weights


def row_partition(state, n_anchors):
    """Give the canonical labels of all rows in a state."""
    labels, match, mask, free = state
    free_of = dict(zip(sorted(mask), free, strict=True))
    rows = range(n_anchors, n_anchors + len(match))
    return canonical(labels + tuple(labels[free_of.get(j, match[j - n_anchors])] for j in rows))


def law_of(weights, summary):
    """Give the law of a summary of the state."""
    largest = max(weights.values())
    law = defaultdict(float)
    for state, weight in weights.items():
        law[summary(state)] += math.exp(weight - largest)
    total = sum(law.values())
    return {key: value / total for key, value in law.items()}


def co_clustering(weights, n_anchors, n_rows):
    """Give the matrix of P(two rows are in one cluster)."""
    together = np.zeros((n_rows, n_rows))
    for labels, p in law_of(weights, lambda state: row_partition(state, n_anchors)).items():
        labels = np.array(labels)
        together += p * (labels[:, None] == labels)
    return together
