"""Part A. How good are single classifiers? 5×2-fold cross-validation against other people's.

Read in order: ``data`` (sets, folds, bins) → ``peers`` (the rivals) → ``models`` (everything that
can be measured, by name) → ``measure`` (one cell) → ``__main__`` (all of them) → ``report``.
"""
