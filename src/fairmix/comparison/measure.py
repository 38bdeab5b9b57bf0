"""One run of one method: its labels, and what is measured of them."""

from __future__ import annotations

import contextlib
import inspect
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import silhouette_score

from fairmix.comparison.methods import Run
from fairmix.metrics import balance, fairness_gap
from fairmix.model.cost import squared_distance_cost
from fairmix.tables.frames import columns_of
from fairmix.tables.groups import read_labels

FloatArray = NDArray[np.float64]

#: Silhouettes are measured on so many rows at most.
SILHOUETTE_ROWS = 2000


@dataclass(frozen=True)
class Data:
    """What every run needs.

    Attributes
    ----------
    X : data frame or array-like
        The features.
    sensitive_features : array-like or data frame
        The groups.
    points : ndarray of shape (n_rows, n_coordinates)
        The features as points, which costs are measured on.
    """

    X: Any
    sensitive_features: Any
    points: FloatArray

    @property
    def attributes(self) -> dict[str, Any]:
        """The sensitive columns by name, if there are several."""
        columns = columns_of(self.sensitive_features, "sensitive_features")
        return {str(name): values for name, values in columns} if len(columns) > 1 else {}

    def empty_row(self, run: Run) -> dict[str, Any]:
        """Give the row of a run that has not been made.

        Parameters
        ----------
        run : Run
            The run.

        Returns
        -------
        dict
            From columns to values.
        """
        row: dict[str, Any] = {"method": run.method, "setting": run.setting, "seed": run.seed}
        measured = ["n_clusters", "cost", "gap", "balance"]
        measured += [f"gap of {name}" for name in self.attributes]
        row |= dict.fromkeys([*measured, "silhouette", "seconds", "memory"], np.nan)
        return row | {"warning": "", "error": "", "left_out": False}


def make_run(data: Data, run: Run) -> dict[str, Any]:
    """Fit one estimator with one seed, and measure; an error is part of the answer.

    Parameters
    ----------
    data : Data
        The data.
    run : Run
        What is fitted.

    Returns
    -------
    dict
        The row of the run.
    """
    row = data.empty_row(run)
    _forget_peak_memory()
    began = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            labels = _fit_predict(clone(run.estimator), data, run.seed)
        row["seconds"] = time.perf_counter() - began
        row["memory"] = _peak_memory()
        row["warning"] = "; ".join(dict.fromkeys(str(warning.message) for warning in caught))
        row |= _measure(data, labels)
    except Exception as error:  # one method's failure must not end the others
        row["error"] = f"{type(error).__name__}: {error}"
    return row


def _forget_peak_memory() -> None:
    """Let the system measure the process's peak memory from now on, where it can."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak_memory() -> float:
    """Give the process's peak memory in MB; NaN where the system does not say."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    return float("nan")


def _fit_predict(model: Any, data: Data, seed: int) -> NDArray[np.int64]:
    """Give the labels of an estimator, ours or any clusterer of scikit-learn's kind."""
    parameters = model.get_params()
    if "random_state" in parameters:
        model.set_params(random_state=seed)
    if parameters.get("verbose") == "auto":
        model.set_params(verbose=0)  # what is told is told of all runs together
    takes = inspect.signature(model.fit_predict).parameters.values()
    is_told = any(p.name == "sensitive_features" or p.kind == p.VAR_KEYWORD for p in takes)
    told = {"sensitive_features": data.sensitive_features} if is_told else {}
    return read_labels(model.fit_predict(data.X, **told), len(data.points))


def _measure(data: Data, labels: Any) -> dict[str, Any]:
    """Measure one clustering."""
    found: dict[str, Any] = {
        "n_clusters": len(np.unique(labels)),
        "cost": float(squared_distance_cost(data.points, labels[None])[0]),
        "gap": fairness_gap(labels, data.sensitive_features),
        "balance": balance(labels, data.sensitive_features),
    }
    for name, values in data.attributes.items():
        found[f"gap of {name}"] = fairness_gap(labels, values)
    rows = np.arange(len(labels))
    if len(rows) > SILHOUETTE_ROWS:
        rows = np.random.default_rng(0).choice(rows, SILHOUETTE_ROWS, replace=False)
    if 1 < len(np.unique(labels[rows])) < len(rows):
        found["silhouette"] = float(silhouette_score(data.points[rows], labels[rows]))
    return found
