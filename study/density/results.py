"""What Part B shows: quoted numbers, the table and a figure from its tracked results."""

from functools import cache
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from study.claims import Claim, markdown_table
from study.density.measure import cells
from study.density.report import (
    BASELINE,
    FROM_MEMORY,
    beside,
    certainties,
    is_best,
    is_within_doubt,
    ours,
    standing,
)
from study.figures import OTHERS, OURS, save

DEFAULT = "network"
AVERAGES = {"average of two": "average-of-two", "average of four": "average"}
SOURCE = "study/density/results.csv; python -m study.density --data DIR"


@cache
def frame() -> pd.DataFrame:
    return cells().frame()


@cache
def claims() -> dict[str, Claim]:
    n_sets, n_best, n_at_least, n_within = standing(frame(), DEFAULT)
    rows = beside(frame(), DEFAULT)
    best = {name: row for name, row in rows.iterrows() if is_best(row)}
    doubtful = [name for name, row in best.items() if is_within_doubt(row)]
    rivals = [x for x in rows if x not in ("ours", BASELINE)]
    texts = {
        "sets": str(n_sets),
        "best": str(n_best),
        "at-least-ar": str(n_at_least),
        "best-sets": ", ".join(best) or "none",
        "within-doubt": str(n_within),
        "within-doubt-sets": ", ".join(doubtful) or "none",
        "rivals": ", ".join(rivals),
        "n-rivals": str(len(rivals)),
        "not-best": ", ".join(name for name in rows.index if name not in best) or "none",
        "table": _table(rows),
        "average-table": _average_table(),
    }
    for name, row in rows.iterrows():
        texts[f"test/{name}"] = f"{row['ours']:.2f}"
    for model in frame()["model"].unique():
        n, k, *_ = standing(frame(), model)
        texts[f"best-of/{model}"] = f"{k} of {n}"
    return {name: Claim(text, SOURCE) for name, text in texts.items()}


def _table(rows: pd.DataFrame) -> str:
    """† marks figures from memory, ‡ those of runs of our own."""
    facts = frame()[frame()["model"] == DEFAULT].set_index("set")
    sure = certainties().reindex(rows.index)
    marks = {FROM_MEMORY: "†", "own run": "‡"}
    columns = {"set": list(rows.index)}
    for rival in rows.columns:
        known = [""] * len(rows) if rival in ("ours", BASELINE) else sure[rival].map(marks)
        columns["EBNC network" if rival == "ours" else rival] = [
            _cell(row[rival], row.max()) + (mark if isinstance(mark, str) else "")
            for (_, row), mark in zip(rows.iterrows(), known, strict=True)
        ]
    columns["± "] = [f"{facts.loc[name, 'standard_error']:.2f}" for name in rows.index]
    columns["d"] = [f"{facts.loc[name, 'dimension']:,.0f}".replace(",", " ") for name in rows.index]
    columns["seconds"] = [f"{facts.loc[name, 'seconds']:.0f}" for name in rows.index]
    return markdown_table(columns)


def _average_table() -> str:
    """One order and the average of several, on the sets that have both."""
    figures = {label: ours(frame(), model) for label, model in AVERAGES.items()}
    order = [
        name
        for name in beside(frame(), DEFAULT).index
        if any(name in each for each in figures.values())
    ]
    columns = {"set": order}
    for label, values in {"one order": ours(frame(), DEFAULT), **figures}.items():
        columns[label] = [f"{values[name]:.3f}" if name in values else "" for name in order]
    return markdown_table(columns)


def _cell(value: float, highest: float) -> str:
    if pd.isna(value):
        return ""
    return f"**{value:.2f}**" if round(value, 2) >= round(highest, 2) else f"{value:.2f}"


def write_figures(folder: Path) -> None:
    """How far ours is above or below the best figure we know, in per cent of the latter."""
    rows = beside(frame(), DEFAULT).dropna(subset=[BASELINE])
    rivals = rows.drop(columns=["ours", BASELINE]).max(axis=1)
    figure = Figure(figsize=(7.2, 2.8), layout="constrained")
    ax = figure.add_subplot()
    gain = 100 * (rows["ours"] - rivals) / rivals.abs()
    gain_ar = 100 * (rows[BASELINE] - rivals) / rivals.abs()
    places = range(len(rows))
    ax.bar([x - 0.2 for x in places], gain, width=0.4, color=OURS, label="EBNC network")
    ax.bar([x + 0.2 for x in places], gain_ar, width=0.4, color=OTHERS, label="AR, the baseline")
    ax.axhline(0, color="black", lw=0.8)
    ax.set_xticks(list(places), list(rows.index), rotation=45, ha="right", fontsize=8)
    ax.set_ylabel("above the best known, %", fontsize=9)
    ax.legend(fontsize=8)
    save(figure, folder / "density.svg")
