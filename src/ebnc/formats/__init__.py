"""Files of models, one format per module; ``native`` is this package's own JSON."""
