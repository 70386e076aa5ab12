"""Findings about a network that its model file stores for a report."""

from dataclasses import dataclass
from typing import Any

from ebnc.field import Field, record_to_json
from ebnc.report.summary import TraceSummary

__all__ = ["VERSION", "NetworkFindings"]

VERSION = 1


@dataclass(frozen=True, slots=True)
class NetworkFindings:
    """Scores and search trace of a learned network, and its log-loss on data.

    ``scores``, ``losses``: one per node, in the network's order; empty if unknown.
    ``loss``: mean −log p(z) in nats over ``n_measured`` rows; None if infinite or not measured.
    ``learned_from``: whether these rows are the training data.
    """

    version: int
    scores: tuple[float, ...]
    n_cases: float | None
    losses: tuple[float | None, ...]
    loss: float | None
    loss_error: float | None
    n_measured: float
    learned_from: bool
    trace: TraceSummary | None

    def to_json(self) -> dict[str, Any]:
        """Plain lists, dicts, numbers and text."""
        plain: dict[str, Any] = record_to_json(self)
        return plain

    @classmethod
    def from_json(cls, plain: object) -> "NetworkFindings":
        """The inverse of ``to_json``; checks every field, and errors name it."""
        field = Field(plain, "findings")
        findings = field.record(cls)
        if findings.version != VERSION:
            raise field.error(f"version {findings.version} is not {VERSION}")
        steps = () if findings.trace is None else findings.trace.steps
        if any(step.dimension is not None for step in steps):
            raise field.error("a step of a network's search has a dimension")
        return findings
