"""The joint distribution: its nodes, its graph, and its nodes written out as tables."""
