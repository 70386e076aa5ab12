"""Summaries for reports: cross-validate a classifier, or restore the summary from a model file."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ebnc.data.files import DataFiles
    from ebnc.estimator.classifier import EBNCClassifier
    from ebnc.formats.native import ModelFile
    from ebnc.report.network_summary import NetworkSummary
    from ebnc.report.page import AnySummary
    from ebnc.report.summary import HeldOut, Summary

MOST_EVALUATED = 100_000
"""Maximum number of rows for cross-validation; from longer tables, evenly spaced rows are taken."""


@dataclass(frozen=True, eq=False)
class EvaluationRows:
    """Rows of the data that a classifier was learned from: inputs by name, classes, weights."""

    columns: dict[str, Any]
    classes: Any
    weights: Any

    @classmethod
    def read(
        cls, classifier: "EBNCClassifier", files: "DataFiles", target: str, weights: str | None
    ) -> "EvaluationRows":
        """At most ``MOST_EVALUATED`` rows, evenly spread."""
        import numpy as np

        from ebnc.data.read import read_rows

        inputs = classifier.feature_names_in_.tolist()
        names = [*inputs, target, *([weights] if weights else [])]
        columns: dict[str, Any] = read_rows(files, names, classifier.ebnc_.domain, MOST_EVALUATED)
        counts = None
        if weights is not None:
            counts = np.asarray(columns.pop(weights).values, dtype=np.float64)
            whole = bool((counts == np.round(counts)).all()) and counts.sum() <= MOST_EVALUATED
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

    def held_out(self, classifier: "EBNCClassifier", target: str, n_folds: int) -> "HeldOut | None":
        """Cross-validate a classifier."""
        from ebnc.report.held_out import held_out
        from ebnc.report.models import reported

        labelled = reported(classifier, target).labelled(self.columns, self.classes, self.weights)
        return held_out(labelled, n_folds=n_folds)


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
