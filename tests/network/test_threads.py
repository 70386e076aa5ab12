"""Networks learned on several threads: the same to the last bit, whatever their number."""

import json

import numpy as np
import pytest

import ebnc
from ebnc.data.read import learn_joint_cases
from ebnc.network.learning.constraints import Constraints
from ebnc.network.learning.sparse import SparseSearch
from ebnc.network.local.node import Settings
from network.networks import random_network


def mixed_rows():
    return random_network(11, n_nodes=5).sample(300, random_state=2)


def binary_rows():
    rng = np.random.default_rng(3)
    hidden = rng.random((200, 3)) < 0.4
    ones = (rng.random((200, 9)) < 0.1) | hidden[:, rng.integers(0, 3, 9)]
    return {f"V{i}": ones[:, i].astype(int) for i in range(9)}


def content(network):
    return json.dumps(
        {
            "arcs": network.arcs,
            "scores": dict(network.scores),
            "steps": [(step.change, step.score) for step in network.trace.steps],
            "fits": network.trace.n_fits,
            "kinds": {x: network.local(x).kind for x in network},
        }
    )


REGIMES = {"sparse": mixed_rows, "dense": binary_rows}


@pytest.mark.parametrize("regime", ["sparse", pytest.param("dense", marks=pytest.mark.slow)])
@pytest.mark.parametrize("n_jobs", [2, None])
def test_the_number_of_threads_changes_nothing(regime, n_jobs, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    data = REGIMES[regime]()
    expected = ebnc.Network.learn(data, regime=regime, n_jobs=1)
    assert expected.trace.steps
    found = ebnc.Network.learn(data, regime=regime, n_jobs=n_jobs)
    assert content(found) == content(expected)
    np.testing.assert_array_equal(found.log_likelihood(data), expected.log_likelihood(data))


def test_a_search_that_comes_back_ends_as_one_that_estimates_again():
    """Scores are equal but for the rounding of fits that begin elsewhere."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 400))
    c = (a & b) ^ (rng.random(400) < 0.1)
    d = c ^ (rng.random(400) < 0.2)
    data = dict(zip("abcd", (a, b, c, d), strict=True)) | {"e": rng.integers(0, 3, 400)}
    cases, _ = learn_joint_cases(data, None, "state", None)

    def searched(**arguments):
        search = SparseSearch(cases, Settings(), Constraints.of(list(data)), **arguments)
        search.run()
        return search

    learned, again = searched(), searched(most_visited=0)
    assert again.trace.n_fits > learned.trace.n_fits
    assert {x: set(own) for x, own in again.parents.items()} == {
        x: set(own) for x, own in learned.parents.items()
    }
    assert abs(again.score - learned.score) < 1e-6
