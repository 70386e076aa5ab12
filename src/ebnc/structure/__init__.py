"""Structures without parameters: the embedded DAG m′, its clusters, model strings."""
