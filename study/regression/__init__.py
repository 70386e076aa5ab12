"""How good are predicted distributions of a number? Two folds, against two normal models."""
