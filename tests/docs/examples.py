"""Run the examples of a page, as a reader would who copies them one after the other."""

import doctest
import re

import numpy as np
import pandas as pd

import fairmix
from fairmix import FairBayesianClustering, metrics

#: A block that begins with this line is left out: it takes minutes, or asks for what a test lacks.
NOT_RUN = "# not run"
#: Chains of examples are this much shorter in tests: what is asked is whether the example runs.
SHORTER = 20
#: What a fit needs at least, to be no special case.
LEAST_SWEEPS = 25
#: And a comparison begins no more runs after so many seconds.
TIME_LIMIT = 8


def blocks_of(text):
    """Give the blocks of Python of a page: code, or what was typed at a prompt."""
    for code in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if code.startswith(NOT_RUN):
            continue
        if ">>> " in code:
            code = "".join(example.source for example in doctest.DocTestParser().get_examples(code))
        yield code


def write_tables(folder):
    """Write the files that pages name, each with the columns that they speak of."""
    rng = np.random.default_rng(0)
    for name, n_rows in (("customers.csv", 200), ("next_month.csv", 150)):
        make_customers(rng, n_rows).to_csv(folder / name, index=False)
    make_penguins(rng, 120).to_csv(folder / "penguins-raw.csv", index=False)


def make_customers(rng, n_rows):
    """Draw customers of three kinds."""
    kind = rng.choice(3, n_rows, p=[0.5, 0.3, 0.2])
    return pd.DataFrame(
        {
            "age": rng.normal(np.take([30, 45, 60], kind), 4.0),
            "spent": np.exp(rng.normal(np.take([3, 5, 4], kind), 0.3)),
            "orders": rng.poisson(np.take([1, 6, 3], kind)),
            "months": rng.exponential(np.take([5, 30, 60], kind)),
            "postcode": rng.choice([1010, 1020, 8010], n_rows),
            "failed calls": rng.geometric(np.take([0.7, 0.3, 0.1], kind)) - 1,
            "sex": rng.choice(["female", "male"], n_rows),
            "region": rng.choice(["north", "south"], n_rows),
        }
    )


def make_penguins(rng, n_rows):
    """Draw penguins of three species, some cells missing."""
    species = rng.choice(3, n_rows)
    penguins = pd.DataFrame(
        {
            "Island": np.take(["Biscoe", "Dream", "Torgersen"], species),
            "Clutch Completion": rng.choice(["Yes", "No"], n_rows),
            "Culmen Length (mm)": rng.normal(np.take([39, 48, 47], species), 2.5),
            "Culmen Depth (mm)": rng.normal(np.take([18, 18, 15], species), 1.0),
            "Flipper Length (mm)": rng.normal(np.take([190, 196, 217], species), 6.5),
            "Body Mass (g)": rng.normal(np.take([3700, 3700, 5100], species), 400),
            "Delta 15 N (o/oo)": rng.normal(np.take([8.9, 9.4, 8.2], species), 0.3),
            "Delta 13 C (o/oo)": rng.normal(np.take([-25.8, -24.5, -26.0], species), 0.3),
            "Sex": rng.choice(["FEMALE", "MALE"], n_rows),
        }
    )
    penguins.loc[::30, "Culmen Length (mm)"] = np.nan
    return penguins


def names_at_hand():
    """Give what pages take for granted: imports, a table, its groups and a fitted model."""
    table = pd.read_csv("customers.csv")
    X, group = table[["age", "spent", "months"]], table["sex"]
    model = FairBayesianClustering(n_warmup=300, n_draws=300, random_state=0)
    model.fit(X, sensitive_features=group)
    return {
        "FairBayesianClustering": FairBayesianClustering,
        "compare": fairmix.compare,
        "fairmix": fairmix,
        "metrics": metrics,
        "np": np,
        "pd": pd,
        "table": table,
        "X": X,
        "group": group,
        "model": model,
        "__name__": "__main__",
    }


def run_page(text, page):
    """Run the blocks of a page in one namespace; errors say in which block."""
    namespace = names_at_hand()
    for number, code in enumerate(blocks_of(text), start=1):
        exec(compile(code, f"{page}, block {number}", "exec"), namespace)
