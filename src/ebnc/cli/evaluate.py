"""``ebnc evaluate``: measure the predictions of a model on a table that holds the target."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ebnc.cli import arguments
from ebnc.errors import FileError

if TYPE_CHECKING:
    from ebnc.data.files import DataFiles
    from ebnc.formats.native import ModelFile
    from ebnc.report.evaluation import Evaluation
    from ebnc.report.regression import NumberHeldOut
    from ebnc.report.summary import HeldOut

MOST_CLASSES = 12
"""Most classes whose confusion table is printed."""


def evaluate(
    model: arguments.Model,
    data: arguments.Data,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            help="The column of the target, if its name differs.",
        ),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of row weights (counts).")
    ] = None,
    missing: arguments.MissingWords = None,
    delimiter: arguments.Delimiter = None,
    decimal: arguments.Decimal = ".",
    as_json: arguments.AsJson = False,
    quiet: arguments.Quiet = False,
) -> None:
    """Measure how well a model predicts the target of a table, such as a test set.

    Classes: accuracy, log-loss, AUC, Brier score, calibration, and the confusion table. Numbers:
    errors, log density, and the coverage of intervals. Rows without a target are left out.
    """
    from ebnc.cli.progress import shown_progress
    from ebnc.cli.streams import STANDARD, data_files, model_path

    if model == data == STANDARD:
        raise FileError("model and data cannot both come from standard input")
    from ebnc.formats.native import read_model

    stored = read_model(model_path(model))
    options = arguments.reading(None, missing, delimiter, decimal)
    with (
        shown_progress(quiet=quiet) as progress,
        data_files(data, progress.share, **options) as files,
    ):
        found = evaluation_of(stored, files, target, weights)
        same = is_training_data(stored, files)
    from ebnc.cli.printing import print_json, print_table

    if found.unknown:
        print(f"ebnc: {found.unknown}", file=sys.stderr)
    if as_json:
        print_json({"command": "evaluate", "training_data": same, **plain_measures(found)})
        return
    rows = [*measure_rows(found), *_left_out(found)]
    if same:
        rows.append(("caution", "the model was learned from these rows; new rows are harder"))
    print_table(rows)
    from ebnc.report.summary import HeldOut

    if isinstance(found.measures, HeldOut):
        _print_classes(found.measures, stored.model)


def evaluation_of(
    stored: "ModelFile", files: "DataFiles", target: str | None, weights: str | None
) -> "Evaluation":
    """Evaluate the model of a file on data."""
    from ebnc.data.sources import source_of
    from ebnc.formats.native import predictor_of
    from ebnc.report.evaluation import evaluate

    return evaluate(predictor_of(stored.model), source_of(files), target, weights)


def is_training_data(stored: "ModelFile", files: "DataFiles") -> bool:
    """Whether the data are the file that the model was learned from, by its fingerprint."""
    from ebnc.formats.provenance import fingerprint

    known, paths = stored.provenance.data, files.find()
    if known is None or known.sha256 is None or len(paths) != 1:
        return False
    return known.sha256 == fingerprint(paths[0])


def plain_measures(found: "Evaluation") -> dict[str, Any]:
    """The measures as plain data, without those that only pictures need."""
    from ebnc.field import record_to_json
    from ebnc.report.regression import NumberHeldOut

    plain = record_to_json(found.measures)
    for name in ("n_folds", "n_unknown", "reliability", "passed", "n_cases"):
        plain.pop(name, None)
    if isinstance(found.measures, NumberHeldOut):
        plain |= {"r2": found.measures.r2, "coverage": found.measures.coverage}
        del plain["quantiles"]
    return {
        "rows": found.measures.n_cases,
        "without_target": found.n_missing,
        "unseen_class": found.n_unseen,
        "calibration_slope": found.calibration_slope,
        **plain,
    }


def measure_rows(found: "Evaluation") -> list[tuple[str, str]]:
    """Names and values of the measures, with what a prediction without inputs would have."""
    from ebnc.report.regression import NumberHeldOut

    measures = found.measures
    if isinstance(measures, NumberHeldOut):
        return number_rows(measures)
    rows = class_rows(measures)
    if found.calibration_slope is not None:
        slope = found.calibration_slope
        note = "1 is perfect; below 1 predictions are too extreme"
        rows.append(("calibration slope", f"{slope:.3f}  ({note})"))
    return rows


def class_rows(held: "HeldOut") -> list[tuple[str, str]]:
    """Measures of classes."""
    from ebnc.cli.printing import readable_count

    largest = max(sum(row) for row in held.confusion) / held.n_cases
    error = "" if held.log_loss_error is None else f" ± {held.log_loss_error:.4f}"
    loss = "∞" if held.log_loss is None else f"{held.log_loss:.4f}{error}"
    base = "" if held.base_loss is None else f"  (class frequencies: {held.base_loss:.4f})"
    known = [area for area in held.auc if area is not None]
    of_auc = "" if len(held.auc) == 2 else "  (mean, one class against the others)"
    return [
        ("rows", readable_count(round(held.n_cases))),
        ("accuracy", f"{held.accuracy:.2%}  (most frequent class: {largest:.2%})"),
        ("log-loss", f"{loss}{base}"),
        *([("AUC", f"{sum(known) / len(known):.4f}{of_auc}")] if known else []),
        ("Brier score", f"{held.brier:.4f}  (sum over the classes)"),
        ("calibration error", f"{held.calibration_error:.2%}  (mean gap)"),
    ]


def number_rows(held: "NumberHeldOut") -> list[tuple[str, str]]:
    """Measures of numbers."""
    from ebnc.cli.printing import readable_count

    density = "−∞" if held.log_density is None else f"{held.log_density:.4f}"
    return [
        ("rows", readable_count(round(held.n_cases))),
        ("RMSE", f"{held.rmse:.5g}  (of the mean: {held.base_rmse:.5g}; R² {held.r2:.3f})"),
        ("mean absolute error", f"{held.mean_absolute_error:.5g}"),
        ("log density", f"{density}  (of a normal distribution: {held.base_log_density:.4f})"),
        ("in 90 % intervals", f"{held.coverage:.1%} of the rows"),
    ]


def _left_out(found: "Evaluation") -> list[tuple[str, str]]:
    parts = []
    if found.n_missing:
        parts.append(f"{found.n_missing} without a target")
    if found.n_unseen:
        parts.append(f"{found.n_unseen} of a class that the model has never seen")
    return [("left out", f"rows: {', '.join(parts)}")] if parts else []


def _print_classes(held: "HeldOut", model: Any) -> None:
    """The confusion table, and recall, precision and AUC of every class."""
    from ebnc.cli.network.files import state_text
    from ebnc.cli.printing import print_table

    names = [state_text(x) for x in model_classes(model)]
    totals = [sum(row) for row in held.confusion]
    called = [sum(column) for column in zip(*held.confusion, strict=True)]
    rows = []
    for k, name in enumerate(names):
        right, area = held.confusion[k][k], held.auc[k]
        rows.append(
            (
                name,
                _count(totals[k]),
                f"{right / totals[k]:.1%}" if totals[k] else "–",
                f"{right / called[k]:.1%}" if called[k] else "–",
                "–" if area is None else f"{area:.3f}",
            )
        )
    print_table(rows, ("class", "rows", "recall", "precision", "AUC"))
    if len(names) <= MOST_CLASSES:
        counts: list[Sequence[object]] = [
            (name, *map(_count, row)) for name, row in zip(names, held.confusion, strict=True)
        ]
        print_table(counts, ("actual \\ predicted", *names))


def _count(weight: float) -> float:
    return int(weight) if weight == int(weight) else weight


def model_classes(model: Any) -> list[Any]:
    """The classes of a classifier or an EBNC."""
    return list(model.classes_) if hasattr(model, "classes_") else list(model.domain[model.target])
