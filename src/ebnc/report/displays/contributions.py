"""``ContributionsDisplay``: the log odds of one row, term by term."""

from typing import Any, Self

from ebnc.errors import DataError
from ebnc.report.displays.canvas import (
    MUTED,
    NEGATIVE,
    POSITIVE,
    Display,
    class_number,
    plain_text,
)
from ebnc.report.models import reported
from ebnc.report.waterfall import MOST_BARS, Bar, waterfall
from ebnc.report.words import shortened, signed, state_text, term_name


class ContributionsDisplay(Display):
    """A waterfall from the intercept over the largest terms to the log odds of one row.

    The log odds compare a class with the geometric mean of the others (with two classes, they are
    the ordinary log odds) in the best model. Every term averages to zero over the states of its
    inputs, weighted by their frequency in the training data.

    Parameters
    ----------
    bars : tuple of Bar
        The bars, each with label, detail, value, start and end; the last one is the total.
    of_class : str
        The class of the log odds.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where the last plot is.

    Examples
    --------
    >>> import ebnc
    >>> data = {"sky": ["clear", "grey", "grey"] * 9, "rain": ["no", "yes", "no"] * 9}
    >>> model = ebnc.fit(ebnc.EmbeddedStructure.naive("rain", ["sky"]), data)
    >>> display = ebnc.ContributionsDisplay.from_estimator(model, {"sky": ["grey"]})
    >>> [bar.label for bar in display.bars]
    ['intercept', 'sky', 'log odds']
    """

    def __init__(self, *, bars: tuple[Bar, ...], of_class: str) -> None:
        self.bars = bars
        self.of_class = of_class

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,  # noqa: N803
        *,
        row: int = 0,
        of_class: Any = None,
        most: int = MOST_BARS,
        ax: Any = None,
    ) -> Self:
        """Plot the contributions of all terms to the prediction for one row.

        Parameters
        ----------
        estimator : EBNCClassifier or EBNC
            The fitted model.
        X : table
            The data.
        row : int
            The number of the row in ``X``.
        of_class : label, optional
            The class of the log odds. Default: the second of two classes, else the most probable.
        most : int
            Number of terms shown; one more bar holds the sum of the others.
        ax : matplotlib Axes, optional
            The axes to draw on. Default: those of a new figure.
        """
        adapter = reported(estimator)
        rows = adapter.encode(X)
        if not 0 <= row < len(rows):
            raise DataError(f"row {row} does not exist; the data have {len(rows)} rows")
        parts = adapter.contributions(rows)
        k = class_number(adapter, of_class, int(parts.log_odds[row].argmax()))
        states = {}
        for x in rows.names:
            code, known = int(rows.column(x)[row]), adapter.domain[x]
            states[x] = state_text(known[code]) if code < len(known) else "not known"
        labels = [term_name(term) for term in parts.terms]
        details = [" · ".join(states[x] for x in term) for term in parts.terms]
        bars = waterfall(labels, details, parts.values[row, :, k].tolist(), most=most)
        return cls(bars=bars, of_class=state_text(adapter.classes[k])).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the waterfall.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. Default: those of a new figure.
        """
        bars = self.bars
        ax = self._open(ax, (7.0, 0.9 + 0.34 * len(bars)))
        colours = [NEGATIVE if bar.value < 0 else POSITIVE for bar in bars[:-1]]
        places = range(len(bars))
        ax.barh(
            places,
            [bar.end - bar.start for bar in bars],
            left=[bar.start for bar in bars],
            color=[*colours, MUTED],
            height=0.62,
        )
        for i, bar in enumerate(bars[:-1]):  # connect the end of each bar to the next one
            ax.plot([bar.end, bar.end], [i, i + 1], color=MUTED, linewidth=0.8, zorder=0)
        ends = [0.0, *(end for bar in bars for end in (bar.start, bar.end))]
        low, high = min(ends), max(ends)
        room = 0.02 * (high - low or 1.0)
        for i, bar in enumerate(bars):
            right = max(bar.start, bar.end) + room
            ax.text(right, i, signed(bar.value), va="center", size="small")
        ax.axvline(0.0, color=MUTED, linewidth=0.8)
        ax.set_yticks(places, [plain_text(_label(bar)) for bar in bars])
        ax.invert_yaxis()
        ax.set_xlim(low - 3 * room, high + 7 * room)
        ax.set_xlabel(f"log odds of {plain_text(shortened(self.of_class))}")
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        return self


def _label(bar: Bar) -> str:
    name = shortened(bar.label, 40)
    return f"{name} = {shortened(bar.detail, 30)}" if bar.detail else name
