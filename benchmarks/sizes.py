"""How long a draw takes, and how much memory a fit, by rows x columns x clusters.

Each size is a process of its own, one chain on one core, with the sampler compiled before. Rows are
drawn around as many centres as there are clusters; three of ten are of the smaller group. After
some sweeps the fit goes on for some more draws, and then for twice as many; the difference is what
the draws took, without what each fit does once. It is processor time that counts, since other work
on the machine does not change it much.

Run: python benchmarks/sizes.py (writes the table of docs/how_to/large.md; some minutes)
"""

import json
import resource
import subprocess
import sys
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np

import fairmix

PAGE = Path(__file__).parents[1] / "docs" / "how_to" / "large.md"
FIRST, LAST = "<!-- sizes: made by benchmarks/sizes.py -->\n", "<!-- end of sizes -->\n"
ROWS, COLUMNS, CLUSTERS = (1_000, 10_000, 100_000), (5, 20), (3, 10)
#: Draws that are timed, by rows, and sweeps before.
TIMED = {1_000: 150, 10_000: 20, 100_000: 4}
FORMS = {"matching": {}, "gap": {"max_gap": 0.05}}
#: How far centres are from each other on each column, in standard deviations of a cluster.
SPREAD = 4.0


def make_table(n_rows, n_columns, n_clusters):
    """Draw rows around centres, and a group for each that knows nothing of them."""
    rng = np.random.default_rng(0)
    centres = SPREAD * rng.normal(size=(n_clusters, n_columns))
    rows = centres[rng.integers(n_clusters, size=n_rows)] + rng.normal(size=(n_rows, n_columns))
    return rows, rng.choice(["a", "b"], n_rows, p=[0.3, 0.7])


def measure(form, n_rows, n_columns, n_clusters):
    """Give milliseconds a draw, peak megabytes and the number of clusters found."""
    X, groups = make_table(n_rows, n_columns, n_clusters)
    n_timed = TIMED[n_rows]
    model = fairmix.FairBayesianClustering(
        n_chains=1,
        n_warmup=n_timed // 2,
        n_draws=n_timed // 2,
        components_prior=fairmix.Fixed(n_clusters),
        init_partition="kmeans",
        annealing=False,
        random_state=0,
        verbose=0,
        **FORMS[form],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one short chain says little about the posterior
        model.fit(X, sensitive_features=groups)
        model.set_params(warm_start=True)
        once, twice = (add_draws(model, X, groups, k * n_timed) for k in (1, 2))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return 1000 * (twice - once) / n_timed, memory, model.n_clusters_


def add_draws(model, X, groups, n_more):
    """Go on with a fit; give the seconds that it took."""
    model.set_params(n_draws=model.n_draws + n_more)
    began = time.process_time()
    model.fit(X, sensitive_features=groups)
    return time.process_time() - began


def show(number):
    """Write a number with two figures that count."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def main():
    fairmix.compile("gaussian")
    lines = [
        "| rows | columns | clusters | matching: ms a draw | MB | gap: ms a draw | MB |",
        "|---|---|---|---|---|---|---|",
    ]
    for n_rows, n_columns, n_clusters in product(ROWS, COLUMNS, CLUSTERS):
        cells = [f"{n_rows:,}", n_columns, n_clusters]
        for form in FORMS:
            given = [form, n_rows, n_columns, n_clusters]
            command = [sys.executable, __file__, json.dumps(given)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            milliseconds, memory, found = json.loads(done.stdout)
            print(*given, f"{milliseconds:.3g} ms, {memory:.0f} MB, {found} clusters", flush=True)
            cells += [show(milliseconds), f"{memory:,.0f}"]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    before, _, rest = PAGE.read_text().partition(FIRST)
    after = rest.partition(LAST)[2]
    table = "\n".join(lines)
    PAGE.write_text(f"{before}{FIRST}\n{table}\n\n{LAST}{after}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(*json.loads(sys.argv[1]))))
    else:
        main()
