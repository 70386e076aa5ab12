"""Fixed families of structures, learned from counts: TAN, forest (FAN), kDB.

The weight of a pair of inputs is the conditional mutual information I(X_i; X_j | Y).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np

from ebnc.data.cases import Cases
from ebnc.data.parts import Parts
from ebnc.errors import SearchError
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.typing import FloatArray


def conditional_mutual_information(cases: Parts) -> FloatArray:
    """Return I(X_i; X_j | Y) in nats from relative frequencies, shape (n, n), diagonal zero."""
    n = len(cases.inputs)
    information = np.zeros((n, n))
    pairs = [(i, j) for i in range(n) for j in range(i)]
    for (i, j), joint in zip(pairs, cases.add_up(_counts, pairs), strict=True):  # (r_i, r_j, K)
        information[i, j] = information[j, i] = _information(joint / joint.sum())
    return information


def tan(cases: Parts) -> EmbeddedStructure:
    """Return tree-augmented naive Bayes: the tree with the largest sum of weights."""
    return _spanning_tree(cases, conditional_mutual_information(cases), least=-math.inf)


def forest(cases: Parts) -> EmbeddedStructure:
    """Return forest-augmented naive Bayes: like TAN, but only with edges that raise BIC.

    An edge gains N·I and costs ½ log N for each of its (r_i − 1)(r_j − 1)·K parameters.
    """
    n_classes = cases.domain.n_states(cases.target)
    sizes = np.array(cases.n_states) - 1
    n = cases.total_weight
    cost = 0.5 * math.log(n) * n_classes * np.outer(sizes, sizes) / n
    return _spanning_tree(cases, conditional_mutual_information(cases) - cost, least=0.0)


def kdb(cases: Parts, k: int) -> EmbeddedStructure:
    """Return k-dependence Bayes (Sahami 1996).

    Inputs are ordered by I(X; Y); the parents of each are the k best inputs before it.
    """
    names = cases.inputs
    singles = [(i,) for i in range(len(names))]
    with_class = [
        _information(counts[:, :, None] / counts.sum())  # I(X; Y)
        for counts in cases.add_up(_counts, singles)
    ]
    order = sorted(range(len(names)), key=lambda i: (-with_class[i], names[i]))
    between = conditional_mutual_information(cases)
    families: dict[str, tuple[str, ...]] = {cases.target: ()}
    for place, i in enumerate(order):
        before = sorted(order[:place], key=lambda j: (-between[i, j], names[j]))[:k]
        families[names[i]] = (*(names[j] for j in sorted(before)), cases.target)
    ordered = ((name, families[name]) for name in (cases.target, *cases.inputs))
    return EmbeddedStructure(cases.target, tuple(ordered))


def _counts(cases: Cases, groups: Sequence[tuple[int, ...]]) -> list[FloatArray]:
    """Return weights by configuration and class, for several groups of inputs (by number)."""
    n_classes = cases.domain.n_states(cases.target)
    tables = []
    for inputs in groups:
        shape = (*(cases.n_states[i] for i in inputs), n_classes)
        cell = np.zeros(len(cases), dtype=np.int64)
        for i in inputs:
            cell = cell * cases.n_states[i] + cases.rows.codes[i]
        cell = cell * n_classes + cases.classes
        flat = np.bincount(cell, cases.weights, minlength=math.prod(shape)).astype(np.float64)
        tables.append(flat.reshape(shape))
    return tables


def _information(joint: FloatArray) -> float:
    """Σ p(a, b, y) log p(a, b|y) / p(a|y) p(b|y) of a table with axes (a, b, y)."""
    a_y, b_y, y = joint.sum(axis=1), joint.sum(axis=0), joint.sum(axis=(0, 1))
    present = joint > 0
    ratio = joint * y / np.where(present, a_y[:, None, :] * b_y[None, :, :], 1.0)
    return float(np.sum(joint[present] * np.log(ratio[present])))


def _spanning_tree(cases: Parts, weight: FloatArray, least: float) -> EmbeddedStructure:
    """The maximum spanning forest of edges above ``least``; names break ties between weights.

    Its arcs point away from the first input of each tree.
    """
    import networkx

    names = cases.inputs
    edges = [(i, j) for i, j in combinations(range(len(names)), 2) if weight[i, j] > least]
    edges.sort(key=lambda edge: (-weight[edge], names[edge[0]], names[edge[1]]))
    graph = networkx.empty_graph(len(names))
    graph.add_weighted_edges_from((i, j, rank) for rank, (i, j) in enumerate(edges))
    spanning = networkx.minimum_spanning_tree(graph)
    arcs = [
        (names[tail], names[head])
        for tree in networkx.connected_components(spanning)
        for tail, head in networkx.bfs_edges(spanning, min(tree))
    ]
    return EmbeddedStructure.tree(cases.target, arcs, names)


FAMILIES: Mapping[str, Callable[[Parts], EmbeddedStructure]] = {
    "naive": lambda cases: EmbeddedStructure.naive(cases.target, cases.inputs),
    "tan": tan,
    "forest": forest,
    "kdb1": lambda cases: kdb(cases, 1),
    "kdb2": lambda cases: kdb(cases, 2),
    "table": lambda cases: EmbeddedStructure.table(cases.target, cases.inputs),
}
"""The families that a classifier accepts, by name."""


def given_structure(given: str | EmbeddedStructure, cases: Parts) -> EmbeddedStructure:
    """Return the structure of a family, or a given structure with the target of the cases."""
    if not isinstance(given, EmbeddedStructure):
        return FAMILIES[given](cases)
    unknown = [x for x in given.inputs if x not in cases.inputs]
    if unknown:
        raise SearchError(
            f"input {unknown[0]!r} of the structure is not a column of X; "
            f"columns are {list(cases.inputs)[:8]}"
        )
    families = {
        (cases.target if x == given.target else x): tuple(
            cases.target if p == given.target else p for p in parents
        )
        for x, parents in given.families
    }
    return EmbeddedStructure(cases.target, tuple(families.items()))
