"""Moves over structures, screening, greedy search; never mutates its input."""
