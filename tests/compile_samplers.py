"""Compile the samplers that the tests need, each once, so that parallel tests find them on disk.

Run: python -m tests.compile_samplers [--all]
"""

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import fairmix
from tests.tiny import FAMILIES, MORE_FAMILIES
from tests.twins import InstantiatedGaussian

TWIN, BUNDLES = "the Gaussian's twin", "bundles"


def compile_sampler(name):
    """Compile one sampler; give its name."""
    if name == BUNDLES:
        fairmix.compile("gaussian", bundled=True)
    else:
        fairmix.compile(InstantiatedGaussian() if name == TWIN else FAMILIES[name])
    return name


def main(*options):
    """Compile the samplers of ``make test``, or all of them; those that take longest first."""
    compile_sampler(BUNDLES)  # and what serves all, before there are several who would
    families = [name for name in FAMILIES if "--all" in options or name not in MORE_FAMILIES]
    slowest = (TWIN, "student-t", "skew-normal")
    names = sorted([TWIN, *families], key=lambda name: name not in slowest)
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        for name in pool.map(compile_sampler, names):
            print(f"compiled: {name}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
