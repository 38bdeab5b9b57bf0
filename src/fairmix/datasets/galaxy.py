"""The galaxy velocities."""

from __future__ import annotations

from importlib import resources

import pandas as pd
from sklearn.utils import Bunch


def load_galaxy() -> Bunch:
    """Load the velocities of 82 galaxies, in 1000 km/s: a classic for mixtures.

    There is no sensitive attribute: ``sensitive_features`` is None.

    Returns
    -------
    Bunch
        ``data`` (data frame), ``sensitive_features``, ``feature_names``, ``DESCR``.
    """
    with resources.files("fairmix.datasets").joinpath("galaxy.csv").open() as file:
        data = pd.read_csv(file)
    return Bunch(
        data=data,
        sensitive_features=None,
        feature_names=list(data.columns),
        DESCR=(
            "Velocities of 82 galaxies from six conic sections of the Corona Borealis region "
            "(Postman, Huchra & Geller 1986), in 1000 km/s, as analysed by Roeder (1990)."
        ),
    )
