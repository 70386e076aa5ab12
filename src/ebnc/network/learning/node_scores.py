"""Scores of a network with a given structure, one summand for each node (Theorem 2).

    log p(D | m) ≈ Σ_i [ log p(φ̃_i) + L_i(φ̃_i) + (d_i/2) log 2π − ½ log |A_i| ]        eq. 8
    log p(D | m) ≈ Σ_i [ L_i(φ̂_i) − (d_i/2) log N ]                                     eq. 9

φ̂ is maximum likelihood: L_i(φ̂_i) is the supremum of L_i, which is finite even if no φ reaches it.
The evidence of tables, and of the leaves of trees and graphs, is exact (Dirichlet).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ebnc.data.cases import Cases
from ebnc.errors import ParameterError
from ebnc.fitted import FittedEBNC
from ebnc.fitting.optimum import likelihood_of
from ebnc.learn import fit_likelihood
from ebnc.likelihood.posterior import Posterior
from ebnc.markup import html_table
from ebnc.network.local.configurations import ConfigurationCounts, count_by, count_configurations
from ebnc.network.local.counting import CountingEBNC
from ebnc.network.local.decision_nodes import DecisionNodes
from ebnc.network.local.local import Local
from ebnc.network.local.table import Table, counts_of_table
from ebnc.network.local.tree_growth import ALPHAS
from ebnc.parameters.ebnc import EBNC
from ebnc.parameters.phi import Basis
from ebnc.score.bic import bic, likelihood_supremum
from ebnc.score.criterion import CRITERIA


@dataclass(frozen=True)
class NodeScore:
    """The contributions of one node to the scores of its network.

    Attributes
    ----------
    kind
        The kind of local distribution: "ebnc", "table", "tree", "graph".
    parents
        The parents of the node.
    dimension
        d, the number of free parameters.
    log_likelihood
        L at the parameters of the node.
    max_log_likelihood
        The supremum of L over all parameters, L(φ̂) of eq. 9.
    bic
        ``max_log_likelihood`` − (d/2) log N, eq. 9.
    log_evidence
        log p(D | m) of the node: eq. 8 for EBNCs, exact for tables and trees; None under a flat
        prior.
    """

    kind: str
    parents: tuple[str, ...]
    dimension: int
    log_likelihood: float
    max_log_likelihood: float
    bic: float
    log_evidence: float | None


@dataclass(frozen=True)
class NetworkScore:
    """A score of a network: the sum over its nodes, and the summands.

    Attributes
    ----------
    criterion
        "bic" (eq. 9), "laplace" (eq. 8) or "log_likelihood".
    by_node
        The contribution of every node.
    """

    criterion: str
    by_node: Mapping[str, float]

    @property
    def total(self) -> float:
        """The sum over nodes."""
        return math.fsum(self.by_node.values())

    def _repr_html_(self) -> str:
        rows = [*self.by_node.items()]
        return html_table(("node", self.criterion), rows, note=f"total {self.total:.4f}")

    def __repr__(self) -> str:
        width = max(len("total"), *(len(name) for name in self.by_node))
        lines = [f"{name:<{width}}  {value:>14.4f}" for name, value in self.by_node.items()]
        head = f"{'node':<{width}}  {self.criterion:>14}"
        return "\n".join([head, *lines, f"{'total':<{width}}  {self.total:>14.4f}"])


def score_nodes(
    locals_: Mapping[str, Local],
    joint: Cases,
    criterion: str,
    prior_scale: object,
    sample_size: float | None,
) -> NetworkScore:
    """Score all nodes by one criterion; the rows of ``joint`` hold all nodes.

    All criteria but "log_likelihood" refit the parameters, because they are scores of structures.
    """
    known = (*sorted(CRITERIA), "log_likelihood")
    if criterion not in known:
        raise ParameterError(f"criterion must be one of {', '.join(known)}, got {criterion!r}")
    scores = {}
    for name, local in locals_.items():
        cases = joint.with_target(name)
        if criterion == "log_likelihood":
            scores[name] = log_likelihood(local, cases)
            continue
        chosen = CRITERIA[criterion](None)
        if not isinstance(local, EBNC | CountingEBNC):
            scores[name] = chosen.of_local(_counted(local, cases, sample_size), cases.total_weight)
        elif chosen.tunes_scales:
            # σ of a count is its own only if it is found, not given.
            likelihood, own = _likelihood(local, cases, own_scale=isinstance(prior_scale, str))
            fit = fit_likelihood(likelihood, own, prior_scale)
            scores[name] = FittedEBNC(fit).log_evidence
        else:
            scores[name] = chosen.value(chosen.fit(_likelihood(local, cases)[0], None, None))
    return NetworkScore(criterion, scores)


def node_score(local: Local, cases: Cases, *, sample_size: float | None = None) -> NodeScore:
    """Return all scores of a node that was fitted to these cases.

    The largest log-likelihood of an EBNC exists even if φ̂ does not, because classes are separated
    or configurations do not occur.
    """
    likelihood = log_likelihood(local, cases)
    evidence: float | None
    if isinstance(local, FittedEBNC):
        evidence = local.fit.log_evidence
        highest = likelihood_supremum(_likelihood(local, cases)[0]).log_likelihood
    else:
        counted = _counted(local, cases, sample_size)
        evidence, highest = counted.log_evidence, counted.log_likelihood
    highest = max(likelihood, highest)  # under ML, rounding decides
    return NodeScore(
        kind=local.kind,
        parents=local.parents,
        dimension=local.dimension,
        log_likelihood=likelihood,
        max_log_likelihood=highest,
        bic=bic(highest, local.dimension, cases.total_weight),
        log_evidence=evidence,
    )


def log_likelihood(local: Local, cases: Cases) -> float:
    """L = Σ_l n_l log p(z_l | pa_l) at the parameters of ``local``."""
    each = local.log_probability(cases.rows)
    return float(each.sum() if cases.weights is None else each @ cases.weights)


def _likelihood(
    local: EBNC | CountingEBNC, cases: Cases, *, own_scale: bool = True
) -> tuple[Posterior, Cases]:
    """Return the likelihood of φ, and the cases with the inputs of the EBNC."""
    if isinstance(local, CountingEBNC):
        return local.counter.likelihood(cases, own_scale=own_scale)
    projected = cases.projected(local.structure.markov_blanket)
    return likelihood_of(Basis(local.structure, local.domain), projected), projected


def _counted(local: Local, cases: Cases, sample_size: float | None) -> ConfigurationCounts:
    """Return the counts by configuration of the parents, or by leaf."""
    if isinstance(local, Table):
        counts = count_configurations(cases, local.parents)[1]
        return counts_of_table(counts, local.theta.size, sample_size)
    if isinstance(local, DecisionNodes):
        leaves, number = np.unique(local.leaves(cases.rows), return_inverse=True)
        return ConfigurationCounts(count_by(cases, number, len(leaves)), local.dimension, ALPHAS)
    raise ParameterError(
        f"{local.target!r} is of the kind {local.kind!r}, which has no BIC or evidence here; "
        "score with criterion='log_likelihood', or make it an EBNC, a table or a tree"
    )
