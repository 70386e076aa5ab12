"""Tables of Part A: ``python -m study.classification.report [--models m,n] [--core DIR]``

A model counts on a set with the mean over the folds that all models compared have finished, two at
least (one repeat). A model that ran out of time on a set has no figure there, and the set is left
out of comparisons with it.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from study.cells import select_names
from study.classification.data import TWINS, core_names
from study.classification.measure import RESULTS, cells
from study.classification.models import STUDIED
from study.ranks import Against, against, critical_difference, friedman, mean_ranks

DRAW = 0.005
MUCH_WORSE = 0.05
FOLD = ["repeat", "fold"]


def whole_sets(frame: pd.DataFrame) -> pd.DataFrame:
    """Cells that learned from a whole training fold: the most rows of their set, give or take 1."""
    most = frame.groupby("set")["rows"].transform("max")
    return frame[frame["rows"] >= most - 1]


def means(
    frame: pd.DataFrame, models: Sequence[str], column: str = "log_loss", least: int = 2
) -> pd.DataFrame:
    """Means by set and model over the folds that all of ``models`` have finished."""
    frame = whole_sets(frame)
    wide = frame[frame["model"].isin(models)].pivot_table(
        index=["set", *FOLD], columns="model", values=column, dropna=False
    )
    finished = wide.reindex(columns=list(models)).dropna()
    groups = finished.groupby("set")
    return groups.mean()[groups.size() >= least]


def folds(frame: pd.DataFrame, models: Sequence[str]) -> pd.Series:
    """How many folds of each set ``means`` are over."""
    frame = whole_sets(frame).dropna(subset=["log_loss"])
    count = frame[frame["model"].isin(models)].groupby(["set", *FOLD])["model"].nunique()
    return (count == len(models)).groupby("set").sum()


def without_twins(losses: pd.DataFrame) -> pd.DataFrame:
    """Sets that share instances count once: the second of each pair is left out."""
    second = [b for a, b in TWINS if a in losses.index]
    return losses.drop(index=second, errors="ignore")


def comparison(losses: pd.DataFrame, model: str) -> dict[str, Against]:
    return against(without_twins(losses), model, DRAW)


def report(frame: pd.DataFrame, models: Sequence[str], ours: str = "ebnc") -> str:
    losses = means(frame, models)
    independent = without_twins(losses)
    f, p = friedman(independent)
    ranks = mean_ranks(independent)
    width = critical_difference(len(models), len(independent))
    parts = [
        "Mean log-loss (nats)\n"
        + losses.assign(folds=folds(frame, models)).to_string(float_format="{:.4f}".format),
        f"Mean ranks over {len(independent)} sets (critical difference {width:.2f}; Friedman "
        f"F {f:.1f}, p {p:.1g})\n" + ranks.round(2).to_string(),
        f"{ours} against (drawn: within {DRAW} nats; Wilcoxon–Holm)\n"
        + "\n".join(
            f"{other:16} won {a.won:2}, drawn {a.drawn:2}, lost {a.lost:2}, median "
            f"{a.median:+.4f}, effect {a.effect:+.2f}, p {a.p:.2g}"
            for other, a in comparison(losses, ours).items()
        ),
        "Means\n" + summary(frame, models).to_string(float_format="{:.4f}".format),
    ]
    if "logistic" in losses:
        worse = (losses[ours] - losses["logistic"]).sort_values(ascending=False)
        parts.append(
            "furthest behind logistic regression: "
            + ", ".join(f"{name} {by:+.3f}" for name, by in worse.head(5).items())
        )
    return "\n\n".join(parts)


def summary(frame: pd.DataFrame, models: Sequence[str]) -> pd.DataFrame:
    """Means over sets of every measure."""
    columns = ("log_loss", "error", "brier", "calibration", "fit_seconds")
    return pd.DataFrame({name: means(frame, models, name).mean() for name in columns})


def main() -> None:
    parser = argparse.ArgumentParser(description="Tables of Part A.")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--models", default=",".join(STUDIED), help="models to compare")
    parser.add_argument("--ours", default="ebnc", help="the one to compare with the others")
    parser.add_argument("--core", type=Path, help="only categorical and mixed sets of this folder")
    options = parser.parse_args()
    frame = cells(options.results).frame()
    if options.core is not None:
        frame = frame[frame["set"].isin(core_names(options.core))]
    models = select_names(options.models, sorted(frame["model"].unique()), "model")
    print(report(frame, models, options.ours))


if __name__ == "__main__":
    main()
