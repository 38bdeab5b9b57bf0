"""What the draws say."""

from fairmix.posterior.posterior import Posterior

__all__ = ["Posterior"]
