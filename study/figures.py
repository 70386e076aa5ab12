"""Figures of the study, as SVG files that are the same every time."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, LogLocator, NullLocator

__all__ = ["critical_difference_diagram", "learning_curves", "save"]

mpl.rcParams["svg.hashsalt"] = "ebnc"

OURS = "#b3361e"
OTHERS = "#44546a"


def save(figure: Figure, path: Path) -> None:
    """Without a date, so that the same results give the same file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight", facecolor="white")


def critical_difference_diagram(
    ranks: pd.Series, difference: float, title: str, is_ours: Sequence[str]
) -> Figure:
    """Mean ranks on a line; a bar joins models that are not told apart (Demšar 2006)."""
    ordered = ranks.sort_values()
    k = len(ordered)
    half = (k + 1) // 2
    figure = Figure(figsize=(7.2, 1.5 + 0.24 * half))
    ax = figure.add_subplot()
    low, high = np.floor(ordered.min()), np.ceil(ordered.max())
    ax.hlines(0, low, high, color="black", lw=1)
    for tick in np.arange(low, high + 1):
        ax.vlines(tick, 0, 0.12, color="black", lw=1)
        ax.text(tick, 0.2, f"{tick:g}", ha="center", va="bottom", fontsize=9)
    groups = _groups(ordered.to_numpy(), difference)
    bottom = -0.35 - 0.16 * len(groups)
    for i, (name, rank) in enumerate(ordered.items()):
        on_left = i < half
        y = bottom - 0.42 * (i if on_left else k - 1 - i)
        end = low - 0.15 if on_left else high + 0.15
        colour = OURS if name in is_ours else OTHERS
        ax.plot([rank, rank, end], [0, y, y], color=colour, lw=0.9)
        text = f"{name}  {rank:.2f}" if on_left else f"{rank:.2f}  {name}"
        ax.text(
            end + (-0.05 if on_left else 0.05),
            *(y, text),
            ha="right" if on_left else "left",
            va="center",
            fontsize=9,
            color=colour,
            weight="bold" if name == is_ours[0] else "normal",
        )
    for i, (first, last) in enumerate(groups):
        y = -0.22 - 0.16 * i
        ax.plot([first - 0.03, last + 0.03], [y, y], color="black", lw=2.5, solid_capstyle="round")
    ax.plot([low, low + difference], [0.85, 0.85], color="black", lw=1.2)
    ax.text(
        low + difference / 2, 0.93, f"critical difference {difference:.2f}", ha="center", fontsize=8
    )
    ax.set_title(title, fontsize=10)
    ax.axis("off")
    return figure


def _groups(ranks: np.ndarray, difference: float) -> list[tuple[float, float]]:
    """Longest runs of ranks that lie within the critical difference."""
    found: list[tuple[float, float]] = []
    for i, first in enumerate(ranks):
        last = ranks[i:][ranks[i:] - first <= difference][-1]
        if last > first and (not found or last > found[-1][1]):
            found.append((float(first), float(last)))
    return found


def learning_curves(frame: pd.DataFrame, models: Mapping[str, str]) -> Figure:
    """Test log-loss against training rows, a panel for each set; ``models``: name → label."""
    sets = list(dict.fromkeys(frame["set"]))
    columns = min(3, len(sets))
    lines = -(-len(sets) // columns)
    figure = Figure(figsize=(3.1 * columns, 2.6 * lines + 0.4), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False)
    mean = frame.groupby(["set", "model", "rows"])["log_loss"].mean()
    for ax, name in zip(axes.flat, sets, strict=False):
        for i, (model, label) in enumerate(models.items()):
            if (name, model) in mean.index.droplevel("rows"):
                curve = mean.loc[name, model].sort_index()
                _line(ax, curve.index, curve, label, ours=i == 0, number=i)
        ax.set_xscale("log")
        ax.set_yscale("log")
        sizes = sorted(frame.loc[frame["set"] == name, "rows"].unique())
        ax.xaxis.set_major_locator(FixedLocator(sizes))
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter("{x:g}")
            axis.set_minor_locator(NullLocator())
        ax.set_title(name, fontsize=10)
        ax.tick_params(labelsize=8)
    for ax in axes.flat[len(sets) :]:
        ax.axis("off")
    figure.supxlabel("training rows", fontsize=9)
    figure.supylabel("test log-loss (nats)", fontsize=9)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(models), fontsize=8)
    return figure


def _line(ax: Axes, x: pd.Index, y: pd.Series, label: str, *, ours: bool, number: int) -> None:
    colour = OURS if ours else f"C{number - 1}"
    style = {"lw": 2.2, "zorder": 3} if ours else {"lw": 1.1}
    ax.plot(x, y, color=colour, marker="osD^vxP"[number % 7], ms=3.5, label=label, **style)
