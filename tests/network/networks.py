"""Random networks of mixed local distributions, and brute force over all configurations."""

from itertools import product

import numpy as np

import ebnc
from ebnc.data.rows import CodedRows, all_configurations

ALL_KINDS = ("ebnc", "table", "tree", "graph", "noisy-max", "counting")


def random_network(seed, n_nodes=6, max_parents=3, max_states=3, kinds=ALL_KINDS):
    """A DAG over shuffled names; every node of a random kind with random parameters."""
    rng = np.random.default_rng(seed)
    names = [f"V{i}" for i in rng.permutation(n_nodes)]
    domain = {x: [f"s{k}" for k in range(rng.integers(2, max_states + 1))] for x in names}
    locals_ = []
    for i, name in enumerate(names):
        n_parents = int(rng.integers(0, min(i, max_parents) + 1))
        parents = [str(x) for x in rng.choice(names[:i], n_parents, replace=False)] if i else []
        locals_.append(random_local(str(rng.choice(kinds)), name, parents, domain, rng))
    rng.shuffle(locals_)
    return ebnc.Network(locals_)


def random_local(kind, name, parents, domain, rng):
    n_states = [len(domain[x]) for x in parents]
    n_classes = len(domain[name])
    if kind == "table":
        theta = rng.dirichlet(np.ones(n_classes), size=n_states)
        return ebnc.Table(name, parents, domain, theta)
    if kind == "tree" and parents:
        return random_tree(name, parents, domain, rng)
    if kind == "graph" and parents:
        return random_graph(name, parents, domain, rng)
    if kind == "noisy-max":
        return random_noisy_max(name, parents, domain, rng)
    if kind == "counting":
        return random_counting(name, parents, domain, rng)
    structure = ebnc.EmbeddedStructure.naive(name, parents)
    if len(parents) > 1 and rng.random() < 0.5:
        structure = ebnc.EmbeddedStructure.chain(name, parents)
    d = ebnc.dimension(structure, {x: len(domain[x]) for x in (*parents, name)})
    coding = str(rng.choice(["indicator", "orthonormal"]))
    return ebnc.EBNC(structure, domain, rng.normal(size=d), coding)


def random_tree(name, parents, domain, rng):
    variables, states, equal, other = [], [], [], []
    for i, parent in enumerate(parents):  # a chain of questions, each with one leaf
        variables += [parent, None]
        states += [int(rng.integers(len(domain[parent]))), 0]
        equal += [2 * i + 1, 0]
        other += [2 * i + 2, 0]
    variables.append(None)
    states.append(0)
    equal.append(0)
    other.append(0)
    theta = rng.dirichlet(np.ones(len(domain[name])), size=len(variables))
    return ebnc.Tree(name, domain, variables, states, equal, other, theta)


def random_graph(name, parents, domain, rng):
    """Every question leads to the next one or to one of two leaves."""
    n = len(parents)
    states = [int(rng.integers(len(domain[x]))) for x in parents]
    ends = [[i + 1 if i + 1 < n else n, int(rng.integers(n, n + 2))] for i in range(n)]
    ends[-1] = [n, n + 1]
    for pair in ends:
        rng.shuffle(pair)
    equal, other = ([*branch, 0, 0] for branch in zip(*ends, strict=True))
    theta = rng.dirichlet(np.ones(len(domain[name])), size=n + 2)
    return ebnc.DecisionGraph(
        name, domain, [*parents, None, None], [*states, 0, 0], equal, other, theta
    )


def random_noisy_max(name, parents, domain, rng):
    n_levels = len(domain[name])
    descending = bool(rng.random() < 0.5)
    effects = {}
    for x in parents:
        table = rng.dirichlet(np.ones(n_levels), size=len(domain[x]))
        table[rng.integers(len(table))] = np.eye(n_levels)[-1 if descending else 0]
        effects[x] = table
    return ebnc.NoisyMax(
        name, domain, rng.dirichlet(np.ones(n_levels)), effects, descending=descending
    )


def random_counting(name, parents, domain, rng):
    sizes = [len(domain[x]) for x in parents]
    usual = [int(rng.integers(r)) for r in sizes]
    cuts = sorted(rng.choice(len(parents), rng.integers(len(parents) + 1), replace=False))
    d = (len(domain[name]) - 1) * (1 + sum(r - 1 for r in sizes) + len(cuts))
    return ebnc.CountingEBNC(name, parents, domain, usual, cuts, rng.normal(size=d))


def joint_table(network):
    """p(z) as an array with one axis per variable, by the chain rule, one cell at a time."""
    names = network.variables
    shape = [network.domain.n_states(x) for x in names]
    table = np.empty(shape)
    for cell in product(*map(range, shape)):
        state = dict(zip(names, cell, strict=True))
        p = 1.0
        for name, local in network.items():
            row = {x: [network.domain[x][state[x]]] for x in local.parents}
            if not local.parents:
                row = {name: [network.domain[name][0]]}
            p *= local.probabilities(row)[0, state[name]]
        table[cell] = p
    return table


def everything(network):
    """All configurations as coded rows, in the order of ``joint_table(…).ravel()``."""
    return all_configurations(network.domain, network.variables)


def codes_of(network, frame):
    """A sample as coded rows."""
    columns = {x: [network.domain.codes(x)[s] for s in frame[x]] for x in network.variables}
    return CodedRows.from_codes(network.domain, {x: np.array(c) for x, c in columns.items()})
