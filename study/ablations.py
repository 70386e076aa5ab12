"""What the defaults are worth: the default against itself with one thing changed."""

import pandas as pd

from study.claims import Claim, markdown_table
from study.classification import results as classification
from study.classification import screening, strict
from study.classification.report import comparison, means
from study.density import results as density

CLASSIFIER = {
    "ebnc-evidence": "σ by evidence, without leave-one-out",
    "ebnc-single": "the best model alone, without averaging over models",
    "ebnc-quantiles": "numbers cut at quantiles instead of by MDLP",
}
NETWORK = {
    "sparse": "sparse: arcs searched, at most eight parents",
    "ebnc-only": "EBNC nodes only, without counts",
    "trees-only": "decision trees only",
}


def claims() -> dict[str, Claim]:
    found = {"classifier": Claim(_classifier(), classification.SOURCE)}
    found["network"] = Claim(_network(), density.SOURCE)
    found |= _screening() | _strict()
    for model in CLASSIFIER:
        losses = _pair(model)
        if len(losses):
            against = comparison(losses, "ebnc")[model]
            text = f"{against.won} : {against.drawn} : {against.lost}"
            found[f"record/{model}"] = Claim(text, classification.SOURCE)
            for name in ("ebnc", model):
                mean = Claim(f"{losses[name].mean():.4f}", classification.SOURCE)
                found[f"mean/{model}/{name}"] = mean
    return found


def _pair(model: str) -> pd.DataFrame:
    return means(classification.frame(), ["ebnc", model])


def _classifier() -> str:
    columns: dict[str, list[str]] = {
        name: []
        for name in (
            *("change", "sets", "mean log-loss, default", "changed"),
            *("default won : drawn : lost", "median difference", "effect", "p"),
        )
    }
    for model, label in CLASSIFIER.items():
        losses = _pair(model)
        if losses.empty:
            continue
        a = comparison(losses, "ebnc")[model]
        values = (
            *(
                label,
                str(len(losses)),
                f"{losses['ebnc'].mean():.4f}",
                f"{losses[model].mean():.4f}",
            ),
            *(
                f"{a.won} : {a.drawn} : {a.lost}",
                f"{a.median:+.4f}",
                f"{a.effect:+.2f}",
                f"{a.p:.2g}",
            ),
        )
        for column, value in zip(columns.values(), values, strict=True):
            column.append(value)
    return markdown_table(columns)


def _network() -> str:
    wide = density.frame().pivot_table(index="set", columns="model", values="test")
    models = [density.DEFAULT, *(model for model in NETWORK if model in wide)]
    rows = wide[models].dropna(thresh=2)
    labels = {density.DEFAULT: "default", **NETWORK}
    columns = {"set": list(rows.index)}
    for model in models:
        columns[labels[model]] = ["" if pd.isna(x) else f"{x:.2f}" for x in rows[model]]
    return markdown_table(columns)


def _screening() -> dict[str, Claim]:
    source = "study/classification/screening.csv; python -m study.classification.screening"
    rows = screening.cells().frame()
    saved = rows["all_fits"] / rows["fits"]
    lost = rows["all_score"] - rows["score"]
    texts = {
        "screening/sets": str(len(rows)),
        "screening/most-lost": f"{max(lost.max(), 0):.2f}",
        "screening/least-saved": f"{saved.min():.1f}",
        "screening/most-saved": f"{saved.max():.1f}",
        "screening/table": markdown_table(
            {
                "set": list(rows["set"]),
                "score, screened": [f"{x:.2f}" for x in rows["score"]],
                "score, all fitted": [f"{x:.2f}" for x in rows["all_score"]],
                "fits": [str(x) for x in rows["fits"]],
                "fits, all": [str(x) for x in rows["all_fits"]],
                "saved": [f"× {x:.1f}" for x in saved],
            }
        ),
    }
    return {name: Claim(text, source) for name, text in texts.items()}


def _strict() -> dict[str, Claim]:
    """Excess of the test log-loss over the truth's, in thousandths of a nat."""
    rows = strict.cells().frame().dropna(subset=["test_phi"])
    groups = rows.assign(
        phi=1000 * (rows["test_phi"] - rows["test_truth"]),
        theta=1000 * (rows["test_theta"] - rows["test_truth"]),
    ).groupby(["classes", "rows"])
    mean = groups.mean(numeric_only=True).reset_index()
    table = markdown_table(
        {
            "classes": [f"{x:.0f}" for x in mean["classes"]],
            "rows": [f"{x:.0f}" for x in mean["rows"]],
            "samples": [str(x) for x in groups.size()],
            "d of φ": [f"{x:.0f}" for x in mean["span"]],
            "d of θ": [f"{x:.0f}" for x in mean["generic"]],
            "excess loss of φ, 10⁻³ nats": [f"{x:.1f}" for x in mean["phi"]],
            "of θ": [f"{x:.1f}" for x in mean["theta"]],
            "seconds of φ": [f"{x:.2f}" for x in mean["seconds_phi"]],
            "of θ ": [f"{x:.2f}" for x in mean["seconds_theta"]],
        }
    )
    source = "study/classification/strict.csv; python -m study.classification.strict"
    return {"strict/table": Claim(table, source)}
