"""Means by set, mean ranks by kind of set, and what was to be reached."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from study.classification.report import without_twins
from study.numbers.rivals import OURS
from study.numbers.sets import TARGETS, DataSet
from study.ranks import mean_ranks


def means(frame: pd.DataFrame, sets: Mapping[str, DataSet]) -> pd.DataFrame:
    """Mean log-loss by set and model: infinite out of time, NaN until all folds are done."""
    groups = frame.assign(log_loss=frame["log_loss"].fillna(np.inf)).groupby(["set", "model"])
    n_folds = frame.groupby(["set", "model"])["set"].first().map(lambda name: sets[name].n_folds)
    return groups["log_loss"].mean()[groups.size() == n_folds].unstack()


def targets(losses: pd.DataFrame) -> pd.DataFrame:
    """Our figures beside the targets and the best rival, with ``reached`` or ``MISSED``."""
    wanted = pd.Series({name: TARGETS[name] for name in TARGETS if name in losses.index})
    found = losses.loc[wanted.index]
    ours = [model for model in losses if model.startswith(OURS)]
    shown = pd.DataFrame({"target": wanted, "best rival": found.drop(columns=ours).min(axis=1)})
    for model in ours:
        verdict = np.where(found[model] <= wanted, "reached", "MISSED")
        shown[model] = [
            "" if np.isnan(x) else f"{x:.4f} {word}"
            for x, word in zip(found[model], verdict, strict=True)
        ]
    return shown


def table(frame: pd.DataFrame, sets: Mapping[str, DataSet]) -> str:
    """All of it as text; ranks are over sets that all models of the file have done."""
    losses = means(frame, sets)
    parts = ["Mean test log-loss in nats; inf: out of time"]
    for kind in ("numeric", "mixed", "categorical"):
        part = losses[[sets[name].kind == kind for name in losses.index]].dropna(axis=1, how="all")
        if part.empty:
            continue
        ranked = without_twins(part.dropna())
        parts.append(f"{kind}\n{part.to_string(float_format='{:.4f}'.format)}")
        parts.append(
            f"Mean ranks over {len(ranked)} {kind} sets; of sets that share instances, one "
            f"counts\n{mean_ranks(ranked).round(2).to_string()}"
        )
    parts.append(f"Targets\n{targets(losses).to_string(float_format='{:.4f}'.format)}")
    return "\n\n".join(parts)
