"""Search over structures: moves, screening, greedy search. Inputs are never changed."""
