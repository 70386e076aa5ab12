"""The joint distribution: its nodes and its graph."""
