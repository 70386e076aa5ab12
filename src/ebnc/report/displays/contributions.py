"""``ContributionsDisplay``: the log odds of one case, term by term."""

from typing import Any, Self

from ebnc.errors import DataError
from ebnc.report.displays.canvas import MUTED, NEGATIVE, POSITIVE, Display, plain_text
from ebnc.report.models import Reported, reported
from ebnc.report.waterfall import MOST_BARS, Bar, waterfall
from ebnc.report.words import BLANK, shortened, signed, state_text

__all__ = ["ContributionsDisplay"]


class ContributionsDisplay(Display):
    """A waterfall: from the intercept over the largest terms to the log odds of one case.

    The log odds are those of a class against the geometric mean of the others (for two classes:
    the ordinary log odds) in the best model; every term averages to zero over states, as often as
    they occurred in training.

    Parameters
    ----------
    bars : tuple of Bar
        Label, detail, value, start and end; the last is the total.
    of_class : str
        The class.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

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
        """Take one row of ``X`` apart, by a fitted classifier or an EBNC.

        ``of_class``: of two classes the second, of more the most probable one, if not given.
        ``most``: bars before the rest is added up in one.
        """
        face = reported(estimator)
        rows = face.encode(X)
        if not 0 <= row < len(rows):
            raise DataError(f"row {row} is not there; the data have {len(rows)} rows")
        parts = face.contributions(rows)
        k = _class_number(face, parts.log_odds[row], of_class)
        labels, details = [], []
        for term in parts.terms:
            labels.append(" × ".join(x.strip() or BLANK for x in term) or "intercept")
            states = []
            for x in term:
                code = int(rows.column(x)[row])
                known = face.domain[x]
                states.append(state_text(known[code]) if code < len(known) else "not known")
            details.append(" · ".join(states))
        values = parts.values[row, :, k].tolist()
        bars = waterfall(labels, details, values, most=most)
        return cls(bars=bars, of_class=state_text(face.classes[k])).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw on axes given, or on new ones."""
        bars = self.bars
        ax = self._open(ax, (7.0, 0.9 + 0.34 * len(bars)))
        colours = [_colour(bar) for bar in bars]
        places = range(len(bars))
        ax.barh(
            places,
            [bar.end - bar.start for bar in bars],
            left=[bar.start for bar in bars],
            color=colours,
            height=0.62,
        )
        for i, bar in enumerate(bars[:-1]):  # what one ends with, the next begins with
            ax.plot([bar.end, bar.end], [i, i + 1], color=MUTED, linewidth=0.8, zorder=0)
        low = min(0.0, *(min(bar.start, bar.end) for bar in bars))
        high = max(0.0, *(max(bar.start, bar.end) for bar in bars))
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


def _class_number(face: Reported, log_odds: Any, of_class: Any) -> int:
    if of_class is None:
        return 1 if len(face.classes) == 2 else int(log_odds.argmax())
    if of_class not in face.classes:
        raise DataError(f"{of_class!r} is not a class of the model; they are {face.classes[:8]}")
    return face.classes.index(of_class)


def _label(bar: Bar) -> str:
    name = shortened(bar.label, 40)
    return f"{name} = {shortened(bar.detail, 30)}" if bar.detail else name


def _colour(bar: Bar) -> str:
    if bar.kind == "total":
        return MUTED
    return NEGATIVE if bar.value < 0 else POSITIVE
