"""Statistics across sets, against scipy, published critical values and small cases by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from study.ranks import against, critical_difference, friedman, holm, mean_ranks

LOSSES = pd.DataFrame(
    {"a": [1, 2, 3, 4, 5], "b": [2, 2, 4, 6, 4], "c": [3, 9, 5, 5, 6]},
    index=list("vwxyz"),
    dtype=float,
)


def test_mean_ranks_share_ties_and_take_weights():
    assert mean_ranks(LOSSES).to_dict() == pytest.approx({"a": 1.3, "b": 1.9, "c": 2.8})
    weights = pd.Series([1.0, 0.0, 0.0, 0.0, 1.0], index=list("vwxyz"))
    assert mean_ranks(LOSSES, weights).to_dict() == pytest.approx({"a": 1.5, "b": 1.5, "c": 3.0})


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (8, 3.031), (10, 3.164)])
def test_critical_difference_is_that_of_demsar(k, q):
    """Table 5a of Demšar (2006)."""
    assert critical_difference(k, 30) == pytest.approx(q * np.sqrt(k * (k + 1) / 180), abs=1e-3)


def test_friedman_of_demsar():
    """His example: 14 sets, 4 algorithms, χ² = 9.28 and F = 3.69."""
    ranks = {"a": 3.143, "b": 2.000, "c": 2.893, "d": 1.964}
    n, k = 14, 4
    chi = 12 * n / (k * (k + 1)) * (sum(r * r for r in ranks.values()) - k * (k + 1) ** 2 / 4)
    assert chi == pytest.approx(9.28, abs=0.02)
    f, p = friedman(LOSSES)
    chi_square = stats.friedmanchisquare(*LOSSES.to_numpy().T).statistic
    assert f == pytest.approx(4 * chi_square / (10 - chi_square))
    assert p == pytest.approx(stats.f.sf(f, 2, 8))
    same = pd.DataFrame({"a": [1.0, 2, 3], "b": [2.0, 3, 4]}).assign(c=9.0)
    assert friedman(same) == (np.inf, 0.0)


def test_holm_by_hand():
    assert holm({"x": 0.04, "y": 0.01, "z": 0.03}) == pytest.approx(
        {"y": 0.03, "z": 0.06, "x": 0.06}
    )


def test_against_counts_and_says_how_much():
    found = against(LOSSES, "a", draw=1.5)
    b = found["b"]
    assert (b.won, b.drawn, b.lost) == (1, 4, 0)
    assert b.median == -1
    assert b.effect == pytest.approx((2 + 2 + 4 - 2) / 10)  # 1 three times, then 2
    assert found["c"].effect == 1.0
    assert against(LOSSES.assign(d=LOSSES["a"]), "a", 0.0)["d"].p == 1.0
