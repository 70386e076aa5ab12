"""Axes: places and values, tails, ends, densities, and cells near rows."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.ndimage import maximum_filter1d

from ebnc.report.axes import axis_of, axis_ticks, near_rows
from ebnc.report.summary import InputSummary

ascending = st.lists(st.integers(-1000, 1000), min_size=1, max_size=30, unique=True).map(sorted)


def number(cuts, shares=None, has_missing=False):
    states = tuple(map(str, range(len(cuts) + 1 + has_missing)))
    return axis_of(
        InputSummary("x", states, tuple(map(float, cuts)), has_missing, True, None, True, shares)
    )


def ordered(n, has_missing=False):
    states = (*(f"grade {i}" for i in range(n)), *["(missing)"] * has_missing)
    return axis_of(InputSummary("x", states, None, has_missing, True, None, True))


@given(ascending, st.booleans())
def test_places_ascend_from_0_to_1_and_lead_back(cuts, is_cubed):
    """Whether the axis is linear or not; every middle lies inside its interval."""
    axis = number([float(cut) ** 3 for cut in cuts] if is_cubed else cuts)
    assert axis.bounds[0] == pytest.approx(0)
    assert axis.bounds[-1] == pytest.approx(1)
    assert all(a < b for a, b in pairwise(axis.bounds))
    np.testing.assert_allclose(axis.values_at(axis.bounds), axis.edges, rtol=1e-7, atol=1e-7)
    middles = axis.values_at(axis.centres)
    inside = [low < x < high for x, (low, high) in zip(middles, pairwise(axis.edges), strict=True)]
    assert all(inside)


@given(ascending)
def test_outer_intervals_are_as_wide_as_their_neighbours(cuts):
    """But a number whose cuts are all positive has no negative end."""
    axis = number(cuts)
    assert axis.edges[1:-1] == tuple(map(float, cuts))
    if len(cuts) > 1 and cuts[0] <= 0:
        assert axis.edges[1] - axis.edges[0] == cuts[1] - cuts[0]
    if len(cuts) > 1 and cuts[-1] >= 0:
        assert axis.edges[-1] - axis.edges[-2] == cuts[-1] - cuts[-2]
    if cuts[0] > 0:
        assert axis.edges[0] >= 0


def test_a_long_tail_leaves_room_for_the_rest():
    """Half of the intervals take a third of the axis at least; ticks are round and apart."""
    cuts = np.exp(np.linspace(0, 14, 30))
    axis = number(cuts)
    assert axis.linear_width is not None
    assert axis.bounds[15] > 1 / 3
    ticks = axis_ticks(axis, 6)
    assert "100000" in [text for _, text in ticks]
    assert all(b - a > 0.1 for (a, _), (b, _) in pairwise(ticks))
    assert number(np.arange(30)).linear_width is None


def test_states_in_order_are_one_apart():
    axis = ordered(4, has_missing=True)
    assert axis.edges == (0, 1, 2, 3, 4)
    assert axis.has_missing
    assert axis_ticks(axis, 8) == [(pytest.approx((i + 0.5) / 4), f"grade {i}") for i in range(4)]
    assert len(axis_ticks(ordered(40), 8)) == 8


def test_a_density_is_share_over_width():
    """Against NumPy's histogram; one frequent value does not set the scale."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=4000)
    cuts = np.quantile(x, np.arange(1, 20) / 20)
    edges = np.array(number(cuts).edges)
    counts = np.histogram(x, [-np.inf, *cuts, np.inf])[0]
    wanted = counts / np.diff(edges)
    axis = number(cuts, tuple(counts / 4000))
    np.testing.assert_allclose(axis.density, wanted / wanted.max())
    atom = number([0, 1, 1.01, 2, 3], (0.05, 0.05, 0.75, 0.05, 0.05, 0.05)).density
    np.testing.assert_allclose(atom, [0.99, 0.99, 1, 1, 0.99, 0.99])
    assert not number([0, 1]).density.any()


def test_cells_near_rows_are_those_of_a_maximum_filter():
    """Scipy's filter along axes in order; labels and missing entries have no neighbours."""
    rng = np.random.default_rng(1)
    counts = (rng.random((12, 5)) < 0.05).astype(float)
    grades, labels = (
        ordered(11, has_missing=True),
        axis_of(InputSummary("z", tuple("abcde"), None, False, True, None)),
    )
    near = near_rows(counts, (grades, labels))
    np.testing.assert_array_equal(
        near[:11], maximum_filter1d(counts[:11] > 0, 5, axis=0, mode="constant")
    )
    np.testing.assert_array_equal(near[11], counts[11] > 0)
