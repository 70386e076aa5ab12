"""Columns of φ for variables of any kind, written out in loops: what the core must compute."""

from itertools import combinations, product
from math import cos, pi, prod, sqrt

import numpy as np

from strategies import cluster_sets


def coding_of(domain, name):
    """E in the orthonormal coding, shape (r, t), and the wave j of each column."""
    states = domain[name]
    r = len(states)
    if name not in domain.ordered:
        columns = []
        for j in range(1, r):  # state j against those before it, of length √r
            unit = np.array([-1.0] * j + [float(j)] + [0.0] * (r - j - 1))
            columns.append(unit * sqrt(r) / np.linalg.norm(unit))
        return np.array(columns).reshape(r - 1, r).T, [1] * (r - 1)
    n = r - (states[-1] is None)
    columns, waves = [], []
    for j in range(1, min(12, n - 1) + 1):
        columns.append(
            [sqrt(2) * cos(pi * j * (b + 0.5) / n) / j for b in range(n)] + [0] * (r - n)
        )
        waves.append(j)
    if n < r:
        columns.append([2.0 * (b == n) - 2.0 / r for b in range(r)])
        waves.append(1)
    return np.array(columns, dtype=float).reshape(len(columns), r).T, waves


def terms_of(structure, domain, weak_pairs=False):
    """(inputs, is weak) in the order of φ: by size, then by the inputs' order; weak pairs last."""
    inputs = [x for x in structure.inputs if x in set().union(*cluster_sets(structure))]
    sets = cluster_sets(structure)
    strong = [
        subset
        for size in range(len(inputs) + 1)
        for subset in combinations(inputs, size)
        if any(set(subset) <= set(cluster) for cluster in sets)
    ]
    weak = [pair for pair in combinations(inputs, 2) if pair not in strong] if weak_pairs else []
    return [(s, False) for s in strong] + [(s, True) for s in weak]


def columns_of(structure, domain, weak_pairs=False):
    """(inputs, column of each, group) of every column of the design, in the order of φ."""
    found = []
    for inputs, is_weak in terms_of(structure, domain, weak_pairs):
        waves = [coding_of(domain, x)[1] for x in inputs]
        largest = 1 if is_weak else 6
        for chosen in product(*(range(len(own)) for own in waves)):
            js = [own[c] for own, c in zip(waves, chosen, strict=True)]
            if len(inputs) < 2 or prod(js) <= largest:
                found.append((inputs, chosen, -1 if is_weak else len(inputs)))
    return found


def design_of(structure, domain, codes, weak_pairs=False, full_of=coding_of):
    """The explicit design, shape (rows, columns): Π_i E_i[x_i] of every column."""
    n_rows = len(next(iter(codes.values())))
    matrices = {x: full_of(domain, x)[0] for x in structure.inputs}
    design = [
        np.prod(
            [np.ones(n_rows), *(matrices[x][codes[x], c] for x, c in zip(s, chosen, strict=True))],
            axis=0,
        )
        for s, chosen, _ in columns_of(structure, domain, weak_pairs)
    ]
    return np.array(design).T


def groups_of(structure, domain, weak_pairs=False):
    """Group of every column: its number of inputs, or −1 for weak pairs."""
    return np.array([group for *_, group in columns_of(structure, domain, weak_pairs)])


def log_odds_of(structure, domain, phi, codes, weak_pairs=False, full_of=coding_of):
    """λ, shape (rows, K − 1): Σ over columns, times E_Y[k] − E_Y[0]."""
    design = design_of(structure, domain, codes, weak_pairs, full_of)
    of_class = full_of(domain, structure.target)[0]
    coefficients = np.asarray(phi).reshape(design.shape[1], -1)
    return design @ coefficients @ (of_class[1:] - of_class[0]).T


def all_codes(structure, domain):
    """Every configuration of the inputs, as columns of codes."""
    cells = np.array(list(product(*(range(len(domain[x])) for x in structure.inputs))), dtype=int)
    cells = cells.reshape(-1, len(structure.inputs))
    return {x: cells[:, i] for i, x in enumerate(structure.inputs)}


def random_codes(structure, domain, n_rows, generator):
    """Random codes of all variables."""
    return {x: generator.integers(0, len(domain[x]), n_rows) for x in structure.names}
