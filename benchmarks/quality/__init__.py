"""How good are the predictions? 5×2-fold cross-validation against other people's classifiers.

Read in order: ``data`` (sets, folds, bins) → ``peers`` (the rivals) → ``models`` (everything that
can be measured, by name) → ``run`` (measures, resumably, into ``results.csv``) → ``report``.
"""
