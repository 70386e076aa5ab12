"""Nodes learned by BIC predict with a prior; kinds that miss a required arc are refused."""

import numpy as np
import pytest

import ebnc
from ebnc.errors import SearchError


def test_a_separated_node_learned_by_bic_predicts_no_certainty():
    data = {"a": ["x"] * 20 + ["z"] * 20, "y": [0] * 20 + [0, 1] * 10}
    learned = ebnc.Network.learn(data, score="bic", local="ebnc", tiers=[["a"], ["y"]])
    p = learned["y"].probabilities({"a": ["x", "z"]})[:, 1]
    assert 1e-3 < p[0] < 0.2
    assert p[1] == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("regime", ["sparse", "dense"])
def test_a_tree_that_does_not_ask_for_a_required_parent_is_refused(regime):
    a, b = np.random.default_rng(0).integers(0, 2, (2, 200))
    with pytest.raises(SearchError, match="'a' → 'y' is required, but the tree"):
        ebnc.Network.learn(
            {"a": a, "b": b, "y": a ^ b},
            local="tree",
            regime=regime,
            required=[("a", "y")],
            tiers=[["a", "b"], ["y"]],
        )
