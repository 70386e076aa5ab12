"""``SearchTraceDisplay``: score and parameters, step by step of the search."""

from typing import Any, Self

from ebnc.errors import DataError
from ebnc.report.displays.canvas import LINE, MUTED, POSITIVE, Display, plain_text
from ebnc.report.words import shortened
from ebnc.search.trace import SearchTrace

__all__ = ["SearchTraceDisplay"]

MOST_NAMED = 12


class SearchTraceDisplay(Display):
    """The score after every accepted move of a search; few moves are named.

    Parameters
    ----------
    trace : SearchTrace
        As in ``EBNCClassifier.trace_``.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(self, *, trace: SearchTrace) -> None:
        self.trace = trace

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """The search of a classifier fitted with ``structure="search"``."""
        trace = getattr(estimator, "trace_", None)
        if not isinstance(trace, SearchTrace):
            raise DataError(
                "there was no search; fit an EBNCClassifier with structure='search', got "
                f"{type(estimator).__name__}"
            )
        return cls(trace=trace).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw on axes given, or on new ones."""
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
