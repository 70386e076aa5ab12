"""``ReliabilityDisplay``: are events of predicted probability 30 % observed 30 % of the time?"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ebnc.errors import DataError
from ebnc.report.displays.canvas import MUTED, Display, plain_text
from ebnc.report.held_out import held_out, reliability_bins
from ebnc.report.models import reported
from ebnc.report.summary import Bin
from ebnc.report.words import shortened, state_text

__all__ = ["ReliabilityDisplay"]

MOST_CURVES = 6
LARGEST, SMALLEST = 110.0, 12.0


class ReliabilityDisplay(Display):
    """Observed share against predicted probability in ten bins, with 95 % intervals (Wilson).

    Points are as large as their bins are full; on the diagonal a model means what it says.

    Parameters
    ----------
    curves : dict from str to tuple of Bin
        One curve for each class.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import ebnc
    >>> display = ebnc.ReliabilityDisplay.from_predictions(
    ...     [0, 0, 1, 1], [[0.9, 0.1], [0.7, 0.3], [0.4, 0.6], [0.1, 0.9]], ["no", "yes"]
    ... )
    >>> [round(b.predicted, 1) for b in display.curves["yes"]]
    [0.1, 0.3, 0.6, 0.9]
    """

    def __init__(self, *, curves: dict[str, tuple[Bin, ...]]) -> None:
        self.curves = curves

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,  # noqa: N803
        y: Any = None,
        *,
        sample_weight: Any = None,
        cv: int | None = 5,
        random_state: int = 0,
        ax: Any = None,
    ) -> Self:
        """Of a fitted classifier or EBNC, on folds it is fitted again without (``cv`` of them).

        ``cv=None``: as it is, for data it was not fitted to.
        """
        face = reported(estimator)
        data = face.labelled(X, y, sample_weight)
        names = [state_text(label) for label in face.classes]
        if cv is None:
            p = face.probabilities(data.rows)
            return cls(curves=_curves(names, data.classes, p, data.weights)).plot(ax=ax)
        held = held_out(
            data.predict,
            data.classes,
            len(names),
            weights=data.weights,
            n_folds=cv,
            random_state=random_state,
        )
        if held is None:
            raise DataError("there are too few cases to hold any out; give cv=None")
        return cls(curves=_shown(names, held.reliability)).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls,
        classes: Any,
        probabilities: Any,
        names: Sequence[str] | None = None,
        *,
        ax: Any = None,
    ) -> Self:
        """Of predictions, shape (rows, K), and the numbers of the classes that occurred."""
        p, codes = np.asarray(probabilities, dtype=np.float64), np.asarray(classes)
        if p.ndim != 2 or len(p) != len(codes):
            raise DataError(
                f"probabilities must have shape ({len(codes)}, number of classes), got {p.shape}"
            )
        labels = [str(k) for k in range(p.shape[1])] if names is None else list(names)
        return cls(curves=_curves(labels, codes, p, None)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw on axes given, or on new ones."""
        ax = self._open(ax, (5.0, 4.8))
        from matplotlib.ticker import PercentFormatter

        ax.plot([0, 1], [0, 1], color=MUTED, linestyle="--", linewidth=1)
        most = max((b.weight for curve in self.curves.values() for b in curve), default=1.0)
        for name, curve in self.curves.items():
            x, y = [b.predicted for b in curve], [b.observed for b in curve]
            below = [max(0.0, b.observed - b.low) for b in curve]
            above = [max(0.0, b.high - b.observed) for b in curve]
            (line,) = ax.plot(x, y, linewidth=0.9, alpha=0.4)
            ax.errorbar(
                x, y, yerr=[below, above], fmt="none", ecolor=line.get_color(), linewidth=1.1
            )
            ax.scatter(
                x,
                y,
                s=[SMALLEST + (LARGEST - SMALLEST) * b.weight / most for b in curve],
                color=line.get_color(),
                label=plain_text(shortened(name)),
                zorder=3,
            )
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        ax.set(xlabel="predicted probability", ylabel="observed share")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(PercentFormatter(1.0))
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
        return self


def _curves(names: Sequence[str], codes: Any, p: Any, weights: Any) -> dict[str, tuple[Bin, ...]]:
    every = [
        reliability_bins(p[:, k], (codes == k).astype(np.float64), weights)
        for k in range(len(names))
    ]
    return _shown(names, every)


def _shown(names: Sequence[str], curves: Sequence[tuple[Bin, ...]]) -> dict[str, tuple[Bin, ...]]:
    """Of two classes the second: the first would be its mirror image. Of very many the first."""
    chosen = [1] if len(curves) == 2 else range(min(len(curves), MOST_CURVES))
    return {names[k]: curves[k] for k in chosen}
