"""How good is the classifier on raw data? Cross-validation against what people would use instead.

Unlike Part A, no model gets intervals that others have cut: numbers stay numbers. Read in order:
``sets`` (rows, folds, targets) → ``rivals`` → ``__main__`` (measure) → ``table``.
"""
