"""``ebnc learn``: learn a classifier or a regressor from a table."""

import sys
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ebnc.cli.arguments import (
    AsJson,
    Data,
    Decimal,
    Delimiter,
    Exclude,
    Force,
    Include,
    MissingWords,
    NumbersOption,
    Quiet,
    ScoreOption,
    TimeLimit,
    Types,
    VariableKinds,
    chosen_columns,
    reading,
    variable_kinds,
)
from ebnc.errors import DataError, ParameterError

if TYPE_CHECKING:
    from ebnc.estimator.classifier import EBNCClassifier
    from ebnc.report.summary import HeldOut


class Family(StrEnum):
    """The families of structures that ``--structure`` offers."""

    search = "search"
    naive = "naive"
    tan = "tan"
    forest = "forest"
    kdb1 = "kdb1"
    kdb2 = "kdb2"
    table = "table"


def learn(
    data: Data,
    target: Annotated[str, typer.Option("--target", "-t", help="The column to predict.")],
    out: Annotated[
        str, typer.Option("--out", "-o", help="The model file to write; '-' is standard output.")
    ],
    report: Annotated[
        str | None,
        typer.Option(help="Also cross-validate, and write an HTML report to this file."),
    ] = None,
    folds: Annotated[
        int, typer.Option(min=0, max=100, help="Number of cross-validation folds; 0: none.")
    ] = 5,
    exclude: Exclude = None,
    include: Include = None,
    types: Types = None,
    kinds: VariableKinds = None,
    numbers: NumbersOption = "smooth",
    missing: MissingWords = None,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    weights: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of row weights (counts).")
    ] = None,
    classify: Annotated[
        bool | None,
        typer.Option(
            "--classify/--regress",
            help="Predict classes or a number (default: a number if it has many values).",
        ),
    ] = None,
    structure: Annotated[
        Family | None,
        typer.Option(
            help="Search for a structure, or use a fixed family (default: search; naive if the "
            "target is a number)."
        ),
    ] = None,
    score: ScoreOption = "laplace",
    prior_scale: Annotated[
        str, typer.Option(help="σ of the prior: a number, or 'loo' or 'evidence' to choose it.")
    ] = "loo",
    average: Annotated[
        bool, typer.Option(help="Average over good models, or use only the best one.")
    ] = True,
    time_limit: TimeLimit = None,
    as_json: AsJson = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Learn a model that predicts the target, and write it to a model file.

    A target of more than 50 different numbers is predicted as a number, other targets as classes.

    Ctrl-C ends the search and saves the best model so far, or skips the rest of cross-validation.
    """
    from ebnc.cli.progress import shown_progress
    from ebnc.cli.provenance import provenance_of
    from ebnc.cli.streams import STANDARD, data_files, finishing, refuse_outputs, write_with_report
    from ebnc.data.read import is_number, learn_cases
    from ebnc.data.table import Coding

    refuse_outputs(out, report, data, force=force)
    scale = _scale(prior_scale)
    options = reading(types, missing, delimiter, decimal)
    coding = Coding.of(numbers, variable_kinds(kinds))
    with (
        shown_progress(quiet=quiet) as progress,
        data_files(data, progress.share, **options) as files,
    ):
        inputs = chosen_columns(files, include, exclude, target=target, weights=weights)
        if not inputs:
            raise DataError(f"no columns are left to predict {target!r} from")
        if is_number(files, target) if classify is None else not classify:
            from ebnc.cli.regression import cross_validated, learn_regressor, write_regressor

            chosen: dict[str, Any] = {
                "structure": (structure or Family.naive).value,
                "criterion": score,
            }
            chosen |= {"prior_scale": scale, "average": average, "time_limit": time_limit}
            chosen |= {"numbers": numbers, "kinds": coding.kinds or None}
            regressor = learn_regressor(files, inputs, target, weights, chosen, progress.step)
            measured, note = None, ""
            if report is not None:
                progress.show("cross-validating")
                try:
                    measured = cross_validated(regressor, files, target, weights, folds)
                except KeyboardInterrupt:
                    note = "cross-validation was interrupted; the report has no cross-validation"
            write_regressor(
                regressor,
                files,
                data,
                out,
                report,
                measured,
                note=note,
                as_json=as_json,
                force=force,
                quiet=quiet,
            )
            return
        if classify:
            coding = replace(coding, kinds={**coding.kinds, target: "nominal"})
        cases = learn_cases(files, inputs, target, weights=weights, leave_out=True, coding=coding)
        n_columns = len(cases.inputs) + 1
        provenance = provenance_of(files, data, round(cases.total_weight), n_columns)
        from ebnc.estimator.classifier import EBNCClassifier
        from ebnc.formats.native import model_bytes

        classifier = EBNCClassifier(
            (structure or Family.search).value,
            criterion=score,
            prior_scale=scale,
            average=average,
            numbers=coding.numbers,
            kinds=coding.kinds or None,
            on_interrupt="best",
            time_limit=time_limit,
        )
        classifier.fit_cases(cases, report=progress.step)
        classifier.set_params(on_interrupt="raise")  # an interrupted fold would bias the estimate
        stopped = classifier.trace_ is not None and classifier.trace_.interrupted
        interrupted = stopped and time_limit is None
        why = "interrupted" if interrupted else "the time limit ended learning"
        note = f"{why}; the best model so far was saved" if stopped else ""
        summary = None
        if report is not None:
            from ebnc.cli.evaluating import EvaluationRows

            command = str(provenance)
            try:
                rows = EvaluationRows.read(classifier, files, target, weights)
                summary = rows.summary(classifier, target, command)
                if not interrupted:
                    progress.show("cross-validating")
                    summary = replace(summary, held_out=rows.held_out(classifier, target, folds))
            except KeyboardInterrupt:
                interrupted = True
                note = "cross-validation was interrupted; the model is complete"
                if summary is None:
                    with finishing(out):
                        rows = EvaluationRows.read(classifier, files, target, weights)
                        summary = rows.summary(classifier, target, command)
            if interrupted:
                note += ", and the report has no cross-validation"
    with finishing(out):
        findings: dict[str, Any] = {}
        held_out, page = None, b""
        if summary is not None:
            from ebnc.cli.evaluating import findings_of
            from ebnc.report import render_html

            findings, held_out = findings_of(summary), summary.held_out
            page = render_html(summary).encode()
        content = model_bytes(classifier, provenance, findings)
        write_with_report(out, content, report, page, force=force)
        if note:
            print(f"ebnc: {note}", file=sys.stderr)
        if as_json and out != STANDARD:
            _print_json(classifier, target, out, report, cases.total_weight, held_out)
        elif not quiet:
            _print_summary(classifier, target, out, report, cases.total_weight, held_out)


def _scale(text: str) -> float | str:
    if text in ("loo", "evidence"):
        return text
    try:
        return float(text)
    except ValueError:
        raise ParameterError(
            f"--prior-scale takes a number, 'loo' or 'evidence', got {text!r}"
        ) from None


def _print_json(
    classifier: "EBNCClassifier",
    target: str,
    out: str,
    report: str | None,
    n_cases: float,
    held_out: "HeldOut | None",
) -> None:
    from ebnc.cli.printing import print_json

    trace = classifier.trace_
    print_json(
        {
            "command": "learn",
            "model": out,
            "report": report,
            "target": target,
            "classes": classifier.classes_.tolist(),
            "cases": float(n_cases),
            "structure": str(classifier.structure_),
            "selected": [
                {"feature": worth.feature, "worth": float(worth.worth)}
                for worth in classifier.feature_worths_
            ]
            or [{"feature": x, "worth": None} for x in classifier.selected_features_],
            "inputs": int(classifier.n_features_in_),
            "dimension": int(classifier.dimension_),
            "log_evidence": classifier.log_evidence_,
            "bic": classifier.bic_,
            "averaged_models": len(classifier.models_),
            "held_out": None
            if held_out is None
            else {
                "folds": held_out.n_folds,
                "log_loss": held_out.log_loss,
                "accuracy": held_out.accuracy,
            },
            "interrupted": bool(trace is not None and trace.interrupted),
        }
    )


def _print_summary(
    classifier: "EBNCClassifier",
    target: str,
    out: str,
    report: str | None,
    n_cases: float,
    held_out: "HeldOut | None",
) -> None:
    from ebnc.cli.printing import averaged_text, print_table, readable_count
    from ebnc.cli.streams import STANDARD

    stream = sys.stderr if out == STANDARD else sys.stdout
    selected, constant = classifier.selected_features_, classifier.constant_features_
    evidence = classifier.log_evidence_
    rows: list[tuple[str, str]] = [
        ("target", f"{target}: {', '.join(map(str, classifier.classes_[:10]))}"),
        ("rows", readable_count(round(n_cases))),
        ("selected", f"{len(selected)} of {classifier.n_features_in_} inputs"),
        *([("constant", ", ".join(constant))] if constant else []),
        ("structure", str(classifier.structure_)),
        ("parameters", readable_count(classifier.dimension_)),
        ("log evidence", "none under a flat prior" if evidence is None else f"{evidence:.2f}"),
        ("averaged over", averaged_text(len(classifier.models_))),
        ("model file", "standard output" if out == STANDARD else out),
    ]
    if held_out is not None:
        loss = "∞" if held_out.log_loss is None else f"{held_out.log_loss:.3f}"
        words = f"log-loss {loss}, accuracy {held_out.accuracy:.1%} in {held_out.n_folds} folds"
        rows.append(("held-out data", words))
    if report is not None:
        rows.append(("report", report))
    print_table(rows, stream=stream)
    if classifier.feature_worths_:
        print_table(
            [(worth.feature, float(worth.worth)) for worth in classifier.feature_worths_],
            ("selected input", "importance (nats)"),
            stream=stream,
        )
