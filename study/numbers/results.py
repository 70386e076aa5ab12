"""What README and docs quote of the comparison on raw data, from the tracked results."""

from pathlib import Path

import pandas as pd

from study.claims import Claim, markdown_table
from study.classification.report import without_twins
from study.numbers.rivals import OURS
from study.numbers.sets import TARGETS, DataSet
from study.numbers.table import means
from study.ranks import mean_ranks

FOLDER = Path(__file__).parent
SOURCE = "study/numbers/results.csv; python -m study.numbers --data DIR"
VERSION = f"{OURS} 0.2 smooth"
"""The row of the present default: its losses are those of this label alone."""

LABELS = {
    VERSION: "ebnc",
    "logistic-splines": "logistic regression on splines",
    "forest": "random forest",
    "hist-boosting": "histogram boosting",
    "lightgbm": "LightGBM",
    "xgboost": "XGBoost",
}
"""The models that are on file for all sets; CatBoost is on file for the smallest ones only."""


def sets() -> dict[str, DataSet]:
    """The sets, without the data: kinds and folds are tracked beside the results."""
    rows = pd.read_csv(FOLDER / "sets.csv")
    return {row.set: DataSet(row.set, row.kind, row.folds) for row in rows.itertuples()}


def losses() -> pd.DataFrame:
    """Mean log-loss by set and model, of the sets that all compared models have done."""
    frame = pd.read_csv(FOLDER / "results.csv")
    frame = frame[frame["model"].isin(LABELS)]
    return means(frame, sets())[list(LABELS)].dropna()


def claims() -> dict[str, Claim]:
    found = losses()
    kinds = pd.Series({name: each.kind for name, each in sets().items()})[found.index]
    columns: dict[str, list[str]] = {"mean rank": list(LABELS.values())}
    result: dict[str, str] = {}
    for kind in ("numeric", "mixed", "categorical", "all"):
        part = without_twins(found if kind == "all" else found[kinds == kind])
        ranks = mean_ranks(part)
        columns[f"{kind}, {len(part)} sets"] = [f"{ranks[model]:.2f}" for model in LABELS]
        result[f"{kind}/sets"] = str(len(part))
        result |= {f"{kind}/rank/{LABELS[x]}".replace(" ", "-"): f"{ranks[x]:.2f}" for x in LABELS}
    result["ranks"] = markdown_table(columns)
    result["targets"] = _targets(found)
    behind = (found[VERSION] - found.drop(columns=VERSION).min(axis=1)).sort_values()[::-1]
    result["behind"] = ", ".join(f"{name} +{x:.3f}" for name, x in behind[behind > 0][:8].items())
    result["models"] = str(len(LABELS))
    result["best-of"] = str(int((behind <= 0).sum()))
    return {name: Claim(text, SOURCE) for name, text in result.items()}


def _targets(found: pd.DataFrame) -> str:
    names = [name for name in TARGETS if name in found.index]
    rivals = found.drop(columns=VERSION)
    return markdown_table(
        {
            "set": [f"`{name}`" for name in names],
            "ebnc": [f"{found.loc[name, VERSION]:.3f}" for name in names],
            "best of the others": [f"{rivals.loc[name].min():.3f}" for name in names],
            "aim": [f"{TARGETS[name]:g}" for name in names],
        }
    )
