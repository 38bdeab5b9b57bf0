"""Draws from the prior and of data given a state, in plain NumPy.

The energy makes p(T) depend on the data; here the distances are held fixed (those of the
problem's own rows) while the data are redrawn.
"""

import math

import numpy as np

from fairmix.sampler.arrays import Start
from tests.exact.enumeration import group_maps, is_inside, log_v, set_partitions


class PriorSimulator:
    """Draw (labels, match, mask, free match) from the prior of a tiny problem."""

    def __init__(self, problem, rng):
        self.problem, self.rng = problem, rng
        n, gamma = problem.n_anchors, problem.concentration
        self.partitions = set_partitions(n)
        self.partition_probs = np.array(
            [
                math.exp(
                    log_v(n, max(labels) + 1, gamma, problem.success_prob)
                    + sum(
                        math.lgamma(gamma + labels.count(c)) - math.lgamma(gamma)
                        for c in set(labels)
                    )
                )
                for labels in self.partitions
            ]
        )
        assert abs(self.partition_probs.sum() - 1) < 1e-9
        self.partition_probs /= self.partition_probs.sum()
        self.maps, self.map_probs = [], []
        for group in range(1, len(problem.sizes)):
            maps = group_maps(problem, group)
            energies = np.array([self.log_energy(group, m) for m in maps])
            weights = np.exp(energies - energies.max())
            self.maps.append(maps)
            self.map_probs.append(weights / weights.sum())

    def log_energy(self, group, anchors):
        rows = self.problem.group_rows(group)
        total = sum(self.problem.distance(i, j) for i, j in zip(anchors, rows, strict=True))
        return -total / (self.problem.sizes[group] * self.problem.temperature)

    def draw(self):
        """Draw a state; under a cap, until it is inside."""
        while True:
            start = self.draw_anywhere()
            home = start.match.copy()
            home[start.masked_rows] = start.free_match[start.masked_rows]
            labels = start.labels[home]
            if is_inside(self.problem, [np.flatnonzero(labels == c) for c in set(labels)]):
                return start

    def draw_anywhere(self):
        problem, rng = self.problem, self.rng
        labels = self.partitions[rng.choice(len(self.partitions), p=self.partition_probs)]
        match = list(range(problem.n_anchors))
        masked = []
        for group in range(1, len(problem.sizes)):
            choice = rng.choice(len(self.maps[group - 1]), p=self.map_probs[group - 1])
            match.extend(self.maps[group - 1][choice])
            rows = np.array(problem.group_rows(group))
            masked.extend(rng.choice(rows, problem.n_masked[group - 1], replace=False))
        return Start(
            labels=np.array(labels),
            match=np.array(match),
            masked_rows=np.array(sorted(masked), dtype=np.int64),
            free_match=rng.integers(problem.n_anchors, size=len(problem.rows)),
        )


def draw_rows(family, row_labels, n_columns, rng):
    """Draw data given labels: parameters from their prior, rows from the family."""
    rows = np.empty((len(row_labels), n_columns))
    for label in np.unique(row_labels):
        members = row_labels == label
        size = (int(members.sum()), n_columns)
        if family == "gaussian":
            precision = rng.gamma(1.0, 1.0, size=n_columns)
            mean = rng.normal(size=n_columns) / np.sqrt(precision)
            rows[members] = mean + rng.normal(size=size) / np.sqrt(precision)
        elif family == "bernoulli":
            rows[members] = rng.random(size) < rng.beta(1.0, 1.0, size=n_columns)
        else:
            for j in range(n_columns):
                probs = rng.dirichlet(np.ones(3))
                rows[members, j] = rng.choice(3, size=size[0], p=probs)
    return rows


def summarise(chain, rows):
    """Give bounded functions of state and data together."""
    model = chain.model
    n_anchors, n_rows = model.grouping.n_anchors, model.grouping.n_rows
    labels, match, masked = chain.row_labels, chain.match, chain.state.masked
    squashed = rows / (1 + np.abs(rows))
    same = labels[:, None] == labels
    near = 1 / (1 + np.abs(rows[:, None] - rows).sum(axis=2))
    followers = np.arange(n_anchors, n_rows)
    matched_same = match[followers][:, None] == match[followers]
    separation = np.array([model.distance.between(match[j], j) for j in followers])
    n_clusters = len(np.unique(labels[:n_anchors]))
    return np.array(
        [
            n_clusters,
            n_clusters**2,
            n_clusters * squashed[:, 0].mean(),
            same[:n_anchors, :n_anchors].sum(),
            (same * near).sum(),
            (same[:n_anchors, n_anchors:] * near[:n_anchors, n_anchors:]).sum(),
            near[match[followers], followers].sum(),
            (matched_same * near[n_anchors:, n_anchors:]).sum(),
            separation.sum(),
            separation[0] * squashed[followers[0], 0],
            masked[followers[0]],
            masked[followers[0]] * near[0, followers[0]],
            (masked[followers] * separation).sum(),
            (masked[:, None] * same * near).sum(),
            squashed.var(axis=0).mean(),
        ],
        dtype=float,
    )
