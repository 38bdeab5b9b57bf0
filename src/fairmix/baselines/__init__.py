"""Other ways to cluster, with the same interface, to compare with."""

from fairmix.baselines.mfm import MixtureOfFiniteMixtures

__all__ = ["MixtureOfFiniteMixtures"]
