r"""Expected variation of information of each of many partitions.

.. math::
   \mathrm{VI}(a, b) = \frac1n \Big( \sum_i f(n_i) + \sum_j f(m_j)
       - 2 \sum_{ij} f(n_{ij}) \Big), \qquad f(k) = k \log_2 k.

Rows are listed cluster by cluster of one partition, so a pair costs time linear in
rows and memory linear in clusters.
"""

from numba import njit


@njit(cache=True, nogil=True)
def add_expected_information(labels, entropy, order, start, counts, losses):
    """Add the sum of VI to all other partitions to ``losses``.

    ``labels`` is (partition, row), ``entropy[k]`` is f(k); ``order`` (row), ``start`` and
    ``counts`` (cluster) are room to work in, ``counts`` zero.
    """
    n_partitions = labels.shape[0]
    for a in range(n_partitions):
        n_clusters = list_rows(labels[a], order, start)
        own = 0.0
        for c in range(n_clusters):
            own += entropy[start[c + 1] - start[c]]
        losses[a] += own * (n_partitions - 1)
        for b in range(n_partitions):
            if b != a:
                losses[b] += own
        for b in range(a):
            joint = 0.0
            for c in range(n_clusters):
                for k in range(start[c], start[c + 1]):
                    counts[labels[b, order[k]]] += 1
                for k in range(start[c], start[c + 1]):
                    label = labels[b, order[k]]
                    joint += entropy[counts[label]]
                    counts[label] = 0
            losses[a] -= 2.0 * joint
            losses[b] -= 2.0 * joint


@njit(cache=True, nogil=True)
def list_rows(labels, order, start):
    """List the rows cluster by cluster; give the number of clusters."""
    n_clusters = 0
    for row in range(labels.size):
        n_clusters = max(n_clusters, int(labels[row]) + 1)
    start[: n_clusters + 1] = 0
    for row in range(labels.size):
        start[labels[row] + 1] += 1
    for c in range(n_clusters):
        start[c + 1] += start[c]
    for row in range(labels.size):
        order[start[labels[row]]] = row
        start[labels[row]] += 1
    for c in range(n_clusters, 0, -1):
        start[c] = start[c - 1]
    start[0] = 0
    return n_clusters
