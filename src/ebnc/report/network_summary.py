"""What a report says about a whole network: its nodes, arcs, scores and losses, as plain data."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from graphlib import CycleError, TopologicalSorter
from math import prod
from typing import Any, Protocol

import numpy as np

from ebnc.data.encoding import Table as Rows
from ebnc.domain import Domain
from ebnc.errors import FormatError
from ebnc.parameters.ebnc import EBNC
from ebnc.report.plain import from_plain
from ebnc.report.summary import TraceStep, TraceSummary
from ebnc.report.words import state_text
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.typing import FloatArray

__all__ = ["NetworkSummary", "NodeSummary", "ReportedNetwork", "summarise_network"]

VERSION = 1
LONGEST_COUNT = 10**15


class ReportedNetwork(Protocol):
    """What a report needs of an ``ebnc.Network``."""

    @property
    def variables(self) -> tuple[str, ...]: ...

    @property
    def domain(self) -> Domain: ...

    def local(self, name: str) -> Any: ...


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """One node: ``kind`` of its local distribution, its parents, its parameters.

    ``log10_full_table``: of the parameters of a full table with the same parents. ``families``: of
    the embedded structure, for an EBNC. ``score``: its share of the network's; ``loss``: mean
    −log p(z | parents) on the data given. Both None where not known; an infinite loss is None too.
    """

    name: str
    kind: str
    states: tuple[str, ...]
    parents: tuple[str, ...]
    dimension: int
    full_table: int | None
    log10_full_table: float
    families: tuple[tuple[str, tuple[str, ...]], ...]
    score: float | None
    loss: float | None


@dataclass(frozen=True, slots=True)
class NetworkSummary:
    """All that a report says about a network. ``loss``: mean −log p(z) a case, in nats."""

    version: int
    title: str
    nodes: tuple[NodeSummary, ...]
    score: float | None
    n_cases: float | None
    loss: float | None
    loss_error: float | None
    n_rows: int
    trace: TraceSummary | None
    provenance: str

    def to_json(self) -> dict[str, Any]:
        """Plain lists, dicts, numbers and text."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: object) -> "NetworkSummary":
        """The inverse of ``to_json``; every field is checked, and an error names it."""
        summary = from_plain(cls, plain, "findings")
        _check(summary)
        return summary

    @property
    def dimension(self) -> int:
        """Free parameters of all nodes."""
        return sum(node.dimension for node in self.nodes)

    @property
    def log10_full_tables(self) -> float:
        """Of the parameters that full tables with the same parents would have together."""
        largest = max(node.log10_full_table for node in self.nodes)
        total = math.fsum(10 ** (node.log10_full_table - largest) for node in self.nodes)
        return largest + math.log10(total)


def summarise_network(
    network: ReportedNetwork,
    data: Rows | None = None,
    *,
    title: str | None = None,
    provenance: str = "",
) -> NetworkSummary:
    """What there is to say about an ``ebnc.Network``, learned or given.

    ``data``: cases to measure log p(z) on, best ones that the network was not learned from.
    """
    losses: dict[str, float | None] = {}
    total: FloatArray | None = None
    if data is not None:
        for name in network.variables:
            log_p = network.local(name).log_probability(data)
            losses[name] = _finite(-float(log_p.mean())) if len(log_p) else None
            total = log_p if total is None else total + log_p
    n_rows = 0 if total is None else len(total)
    scores: Mapping[str, float] = getattr(network, "scores", {})
    loss = error = None
    if total is not None and n_rows:
        loss = _finite(-float(total.mean()))
        error = None if loss is None else float(np.std(total) / math.sqrt(n_rows))
    return NetworkSummary(
        version=VERSION,
        title=title or f"A network of {len(network.variables)} variables",
        nodes=tuple(
            _node(network.local(name), scores.get(name), losses.get(name))
            for name in network.variables
        ),
        score=math.fsum(scores.values()) if scores else None,
        n_cases=getattr(network, "n_cases", None),
        loss=loss,
        loss_error=error,
        n_rows=n_rows,
        trace=_trace(getattr(network, "trace", None)),
        provenance=provenance,
    )


def _node(local: Any, score: float | None, loss: float | None) -> NodeSummary:
    name, domain = local.target, local.domain
    sizes = [domain.n_states(x) for x in local.parents]
    full = max(1, domain.n_states(name) - 1) * prod(sizes)
    families = local.structure.families if isinstance(local, EBNC) else ()
    return NodeSummary(
        name=name,
        kind=local.kind,
        states=tuple(map(state_text, domain[name])),
        parents=tuple(local.parents),
        dimension=local.dimension,
        full_table=full if full < LONGEST_COUNT else None,
        log10_full_table=math.log10(full),
        families=tuple((x, tuple(parents)) for x, parents in families),
        score=score,
        loss=loss,
    )


def _trace(trace: Any) -> TraceSummary | None:
    if trace is None:
        return None
    return TraceSummary(
        score="",
        steps=tuple(TraceStep(s.change, s.score, None, s.seconds) for s in trace.steps),
        n_screened=0,
        n_fits=trace.n_fits,
        interrupted=trace.interrupted,
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _check(summary: NetworkSummary) -> None:
    if summary.version != VERSION:
        raise FormatError(f"findings: version {summary.version} is not {VERSION}")
    if not summary.nodes:
        raise FormatError("findings: a network needs at least one node")
    known = {node.name for node in summary.nodes}
    for node in summary.nodes:
        for parent in node.parents:
            if parent not in known or parent == node.name:
                raise FormatError(f"findings: {parent!r}, a parent of {node.name!r}, is no node")
        if node.families:
            EmbeddedStructure(node.name, node.families)  # says what is wrong
    try:
        TopologicalSorter({node.name: node.parents for node in summary.nodes}).prepare()
    except CycleError:
        raise FormatError("findings: the arcs of the network form a cycle") from None
