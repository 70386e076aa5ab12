"""Performance on held-out data as tiles and tables, by the names that scikit-learn uses."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from ebnc.report.summary import Summary
from ebnc.report.words import count_text, full_table_text, number


@dataclass(frozen=True, slots=True)
class Figure:
    """A headline number with its name and a note."""

    name: str
    value: str
    note: str


@dataclass(frozen=True, slots=True)
class ClassRow:
    """A class on held-out data; None where a share of no rows is meant.

    ``share``: of the rows. ``precision``: share of the class in the rows predicted as it;
    ``recall``: share of its rows that are predicted as it.
    """

    name: str
    rows: float
    share: float
    precision: float | None
    recall: float | None
    auc: float | None


def class_rows(summary: Summary) -> list[ClassRow]:
    """All classes; none without held-out data."""
    held = summary.held_out
    if held is None:
        return []
    n_classes = len(summary.classes)
    auc: Sequence[float | None] = held.auc or (None,) * n_classes
    rows = []
    for k, name in enumerate(summary.classes):
        actual, predicted = sum(held.confusion[k]), sum(row[k] for row in held.confusion)
        right = held.confusion[k][k]
        share = actual / (held.n_cases or 1.0)
        precision = right / predicted if predicted else None
        recall = right / actual if actual else None
        rows.append(ClassRow(name, actual, share, precision, recall, auc[k]))
    return rows


def headline_figures(summary: Summary) -> list[Figure]:
    """The numbers at the top of the page."""
    held, n_selected = summary.held_out, sum(x.selected for x in summary.inputs)
    used = Figure("inputs used", count_text(n_selected), f"of {count_text(len(summary.inputs))}")
    if held is None:
        full = f"a full table: {full_table_text(summary)}"
        figures = [used, Figure("parameters", count_text(summary.fit.dimension), full)]
        if summary.fit.n_cases is not None:
            figures.append(Figure("training rows", count_text(summary.fit.n_cases), ""))
        return figures
    loss = "∞" if held.log_loss is None else number(held.log_loss)
    base = "" if held.base_loss is None else f"class frequencies: {held.base_loss:.3f}"
    largest = max(sum(row) for row in held.confusion) / (held.n_cases or 1.0)
    figures = [
        Figure("accuracy", f"{held.accuracy:.1%}", f"most frequent class: {largest:.1%}"),
        Figure("log-loss", loss, base),
        used,
    ]
    areas = [area for area in held.auc if area is not None]
    if areas:
        note = (
            "area under the ROC curve" if len(held.auc) == 2 else "mean, one class against others"
        )
        figures.insert(1, Figure("AUC", number(fmean(areas)), note))
    return figures


def more_figures(summary: Summary) -> list[Figure]:
    """Further numbers on held-out data."""
    held, rows = summary.held_out, class_rows(summary)
    if held is None:
        return []
    counted = rows[1:] if len(rows) == 2 else rows
    note = f"of {rows[1].name}" if len(rows) == 2 else "mean of the classes"
    error = "" if held.log_loss_error is None else f"± {held.log_loss_error:.3f}"
    figures = [
        Figure("Brier score", number(held.brier), "sum over the classes"),
        Figure("calibration error", f"{held.calibration_error:.1%}", "mean gap"),
        Figure("standard error", error, "of the log-loss"),
    ]
    for name, shares in (
        ("recall", [row.recall for row in counted]),
        ("precision", [row.precision for row in counted]),
    ):
        known = [share for share in shares if share is not None]
        if known:
            figures.insert(0, Figure(name, f"{fmean(known):.1%}", note))
    return [figure for figure in figures if figure.value]
