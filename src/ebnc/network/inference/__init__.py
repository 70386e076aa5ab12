"""Inference in a network: exact sums, samples, posteriors."""
