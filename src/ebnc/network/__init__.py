"""Bayesian networks: learn, fit, sample and query a joint distribution (§2, §5)."""
