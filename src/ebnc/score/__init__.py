"""Scores of a fit: evidence, BIC, leave-one-out log-loss, standard errors (§5)."""
