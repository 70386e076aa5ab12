"""What a report needs besides the model: cross-validation on the data, by the same recipe."""

import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ebnc.data.files import DataFiles
    from ebnc.estimator.classifier import EBNCClassifier
    from ebnc.formats.native import ModelFile
    from ebnc.report.network_summary import NetworkSummary
    from ebnc.report.summary import Summary

__all__ = ["MOST_EVALUATED", "findings_of", "summary_from", "summary_on"]

MOST_EVALUATED = 100_000
"""Rows that models are cross-validated on; of more rows, evenly spread ones are taken."""


def summary_on(
    classifier: "EBNCClassifier",
    files: "DataFiles",
    target: str,
    weights: str | None,
    n_folds: int,
    provenance: str,
) -> "Summary":
    """The summary of a classifier, with its cross-validation on the data it was learned from."""
    import numpy as np

    from ebnc.data.batches import take_rows
    from ebnc.data.read import read_rows
    from ebnc.report import summarise

    inputs = classifier.feature_names_in_.tolist()
    names = [*inputs, target, *([weights] if weights else [])]
    columns: dict[str, Any] = read_rows(files, names, classifier.ebnc_.domain, MOST_EVALUATED)
    counts = None if weights is None else np.asarray(columns.pop(weights).values, dtype=np.float64)
    if counts is not None:
        whole = bool((counts == np.round(counts)).all()) and counts.sum() <= MOST_EVALUATED
        # A row that stands for many cases is many cases: folds divide cases, not rows.
        chosen = np.repeat(np.arange(len(counts)), counts.astype(np.int64) if whole else counts > 0)
        columns = dict(take_rows(columns, chosen))
        counts = None if whole else counts[chosen]
    y = columns.pop(target)
    return summarise(
        classifier,
        columns,
        y,
        sample_weight=counts,
        target=target,
        n_folds=n_folds,
        provenance=provenance,
    )


def findings_of(summary: "Summary | NetworkSummary") -> dict[str, Any]:
    """What a model file keeps of a summary."""
    kept = summary.findings if hasattr(summary, "findings") else summary
    return {"report": kept.to_json()}


def summary_from(stored: "ModelFile") -> "Summary | NetworkSummary":
    """The summary of a model that was read from a file, with all the file knows."""
    from ebnc.network.network import Network
    from ebnc.report import NetworkFindings, Summary, summarise, summarise_network, with_panel

    kept = stored.findings.get("report")
    command = shlex.join(stored.provenance.command or ())
    if isinstance(stored.model, Network):
        findings = None if kept is None else NetworkFindings.from_json(kept)
        return summarise_network(stored.model, findings=findings, provenance=command)
    if kept is not None:
        return with_panel(Summary.from_json(kept), stored.model)
    return summarise(stored.model, provenance=command)
