"""The command line as a process, and tables to try it on."""

import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd

#: A fit that takes hardly any time.
TINY = ("--chains", "2", "--warmup", "20", "--draws", "30", "--jobs", "1")


def start(*arguments, cwd):
    """Start the command line as a process."""
    return subprocess.Popen(
        [sys.executable, "-m", "fairmix", *map(str, arguments)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )


def shell(*arguments, cwd):
    """Run the command line as a process; give its exit code, output and errors."""
    process = start(*arguments, cwd=cwd)
    out, err = process.communicate(timeout=120)
    assert "Traceback" not in err, err
    return process.returncode, out, err


def interrupt_after(process, words):
    """Press Ctrl-C when a line with these words was told; give exit code, output and errors."""
    told = ""
    while words not in told:
        line = process.stderr.readline()
        assert line, told
        told += line
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert "Traceback" not in err, err
    return process.returncode, out, told + err


def customers(n_rows=60, seed=0):
    """Give a table with an id, numbers, counts, categories, dates and holes."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, n_rows)
    table = pd.DataFrame(
        {
            "customer_id": [f"C{100 + k}" for k in range(n_rows)],
            "age": (30.5 + 30 * kind + rng.normal(0, 4, n_rows)).round(1),
            "visits": rng.poisson(2 + 6 * kind),
            "plan": np.array(["basic", "plus", "pro"])[kind + rng.integers(0, 2, n_rows)],
            "joined": pd.date_range("2020-01-01", periods=n_rows).strftime("%Y-%m-%d"),
            "country": "DE",
            "sex": np.where(np.arange(n_rows) % 5 < 2, "F", "M"),
        }
    )
    table.loc[::7, "age"] = np.nan
    return table
