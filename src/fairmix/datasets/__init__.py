"""Datasets that come with fairmix."""

from fairmix.datasets.galaxy import load_galaxy
from fairmix.datasets.toy import load_toy

__all__ = ["load_galaxy", "load_toy"]
