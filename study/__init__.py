"""Are embedded Bayesian network classifiers useful in practice? The experiments the paper asks for.

Three parts, each one command that can be stopped and goes on where it was:

- ``python -m study.classification``: single classifiers against other people's (Part A);
- ``python -m study.density``: whole networks on binary sets, against published figures (Part B);
- ``python -m study.local``: local distributions head to head in known networks (Part C).

Every finished cell is a line of a tracked ``results.csv`` (``cells``), with the environment that
made it. ``python -m study.report`` makes all tables and figures from those files, and fills in the
numbers that README and docs quote (``claims``).
"""
