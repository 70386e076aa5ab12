"""Learning a network from data: sparse and dense regimes, and networks of known arcs."""
