"""The table of test log-likelihoods: figures of other models, the baseline AR, and ours.

``published.csv`` has one line for each figure, with its ``certainty``: "published" (some from
secondary sources), "from memory ±0.15" (papers that were not at hand), or "own run" (the recipe of
the paper, run by us). All are of single models whose likelihood is exact; ensembles and bounds
are not compared.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

PUBLISHED = Path(__file__).with_name("published.csv")
BASELINE = "AR"
FROM_MEMORY = "from memory ±0.15"
DOUBT = 0.15


class Standing(NamedTuple):
    """How a model does on the sets that have figures of others.

    ``n_within_doubt``: sets on which ours is the best, but by less than a figure from memory may be
    off.
    """

    n_sets: int
    n_best: int
    n_at_least_baseline: int
    n_within_doubt: int


def figures() -> pd.DataFrame:
    """One line for each figure: set, model, test, certainty."""
    return pd.read_csv(PUBLISHED)


def published() -> pd.DataFrame:
    """The highest figure by set and model; sets in their order in the literature, by variables."""
    known = figures()
    wide = known.pivot_table(index="set", columns="model", values="test", aggfunc="max")
    rivals = [x for x in known["model"].unique() if x != BASELINE]
    return wide.loc[known["set"].unique(), [*rivals, BASELINE]].rename_axis(columns=None)


def certainties() -> pd.DataFrame:
    """How sure the figures of ``published`` are, in the same places."""
    highest = figures().sort_values("test").drop_duplicates(["set", "model"], keep="last")
    wide = highest.pivot_table(index="set", columns="model", values="certainty", aggfunc="first")
    return wide.reindex_like(published())


def ours(frame: pd.DataFrame, model: str) -> pd.Series:
    return frame[frame["model"] == model].set_index("set")["test"]


def beside(frame: pd.DataFrame, model: str) -> pd.DataFrame:
    """Figures of others and ours, for all sets of ours."""
    mine = ours(frame, model)
    known = published()
    order = [
        *(x for x in known.index if x in mine),
        *(x for x in mine.index if x not in known.index),
    ]
    return known.reindex(order).assign(ours=mine)


def is_best(row: pd.Series) -> bool:
    """Better than every figure we know, to two digits as they are printed."""
    rivals = row.drop(["ours", BASELINE]).dropna()
    return bool(len(rivals)) and round(row["ours"], 2) > rivals.max()


def is_within_doubt(row: pd.Series) -> bool:
    """Whether a figure from memory might be higher than ours after all."""
    sure = certainties().reindex([row.name]).iloc[0]
    from_memory = row.drop(["ours", BASELINE])[sure.drop(BASELINE) == FROM_MEMORY]
    return bool((from_memory + DOUBT > row["ours"]).any())


def standing(frame: pd.DataFrame, model: str) -> Standing:
    rows = beside(frame, model).dropna(subset=[BASELINE])
    best = [row for _, row in rows.iterrows() if is_best(row)]
    at_least = rows["ours"].round(2) >= rows[BASELINE]
    return Standing(len(rows), len(best), int(at_least.sum()), sum(map(is_within_doubt, best)))


def table(frame: pd.DataFrame, model: str, sets: Sequence[str] | None = None) -> str:
    """One line for each set; ``*`` where ours is better than every figure we know."""
    rows = beside(frame, model)
    if sets is not None:
        rows = rows.loc[list(sets)]
    marks = ["*" if is_best(row) else "" for _, row in rows.iterrows()]
    text = rows.assign(best=marks).rename(columns={"best": ""})
    lines = [text.to_string(float_format="{:.2f}".format, na_rep="")]
    if sets is None:
        n, best, at_least, within = standing(frame, model)
        lines.append(
            f"better than every figure we know on {best} of {n} ({within} of them by less than a "
            f"figure from memory may be off); at least AR: {at_least}"
        )
    return "\n".join(lines)
