"""Fit a table and write what was found: ``fit``, ``resume`` and ``demo`` come here."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fairmix.baselines import MixtureOfFiniteMixtures
from fairmix.cli.answer import exit_code_of, tell_answer
from fairmix.cli.inspection import Inspection, family_of_features, inspect
from fairmix.cli.interrupts import noting_interrupts
from fairmix.cli.reading import read_table
from fairmix.cli.run_folder import RunFolder, free_folder, refusal_to_write
from fairmix.cli.safe_csv import csv_of
from fairmix.cli.settings import Settings
from fairmix.cli.telling import INTERRUPTED, CommandError, Teller, in_options
from fairmix.cli.understanding import describe
from fairmix.estimator import FairBayesianClustering
from fairmix.files import write_whole
from fairmix.sampler.checkpoint import OtherRunError

#: With more rows times sweeps than this, the user is told of shorter ways.
LONG = 30_000_000
#: Parameters that the plain mixture has, too.
OF_PLAIN = ("family", "missing", "components_prior", "n_chains", "n_warmup", "n_draws", "n_jobs")


def fit(settings: Settings, out: Path | None, command: str, teller: Teller) -> int:
    """Fit a table and write what was found into a folder.

    Parameters
    ----------
    settings : Settings
        What to fit, and how.
    out : Path or None
        The folder; None is a new one, called like the table.
    command : str
        What the user has called, for the report.
    teller : Teller
        Tells the user.

    Returns
    -------
    int
        The exit code.
    """
    folder = RunFolder(out or free_folder(Path(settings.data)))
    folder.refuse_others()
    found = inspect(read_table(settings), settings)
    teller.note(describe(found))
    found.refuse()
    for text in found.warned:
        teller.warn(text)
    goes_on = folder.is_under_way
    settings = dataclasses.replace(
        found.settings, data=str(Path(settings.data).resolve()), seed=settings.seed
    )
    settings = folder.begin(settings)
    found.settings = settings
    teller.note(
        f"{'Going on with' if goes_on else 'Beginning'} {folder.path}/: {settings.chains} chains "
        f"of {settings.warmup:,} + {settings.draws:,} sweeps, seed {settings.seed}."
    )
    n_sweeps = settings.chains * (settings.warmup + settings.draws)
    if found.table.n_rows * n_sweeps > LONG:
        teller.note(
            "That may take long; how long is told as it goes. For a first look, pass --warmup 100 "
            "--draws 100; for an end in time, --max-minutes."
        )
    how_to_go_on = f"fairmix resume {folder.as_typed}"
    with noting_interrupts() as interrupts:
        try:
            model = _sample(found, folder, teller)
            plain = _sample_plain(found, teller) if settings.with_plain else None
            is_whole = not interrupts and _is_whole(model, settings)
            summary = _write(found, folder, model, plain, command, teller)
            if is_whole:
                folder.write_config(settings)
                folder.end()
            else:
                folder.write_config(settings, _note_on_part(model))
        except KeyboardInterrupt:
            raise CommandError(
                f"interrupted; what was sampled so far is kept, and {how_to_go_on} goes on",
                INTERRUPTED,
            ) from None
        except OtherRunError:
            raise CommandError(
                f"{folder.path} is under way with another table than {settings.data} is now, or "
                "by another version of fairmix; bring that back, or begin anew in another folder."
            ) from None
        except OSError as error:
            stop = refusal_to_write(folder.path, error)
            kept = f"{stop}; {how_to_go_on} then goes on from what was written down"
            raise CommandError(kept, stop.code) from None
    part = "" if is_whole else f"These are the draws so far; {how_to_go_on} goes on."
    text = tell_answer(model, summary, settings, folder, part)
    teller.answer(text, {"out": str(folder.path), "is_whole": is_whole, "summary": summary})
    return exit_code_of(model)


def _sample(found: Inspection, folder: RunFolder, teller: Teller) -> FairBayesianClustering:
    """Fit the fair mixture; its chains are written down as they go."""
    parameters = found.settings.parameters() | {
        "family": family_of_features(found.settings, found.features),
        "checkpoint": folder.checkpoint,
        "verbose": 0 if teller.is_quiet else 1,
    }
    model = FairBayesianClustering(**parameters)
    groups = found.frame(found.settings.sensitive)
    return model.fit(found.frame(found.features), sensitive_features=groups)


def _sample_plain(found: Inspection, teller: Teller) -> MixtureOfFiniteMixtures | None:
    """Fit the plain mixture, to compare with."""
    teller.note("The plain mixture, to see what fairness costs:")
    given = found.settings.parameters()
    model = MixtureOfFiniteMixtures(
        **{name: given[name] for name in OF_PLAIN},
        random_state=found.settings.seed,
        verbose=0 if teller.is_quiet else 1,
    )
    model.family = family_of_features(found.settings, found.features)
    groups = found.frame(found.settings.sensitive)
    try:
        return model.fit(found.frame(found.features), sensitive_features=groups)
    except KeyboardInterrupt:
        teller.warn("the plain mixture was interrupted, so the report has nothing of it")
        return None


def _is_whole(model: FairBayesianClustering, settings: Settings) -> bool:
    """Tell whether all draws are there that were asked for."""
    posterior = model.posterior_
    if (posterior.n_chains, max(posterior.n_draws, settings.draws)) != (
        settings.chains,
        posterior.n_draws,
    ):
        return False
    limit = model.max_seconds
    is_late = limit is not None and model.provenance_["seconds"] >= limit
    return not (settings.until_converged and is_late)


def _note_on_part(model: FairBayesianClustering) -> str:
    """Say how to repeat a run that was ended before its time."""
    n_draws = model.posterior_.n_draws
    return (
        f"So far it has {n_draws:,} draws of each chain; fairmix resume goes on from there.\n"
        f"To repeat it as it is, add --draws {n_draws} --max-minutes inf."
    )


def _write(
    found: Inspection,
    folder: RunFolder,
    model: FairBayesianClustering,
    plain: Any,
    command: str,
    teller: Teller,
) -> dict[str, Any]:
    """Write all files of a run; give its summary."""
    from fairmix.report import summarize, write_report

    teller.note(f"Writing {folder.path}/")
    model.save(folder.model)
    names, rows = rows_of_labels(
        found.table, found.settings.id, model, model.labels_, model.posterior_.probabilities()
    )
    write_whole(folder.labels, csv_of(names, rows))
    table = model.profile().table()
    lines = zip(table.index, *table.to_numpy().T.tolist(), strict=True)
    write_whole(folder.clusters, csv_of(["cluster", *table.columns], lines))
    source = {
        "name": found.table.path.name,
        "id": found.settings.id,
        "left_out": found.left_out,
        "command": command,
    }
    summary = summarize(model, source=source, plain=plain)
    chains = summary["chains"]
    chains["advice"] = [in_options(step) for step in chains["advice"]]
    text = json.dumps(summary, ensure_ascii=False, allow_nan=False, indent=1)
    write_whole(folder.summary, text.encode())
    try:
        write_report(summary, folder.report)
    except ImportError as error:
        teller.warn(
            f"there is no report.html ({error}); then call fairmix report {folder.as_typed}"
        )
    return summary


def rows_of_labels(
    table: Any, id_column: str | None, model: Any, labels: Any, probabilities: Any
) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Give the rows of a file of labels.

    Parameters
    ----------
    table : FileTable
        The table.
    id_column : str or None
        The column that names its rows; None are their numbers, from 1 on.
    model : estimator
        The fitted model, for the names of the clusters.
    labels : ndarray of shape (n_rows,)
        Clusters of the rows.
    probabilities : ndarray of shape (n_rows, n_clusters)
        How probable each cluster is.

    Returns
    -------
    names : list of str
        The header.
    rows : iterator of tuple
        The rows.
    """
    called = {cluster.label: cluster.name for cluster in model.profile().clusters}
    order = {label: k for k, label in enumerate(sorted(called))}
    place = np.array([order[label] for label in labels.tolist()])
    own = probabilities[np.arange(len(labels)), place]
    ids: Any = range(1, len(labels) + 1)
    if id_column is not None:
        ids = map(_name_of_row, table.column(id_column).values.tolist())
    rows = zip(
        ids,
        labels.tolist(),
        (called[label] for label in labels.tolist()),
        (f"{value:.4f}" for value in own.tolist()),
        strict=True,
    )
    return [id_column or "row", "cluster", "name", "probability"], rows


def _name_of_row(value: Any) -> Any:
    """Give a name as the table has it: whole numbers were made decimal ones if one is missing."""
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return None
    return int(value) if value.is_integer() else value
