"""``ReliabilityDisplay``: do events with predicted probability 30 % occur 30 % of the time?"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ebnc.errors import DataError
from ebnc.report.displays.canvas import MUTED, Display, plain_text
from ebnc.report.held_out import held_out, reliability
from ebnc.report.models import reported
from ebnc.report.summary import Bin
from ebnc.report.words import shortened, shown_classes, state_text

LARGEST, SMALLEST = 110.0, 12.0


class ReliabilityDisplay(Display):
    """Observed share against predicted probability in ten bins, with 95 % intervals (Wilson).

    Points grow with the weight of their bins; those of a calibrated model lie on the diagonal.

    Parameters
    ----------
    curves : dict from str to tuple of Bin
        One curve for each class.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where the last plot is.

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
        cv: int | None = None,
        random_state: int = 0,
        ax: Any = None,
    ) -> Self:
        """Plot the reliability of a model from cross-validation or on held-out data.

        Parameters
        ----------
        estimator : EBNCClassifier or EBNC
            The fitted model.
        X : table
            The data.
        y : array, optional
            The classes. For an ``EBNC`` the target may be a column of ``X`` instead.
        sample_weight : array, optional
            The weight of each row.
        cv : int or None
            None: the model predicts ``X``, which should be held-out data. A number of folds: the
            model is refitted on each, so ``X`` may be the training data.
        random_state : int
            The seed of the folds.
        ax : matplotlib Axes, optional
            The axes to draw on. Default: those of a new figure.
        """
        adapter = reported(estimator)
        data = adapter.labelled(X, y, sample_weight)
        names = [state_text(label) for label in adapter.classes]
        if cv is None:
            p = adapter.predictor.probabilities(data.rows)
            return cls._of(names, reliability(p, data.classes, data.weights), ax)
        held = held_out(data, n_folds=cv, random_state=random_state)
        if held is None:
            raise DataError("the data have too few rows to hold any out; pass cv=None")
        return cls._of(names, held.reliability, ax)

    @classmethod
    def from_predictions(
        cls,
        classes: Any,
        probabilities: Any,
        names: Sequence[str] | None = None,
        *,
        ax: Any = None,
    ) -> Self:
        """Plot the reliability of given predictions.

        Parameters
        ----------
        classes : array (rows,)
            The number of the class of each row.
        probabilities : array (rows, K)
            The predictions.
        names : sequence of str, optional
            The names of the classes. Default: their numbers.
        ax : matplotlib Axes, optional
            The axes to draw on. Default: those of a new figure.
        """
        p, codes = np.asarray(probabilities, dtype=np.float64), np.asarray(classes)
        if p.ndim != 2 or len(p) != len(codes):
            raise DataError(
                f"probabilities must have shape ({len(codes)}, number of classes), got {p.shape}"
            )
        labels = [str(k) for k in range(p.shape[1])] if names is None else list(names)
        return cls._of(labels, reliability(p, codes), ax)

    @classmethod
    def _of(cls, names: Sequence[str], curves: Sequence[tuple[Bin, ...]], ax: Any) -> Self:
        return cls(curves={names[k]: curves[k] for k in shown_classes(len(curves))}).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. Default: those of a new figure.
        """
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
