"""Fitted models out of files."""

from __future__ import annotations

from typing import Any

from fairmix.baselines import FairletMixture, MixtureOfFiniteMixtures
from fairmix.estimator import FairBayesianClustering
from fairmix.posterior.storage import load_model


def load(path: Any) -> Any:
    """Read a fitted model that its ``save`` has written.

    Nothing in the file is executed: it holds numbers and text, and objects are made of a few
    classes of fairmix only. A family or a prior of your own is not in it, just its name: the model
    does all that does not need it, and says so.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator
        A model of the class that was saved, with ``labels_``, ``posterior_`` and all other
        attributes. It cannot go on sampling (``warm_start``), since it has the draws, but not
        the chains.

    Raises
    ------
    ValueError
        If the file is damaged, or not of ours.
    OSError
        If there is no such file, or it cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> import fairmix
    >>> from fairmix.datasets import load_toy
    >>> toy = load_toy()
    >>> model = fairmix.FairBayesianClustering(n_warmup=100, n_draws=100, random_state=0)
    >>> model = model.fit(toy.data, sensitive_features=toy.sensitive_features)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/toy.nc")
    ...     again = fairmix.load(f"{folder}/toy.nc")
    >>> again.n_clusters_
    3
    """
    return load_model(path, (FairBayesianClustering, FairletMixture, MixtureOfFiniteMixtures))
