"""File formats of models, one per module; ``native`` is the package's own JSON."""
