"""Compile the samplers that the tests need, each once, so that parallel tests find them on disk.

Run: python -m tests.compile_samplers [--all]
"""

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from fairmix import FairBayesianClustering
from fairmix.baselines import FairletMixture
from fairmix.datasets import load_toy
from tests.exact.enumeration import enumerate_states
from tests.exact.problems import make_problem
from tests.test_tables import make_customers
from tests.tiny import FAMILIES, MORE_FAMILIES, make_chain
from tests.twins import InstantiatedGaussian

TWIN, TABLE, BUNDLES = "the Gaussian's twin", "a mixed table", "bundles"


def compile_sampler(name):
    """Compile one sampler, by running a chain without any sweep."""
    if name == TABLE:
        frame, groups, _ = make_customers()
        model = FairBayesianClustering("auto", n_chains=1, n_warmup=0, n_draws=1)
        model.fit(frame, sensitive_features=groups)
        return name
    if name == BUNDLES:
        toy = load_toy(n_rows=60)
        model = FairletMixture(n_chains=1, n_warmup=0, n_draws=1)
        model.fit(toy.data, sensitive_features=toy.sensitive_features)
        return name
    family = InstantiatedGaussian() if name == TWIN else None
    problem = make_problem("gaussian" if name == TWIN else name, (2, 2))
    start = next(iter(enumerate_states(problem)))
    make_chain(problem, start, seed=0, family=family).run(0)
    return name


def main(*options):
    """Compile the samplers of ``make test``, or all of them; those that take longest first."""
    families = [name for name in FAMILIES if "--all" in options or name not in MORE_FAMILIES]
    slowest = (TWIN, "student-t", "skew-normal")
    names = sorted([TWIN, TABLE, BUNDLES, *families], key=lambda name: name not in slowest)
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        for name in pool.map(compile_sampler, names):
            print(f"compiled: {name}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
