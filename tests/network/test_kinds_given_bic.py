"""Nodes learned by BIC predict with a prior; required arcs are kept by every kind."""

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
def test_where_no_tree_asks_for_a_required_parent_a_table_stands_in(regime):
    """With its score: it was −∞, and dense networks crashed."""
    a, b = np.random.default_rng(0).integers(0, 2, (2, 200))
    learned = ebnc.Network.learn(
        {"a": a, "b": b, "y": a ^ b},
        local="tree",
        regime=regime,
        required=[("a", "y"), ("b", "y")],
        tiers=[["a", "b"], ["y"]],
    )
    assert set(learned.parents("y")) == {"a", "b"}
    assert learned["y"].kind == "table"
    assert np.isfinite(learned.learned_score)


def test_a_table_that_would_be_too_large_does_not_stand_in():
    """Thirteen required parents that say nothing: the table would have 8192 cells."""
    columns = np.random.default_rng(0).integers(0, 2, (14, 100))
    data = {f"v{i}": column for i, column in enumerate(columns)}
    required = [(f"v{i}", "v13") for i in range(13)]
    with pytest.raises(SearchError, match="is required, but the tree"):
        ebnc.Network.learn(data, local="tree", regime="sparse", required=required)
