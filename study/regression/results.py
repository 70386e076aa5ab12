"""What README and docs quote of the comparison of predicted numbers, from the tracked results."""

from pathlib import Path

import pandas as pd

from study.claims import Claim, markdown_table

FOLDER = Path(__file__).parent
SOURCE = "study/regression/results.csv; python -m study.regression --data DIR"
NGBOOST = ("ngboost", "ngboost-stopped")
"""NGBoost with its defaults, and stopped early; the better one of each target counts."""

COVERED = (0.87, 0.93)


def means() -> pd.DataFrame:
    """Means over the folds: measures and models as columns, a line for each target."""
    frame = pd.read_csv(FOLDER / "results.csv")
    found = frame.groupby(["set", "model"])[["log_density", "rmse", "coverage"]].mean()
    return found.unstack("model")


def claims() -> dict[str, Claim]:
    found = means()
    ours, line = (found.xs(model, axis=1, level="model") for model in ("ebnc", "ridge"))
    ngboost = found["log_density"][list(NGBOOST)].max(axis=1)
    lost = ours.index[ours["log_density"] <= line["log_density"]]
    is_better = ours["log_density"] > ngboost.clip(lower=line["log_density"])
    covered = ours["coverage"].between(*COVERED)
    text = {
        "table": markdown_table(
            {
                "target": [f"`{name}`" for name in found.index],
                "ebnc": [f"{x:.3f}" for x in ours["log_density"]],
                "linear, Gaussian": [f"{x:.3f}" for x in line["log_density"]],
                "NGBoost": [f"{x:.3f}" for x in ngboost],
                "error, ebnc : linear": [f"{x:.2f}" for x in ours["rmse"] / line["rmse"]],
                "90 % intervals of ebnc": [f"{x:.1%}" for x in ours["coverage"]],
            }
        ),
        "targets": str(len(found)),
        "better": str(int(is_better.sum())),
        "behind-linear": ", ".join(
            f"{name} {ours.loc[name, 'log_density'] - line.loc[name, 'log_density']:+.3f}"
            for name in lost
        ),
        "covered": str(int(covered.sum())),
    }
    return {name: Claim(words, SOURCE) for name, words in text.items()}
