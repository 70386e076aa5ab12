"""``SearchTraceDisplay``: the score after every step of the search."""

from typing import Any, Self

from ebnc.errors import DataError
from ebnc.report.displays.canvas import LINE, MUTED, POSITIVE, Display, plain_text
from ebnc.report.words import shortened
from ebnc.search.trace import SearchTrace

MOST_NAMED = 12


class SearchTraceDisplay(Display):
    """The score after every accepted move of a search; a short search has its moves labelled.

    Parameters
    ----------
    trace : SearchTrace
        The steps of the search, as in ``EBNCClassifier.trace_``.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where the last plot is.
    """

    def __init__(self, *, trace: SearchTrace) -> None:
        self.trace = trace

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Plot the search of a classifier.

        Parameters
        ----------
        estimator : EBNCClassifier
            A classifier fitted with ``structure="search"``.
        ax : matplotlib Axes, optional
            The axes to draw on. Default: those of a new figure.
        """
        trace = getattr(estimator, "trace_", None)
        if not isinstance(trace, SearchTrace):
            raise DataError(
                "the plot needs the trace of a search: fit an EBNCClassifier with "
                f"structure='search'; got {type(estimator).__name__}"
            )
        return cls(trace=trace).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the trace.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. Default: those of a new figure.
        """
        steps = self.trace.steps
        ax = self._open(ax, (7.0, 3.6))
        from matplotlib.ticker import MaxNLocator

        places, scores = range(len(steps)), [step.score for step in steps]
        ax.plot(places, scores, color=POSITIVE, marker="o", markersize=4)
        if len(steps) <= MOST_NAMED:
            for i, step in enumerate(steps):
                is_late = i > (len(steps) - 1) / 2
                ax.annotate(
                    plain_text(shortened(step.move, 36)),
                    (i, step.score),
                    xytext=(-7, 4) if is_late else (7, -4),
                    textcoords="offset points",
                    ha="right" if is_late else "left",
                    va="bottom" if is_late else "top",
                    size="small",
                    color=MUTED,
                )
        ax.margins(0.06, 0.14)
        ax.set(xlabel="step", ylabel="score (nats)")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", color=LINE, linewidth=0.6)
        return self
