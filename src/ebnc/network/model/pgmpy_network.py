"""Conversion to and from pgmpy, as full tables."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ebnc.domain import Domain, State
from ebnc.errors import NetworkError
from ebnc.network.local.decision_nodes import state_text
from ebnc.network.local.expansion import expand, refuse_expansion
from ebnc.network.local.local import Local
from ebnc.network.local.table import Table


def _pgmpy() -> tuple[Any, Any]:
    try:
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.models import DiscreteBayesianNetwork
    except ImportError:
        raise ImportError("pgmpy is not installed; pip install pgmpy") from None
    return DiscreteBayesianNetwork, TabularCPD


def to_pgmpy(locals_: Iterable[Local]) -> Any:
    """Return a pgmpy ``DiscreteBayesianNetwork`` of full tables.

    Labels that are text, numbers or booleans stay; others become text.
    """
    nodes = list(locals_)
    refuse_expansion(nodes)
    network_type, cpd_type = _pgmpy()
    model = network_type()
    model.add_nodes_from([local.target for local in nodes])
    for local in nodes:
        model.add_edges_from([(parent, local.target) for parent in local.parents])
    for local in nodes:
        table = expand(local)
        names = (*table.parents, table.target)
        states = {x: [_label(state) for state in table.domain[x]] for x in names}
        n_classes = len(states[table.target])
        model.add_cpds(
            cpd_type(
                table.target,
                n_classes,
                table.theta.reshape(-1, n_classes).T,
                evidence=list(table.parents) or None,
                evidence_card=[len(states[x]) for x in table.parents] or None,
                state_names=states,
            )
        )
    return model


def tables_from_pgmpy(model: Any) -> list[Table]:
    """Return the nodes of a pgmpy ``DiscreteBayesianNetwork`` as full tables."""
    network_type, _ = _pgmpy()
    if not isinstance(model, network_type):
        raise NetworkError(f"expected a pgmpy DiscreteBayesianNetwork, got {type(model).__name__}")
    cpds = {name: model.get_cpds(name) for name in model.nodes()}
    lacking = [name for name, cpd in cpds.items() if cpd is None]
    if lacking:
        raise NetworkError(f"{lacking[0]!r} has no CPD; add one, or fit the pgmpy network first")
    domain = Domain({name: cpd.state_names[name] for name, cpd in cpds.items()})
    tables = []
    for name, cpd in cpds.items():
        _, *parents = cpd.variables
        codes = [[cpd.state_names[x].index(s) for s in domain[x]] for x in cpd.variables]
        theta = np.moveaxis(np.asarray(cpd.values)[np.ix_(*codes)], 0, -1)
        tables.append(Table(name, parents, domain, theta))
    return tables


def _label(state: State) -> State:
    return state if isinstance(state, str | int | float) else state_text(state)
