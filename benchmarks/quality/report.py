"""Report: ``python -m benchmarks.quality.report [--ranked m,n] [--ours m]``, from ``results.csv``.

Sets count where every ranked model is finished. Ranks are of mean log-loss, equal ones shared.
"""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.quality.data import N_REPEATS, TWINS
from benchmarks.quality.models import PEERS, VARIANTS
from benchmarks.quality.run import COLUMNS, RESULTS, Row, read_rows

BASELINE = "logistic"
DRAW = 0.005
MUCH_WORSE = 0.05
CAR_AIM = 0.05


def table(rows: Iterable[Row], column: str = "log_loss") -> pd.DataFrame:
    """Means by set and model, NaN where not all folds are finished."""
    frame = pd.DataFrame(rows, columns=COLUMNS)
    groups = frame.groupby(["set", "model"])[column]
    mean = groups.mean().where(groups.size() == 2 * N_REPEATS)
    return mean.unstack()


def mean_ranks(losses: pd.DataFrame) -> pd.DataFrame:
    """Mean ranks over sets: each counting once, and twins (shared instances) once together."""
    ranks = losses.rank(axis=1)
    twins = {name for pair in TWINS for name in pair if set(pair) <= set(losses.index)}
    weights = np.where(ranks.index.isin(list(twins)), 0.5, 1.0)
    together = ranks.mul(weights, axis=0).sum() / weights.sum()
    return pd.DataFrame({"mean rank": ranks.mean(), "twins once": together})


def report(rows: Sequence[Row], ranked: Sequence[str], ours: Sequence[str]) -> str:
    losses = table(rows)
    ranked = [model for model in ranked if model in losses]
    ours = [model for model in ours if model in losses]
    rest = sorted(set(losses) - set(ranked))
    losses = losses[[*ranked, *rest]]
    complete = losses.dropna(subset=ranked)
    infinite = pd.DataFrame(rows, columns=COLUMNS).groupby("model")["log_loss"].apply(_infinite)
    summary = mean_ranks(complete[ranked])
    parts = [
        "Mean log-loss (nats)\n" + losses.to_string(float_format="{:.4f}".format, na_rep=""),
        f"Means over the {len(complete)} finished sets\n" + _means(rows, complete, infinite),
        "Mean ranks by log-loss\n" + summary.sort_values("mean rank").round(2).to_string(),
    ]
    if BASELINE in complete:
        others = [model for model in complete.columns if model != BASELINE]
        lines = [_against(model, complete[model] - complete[BASELINE]) for model in others]
        parts.append(f"Against {BASELINE} (drawn: within {DRAW} nats)\n" + "\n".join(sorted(lines)))
        for model in ours:
            worse = (complete[model] - complete[BASELINE]).sort_values(ascending=False)
            names = [f"{name} {by:+.3f}" for name, by in worse.items() if by > MUCH_WORSE]
            listed = ", ".join(names) or "none"
            parts.append(f"{model}, more than {MUCH_WORSE} nats worse than {BASELINE}: {listed}")
    if "car" in losses.index:
        values = ", ".join(f"{model} {loss:.4f}" for model, loss in losses.loc["car"].items())
        parts.append(f"car: {values} (aim: ≤ {CAR_AIM})")
    return "\n\n".join(parts)


def _means(rows: Sequence[Row], complete: pd.DataFrame, infinite: pd.Series) -> str:
    columns = {
        name: table(rows, name).loc[complete.index, complete.columns].mean(skipna=False)
        for name in ("log_loss", "error", "brier", "fit_seconds")
    }
    lines = pd.DataFrame(columns).assign(hard_zeros=infinite)
    return lines.to_string(float_format="{:.4f}".format, na_rep="")


def _infinite(values: pd.Series) -> str:
    n = int(np.isinf(values).sum())
    return f"{n} infinite" if n else "none"


def _against(model: str, difference: pd.Series) -> str:
    known = difference.dropna()
    won, lost = int((known < -DRAW).sum()), int((known > DRAW).sum())
    return f"{model}: {won} won, {len(known) - won - lost} drawn, {lost} lost"


def main() -> None:
    parser = argparse.ArgumentParser(description="Tables of the quality study.")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--ranked", default=",".join([*PEERS, "ebnc"]), help="models to rank")
    parser.add_argument("--ours", default=",".join(["naive-evidence", *VARIANTS]))
    options = parser.parse_args()
    rows = list(read_rows(options.results).values())
    print(report(rows, options.ranked.split(","), options.ours.split(",")))


if __name__ == "__main__":
    main()
