"""``ebnc network``: whole Bayesian networks, one verb per module."""
