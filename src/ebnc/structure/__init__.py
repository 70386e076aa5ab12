"""Graphs without numbers: the embedded DAG m′, its clusters, canonical forms, model strings."""
