"""Plots with matplotlib that follow scikit-learn's display API.

``SomeDisplay.from_estimator(model, …)`` computes and plots; ``display.plot(ax=…)`` plots again.
``ax_`` and ``figure_`` are the axes and the figure of the last plot. Displays need matplotlib:
``pip install ebnc[plot]``.
"""
