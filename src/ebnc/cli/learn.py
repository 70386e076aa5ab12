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
    ForbidArc,
    Force,
    Include,
    MissingWords,
    NJobs,
    NumbersOption,
    Quiet,
    RequireArc,
    ScoreOption,
    TimeLimit,
    Types,
    VariableKinds,
    arcs_from,
    chosen_columns,
    columns_from,
    reading,
    variable_kinds,
)
from ebnc.errors import DataError, ParameterError

if TYPE_CHECKING:
    from ebnc.data.parts import Parts
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
        int | None,
        typer.Option(
            min=0,
            max=100,
            help="Number of cross-validation folds; 0: none (default: 5 with --report, else a "
            "quick check).",
        ),
    ] = None,
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
    class_weight: Annotated[
        str | None,
        typer.Option(metavar="balanced", help="Give all classes the same total weight."),
    ] = None,
    max_parents: Annotated[
        int, typer.Option(min=0, help="Maximum parents of an input in the search.")
    ] = 8,
    require: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN,…", help="Inputs that the search must use.")
    ] = None,
    require_arc: RequireArc = None,
    forbid_arc: ForbidArc = None,
    n_jobs: NJobs = None,
    time_limit: TimeLimit = None,
    as_json: AsJson = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Learn a model that predicts the target, and write it to a model file.

    A target of more than 50 different numbers is predicted as a number, other targets as classes.

    The printed quality is that of a second model on rows that it has not seen: one fifth of at most
    20,000 rows, or five folds of at most 1,000. --folds runs a cross-validation instead.

    Ctrl-C ends the search and saves the best model so far, or skips the rest of cross-validation.
    """
    from ebnc.cli.evaluating import EvaluationRows, Folds
    from ebnc.cli.progress import shown_progress
    from ebnc.cli.provenance import provenance_of
    from ebnc.cli.streams import STANDARD, data_files, finishing, refuse_outputs, write_with_report
    from ebnc.data.read import is_number, learn_cases
    from ebnc.data.table import Coding

    refuse_outputs(out, report, data, force=force)
    how = Folds.of(folds, has_report=report is not None)
    is_measured = how.n_folds > 1 and (report is not None or not quiet)
    scale = _scale(prior_scale)
    if class_weight not in (None, "balanced"):
        raise ParameterError(f"--class-weight takes 'balanced', got {class_weight!r}")
    options = reading(types, missing, delimiter, decimal)
    coding = Coding.of(numbers, variable_kinds(kinds))
    with (
        shown_progress(quiet=quiet) as progress,
        data_files(data, progress.share, **options) as files,
    ):
        inputs = chosen_columns(files, include, exclude, target=target, weights=weights)
        if not inputs:
            raise DataError(f"no columns are left to predict {target!r} from")
        common: dict[str, Any] = {
            "criterion": score,
            "prior_scale": scale,
            "average": average,
            "time_limit": time_limit,
            "n_jobs": n_jobs,
            "max_parents": max_parents,
            "required_features": columns_from(require, inputs),
            "required_arcs": arcs_from("--require-arc", require_arc, inputs),
            "forbidden_arcs": arcs_from("--forbid-arc", forbid_arc, inputs),
        }
        if is_number(files, target) if classify is None else not classify:
            from ebnc.cli.regression import cross_validated, learn_regressor, write_regressor

            if class_weight is not None:
                raise ParameterError(f"--class-weight needs classes, but {target!r} is a number")
            chosen = {**common, "structure": (structure or Family.naive).value}
            chosen |= {"numbers": numbers, "kinds": coding.kinds or None}
            regressor = learn_regressor(files, inputs, target, weights, chosen, progress.step)
            measured, note = None, ""
            if is_measured:
                try:
                    measured = cross_validated(regressor, files, target, weights, how, progress)
                except KeyboardInterrupt:
                    note = "measuring quality was interrupted; the model is complete"
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
        n_cases, n_columns = cases.total_weight, len(cases.inputs) + 1
        provenance = provenance_of(files, data, round(n_cases), n_columns)
        from ebnc.estimator.classifier import EBNCClassifier
        from ebnc.formats.native import model_bytes

        classifier = EBNCClassifier(
            (structure or Family.search).value,
            numbers=coding.numbers,
            kinds={x: kind for x, kind in coding.kinds.items() if x != target} or None,
            class_weight=class_weight,
            on_interrupt="best",
            **common,
        )
        if class_weight is not None:
            cases = balanced(cases)
        classifier.fit_cases(cases, report=progress.step)
        classifier.set_params(on_interrupt="raise")  # an interrupted fold would bias the estimate
        stopped = classifier.trace_ is not None and classifier.trace_.interrupted
        interrupted = stopped and time_limit is None
        why = "interrupted" if interrupted else "the time limit ended learning"
        note = f"{why}; the best model so far was saved" if stopped else ""
        is_measured = is_measured and not (interrupted or (stopped and how.quick))
        summary, measures = None, None
        command = str(provenance)
        if report is not None or is_measured:
            try:
                rows = EvaluationRows.read(classifier, files, target, weights, how.most_rows)
                if report is not None:
                    summary = rows.summary(classifier, target, command)
                if is_measured:
                    measures = rows.held_out(classifier, target, how, progress)
            except KeyboardInterrupt:
                interrupted = True
                note = "measuring quality was interrupted; the model is complete"
                if summary is None and report is not None:
                    with finishing(out):
                        rows = EvaluationRows.read(classifier, files, target, weights)
                        summary = rows.summary(classifier, target, command)
            if interrupted and report is not None:
                note += ", and the report has no cross-validation"
    with finishing(out):
        findings: dict[str, Any] = {}
        page = b""
        if summary is not None:
            from ebnc.cli.evaluating import findings_of
            from ebnc.report import render_html

            summary = replace(summary, held_out=measures)
            findings = findings_of(summary)
            page = render_html(summary).encode()
        content = model_bytes(classifier, provenance, findings)
        write_with_report(out, content, report, page, force=force)
        if note:
            print(f"ebnc: {note}", file=sys.stderr)
        if as_json and out != STANDARD:
            _print_json(classifier, target, out, report, n_cases, measures)
        elif not quiet:
            _print_summary(classifier, target, out, report, n_cases, measures)


def balanced(cases: "Parts") -> "Parts":
    """Weight the cases so that all classes have the same total weight, and their sum stays."""
    import numpy as np

    from ebnc.data.cases import Cases

    if not isinstance(cases, Cases):
        raise DataError("--class-weight needs data that fit in memory")
    weights = np.ones(len(cases)) if cases.weights is None else cases.weights
    totals = np.bincount(cases.classes, weights)
    factors = weights.sum() / (len(totals) * totals)
    return replace(cases, weights=weights * factors[cases.classes])


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
    from ebnc.cli.printing import averaged_text, held_out_text, print_table, readable_count
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
        error = "" if held_out.log_loss_error is None else f" ± {held_out.log_loss_error:.2g}"
        loss = "∞" if held_out.log_loss is None else f"{held_out.log_loss:.3f}{error}"
        words = f"accuracy {held_out.accuracy:.1%}, log-loss {loss}, {held_out_text(held_out)}"
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
