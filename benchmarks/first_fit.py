"""The first fit: what compiling costs now and at an earlier commit, side by side in one run.

Both versions run the same code in fresh processes, each version with an empty cache of its own:

* the first fit (Diabetes, Gaussian), one with a further family (yes or no: above the median), one
  of a mixed table with ``family="auto"``, and one of the same table with its columns reversed: CPU
  seconds (user and system) and peak memory of the whole process;
* the first fit again in a later process: seconds until it has drawn;
* sweeps of each, versions in turn, the best of some rounds: 400 sweeps are the difference between
  two fits that keep the same number of draws.

CPU seconds hardly depend on what else the machine does, seconds on the clock do.

Run: python benchmarks/first_fit.py [--before COMMIT] [--rounds N]   (FAIRMIX_DATA has Diabetes;
without it, a table of its shape)
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Nothing large is imported here: a process starts with its parent's peak memory.
ROOT = Path(__file__).resolve().parents[1]
BEFORE = "4479cd4"  # the commit before the first fit was made cheaper
FITS = {
    "first fit": "gaussian",
    "further family": "bernoulli",
    "mixed table": "mixed",
    "its columns reversed": "reversed",
}
N_LATER = 3


def make_data(kind):
    """Give a table, the groups of its rows and the family."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    if kind in ("mixed", "reversed"):
        group, sort = rng.integers(2, size=700), rng.integers(3, size=700)
        place = (sort + (rng.random(700) < 0.2)) % 3
        table = pd.DataFrame(
            {
                "fare": np.exp(rng.normal(sort, 0.5)),
                "class": np.array(["first", "second", "third"])[place],
                "age": rng.normal(30.0 + 5.0 * sort, 10.0),
                "relatives": rng.poisson(0.5 + sort),
                "survived": np.where(rng.random(700) < 0.2 + 0.3 * sort, "yes", "no"),
            }
        )
        return (table if kind == "mixed" else table[table.columns[::-1]]), group, "auto"
    folder = os.environ.get("FAIRMIX_DATA")
    if folder:
        table = pd.read_csv(Path(folder) / "diabetes.csv")
        group = (table["age"] > 29).to_numpy()
        table = table.drop(columns=["age", "outcome"])
    else:
        group = rng.random(768) < 0.52
        table = pd.DataFrame(rng.normal(size=(768, 7)) + 2.0 * rng.integers(3, size=(768, 1)))
    return (table if kind == "gaussian" else table.gt(table.median()).astype(int)), group, kind


def fit(kind, **settings):
    """Fit one chain; give the CPU seconds that took."""
    import warnings

    import fairmix

    table, group, family = make_data(kind)
    settings = {"n_warmup": 0, "n_chains": 1, "init_partition": 10, "random_state": 0} | settings
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fairmix.FairBayesianClustering(family, **settings)
        model.fit(table, sensitive_features=group)
    return time.process_time() - began


def measure_fit(kind):
    """Measure a whole process that imports and makes one fit."""
    import fairmix

    imported = time.time()
    fit(kind, n_draws=1)
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "cpu": used.ru_utime + used.ru_stime,
        "megabytes": used.ru_maxrss / 1024,
        "import": imported - float(os.environ["BEGAN"]),
        "fit": time.time() - imported,
        "from": str(Path(fairmix.__file__).parents[2]),
    }


def measure_sweeps(kind):
    """Measure 400 sweeps, some times."""
    fit(kind, n_draws=100)  # loads, and warms up
    return [fit(kind, n_draws=500, thin=5) - fit(kind, n_draws=100) for _ in range(3)]


def run(version, task, kind):
    """Run a task in a fresh process with a version of the library."""
    source, cache = version
    chosen = {"PYTHONPATH": str(source / "src"), "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, __file__, "--task", task, kind],
        env={**os.environ, **chosen, "BEGAN": str(time.time())},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def compare(versions, rounds):
    """Measure both versions and print tables."""
    print(
        "| process | CPU s before | now | ratio | peak MB before | now |\n|---|---|---|---|---|---|"
    )
    for name, kind in FITS.items():
        now, before = (run(versions[which], "fit", kind) for which in ("now", "before"))
        assert all(Path(r["from"]) == versions[w][0] for w, r in (("now", now), ("before", before)))
        print(
            f"| {name} | {before['cpu']:.1f} | {now['cpu']:.1f} | {now['cpu'] / before['cpu']:.3f} "
            f"| {before['megabytes']:.0f} | {now['megabytes']:.0f} |",
            flush=True,
        )
    print("\n| later process, best of 3 | import, s | fit until drawn, s | CPU s | peak MB |")
    print("|---|---|---|---|---|")
    for which in ("before", "now"):
        later = [run(versions[which], "fit", "gaussian") for _ in range(N_LATER)]
        best = [min(each[key] for each in later) for key in ("import", "fit", "cpu", "megabytes")]
        print(f"| {which} | {best[0]:.2f} | {best[1]:.2f} | {best[2]:.2f} | {best[3]:.0f} |")
    print("\n| 400 sweeps, best | CPU s before | now | ratio |\n|---|---|---|---|")
    for kind in ("gaussian", "bernoulli", "mixed"):
        seconds = {"before": [], "now": []}
        for _ in range(rounds):  # in turn, since machines are noisy
            for which in seconds:
                seconds[which] += run(versions[which], "sweeps", kind)
        before, now = min(seconds["before"]), min(seconds["now"])
        print(f"| {kind} | {before:.2f} | {now:.2f} | {now / before:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", default=BEFORE, help="the commit to compare with")
    parser.add_argument("--rounds", type=int, default=4, help="of sweeps")
    parser.add_argument("--task", nargs=2, help=argparse.SUPPRESS)  # in a process of its own
    options = parser.parse_args()
    if options.task:
        task, kind = options.task
        print(json.dumps({"fit": measure_fit, "sweeps": measure_sweeps}[task](kind)))
        return
    with tempfile.TemporaryDirectory() as folder:
        worktree = Path(folder) / "before"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", worktree, options.before], check=True)
        try:
            caches = Path(folder) / "caches"
            versions = {"before": (worktree, caches / "before"), "now": (ROOT, caches / "now")}
            compare(versions, options.rounds)
        finally:
            subprocess.run([*git, "remove", "--force", worktree], check=True)


if __name__ == "__main__":
    main()
