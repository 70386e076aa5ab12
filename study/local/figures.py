"""Figures of Part C: divergence against rows, and against parameters; a panel for each network."""

from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["curves", "save", "trade_off"]

COLOURS = {
    "table": "#44546a",
    "tree": "#3a8f5c",
    "graph": "#7fb069",
    "noisy-max": "#8a6fb0",
    "naive": "#e0a080",
    "ebnc": "#b3361e",
    "default": "#222222",
    "mixed": "#999999",
    "pyagrum": "#4a90c2",
}
MARKERS = dict(zip(COLOURS, "osDv^ox+P", strict=True))


def curves(table: pd.DataFrame, labels: Mapping[str, str]) -> Figure:
    """``table``: divergence by network and rows, a column for each kind."""
    figure, axes = _panels(table)
    for (name, part), ax in zip(table.groupby("network", sort=False), axes, strict=False):
        for kind in table.columns:
            curve = part[kind].droplevel("network")
            _line(ax, curve.index.to_numpy(), curve.to_numpy(), kind, labels[kind])
        _finish(ax, str(name))
    _frame(figure, axes, "training rows", len(table.columns))
    return figure


def trade_off(table: pd.DataFrame, dimensions: pd.DataFrame, labels: Mapping[str, str]) -> Figure:
    """Divergence against the number of parameters, one line for each kind as rows grow."""
    figure, axes = _panels(table)
    for (name, part), ax in zip(table.groupby("network", sort=False), axes, strict=False):
        for kind in table.columns:
            sizes = dimensions.loc[part.index, kind].to_numpy()
            _line(ax, sizes, part[kind].to_numpy(), kind, labels[kind])
        _finish(ax, str(name))
    _frame(figure, axes, "parameters", len(table.columns))
    return figure


def save(figure: Figure, path: Path) -> None:
    """Without a date, so that the same results give the same file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": "ebnc", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None}, bbox_inches="tight", facecolor="white")


def _panels(table: pd.DataFrame) -> tuple[Figure, list[Axes]]:
    n = table.index.get_level_values("network").nunique()
    columns = min(4, n)
    lines = -(-n // columns)
    figure = Figure(figsize=(2.5 * columns + 0.5, 2.3 * lines + 0.8), layout="constrained")
    axes = list(figure.subplots(lines, columns, squeeze=False).flat)
    for ax in axes[n:]:
        ax.axis("off")
    return figure, axes


def _line(ax: Axes, x: object, y: object, kind: str, label: str) -> None:
    ours = kind == "ebnc"
    style = {"lw": 2.0, "zorder": 3} if ours else {"lw": 1.0}
    ax.plot(x, y, color=COLOURS[kind], marker=MARKERS[kind], ms=3, label=label, **style)


def _finish(ax: Axes, title: str) -> None:
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.minorticks_off()
    ax.set_title(title, fontsize=9)
    ax.tick_params(labelsize=7)


def _frame(figure: Figure, axes: list[Axes], x: str, n_kinds: int) -> None:
    figure.supxlabel(x, fontsize=8)
    figure.supylabel("divergence from the truth (nats)", fontsize=8)
    handles, labels = axes[0].get_legend_handles_labels()
    columns = -(-n_kinds // 2)
    figure.legend(handles, labels, loc="outside upper center", ncols=columns, fontsize=7)
