"""Scores of a network with a given structure, one summand for each node (Theorem 2).

    log p(D | m) ≈ Σ_i [ log p(φ̃_i) + L_i(φ̃_i) + (d_i/2) log 2π − ½ log |A_i| ]        eq. 8
    log p(D | m) ≈ Σ_i [ L_i(φ̂_i) − (d_i/2) log N ]                                     eq. 9

φ̂ is maximum likelihood: L_i(φ̂_i) is the supremum of L_i, which is finite even if no φ reaches it.
The evidence of tables, and of the leaves of trees and graphs, is exact (Dirichlet).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ebnc.data.cases import Cases
from ebnc.errors import ParameterError
from ebnc.fitted import FittedEBNC
from ebnc.fitting.optimum import likelihood_of
from ebnc.learn import fit_cases
from ebnc.network.local.configurations import largest_log_likelihood
from ebnc.network.local.decision_nodes import DecisionNodes
from ebnc.network.local.local import Local
from ebnc.network.local.table import Table, count_configurations, table_log_evidence
from ebnc.network.local.tree_growth import ALPHAS
from ebnc.parameters.ebnc import EBNC
from ebnc.parameters.phi import Basis
from ebnc.score.bic import bic, likelihood_supremum
from ebnc.score.dirichlet import best_alpha
from ebnc.typing import FloatArray

__all__ = ["CRITERIA", "NetworkScore", "NodeScore", "node_score", "score_nodes"]

CRITERIA = ("bic", "laplace", "log_likelihood")


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

    def __repr__(self) -> str:
        width = max(len("total"), *(len(name) for name in self.by_node))
        lines = [f"{name:<{width}}  {value:>14.4f}" for name, value in self.by_node.items()]
        head = f"{'node':<{width}}  {self.criterion:>14}"
        return "\n".join([head, *lines, f"{'total':<{width}}  {self.total:>14.4f}"])


def score_nodes(
    locals_: Mapping[str, Local],
    cases_of: Callable[[str], Cases],
    criterion: str,
    prior_scale: object,
    sample_size: float | None,
) -> NetworkScore:
    """Score all nodes by one criterion; ``cases_of(name)``: the data with this node as target.

    "bic" and "laplace" refit the parameters, because they are scores of structures.
    """
    if criterion not in CRITERIA:
        raise ParameterError(f"criterion must be one of {', '.join(CRITERIA)}, got {criterion!r}")
    scores = {}
    for name, local in locals_.items():
        cases = cases_of(name)
        if criterion == "log_likelihood":
            scores[name] = log_likelihood(local, cases)
        elif criterion == "bic":
            highest = max_log_likelihood(local, cases)
            scores[name] = bic(highest, local.dimension, cases.total_weight)
        elif isinstance(local, EBNC):
            basis = Basis(local.structure, local.domain)
            scores[name] = fit_cases(basis, _projected(cases, local), prior_scale).log_evidence
        else:
            scores[name] = _exact_log_evidence(local, cases, sample_size)
    return NetworkScore(criterion, scores)


def node_score(local: Local, cases: Cases, *, sample_size: float | None = None) -> NodeScore:
    """Return all scores of a node that was fitted to these cases."""
    likelihood = log_likelihood(local, cases)
    highest = max(likelihood, max_log_likelihood(local, cases))  # under ML, rounding decides
    evidence: float | None
    if isinstance(local, FittedEBNC):
        evidence = local.fit.log_evidence
    else:
        evidence = _exact_log_evidence(local, cases, sample_size)
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


def max_log_likelihood(local: Local, cases: Cases) -> float:
    """Return the supremum of L over the parameters of a node of this structure.

    For counts N_jk it is Σ N_jk log N_jk/N_j. For an EBNC it exists even if φ̂ does not, because
    classes are separated or configurations do not occur.
    """
    if isinstance(local, EBNC):
        basis = Basis(local.structure, local.domain)
        return likelihood_supremum(likelihood_of(basis, _projected(cases, local))).log_likelihood
    return largest_log_likelihood(_counts(local, cases))


def _exact_log_evidence(local: Local, cases: Cases, sample_size: float | None) -> float:
    """Return the log evidence of a table (BDeu), or of leaves with α chosen by evidence."""
    if isinstance(local, Table):
        return table_log_evidence(cases, local.parents, sample_size)
    return best_alpha(_counts(local, cases), ALPHAS)[1]


def _counts(local: Local, cases: Cases) -> FloatArray:
    """N_jk by configuration of the parents, or by leaf, shape (q, K)."""
    if isinstance(local, DecisionNodes):
        n_classes = local.domain.n_states(local.target)
        leaves, number = np.unique(local.leaves(cases.rows), return_inverse=True)
        cells = number * n_classes + cases.classes
        flat = np.bincount(cells, cases.weights, len(leaves) * n_classes)
        return np.asarray(flat, dtype=np.float64).reshape(-1, n_classes)
    if isinstance(local, Table):
        return count_configurations(cases, local.parents)[1]
    raise ParameterError(
        f"{local.target!r} is of the kind {local.kind!r}, which has no BIC or evidence here; "
        "score with criterion='log_likelihood', or make it an EBNC, a table or a tree"
    )


def _projected(cases: Cases, local: EBNC) -> Cases:
    return cases.projected(local.structure.markov_blanket)
