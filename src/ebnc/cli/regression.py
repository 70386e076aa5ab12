"""The part of ``ebnc learn`` for a target that is a number."""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ebnc.cli.evaluating import EvaluationRows, Folds
from ebnc.cli.printing import averaged_text, held_out_text, print_json, print_table, readable_count
from ebnc.cli.provenance import provenance_of
from ebnc.cli.streams import STANDARD, finishing, write_with_report
from ebnc.estimator.regressor import EBNCRegressor
from ebnc.formats.native import model_bytes
from ebnc.report import RegressionFindings, render_html, summarise_regressor
from ebnc.report.regression import VERSION

if TYPE_CHECKING:
    from ebnc.cli.progress import ProgressLine
    from ebnc.data.files import DataFiles
    from ebnc.report.regression import NumberHeldOut
    from ebnc.search.trace import Step


def learn_regressor(
    files: "DataFiles",
    inputs: Sequence[str],
    target: str,
    weights: str | None,
    parameters: dict[str, Any],
    report: Callable[["Step"], None],
) -> EBNCRegressor:
    """Learn a regressor; Ctrl-C ends a search with the best model so far."""
    regressor = EBNCRegressor(**parameters, on_interrupt="best")
    regressor.fit_table(files, list(inputs), target, weights, report=report)
    regressor.on_interrupt = "raise"
    return regressor


def cross_validated(
    regressor: EBNCRegressor,
    files: "DataFiles",
    target: str,
    weights: str | None,
    folds: Folds,
    progress: "ProgressLine",
) -> "NumberHeldOut | None":
    """Cross-validate a regressor."""
    rows = EvaluationRows.read(regressor.classifier_, files, target, weights, folds.most_rows)
    return rows.number_held_out(regressor, folds, progress)


def write_regressor(
    regressor: EBNCRegressor,
    files: "DataFiles",
    data: str,
    out: str,
    report: str | None,
    held_out: "NumberHeldOut | None",
    *,
    note: str,
    as_json: bool,
    force: bool,
    quiet: bool,
) -> None:
    """Write a regressor to a model file, and perhaps a report, and print a summary."""
    classifier, bins = regressor.classifier_, regressor.density_.bins
    ebnc = regressor.ebnc_
    n_rows = round(classifier.ebnc_.n_cases)
    provenance = provenance_of(files, data, n_rows, regressor.n_features_in_ + 1)
    interrupted = classifier.trace_ is not None and classifier.trace_.interrupted
    with finishing(out):
        findings: dict[str, Any] = {}
        page = b""
        if report is not None:
            found = RegressionFindings(VERSION, held_out)
            summary = summarise_regressor(regressor, findings=found, provenance=str(provenance))
            findings, page = {"report": found.to_json()}, render_html(summary).encode()
        content = model_bytes(regressor, provenance, findings)
        write_with_report(out, content, report, page, force=force)
        if note:
            print(f"ebnc: {note}", file=sys.stderr)
        if interrupted:
            limited = regressor.time_limit is not None
            why = "the time limit ended learning" if limited else "interrupted"
            print(f"ebnc: {why}; the best model so far was saved", file=sys.stderr)
        if as_json and out != STANDARD:
            print_json(
                {
                    "command": "learn",
                    "model": out,
                    "target": ebnc.target,
                    "bins": len(bins.means),
                    "cases": float(classifier.ebnc_.n_cases),
                    "structure": str(ebnc.structure),
                    "selected": classifier.selected_features_,
                    "inputs": regressor.n_features_in_,
                    "dimension": classifier.dimension_,
                    "log_evidence": classifier.log_evidence_,
                    "averaged_models": len(classifier.models_),
                    "interrupted": interrupted,
                    "report": report,
                    "held_out": None
                    if held_out is None
                    else {
                        "folds": held_out.n_folds,
                        "rmse": held_out.rmse,
                        "log_density": held_out.log_density,
                    },
                }
            )
        elif not quiet:
            selected = len(classifier.selected_features_)
            low, high = float(bins.means[0]), float(bins.means[-1])
            rows = [
                ("target", f"{ebnc.target}: a number, mostly between {low:g} and {high:g}"),
                ("bins", f"{len(bins.means)} (--classify predicts classes)"),
                ("rows", readable_count(n_rows)),
                ("selected", f"{selected} of {regressor.n_features_in_} inputs"),
                ("structure", str(ebnc.structure)),
                ("parameters", readable_count(classifier.dimension_)),
                ("averaged over", averaged_text(len(classifier.models_))),
                ("model file", "standard output" if out == STANDARD else out),
            ]
            if held_out is not None:
                words = f"RMSE {held_out.rmse:.4g} ({held_out.base_rmse:.4g} of the mean)"
                rows.append(("held-out data", f"{words}, {held_out_text(held_out)}"))
            if report is not None:
                rows.append(("report", report))
            print_table(rows, stream=sys.stderr if out == STANDARD else sys.stdout)
