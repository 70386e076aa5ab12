"""The table of test log-likelihoods: published figures, the baseline AR, and ours."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

PUBLISHED = Path(__file__).with_name("published.csv")
BASELINE = "AR"


class Standing(NamedTuple):
    """How a model does on the sets that have published figures."""

    n_sets: int
    n_best: int
    n_at_least_baseline: int


def published() -> pd.DataFrame:
    """Published figures by set; the sets in their order in the literature, by variables."""
    return pd.read_csv(PUBLISHED, index_col="set")


def ours(frame: pd.DataFrame, model: str) -> pd.Series:
    return frame[frame["model"] == model].set_index("set")["test"]


def beside(frame: pd.DataFrame, model: str) -> pd.DataFrame:
    """Published figures and ours, for all sets of ours."""
    mine = ours(frame, model)
    known = published()
    order = [
        *(x for x in known.index if x in mine),
        *(x for x in mine.index if x not in known.index),
    ]
    return known.reindex(order).assign(ours=mine)


def is_best(row: pd.Series) -> bool:
    """Better than every published figure, to two digits as they are printed."""
    rivals = row.drop(["ours", BASELINE]).dropna()
    return bool(len(rivals)) and round(row["ours"], 2) > rivals.max()


def standing(frame: pd.DataFrame, model: str) -> Standing:
    rows = beside(frame, model).dropna(subset=[BASELINE])
    best = rows.apply(is_best, axis=1) if len(rows) else pd.Series(dtype=bool)
    at_least = rows["ours"].round(2) >= rows[BASELINE]
    return Standing(len(rows), int(best.sum()), int(at_least.sum()))


def table(frame: pd.DataFrame, model: str, sets: Sequence[str] | None = None) -> str:
    """One line for each set; ``*`` where ours is better than every published figure."""
    rows = beside(frame, model)
    if sets is not None:
        rows = rows.loc[list(sets)]
    marks = ["*" if is_best(row) else "" for _, row in rows.iterrows()]
    text = rows.assign(best=marks).rename(columns={"best": ""})
    lines = [text.to_string(float_format="{:.2f}".format, na_rep="")]
    if sets is None:
        n, best, at_least = standing(frame, model)
        lines.append(
            f"better than every published figure on {best} of {n}; at least AR: {at_least}"
        )
    return "\n".join(lines)
