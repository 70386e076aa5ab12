"""Summary of a network for its report: nodes, arcs, scores and losses, as plain data."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ebnc.data.coder import encode
from ebnc.data.read import row_weights
from ebnc.data.table import TableLike as Rows
from ebnc.errors import FormatError
from ebnc.field import Field, record_to_json
from ebnc.network.local.expansion import expand
from ebnc.network.local.kinds import KINDS
from ebnc.network.network import Network
from ebnc.parameters.ebnc import EBNC
from ebnc.report.network_asking import Asking, asking_of
from ebnc.report.summary import TraceStep, TraceSummary, full_table
from ebnc.report.words import state_text
from ebnc.typing import FloatArray

VERSION = 1
MOST_ROWS, MOST_STATES, MOST_LINES = 16, 6, 40


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


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """One node: its local distribution, parents and number of parameters.

    ``full_table``: number of parameters of a full table with the same parents, None if it is too
    long to write; ``log10_full_table``: its logarithm. ``families``: the embedded structure of an
    EBNC. ``table``: p(z | parents), one row per configuration of the parents (the last parent
    changes fastest); empty for many rows. ``text``: a tree, graph or noisy-MAX as text.
    ``score``: the node's summand of the network's score. ``loss``: mean −log p(z | parents) on the
    data. Both are None if unknown, and ``loss`` if it is infinite.
    """

    name: str
    kind: str
    states: tuple[str, ...]
    parents: tuple[str, ...]
    dimension: int
    full_table: int | None
    log10_full_table: float
    families: tuple[tuple[str, tuple[str, ...]], ...]
    table: tuple[tuple[float, ...], ...]
    text: str
    score: float | None
    loss: float | None


@dataclass(frozen=True, slots=True)
class NetworkSummary:
    """The content of a network's report.

    ``findings`` is the part that needs data or a search. ``asking``: marginals, and what the page
    computes others with.
    """

    title: str
    nodes: tuple[NodeSummary, ...]
    findings: NetworkFindings
    asking: Asking
    provenance: str

    @property
    def score(self) -> float | None:
        """The sum of the nodes' scores; None if the network was not learned."""
        return math.fsum(self.findings.scores) if self.findings.scores else None

    @property
    def trace(self) -> TraceSummary | None:
        """The search trace; None if the network was not learned."""
        return self.findings.trace

    @property
    def dimension(self) -> int:
        """Free parameters of all nodes."""
        return sum(node.dimension for node in self.nodes)

    @property
    def log10_full_tables(self) -> float:
        """log₁₀ of the number of parameters of full tables with the same parents."""
        largest = max(node.log10_full_table for node in self.nodes)
        total = math.fsum(10 ** (node.log10_full_table - largest) for node in self.nodes)
        return largest + math.log10(total)


def summarise_network(
    network: Network,
    data: Rows | None = None,
    *,
    weights: object = None,
    learned_from: bool = False,
    findings: NetworkFindings | None = None,
    title: str | None = None,
    provenance: str = "",
) -> NetworkSummary:
    """Summarise an ``ebnc.Network``, learned or written by hand, for its report.

    Parameters
    ----------
    network : ebnc.Network
        The network.
    data : table, optional
        Rows to measure log p(z) on, preferably held-out data.
    weights : array or str, optional
        The weight of each row, or the name of the column of ``data`` that holds it.
    learned_from : bool
        Set this if ``data`` are the training data.
    findings : NetworkFindings, optional
        Findings from a model file, to be used instead of ``data``.
    title : str, optional
        The heading of the page.
    provenance : str
        A line for the foot of the page, for example the command that was run.
    """
    if findings is None:
        findings = _measured(network, data, weights, learned_from)
    n = len(network.variables)
    for name, values in (("scores", findings.scores), ("losses", findings.losses)):
        if len(values) not in (0, n):
            raise FormatError(f"findings.{name}: must be one for each of {n} nodes")
    return NetworkSummary(
        title=title or f"A network of {n} variables",
        nodes=tuple(
            _node(
                network.local(name),
                findings.scores[i] if findings.scores else None,
                findings.losses[i] if findings.losses else None,
            )
            for i, name in enumerate(network.variables)
        ),
        findings=findings,
        asking=asking_of(network),
        provenance=provenance,
    )


def _measured(
    network: Network, data: Rows | None, weights: object, learned_from: bool
) -> NetworkFindings:
    losses: list[float | None] = []
    loss = error = None
    n_measured = 0.0
    if data is not None:
        rows = encode(data, network.domain, network.variables)
        given = row_weights(data, weights, len(rows))
        every = np.ones(len(rows)) if given is None else given
        occurs = every > 0
        counts, total = every[occurs], np.zeros(np.count_nonzero(occurs))
        n_measured = float(counts.sum())
    if n_measured:
        for name in network.variables:
            own = network.local(name).log_probability(rows)[occurs]
            losses.append(_mean_loss(own, counts))
            total += own
        loss = _mean_loss(total, counts)
        if loss is not None:
            error = math.sqrt(float((total + loss) ** 2 @ counts)) / n_measured
    scores: Mapping[str, float] = getattr(network, "scores", {})
    return NetworkFindings(
        version=VERSION,
        scores=tuple(scores[x] for x in network.variables) if scores else (),
        n_cases=getattr(network, "n_cases", None),
        losses=tuple(losses),
        loss=loss,
        loss_error=error,
        n_measured=n_measured,
        learned_from=learned_from,
        trace=_trace(getattr(network, "trace", None)),
    )


def _node(local: Any, score: float | None, loss: float | None) -> NodeSummary:
    name, domain = local.target, local.domain
    sizes = [domain.n_states(x) for x in local.parents]
    full, log10 = full_table(domain.n_states(name), sizes)
    families = local.structure.families if isinstance(local, EBNC) else ()
    table: tuple[tuple[float, ...], ...] = ()
    if prod(sizes) <= MOST_ROWS and domain.n_states(name) <= MOST_STATES:
        rows = expand(local).theta.reshape(-1, domain.n_states(name))
        table = tuple(tuple(row) for row in rows.tolist())
    kind = KINDS.get(local.kind)
    text = str(local) if kind is not None and kind.is_readable else ""
    return NodeSummary(
        name=name,
        kind=local.kind,
        states=tuple(map(state_text, domain[name])),
        parents=tuple(local.parents),
        dimension=local.dimension,
        full_table=full,
        log10_full_table=log10,
        families=tuple((x, tuple(parents)) for x, parents in families),
        table=table,
        text=text if text.count("\n") < MOST_LINES else "",
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


def _mean_loss(log_p: FloatArray, counts: FloatArray) -> float | None:
    loss = -float(log_p @ counts) / float(counts.sum())
    return loss if math.isfinite(loss) else None
