"""The part of ``ebnc learn`` for a target that is a number."""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ebnc.cli.printing import averaged_text, print_json, print_table, readable_count
from ebnc.cli.provenance import provenance_of
from ebnc.cli.streams import STANDARD, finishing, output
from ebnc.estimator.regressor import EBNCRegressor
from ebnc.formats.native import model_bytes

if TYPE_CHECKING:
    from ebnc.data.files import DataFiles
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


def write_regressor(
    regressor: EBNCRegressor,
    files: "DataFiles",
    data: str,
    out: str,
    *,
    as_json: bool,
    force: bool,
    quiet: bool,
) -> None:
    """Write a regressor to a model file, and print a summary."""
    classifier, bins = regressor.classifier_, regressor.density_.bins
    ebnc = regressor.ebnc_
    n_rows = round(classifier.ebnc_.n_cases)
    provenance = provenance_of(files, data, n_rows, regressor.n_features_in_ + 1)
    interrupted = classifier.trace_ is not None and classifier.trace_.interrupted
    with finishing(out):
        content = model_bytes(regressor, provenance)
        with output(out, force=force) as file:
            file.write(content)
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
            print_table(rows, stream=sys.stderr if out == STANDARD else sys.stdout)
