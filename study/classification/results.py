"""What Part A shows: quoted numbers, tables and figures from its tracked results."""

from functools import cache
from pathlib import Path

import pandas as pd

from study.claims import Claim, markdown_table
from study.classification.data import CORE_ROWS, NUMERIC
from study.classification.measure import RESULTS, cells
from study.classification.models import OURS, REPEATED, STUDIED
from study.classification.report import (
    comparison,
    folds,
    means,
    summary,
    without_twins,
)
from study.figures import critical_difference_diagram, learning_curves, save
from study.ranks import critical_difference, friedman, mean_ranks

CURVES = RESULTS.with_name("curves.csv")
SOURCE = "study/classification/results.csv; python -m study.classification --data DIR"

LABELS = {
    "ebnc": "EBNC",
    "ebnc-tan": "EBNC, TAN",
    "ebnc-naive": "EBNC, naive",
    "nb-tuned": "naive Bayes",
    "tan-tuned": "TAN",
    "aode-tuned": "AODE",
    "logistic": "logistic regression",
    "logistic-pairs": "logistic regression, all pairs",
    "forest": "random forest",
    "boosting": "gradient boosting",
}
ON_CURVES = ("ebnc", "ebnc-naive", "tan-tuned", "logistic-pairs", "forest", "boosting")


@cache
def frame() -> pd.DataFrame:
    return cells().frame()


def core(data: pd.DataFrame) -> pd.DataFrame:
    """Categorical and mixed sets of at most 5 000 rows."""
    most = data.groupby("set")["rows"].transform("max")
    return data[~data["set"].isin(NUMERIC) & (most <= CORE_ROWS // 2)]


@cache
def claims() -> dict[str, Claim]:
    texts: dict[str, str] = {}
    for place, data, models in (("all", frame(), STUDIED), ("core", core(frame()), REPEATED)):
        losses = means(data, models)
        independent = without_twins(losses)
        texts[f"{place}/models"] = str(len(models))
        texts[f"{place}/sets"] = str(len(losses))
        texts[f"{place}/independent-sets"] = str(len(independent))
        for model, rank in mean_ranks(independent).items():
            texts[f"{place}/rank/{model}"] = f"{rank:.2f}"
        for other, a in comparison(losses, "ebnc").items():
            texts[f"{place}/record/{other}"] = f"{a.won} : {a.drawn} : {a.lost}"
            texts[f"{place}/p/{other}"] = _p(a.p)
        f, p = friedman(independent)
        texts[f"{place}/friedman"] = f"F = {f:.1f}, p {_p(p)}"
        width = critical_difference(len(models), len(independent))
        texts[f"{place}/critical-difference"] = f"{width:.2f}"
        texts[f"{place}/table"] = _table(data, losses)
        texts[f"{place}/folds"] = _spread(folds(data, models)[losses.index])
        behind = (losses["ebnc"] - losses["logistic"]).sort_values(ascending=False)
        texts[f"{place}/behind-logistic"] = ", ".join(
            f"{name} {by:+.3f}" for name, by in behind.head(3).items()
        )
        texts[f"{place}/much-worse-than-logistic"] = str(int((behind > 0.05).sum()))
    texts["every-set"] = _every_set(frame())
    for model in ("ebnc", "logistic", "tan-tuned", "forest", "boosting", "logistic-pairs"):
        texts[f"car/{model}"] = f"{means(frame(), REPEATED).loc['car', model]:.3f}"
    return {name: Claim(text, SOURCE) for name, text in texts.items()}


def _p(p: float) -> str:
    return f"= {p:.2g}" if p >= 0.001 else "< 0.001"


def _spread(counts: pd.Series) -> str:
    return ", ".join(
        f"{n} sets with {k:g} folds" for k, n in counts.value_counts().sort_index().items()
    )


def _table(data: pd.DataFrame, losses: pd.DataFrame) -> str:
    """Models in the order of their mean ranks, and how EBNC does against each."""
    independent = without_twins(losses)
    ranks = mean_ranks(independent)
    measures = summary(data, list(losses))
    rivals = comparison(losses, "ebnc")
    order = list(ranks.index)
    blank = {model: model not in rivals for model in order}
    return markdown_table(
        {
            "model": [f"**{LABELS[m]}**" if m in OURS else LABELS[m] for m in order],
            "mean rank": [f"{ranks[m]:.2f}" for m in order],
            "log-loss": [f"{measures.loc[m, 'log_loss']:.3f}" for m in order],
            "error": [f"{measures.loc[m, 'error']:.3f}" for m in order],
            "Brier": [f"{measures.loc[m, 'brier']:.3f}" for m in order],
            "ECE": [f"{measures.loc[m, 'calibration']:.3f}" for m in order],
            "fit, s": [f"{measures.loc[m, 'fit_seconds']:.2f}" for m in order],
            "EBNC won : drawn : lost": [
                "" if blank[m] else f"{rivals[m].won} : {rivals[m].drawn} : {rivals[m].lost}"
                for m in order
            ],
            "effect": ["" if blank[m] else f"{rivals[m].effect:+.2f}" for m in order],
            "p (Holm)": ["" if blank[m] else _p(rivals[m].p).removeprefix("= ") for m in order],
        }
    )


def _every_set(data: pd.DataFrame) -> str:
    """Log-loss of every model on every set, the best in bold; empty where time ran out."""
    shown = {}
    for name, part in data.groupby("set"):
        done = [m for m in STUDIED if part.loc[part["model"] == m, "log_loss"].notna().any()]
        losses = means(part, done)
        if len(losses) and "ebnc" in done:
            shown[name] = losses.iloc[0]
    table = pd.DataFrame(shown).T.reindex(columns=list(STUDIED))
    n_folds = {
        name: folds(data[data["set"] == name], row.dropna().index)[name]
        for name, row in table.iterrows()
    }
    columns = {"set": list(table.index), "folds": [str(n_folds[name]) for name in table.index]}
    for model in STUDIED:
        columns[LABELS[model]] = [
            "" if pd.isna(x) else f"**{x:.3f}**" if x <= least + 5e-4 else f"{x:.3f}"
            for x, least in zip(table[model], table.min(axis=1), strict=True)
        ]
    return markdown_table(columns)


def write_figures(folder: Path) -> None:
    losses = without_twins(means(frame(), STUDIED))
    ranks = mean_ranks(losses).rename(LABELS)
    figure = critical_difference_diagram(
        ranks,
        critical_difference(len(STUDIED), len(losses)),
        f"Mean rank by test log-loss, {len(losses)} sets",
        [LABELS[m] for m in OURS],
    )
    save(figure, folder / "critical-difference.svg")
    if CURVES.exists():
        curves = cells(CURVES).frame()
        whole = frame()[frame()["set"].isin(curves["set"]) & (frame()["repeat"] == 0)]
        curves = pd.concat([curves, whole]).dropna(subset=["log_loss"])
        save(
            learning_curves(curves, {m: LABELS[m] for m in ON_CURVES}),
            folder / "learning-curves.svg",
        )
