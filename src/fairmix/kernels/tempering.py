"""A family at a temperature: its log marginals times a power, for an annealed warm-up."""

from typing import Any, NamedTuple

import numpy as np


class Tempered(NamedTuple):
    """A family whose log marginals are multiplied by a power; at 1 it is the family itself."""

    family: Any
    power: np.ndarray  # one number, which a chain changes during its warm-up

    def log_marginal(self, count, stats):
        """Log marginal likelihood of ``count`` rows, times the power."""
        return self.power[0] * self.family.log_marginal(count, stats)
