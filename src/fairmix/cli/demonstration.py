"""``demo``: people of a census that comes with the package, as a table and as a run."""

from __future__ import annotations

import shlex
from pathlib import Path

from fairmix.cli.fitting import fit
from fairmix.cli.run_folder import refusal_to_write
from fairmix.cli.safe_csv import csv_of
from fairmix.cli.settings import Settings
from fairmix.cli.telling import CommandError, Teller
from fairmix.datasets import load_adult
from fairmix.files import write_whole

#: Sweeps that are enough for a first look.
N_SWEEPS = 300


def demonstrate(out: Path, teller: Teller) -> int:
    """Write a table and fit it.

    Parameters
    ----------
    out : Path
        The folder for both.
    teller : Teller
        Tells the user.

    Returns
    -------
    int
        The exit code.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise CommandError(f"--out {out} is not empty; name another folder, or remove it.")
    adult = load_adult(n_rows="paper")
    table = adult.data.drop(columns="fnlwgt").assign(sex=adult.sensitive_features)
    path = out / "adult.csv"
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_whole(path, csv_of(list(table.columns), table.to_numpy().tolist()))
    except OSError as error:
        raise refusal_to_write(out, error) from None
    settings = Settings(data=str(path), sensitive=("sex",), warmup=N_SWEEPS, draws=N_SWEEPS, seed=0)
    code = fit(settings, out / "run", shlex.join(["fairmix", "demo", "--out", str(out)]), teller)
    teller.note(
        f"The same for a table of yours: fairmix fit {shlex.quote(str(path))} --sensitive sex"
    )
    return code
