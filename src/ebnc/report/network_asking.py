"""What a network's page needs to answer questions: marginals, and tables to compute others with.

The page computes p(x | evidence) of every node x exactly, as ``Network.marginals`` does, wherever
that needs few cells. Otherwise it shows only the marginals without evidence.
"""

import base64
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ebnc.errors import TooLargeError
from ebnc.network.inference.elimination import Elimination, plan_elimination
from ebnc.network.inference.query import Method
from ebnc.network.local.expansion import expand
from ebnc.network.network import Network

MOST_NUMBERS = 2**18  # of the nodes' tables: 2.8 MB in the page
MOST_CELLS = 2**20  # of all tables on the way: 0.1 s for an answer
N_SAMPLES = 5_000  # standard errors up to 0.007


@dataclass(frozen=True, slots=True)
class Asking:
    """p(x) of every node, in the order of the network.

    ``standard_error``: the largest of these estimates; None if they are exact. ``program``: plain
    data from which the page's script computes p(x | evidence); None if that needs too many cells.
    """

    marginals: tuple[tuple[float, ...], ...]
    standard_error: float | None
    program: dict[str, Any] | None


def asking_of(network: Network) -> Asking:
    """Compute the marginals of a network without evidence, and what the page asks with."""
    try:
        plan = plan_elimination(network, (), (), network.order)
    except TooLargeError:
        plan = None
    method: Method = "weighting" if plan is None else "auto"
    found = network.marginals(method=method, n_samples=N_SAMPLES).values()
    errors = [each.standard_errors.max() for each in found if each.standard_errors is not None]
    return Asking(
        tuple(tuple(each.probabilities.tolist()) for each in found),
        float(max(errors)) if errors else None,
        None if plan is None else _program(network, plan),
    )


def _program(network: Network, plan: Elimination) -> dict[str, Any] | None:
    """The tables of all nodes by the axes of a plan, whose last axis is summed out first.

    ``axes``: nodes by number. ``scopes``: for each table its axes, by their place in ``axes``.
    ``numbers``: all tables, concatenated, as little-endian doubles in base 64.
    """
    size = network.domain.n_states
    n_numbers = sum(prod(map(size, scope)) for _, scope in plan.factors)
    if n_numbers > MOST_NUMBERS or plan.together > MOST_CELLS:
        return None
    tables = []
    for name, scope in plan.factors:
        own = (*network.parents(name), name)
        theta = np.asarray(expand(network.local(name)).theta)
        tables.append(np.transpose(theta, [own.index(x) for x in scope]).ravel())
    numbers = np.concatenate(tables).astype("<f8").tobytes()
    place = {x: i for i, x in enumerate(plan.axes)}
    index = {x: i for i, x in enumerate(network.variables)}
    return {
        "axes": [index[x] for x in plan.axes],
        "scopes": [[place[x] for x in scope] for _, scope in plan.factors],
        "numbers": base64.b64encode(numbers).decode("ascii"),
    }
