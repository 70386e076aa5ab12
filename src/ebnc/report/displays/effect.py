"""``EffectDisplay``: the contributions of one input, or of a pair, to the log odds."""

from collections.abc import Sequence
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ebnc.errors import DataError
from ebnc.report.axes import Axis, axis_of, axis_ticks, near_rows
from ebnc.report.displays.canvas import (
    INK,
    LINE,
    MUTED,
    NEGATIVE,
    POSITIVE,
    Display,
    class_number,
    plain_text,
)
from ebnc.report.effects import Effects, input_summaries
from ebnc.report.held_out import Z_95
from ebnc.report.models import reported
from ebnc.report.words import shortened, state_text
from ebnc.typing import FloatArray

BESIDE = (1.04, 1.12)  # the place of missing entries, beyond the end of an axis at 1
STRIP = 0.14  # of the height, for the density


class EffectDisplay(Display):
    """The effect of an input as a curve or bars, and the interaction of a pair as a heat map.

    An effect is the term's contribution to the log odds of a class against the mean of the other
    classes; over the training data it averages to zero (see ``contributions``). For a number, and
    for states in order, it is a curve with its 95 % intervals over the distribution of the training
    data; missing entries stand beside it. For other inputs it is a bar for each state.

    Parameters
    ----------
    axes : tuple of Axis
        The states of one input, or of two.
    values : array (states …, K)
        The contributions.
    errors : array (states …, K) or None
        Their standard errors.
    drawn : array (states …) or None
        The cells of a heat map that are drawn; None: all.
    classes : tuple of str
        The names of the K classes.
    shown : sequence of int
        The numbers of the classes whose log odds are drawn.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where the last plot is.

    Examples
    --------
    >>> import numpy as np
    >>> import ebnc
    >>> x = {"size": np.linspace(0, 1, 200)}
    >>> model = ebnc.EBNCClassifier().fit(x, x["size"] > 0.3 + 0.4 * (np.arange(200) % 2))
    >>> display = ebnc.EffectDisplay.from_estimator(model, "size")
    >>> display.ax_.get_ylabel()
    'log odds of True'
    """

    def __init__(
        self,
        *,
        axes: tuple[Axis, ...],
        values: FloatArray,
        errors: FloatArray | None,
        drawn: NDArray[np.bool_] | None,
        classes: tuple[str, ...],
        shown: Sequence[int],
    ) -> None:
        self.axes = axes
        self.values = values
        self.errors = errors
        self.drawn = drawn
        self.classes = classes
        self.shown = shown

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        features: str | Sequence[str],
        X: Any = None,  # noqa: N803
        *,
        of_class: Any = None,
        ax: Any = None,
    ) -> Self:
        """Plot the effect of an input or the interaction of two.

        Parameters
        ----------
        estimator : EBNCClassifier or EBNC
            The fitted model; for a classifier ``ebnc_``, the best model, is drawn.
        features : str or sequence of two str
            An input, or two inputs that interact in the model.
        X : table, optional
            Data; a heat map leaves places empty that are far from all rows.
        of_class : label, optional
            The class of the log odds. Default: the second of two classes. With more classes, curves
            and bars show all of them, and a heat map needs the class.
        ax : matplotlib Axes, optional
            The axes to draw on. Default: those of a new figure.
        """
        adapter = reported(estimator)
        names = [features] if isinstance(features, str) else list(features)
        if len(names) not in (1, 2):
            raise DataError(f"features must name one input or two, got {names}")
        n_classes = len(adapter.classes)
        shown: Sequence[int] = range(n_classes)
        if of_class is not None or n_classes == 2:
            shown = [class_number(adapter, of_class, 1)]
        elif len(names) == 2:
            raise DataError(
                f"a heat map shows one class; pass of_class, one of {adapter.classes[:8]}"
            )
        rows = None if X is None else adapter.encode(X)
        term = Effects(adapter).of(names, rows)
        inputs = input_summaries(adapter)
        axes = tuple(axis_of(inputs[i]) for i in term.inputs)
        shape = tuple(len(axis.labels) for axis in axes)
        drawn = None
        if term.counts is not None:
            drawn = near_rows(np.reshape(term.counts, shape), axes)
        return cls(
            axes=axes,
            values=np.reshape(term.values, (*shape, n_classes)),
            errors=None if term.errors is None else np.reshape(term.errors, (*shape, n_classes)),
            drawn=drawn,
            classes=tuple(map(state_text, adapter.classes)),
            shown=shown,
        ).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the effect.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. Default: those of a new figure.
        """
        if len(self.axes) == 2:
            self._heat_map(self._open(ax, (6.2, 4.4)))
        elif self.axes[0].is_ordered:
            self._curve(self._open(ax, (6.0, 3.8)))
        else:
            n_bars = len(self.axes[0].labels) * len(self.shown)
            self._bars(self._open(ax, (6.0, 0.9 + 0.3 * n_bars)))
        self.ax_.spines[["top", "right"]].set_visible(False)
        return self

    def _curve(self, ax: Any) -> None:
        (axis,) = self.axes
        n, outer = axis.n_states, [axis.edges[0], axis.edges[-1]]
        xs = np.concatenate([outer[:1], axis.values_at(axis.centres), outer[1:]])
        ax.axhline(0.0, color=MUTED, linewidth=0.8, linestyle=":")
        for place, (k, colour) in enumerate(self._coloured()):
            name = plain_text(shortened(self.classes[k]))
            values = np.pad(self.values[:n, k], 1, mode="edge")
            ax.plot(xs, values, color=colour, label=name)
            half = None
            if self.errors is not None:
                half = Z_95 * self.errors[:, k]
                around = np.pad(half[:n], 1, mode="edge")
                ax.fill_between(
                    xs, values - around, values + around, color=colour, alpha=0.15, linewidth=0
                )
            if axis.has_missing:
                at = float(np.mean(BESIDE)) + 0.025 * (place - (len(self.shown) - 1) / 2)
                error = None if half is None else half[n:]
                ax.errorbar(
                    axis.values_at([at]), self.values[n:, k], error, fmt="o", color=colour, ms=4
                )
        _prepare(ax, "x", axis, 7)
        ax.set_xlim(*axis.values_at([0.0, BESIDE[1] + 0.03 if axis.has_missing else 1.0]))
        if axis.shares is not None:
            low, high = ax.get_ylim()
            ax.set_ylim(low - (high - low) * STRIP / (1 - STRIP), high)
            ax.bar(
                axis.edges[:-1],
                0.9 * STRIP * axis.density,
                np.diff(axis.edges),
                align="edge",
                color=LINE,
                edgecolor=MUTED,
                linewidth=0.4,
                transform=ax.get_xaxis_transform(),
            )
        ax.set_ylabel(self._odds())
        if len(self.shown) > 1:
            ax.legend(frameon=False)

    def _bars(self, ax: Any) -> None:
        (axis,) = self.axes
        n, thickness = len(axis.labels), 0.8 / len(self.shown)
        for place, (k, colour) in enumerate(self._coloured()):
            values = self.values[:, k]
            if len(self.shown) == 1:
                colour = [NEGATIVE if value < 0 else POSITIVE for value in values]  # noqa: PLW2901
            ax.barh(
                np.arange(n) + thickness * (place - (len(self.shown) - 1) / 2),
                values,
                0.9 * thickness,
                xerr=None if self.errors is None else Z_95 * self.errors[:, k],
                color=colour,
                error_kw={"ecolor": INK, "elinewidth": 1.0},
                label=plain_text(shortened(self.classes[k])),
            )
        ax.axvline(0.0, color=MUTED, linewidth=0.8)
        ax.set_yticks(range(n), [plain_text(shortened(label, 30)) for label in axis.labels])
        ax.invert_yaxis()
        ax.set(xlabel=self._odds(), title=plain_text(axis.title))
        if len(self.shown) > 1:
            ax.legend(frameon=False)

    def _heat_map(self, ax: Any) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        vertical, across = self.axes
        values = self.values[..., self.shown[0]]
        if self.drawn is not None:
            values = np.ma.masked_array(values, ~self.drawn)
        largest = float(np.abs(values).max()) or 1.0
        colours = LinearSegmentedColormap.from_list("ebnc", [NEGATIVE, "#f4f5f7", POSITIVE])
        for (of_rows, ys), (of_columns, xs) in product(_segments(vertical), _segments(across)):
            mesh = ax.pcolormesh(
                xs, ys, values[of_rows, of_columns], cmap=colours, vmin=-largest, vmax=largest
            )
        _prepare(ax, "x", across, 7)
        _prepare(ax, "y", vertical, 12)
        if not (vertical.is_ordered or vertical.is_number):
            ax.invert_yaxis()  # labels are read from the top
        self.figure_.colorbar(mesh, ax=ax, label=self._odds())

    def _coloured(self) -> list[tuple[int, Any]]:
        """The classes that are drawn, each with its colour."""
        if len(self.shown) == 1:
            return [(self.shown[0], POSITIVE)]
        return [(k, f"C{i}") for i, k in enumerate(self.shown)]

    def _odds(self) -> str:
        if len(self.shown) > 1:
            return "log odds against the other classes"
        return f"log odds of {plain_text(shortened(self.classes[self.shown[0]]))}"


def _segments(axis: Axis) -> list[tuple[slice, FloatArray]]:
    """The states along an axis with their edges, and those of missing entries."""
    n = axis.n_states
    segments = [(slice(0, n), np.array(axis.edges))]
    if axis.has_missing:
        segments.append((slice(n, None), axis.values_at(BESIDE)))
    return segments


def _prepare(ax: Any, side: str, axis: Axis, most: int) -> None:
    """Scale, ticks and title of the side "x" or "y" of a plot."""
    if axis.linear_width is not None:
        getattr(ax, f"set_{side}scale")("asinh", linear_width=axis.linear_width)
    ticks = axis_ticks(axis, most)
    places = [place for place, _ in ticks]
    texts = [plain_text(text) for _, text in ticks]
    if axis.has_missing:
        places.append(float(np.mean(BESIDE)))
        texts.append("missing")
    getattr(ax, f"set_{side}ticks")(axis.values_at(places), texts)
    getattr(ax, f"set_{side}label")(plain_text(axis.title))
