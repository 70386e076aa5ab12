"""Questions to a network: exact sums, samples, posteriors."""
