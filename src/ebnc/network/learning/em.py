"""Fit the parameters of a network to rows with gaps by EM.

    E   the expected rows of every node and its parents, given the observed entries (exact sums)
    M   every node fitted to its expected rows, as to complete ones

The priors of the nodes (σ of EBNCs, α of tables and leaves) are fixed or, in the first steps,
chosen by evidence from the expected rows. With fixed priors each step raises

    Σ_rows log p(observed) + Σ_i log p(parameters of node i)

    Dempster, Laird & Rubin, Maximum likelihood from incomplete data via the EM algorithm, 1977.
"""

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ebnc.data.cases import Cases
from ebnc.errors import NoMaximumError, ParameterError
from ebnc.fitted import FittedEBNC
from ebnc.fitting.optimum import likelihood_of
from ebnc.learn import fit_likelihood
from ebnc.network.learning.fit_network import fit_node
from ebnc.network.learning.gaps import Expectations, Gaps
from ebnc.network.local.configurations import count_by, count_configurations
from ebnc.network.local.decision_nodes import DecisionNodes
from ebnc.network.local.local import Local
from ebnc.network.local.table import Table
from ebnc.network.local.tree_growth import ALPHAS
from ebnc.network.model.joint import Joint
from ebnc.parameters.ebnc import EBNC
from ebnc.score.dirichlet import best_alpha, table_alphas
from ebnc.structure.embedded import EmbeddedStructure

N_CHOOSING = 10  # number of steps that choose the priors by evidence; later ones keep them
MOST_STEPS = 500
TOLERANCE = 1e-5  # nats; EM ends when a step raises the objective by less, for all rows together
START_ROWS = 100  # rows that a family starts from if no row has all of it


@dataclass
class EMRecord:
    """The steps of EM.

    Attributes
    ----------
    log_likelihoods : list of float
        Σ log p(observed entries) after each step. Numbers count as their intervals.
    objectives : list of float
        The same with the log densities of the parameters' priors, up to a constant. After
        ``n_choosing`` steps it never falls.
    n_choosing : int
        The number of first steps that chose the priors by evidence: 0 if all priors are given.
    converged : bool
        Whether the last step raised the objective by less than 1e-5.
    """

    log_likelihoods: list[float] = field(default_factory=list)
    objectives: list[float] = field(default_factory=list)
    n_choosing: int = 0
    converged: bool = False

    @property
    def log_likelihood(self) -> float:
        """Σ log p(observed entries) of the result."""
        return self.log_likelihoods[-1]


class Prior(NamedTuple):
    """``prior_scale`` and ``sample_size`` as in ``Network.fit``; ``alpha``: of leaves."""

    prior_scale: object
    sample_size: float | None = None
    alpha: float | None = None

    def is_chosen_for(self, local: Local) -> bool:
        """Whether evidence chooses the prior of this node."""
        if isinstance(local, EBNC):
            return isinstance(self.prior_scale, str)
        return self.sample_size is None if isinstance(local, Table) else self.alpha is None


class NodeFit(NamedTuple):
    """A node with the prior that it was fitted with, and the log density of that at its φ or θ."""

    local: Local
    prior: Prior
    log_prior: float


@dataclass(frozen=True)
class Plan:
    """What every node of a graph becomes: its parents, embedded structure (if given) and kind."""

    parents: Mapping[str, tuple[str, ...]]
    structures: Mapping[str, EmbeddedStructure]
    kinds: Mapping[str, str]


def fit_by_em(
    gaps: Gaps, plan: Plan, prior: Prior, random_state: int
) -> tuple[list[Local], EMRecord]:
    """Fit all nodes to rows with gaps.

    Nodes start from the rows in which they and their parents are observed, which also choose the
    kind "auto"; if there is no such row, from random ones.
    """
    expectations = Expectations(gaps, plan.parents)
    generator = np.random.default_rng(random_state)

    def start(x: str) -> Local:
        cases, family = expectations.complete[x], expectations.families[x]
        if not len(cases):
            drawn = [
                generator.choice(gaps.domain.n_states(u), START_ROWS, p=gaps.shares(u))
                for u in family
            ]
            cases = gaps.cases_of(family, x, np.array(drawn), np.ones(START_ROWS))
        size = prior.sample_size
        return fit_node(
            cases, plan.parents[x], plan.structures.get(x), plan.kinds[x], "evidence", size
        )

    return run_em(expectations, {x: start(x) for x in gaps.names}, prior)


def run_em(
    expectations: Expectations, start: Mapping[str, Local], prior: Prior
) -> tuple[list[Local], EMRecord]:
    """Run EM; nodes keep the kinds, parents and structures of ``start``."""
    record = EMRecord()
    if any(prior.is_chosen_for(local) for local in start.values()):
        record.n_choosing = N_CHOOSING
    _, cases = expectations.expected(Joint(start.values()))
    nodes = {x: refitted(local, cases[x], prior) for x, local in start.items()}
    rise = math.inf
    for step in range(1, MOST_STEPS + 1):
        likelihood, cases = expectations.expected(Joint(node.local for node in nodes.values()))
        objective = likelihood + math.fsum(node.log_prior for node in nodes.values())
        if step > max(1, record.n_choosing):
            rise = objective - record.objectives[-1]
        record.log_likelihoods.append(likelihood)
        record.objectives.append(objective)
        record.converged = rise < TOLERANCE
        if record.converged or step == MOST_STEPS:
            break
        chooses = step < record.n_choosing
        nodes = {
            x: refitted(node.local, cases[x], prior if chooses else node.prior)
            for x, node in nodes.items()
        }
    if not record.converged:
        warnings.warn(
            f"EM has not converged after {MOST_STEPS} steps; the last one raised the objective by "
            f"{rise:.2g} nats",
            UserWarning,
            stacklevel=4,
        )
    return [node.local for node in nodes.values()], record


def refitted(local: Local, cases: Cases, prior: Prior) -> NodeFit:
    """Fit the parameters of a node again; evidence chooses what ``prior`` leaves open."""
    if isinstance(local, Table):
        return _fit_table(local, cases, prior)
    if isinstance(local, EBNC):
        return _fit_embedded(local, cases, prior)
    if isinstance(local, DecisionNodes):
        return _fit_leaves(local, cases, prior)
    raise ParameterError(
        f"{local.target!r} is of the kind {local.kind!r}, which missing='em' does not fit; use "
        "the kinds 'ebnc', 'table' and 'tree'"
    )


def _fit_table(local: Table, cases: Cases, prior: Prior) -> NodeFit:
    """θ_jk = (N_jk + α)/(N_j + Kα), the mode under Dirichlet(α + 1)."""
    size = prior.sample_size
    if size is None:
        counts = count_configurations(cases, local.parents)[1]
        n_cells = local.theta.size
        size = n_cells * best_alpha(counts, table_alphas(n_cells, None))[0]
    table = Table.learn(cases, local.parents, size)
    log_prior = size / local.theta.size * float(np.log(table.theta).sum())
    return NodeFit(table, prior._replace(sample_size=size), log_prior)


def _fit_leaves(local: DecisionNodes, cases: Cases, prior: Prior) -> NodeFit:
    """The same in every leaf of the tree or graph, whose questions stay."""
    leaves = [i for i, x in enumerate(local.variables) if x is None]
    counts = count_by(cases, local.leaves(cases.rows), len(local.variables))[leaves]
    alpha = best_alpha(counts, ALPHAS if prior.alpha is None else (prior.alpha,))[0]
    theta = np.zeros_like(local.theta)
    theta[leaves] = (counts + alpha) / (counts + alpha).sum(axis=1, keepdims=True)
    plain = {**local.to_plain(), "theta": theta}
    log_prior = alpha * float(np.log(theta[leaves]).sum())
    fitted = type(local)(local.target, local.domain, **plain)
    return NodeFit(fitted, prior._replace(alpha=alpha), log_prior)


def _fit_embedded(local: EBNC, cases: Cases, prior: Prior) -> NodeFit:
    projected = cases.projected(local.structure.markov_blanket)
    likelihood = likelihood_of(local.basis, projected)
    fixed = not isinstance(prior.prior_scale, str)
    try:
        fit = fit_likelihood(
            likelihood, projected, prior.prior_scale, start=local if fixed else None
        )
    except NoMaximumError as error:
        raise NoMaximumError(f"node {local.target!r}: {error}") from None
    log_prior = fit.prior.log_density(fit.design, fit.solution.phi) if fit.prior.is_proper else 0.0
    scales: object = fit.prior.scales
    return NodeFit(FittedEBNC(fit), prior._replace(prior_scale=scales), log_prior)
