"""Conversion to and from pyAgrum (extra ``exact``), and exact posteriors computed by it."""

from collections.abc import Sequence
from math import log, prod
from typing import Any

import numpy as np

from ebnc.domain import Domain, Interval, State
from ebnc.errors import NetworkError, TooLargeError
from ebnc.network.inference.evidence import Evidence
from ebnc.network.local.expansion import MOST_CELLS, expand, refuse_expansion
from ebnc.network.local.table import Table
from ebnc.network.model.joint import Joint
from ebnc.typing import FloatArray


def _pyagrum() -> Any:
    try:
        import pyagrum
    except ImportError:
        raise ImportError(
            "pyAgrum is not installed; pip install 'ebnc[exact]', or query by sampling"
        ) from None
    return pyagrum


def to_pyagrum(network: Joint, names: Sequence[str] | None = None) -> Any:
    """Return a pyAgrum ``BayesNet`` of full tables, of all nodes or only of ``names``.

    The printed form of a state becomes its label. Structure inside a node (EBNC, tree) is lost.
    """
    kept = network.order if names is None else names
    refuse_expansion(network[x] for x in kept)
    gum = _pyagrum()
    bn = gum.BayesNet("network")
    for name in kept:
        labels = state_names(network.domain[name])
        bn.add(gum.LabelizedVariable(name, name, labels))
    for name in kept:
        for parent in network.parents(name):
            bn.addArc(parent, name)
        table = expand(network[name])
        cpt = bn.cpt(name)
        order = list(reversed(cpt.names))  # pyAgrum's first variable is NumPy's last axis
        own = [*table.parents, name]
        cpt[:] = np.ascontiguousarray(np.transpose(table.theta, [own.index(x) for x in order]))
    return bn


def tables_from_pyagrum(bn: Any) -> list[Table]:
    """Return the nodes of a pyAgrum ``BayesNet`` as full tables whose states are its labels.

    Noisy-OR nodes, sums and other functions of parents become tables, too.
    """
    gum = _pyagrum()
    if not (hasattr(bn, "cpt") and hasattr(bn, "names")):
        raise NetworkError(f"expected a pyagrum.BayesNet, got {type(bn).__name__}")
    bn = gum.BayesNet(bn)  # a copy has true tables where ``bn`` has noisy-OR and other functions
    domain = Domain(
        {bn.variable(node).name(): list(bn.variable(node).labels()) for node in bn.nodes()}
    )
    tables = []
    for node in bn.nodes():
        name = bn.variable(node).name()
        order = list(reversed(bn.cpt(node).names))
        theta = np.transpose(
            bn.cpt(node).toarray(),
            [*(i for i, x in enumerate(order) if x != name), order.index(name)],
        )
        tables.append(Table(name, [x for x in order if x != name], domain, theta))
    return tables


def exact_posterior(
    network: Joint,
    variables: Sequence[str],
    evidence: Evidence,
) -> tuple[FloatArray, float] | None:
    """Return p(variables | evidence) and log p(evidence); None if the evidence is impossible.

    pyAgrum's lazy propagation runs on the relevant nodes; the sizes of the cliques are checked
    before it allocates tables for them.
    """
    bn = to_pyagrum(network, network.ancestral([*variables, *evidence.names]))
    gum = _pyagrum()
    engine = gum.LazyPropagation(bn)
    weights = {name: each.tolist() for name, each in evidence.weights.items()}
    engine.setEvidence({**evidence.codes, **weights})
    if len(variables) > 1:
        engine.addJointTarget(set(variables))
    tree = engine.junctionTree()
    for node in tree.nodes():
        clique = [bn.variable(i).domainSize() for i in tree.clique(node)]
        if prod(clique) > MOST_CELLS:
            raise TooLargeError(
                f"exact inference needs a table of {len(clique)} variables with more than "
                f"{MOST_CELLS} cells; query by sampling (method='weighting' or 'gibbs')"
            )
    try:
        p_evidence = float(engine.evidenceProbability()) if evidence.names else 1.0
        if p_evidence <= 0.0:
            return None
        if len(variables) == 1:
            posterior = engine.posterior(variables[0])
        else:
            posterior = engine.jointPosterior(set(variables))
    except gum.IncompatibleEvidence:
        return None
    order = list(reversed(posterior.names))
    array = np.transpose(posterior.toarray(), [order.index(x) for x in variables])
    return array, log(p_evidence)


def state_names(states: tuple[State, ...]) -> list[str]:
    """Return the printed states, made unique."""
    names: list[str] = []
    for state in states:
        text = "missing" if state is None else str(state)
        if isinstance(state, Interval):
            text = text.replace(" ", "")
        while text in names:
            text += "'"
        names.append(text)
    return names
