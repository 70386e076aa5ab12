"""Many local distributions as one joint: learn, sample, query, log-likelihood (§2, §5)."""
