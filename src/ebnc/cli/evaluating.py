"""Summaries for reports: cross-validate a classifier, or restore the summary from a model file."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ebnc.errors import ParameterError

if TYPE_CHECKING:
    from ebnc.cli.progress import ProgressLine
    from ebnc.data.files import DataFiles
    from ebnc.estimator.classifier import EBNCClassifier
    from ebnc.estimator.regressor import EBNCRegressor
    from ebnc.formats.native import ModelFile
    from ebnc.report.network_summary import NetworkSummary
    from ebnc.report.page import AnySummary
    from ebnc.report.regression import NumberHeldOut
    from ebnc.report.summary import HeldOut, Summary

MOST_EVALUATED = 100_000
"""Maximum number of rows for cross-validation; from longer tables, evenly spaced rows are taken."""


QUICK_ROWS = 20_000
"""Maximum number of rows for a quick check, which learns once more from four fifths of them."""

FEW_ROWS = 1000
"""With no more rows, a quick check is a cross-validation: it is quick, and one fold says little."""


@dataclass(frozen=True)
class Folds:
    """How quality is measured: number of folds, and whether a quick check will do.

    ``quick``: run one fold only, unless rows are few.
    """

    n_folds: int = 5
    quick: bool = False

    @classmethod
    def of(cls, folds: int | None, *, has_report: bool) -> "Folds":
        """Folds of the command line; None: five for a report, else a quick check."""
        if folds == 1:
            raise ParameterError("--folds takes 0 (do not measure) or at least 2, got 1")
        return cls(5 if folds is None else folds, quick=folds is None and not has_report)

    @property
    def most_rows(self) -> int:
        """Maximum number of rows that are read."""
        return QUICK_ROWS if self.quick else MOST_EVALUATED

    def n_run(self, n_rows: int) -> int | None:
        """Number of folds to run; None: all."""
        return 1 if self.quick and n_rows > FEW_ROWS else None


@dataclass(frozen=True, eq=False)
class EvaluationRows:
    """Rows of the data that a classifier was learned from: inputs by name, classes, weights."""

    columns: dict[str, Any]
    classes: Any
    weights: Any

    @classmethod
    def read(
        cls,
        classifier: "EBNCClassifier",
        files: "DataFiles",
        target: str,
        weights: str | None,
        most: int = MOST_EVALUATED,
    ) -> "EvaluationRows":
        """At most ``most`` rows, evenly spread."""
        import numpy as np

        from ebnc.data.read import read_rows

        inputs = classifier.feature_names_in_.tolist()
        names = [*inputs, target, *([weights] if weights else [])]
        columns: dict[str, Any] = read_rows(files, names, classifier.ebnc_.domain, most)
        counts = None
        if weights is not None:
            counts = np.asarray(columns.pop(weights).values, dtype=np.float64)
            whole = bool((counts == np.round(counts)).all()) and counts.sum() <= most
            # Repeat a row as often as its whole weight says, so that folds can divide its cases.
            times = counts.astype(np.int64) if whole else counts > 0
            chosen = np.repeat(np.arange(len(counts)), times)
            columns = {name: column.take(chosen) for name, column in columns.items()}
            counts = None if whole else counts[chosen]
        return cls(columns, columns.pop(target), counts)

    def summary(self, classifier: "EBNCClassifier", target: str, provenance: str) -> "Summary":
        """Summarise a classifier, without cross-validation."""
        from ebnc.report import summarise

        return summarise(
            classifier,
            self.columns,
            self.classes,
            sample_weight=self.weights,
            target=target,
            n_folds=0,
            provenance=provenance,
        )

    def held_out(
        self, classifier: "EBNCClassifier", target: str, folds: Folds, progress: "ProgressLine"
    ) -> "HeldOut | None":
        """Cross-validate a classifier."""
        from ebnc.report.held_out import held_out
        from ebnc.report.models import reported

        labelled = reported(classifier, target).labelled(self.columns, self.classes, self.weights)
        n_run = folds.n_run(len(labelled.classes))
        return held_out(labelled, folds.n_folds, n_run=n_run, progress=progress.fold)

    def number_held_out(
        self, regressor: "EBNCRegressor", folds: Folds, progress: "ProgressLine"
    ) -> "NumberHeldOut | None":
        """Cross-validate a regressor."""
        from ebnc.report.regression import number_held_out

        return number_held_out(
            regressor,
            self.columns,
            self.classes,
            self.weights,
            folds.n_folds,
            n_run=folds.n_run(len(self.classes)),
            progress=progress.fold,
        )


def findings_of(summary: "Summary | NetworkSummary") -> dict[str, Any]:
    """Return the part of a summary that a model file saves."""
    findings = summary.findings if hasattr(summary, "findings") else summary
    return {"report": findings.to_json()}


def summary_from(stored: "ModelFile") -> "AnySummary":
    """Summarise a model from a file, with the findings that the file holds."""
    from ebnc.estimator.regressor import EBNCRegressor
    from ebnc.network.network import Network
    from ebnc.report import (
        NetworkFindings,
        RegressionFindings,
        Summary,
        summarise,
        summarise_network,
        summarise_regressor,
        with_panel,
    )

    report = stored.findings.get("report")
    command = str(stored.provenance)
    if isinstance(stored.model, Network):
        findings = None if report is None else NetworkFindings.from_json(report)
        return summarise_network(stored.model, findings=findings, provenance=command)
    if isinstance(stored.model, EBNCRegressor):
        found = None if report is None else RegressionFindings.from_json(report)
        return summarise_regressor(stored.model, findings=found, provenance=command)
    if report is not None:
        return with_panel(Summary.from_json(report), stored.model)
    return summarise(stored.model, provenance=command)
