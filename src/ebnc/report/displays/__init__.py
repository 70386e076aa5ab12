"""Pictures with matplotlib, in scikit-learn's manner.

``SomeDisplay.from_estimator(model, …)`` computes and plots; ``display.plot(ax=…)`` plots again.
``ax_`` and ``figure_`` are what was drawn on. Needs matplotlib: ``pip install ebnc[plot]``.
"""
