"""Results depend neither on PYTHONHASHSEED nor on the number of threads."""

import os
import subprocess
import sys

import pytest

HASH_PROGRAM = """
import random
import numpy as np
from ebnc import (EBNC, EmbeddedNetwork, EmbeddedStructure, dimension, dimension_by_blocks,
                  generic_dimension)

random.seed(1)
for trial in range(25):
    names = [f"input {i} of {random.random()}" for i in range(6)] + ["Y"]
    random.shuffle(names)
    families = []
    for i, name in enumerate(names):
        families.append((name, tuple(random.sample(names[:i], min(i, random.randint(0, 3))))))
    structure = EmbeddedStructure("Y", tuple(families))
    n_states = {name: random.randint(2, 3) for name in names}
    print(structure, structure.clusters, structure.markov_blanket, structure.total_order)
    print(structure.factors, structure.absorbers)
    equivalent = structure.equivalent_that_fills_span()
    print(equivalent)
    print(dimension(structure, n_states), generic_dimension(structure, n_states))
    print(dimension_by_blocks(structure, n_states).basis)
    network = EmbeddedNetwork.random(structure, n_states, random_state=trial)
    ebnc = EBNC.from_embedded_network(network, "orthonormal")
    print(ebnc.basis.terms, ebnc.phi.tolist())
    print(ebnc.phi_table())
    if equivalent is not None:
        back = ebnc.to_embedded_network()
        print(back, {name: table.tolist() for name, table in back.theta.items()})
generator = np.random.default_rng(0)
rows = {name: generator.integers(n_states[name], size=50) for name in structure.inputs}
print(ebnc.log_odds(rows).tolist(), network.probabilities(rows).tolist())
try:
    EmbeddedStructure.from_edges([("a", "b"), ("b", "c"), ("c", "a"), ("c", "b")], target="a")
except ValueError as error:
    print(error)
"""

THREAD_PROGRAM = """
import hashlib
import numpy as np
from ebnc import EBNC, EmbeddedStructure, closest_embedded_network, dimension

structure = EmbeddedStructure.tree("Y", [("A", "B"), ("A", "C"), ("C", "D")])
n_states = {"A": 5, "B": 3, "C": 4, "D": 2, "Y": 3}
generator = np.random.default_rng(0)
ebnc = EBNC(structure, n_states, generator.normal(size=dimension(structure, n_states)))
rows = {x: generator.integers(n_states[x], size=200_000) for x in structure.inputs}
print(hashlib.sha256(ebnc.log_odds(rows).tobytes()).hexdigest())
print(hashlib.sha256(ebnc.probabilities(rows).tobytes()).hexdigest())
print(closest_embedded_network(ebnc, n_starts=1).divergence)
"""


def output(program, **environment):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["1", "4711"])
def test_the_hash_seed_changes_nothing(seed):
    """Clusters, orders, equivalents, bases, φ, θ and messages, compared as printed."""
    expected = output(HASH_PROGRAM, PYTHONHASHSEED="0")
    assert expected.count("\n") > 100
    assert output(HASH_PROGRAM, PYTHONHASHSEED=seed) == expected


@pytest.mark.slow
def test_the_number_of_threads_changes_nothing():
    """One and four threads: the same bytes."""
    one, four = (output(THREAD_PROGRAM, OMP_NUM_THREADS=n) for n in ("1", "4"))
    assert one == four
