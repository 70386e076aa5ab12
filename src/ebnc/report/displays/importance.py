"""``ImportanceDisplay``: the importance of each input."""

from typing import Any, Self

from ebnc.errors import DataError
from ebnc.report.displays.canvas import LINE, POSITIVE, Display, plain_text
from ebnc.report.words import shortened


class ImportanceDisplay(Display):
    """The importance of inputs as bars, the largest first.

    The importance of an input is the number of nats by which the score of the search falls if the
    input is left out and the rest is refitted.

    Parameters
    ----------
    importances : dict from str to float
        The importance of each input, the largest first.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where the last plot is.
    """

    def __init__(self, *, importances: dict[str, float]) -> None:
        self.importances = importances

    @classmethod
    def from_estimator(cls, estimator: Any, *, most: int = 20, ax: Any = None) -> Self:
        """Plot ``feature_importances_`` of a classifier.

        Parameters
        ----------
        estimator : EBNCClassifier
            A classifier fitted with ``structure="search"``.
        most : int
            Number of inputs shown.
        ax : matplotlib Axes, optional
            The axes to draw on. Default: those of a new figure.
        """
        try:
            importances = estimator.feature_importances_.tolist()
        except AttributeError:
            raise DataError(
                "the plot needs importances: fit an EBNCClassifier with structure='search'; got "
                f"{type(estimator).__name__}"
            ) from None
        numbered = [f"x{i}" for i in range(len(importances))]
        names = list(map(str, getattr(estimator, "feature_names_in_", numbered)))
        ranked = sorted(zip(names, importances, strict=True), key=lambda pair: -pair[1])
        return cls(importances=dict(ranked[:most])).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. Default: those of a new figure.
        """
        n = len(self.importances)
        ax = self._open(ax, (6.0, 0.9 + 0.3 * n))
        ax.barh(range(n), list(self.importances.values()), color=POSITIVE, height=0.62)
        ax.set_yticks(range(n), [plain_text(shortened(name)) for name in self.importances])
        ax.invert_yaxis()
        ax.set_xlabel("importance: fall of the score without the input (nats)")
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", color=LINE, linewidth=0.6)
        ax.set_axisbelow(True)
        return self
