"""Datasets of the paper: in the package (toy, galaxy, adult), or found and downloaded."""

from fairmix.datasets.adult import load_adult
from fairmix.datasets.bank import load_bank
from fairmix.datasets.diabetes import load_diabetes
from fairmix.datasets.galaxy import load_galaxy
from fairmix.datasets.source import DownloadError
from fairmix.datasets.toy import load_toy

__all__ = [
    "DownloadError",
    "load_adult",
    "load_bank",
    "load_diabetes",
    "load_galaxy",
    "load_toy",
]
