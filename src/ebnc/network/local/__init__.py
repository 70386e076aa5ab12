"""Local distributions p(z | parents) of a node: EBNC, table, tree, decision graph, noisy-MAX."""
