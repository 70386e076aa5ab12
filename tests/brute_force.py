"""Bayes' rule on the joint of m′, written without the package: loops over configurations."""

from itertools import product

import numpy as np


def joint(structure, n_states, theta):
    """p(y, x | θ) by eq. 1: {configuration of all names in structure.names order: probability}."""
    names = structure.names
    table = {}
    for states in product(*(range(n_states[name]) for name in names)):
        at = dict(zip(names, states, strict=True))
        probability = 1.0
        for name in names:
            index = (*(at[parent] for parent in structure.parents(name)), at[name])
            probability *= float(np.asarray(theta[name])[index])
        table[states] = probability
    return table


def posterior(structure, n_states, theta):
    """p(y | x, θ) for every configuration of the inputs, in lexicographic order."""
    names, target = structure.names, structure.target
    n_classes = n_states[target]
    sums = {
        x: np.zeros(n_classes) for x in product(*(range(n_states[i]) for i in structure.inputs))
    }
    y_place = names.index(target)
    for states, probability in joint(structure, n_states, theta).items():
        x = states[:y_place] + states[y_place + 1 :]
        sums[x][states[y_place]] += probability
    return np.array([row / row.sum() for row in sums.values()])


def configurations(structure, n_states):
    """Every configuration of the inputs as columns, in the same order as ``posterior``."""
    rows = np.array(list(product(*(range(n_states[i]) for i in structure.inputs))), dtype=int)
    rows = rows.reshape(-1, len(structure.inputs))
    return {name: rows[:, i] for i, name in enumerate(structure.inputs)}
