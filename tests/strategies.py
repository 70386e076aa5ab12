"""Random structures and models, and definitions written without the package to test it with."""

from dataclasses import dataclass
from itertools import combinations, pairwise, product
from math import prod

import flint
import networkx as nx
import numpy as np
from hypothesis import strategies as st

from ebnc import Domain, EmbeddedStructure, Interval

AWKWARD_NAMES = [
    "X1",
    "two words",
    " leading",
    "trailing ",
    " ",
    "\t",
    "a\nb",
    "end\n",
    "[",
    "]",
    "|",
    ":",
    "\\",
    "\\\\",
    "a:b|c]",
    "[Y|X1:X2]",
    "größe",
    "年齢",
    "🦉",
    "I(x²)",
    "0",
    "None",
    "%s{}",
]


def names(count, awkward=False):
    """Lists of ``count`` different names; plain ones are X1, X2, …"""
    if not awkward:
        return st.just([f"X{i + 1}" for i in range(count)])
    one = st.one_of(st.sampled_from(AWKWARD_NAMES), st.text(min_size=1, max_size=4))
    return st.lists(one, min_size=count, max_size=count, unique=True)


@st.composite
def structures(draw, max_inputs=4, min_inputs=0, awkward=False, max_parents=None):
    """Any DAG over a target and its inputs; families and parents stand in any order."""
    n_inputs = draw(st.integers(min_inputs, max_inputs))
    if awkward:
        target, *inputs = draw(names(n_inputs + 1, awkward=True))
    else:
        target, inputs = "Y", draw(names(n_inputs))
    order = draw(st.permutations([target, *inputs]))
    families = []
    for place, name in enumerate(order):
        chosen = draw(st.lists(st.booleans(), min_size=place, max_size=place))
        parents = [other for other, taken in zip(order, chosen, strict=False) if taken]
        families.append((name, tuple(draw(st.permutations(parents))[:max_parents])))
    return EmbeddedStructure(target, tuple(draw(st.permutations(families))))


@dataclass(frozen=True)
class Model:
    """A structure with a number of states for each of its variables."""

    structure: EmbeddedStructure
    n_states: dict[str, int]

    @property
    def n_classes(self):
        return self.n_states[self.structure.target]


@st.composite
def models(
    draw,
    max_inputs=4,
    min_inputs=0,
    max_states=4,
    one_state=False,
    n_classes=None,
    max_configurations=400,
    **options,
):
    """A structure whose variables have 2 to ``max_states`` states, with ``one_state`` also 1.

    The number of configurations is kept below ``max_configurations`` by taking states away.
    """
    structure = draw(structures(max_inputs=max_inputs, min_inputs=min_inputs, **options))
    fewest = 1 if one_state else 2
    n_states = {name: draw(st.integers(fewest, max_states)) for name in structure.names}
    if n_classes is not None:
        n_states[structure.target] = n_classes
    while prod(n_states.values()) > max_configurations:
        widest = max(structure.inputs, key=n_states.__getitem__)
        n_states[widest] -= 1
    return Model(structure, n_states)


@dataclass(frozen=True)
class Mixed:
    """A structure, a domain with nominal, ordered and numeric variables, and t of each of them."""

    structure: EmbeddedStructure
    domain: Domain
    t: dict[str, int]


def bins(count):
    """Intervals with the ends 0, 1, 2, …"""
    ends = [-np.inf, *range(count - 1), np.inf]
    return [Interval(float(low), float(high)) for low, high in pairwise(ends)]


@st.composite
def mixed_models(draw, max_inputs=4, min_inputs=0, most_states=5, wide=True, most=3000):
    """Any structure whose variables are of any kind, some with a missing state.

    ``wide``: whether some curves have the 12 columns of a variable with many states. The product
    of all t + 1 is at most ``most``.
    """
    structure = draw(structures(max_inputs=max_inputs, min_inputs=min_inputs))
    states, t, ordered = {}, {}, []
    room = most
    for name in structure.names:
        kind = draw(st.sampled_from(["nominal", "ordered", "numeric"]))
        largest = 40 if wide and kind != "nominal" and room > 400 else most_states
        count = draw(st.integers(2, largest if room > 8 else 2))
        missing = name != structure.target and draw(st.booleans()) and count > 2
        states[name] = bins(count) if kind == "numeric" else [f"s{i}" for i in range(count)]
        t[name] = count - 1 if kind == "nominal" else min(12, count - 1)
        if missing:
            states[name].append(None)
            t[name] += 1
        if kind != "nominal":
            ordered.append(name)
        room //= t[name] + 1
    return Mixed(structure, Domain(states, ordered), t)


seeds = st.integers(0, 2**32 - 1)


def all_dags(variables):
    """Every DAG over these variables, as families (543 of them for four)."""
    pairs = list(combinations(variables, 2))
    for directions in product((None, 0, 1), repeat=len(pairs)):
        graph = nx.DiGraph()
        graph.add_nodes_from(variables)
        for (a, b), direction in zip(pairs, directions, strict=True):
            if direction is not None:
                graph.add_edge(*((a, b) if direction else (b, a)))
        if nx.is_directed_acyclic_graph(graph):
            yield tuple((name, tuple(graph.predecessors(name))) for name in variables)


# -- definitions, from the arcs alone ---------------------------------------------------------


def factor_sets(structure):
    """C_Y = Pa(Y) and C_i = {X_i} ∪ Pa(X_i) \\ {Y} for every child X_i of Y."""
    target, arcs = structure.target, structure.edges
    sets = [frozenset(a for a, b in arcs if b == target)]
    for child in [b for a, b in arcs if a == target]:
        sets.append(frozenset(a for a, b in arcs if b == child) - {target} | {child})
    return sets


def cluster_sets(structure):
    """The maximal sets among ``factor_sets``."""
    sets = factor_sets(structure)
    return {c for c in sets if not any(c < other for other in sets)}


def complex_of(clusters):
    """Δ: all subsets of clusters, enumerated."""
    return {
        frozenset(subset)
        for cluster in clusters
        for size in range(len(cluster) + 1)
        for subset in combinations(sorted(cluster), size)
    }


def is_acyclic(clusters):
    """Whether a hypergraph is acyclic: its graph chordal, every clique inside a hyperedge."""
    graph = nx.Graph()
    for cluster in clusters:
        graph.add_nodes_from(cluster)
        graph.add_edges_from(combinations(cluster, 2))
    return nx.is_chordal(graph) and all(
        any(set(clique) <= cluster for cluster in clusters) for clique in nx.find_cliques(graph)
    )


def _log_theta_cells(structure, n_states, x):
    """For every class: the cells (variable, parents' states, state) of the joint at (x, y).

    A variable with one state has no cell: its probability is 1, its logarithm no unknown.
    """
    varying = [v for v in structure.names if n_states[v] > 1]
    for y in range(n_states[structure.target]):
        at = {**x, structure.target: y}
        yield [(v, tuple(at[p] for p in structure.parents(v)), at[v]) for v in varying]


def _configurations(structure, n_states):
    sizes = [range(n_states[name]) for name in structure.inputs]
    for states in product(*sizes):
        yield dict(zip(structure.inputs, states, strict=True))


def span_matrix(structure, n_states):
    """λ_k(x) as integer combinations of all cells log θ, cancelling ones too; rows (x, k)."""
    columns = {}
    rows = []
    for x in _configurations(structure, n_states):
        first, *others = _log_theta_cells(structure, n_states, x)
        for cells in others:
            row = {}
            for sign, chosen in ((1, cells), (-1, first)):
                for cell in chosen:
                    place = columns.setdefault(cell, len(columns))
                    row[place] = row.get(place, 0) + sign
            rows.append(row)
    dense = [[row.get(j, 0) for j in range(len(columns))] for row in rows]
    return flint.fmpz_mat(dense) if dense and columns else flint.fmpz_mat(0, 0)


JACOBIAN_PRIME = 2**61 - 1


def jacobian_rank(structure, n_states, seed=0):
    """Rank of ∂λ/∂θ over all free entries of all tables, at a random θ modulo 2⁶¹ − 1.

    ∂ log θ(s) / ∂θ(t) is 1/θ(t) where s = t and −1/θ(0) where s = 0, θ(0) = 1 − Σ θ(t).
    """
    generator = np.random.default_rng(seed)
    slopes = {}

    def slope(variable, context):
        if (variable, context) not in slopes:
            free = [int(v) for v in generator.integers(1, 2**61 - 1, n_states[variable] - 1)]
            zero = (1 - sum(free)) % JACOBIAN_PRIME
            slopes[variable, context] = [pow(v, -1, JACOBIAN_PRIME) for v in (zero, *free)]
        return slopes[variable, context]

    columns = {}
    rows = []
    for x in _configurations(structure, n_states):
        first, *others = _log_theta_cells(structure, n_states, x)
        for cells in others:
            row = {}
            for sign, chosen in ((1, cells), (-1, first)):
                for variable, context, state in chosen:
                    inverse = slope(variable, context)
                    for t in range(1, n_states[variable]):
                        value = inverse[t] if state == t else -inverse[0] if state == 0 else 0
                        place = columns.setdefault((variable, context, t), len(columns))
                        row[place] = row.get(place, 0) + sign * value
            rows.append(row)
    if not rows or not columns:
        return 0
    entries = [row.get(j, 0) % JACOBIAN_PRIME for row in rows for j in range(len(columns))]
    return flint.nmod_mat(len(rows), len(columns), entries, JACOBIAN_PRIME).rank()
