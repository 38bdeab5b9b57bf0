"""Several ways to cluster the same data, side by side."""

from fairmix.comparison.methods import default_methods
from fairmix.comparison.result import Comparison
from fairmix.comparison.side_by_side import compare

__all__ = ["Comparison", "compare", "default_methods"]
