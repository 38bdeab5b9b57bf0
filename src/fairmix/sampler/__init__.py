"""The sampler: chains, their starts, their warm-up, their moves."""
