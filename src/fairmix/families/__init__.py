"""Families: the distribution of the rows of one cluster, with its conjugate prior."""

from fairmix.families._protocol import Family, is_conjugate
from fairmix.families.bernoulli import Bernoulli
from fairmix.families.categorical import Categorical
from fairmix.families.gaussian import Gaussian

__all__ = ["Bernoulli", "Categorical", "Family", "Gaussian", "is_conjugate"]
