"""Families: the distribution of the rows of one cluster, with a prior of its parameters."""

from fairmix.families.bernoulli import Bernoulli
from fairmix.families.bundled import Bundled, bundle_statistics, make_bundled
from fairmix.families.categorical import Categorical
from fairmix.families.checking import check_family
from fairmix.families.exponential import Exponential
from fairmix.families.gaussian import Gaussian
from fairmix.families.gaussian_full import GaussianFull
from fairmix.families.gaussian_spherical import GaussianSpherical
from fairmix.families.gaussian_tied import GaussianTied
from fairmix.families.poisson import Poisson
from fairmix.families.product import Product
from fairmix.families.protocol import Family, is_conjugate, missing_verbs, prepare
from fairmix.families.skew_normal import SkewNormal
from fairmix.families.student_t import StudentT

__all__ = [
    "Bernoulli",
    "Bundled",
    "Categorical",
    "Exponential",
    "Family",
    "Gaussian",
    "GaussianFull",
    "GaussianSpherical",
    "GaussianTied",
    "Poisson",
    "Product",
    "SkewNormal",
    "StudentT",
    "bundle_statistics",
    "check_family",
    "is_conjugate",
    "make_bundled",
    "missing_verbs",
    "prepare",
]
