"""``ebnc network``: Bayesian networks, one verb per module."""
