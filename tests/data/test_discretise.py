"""Cut points against known answers and against the definition, written as loops."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from ebnc.data.discretise import fine_cuts, intervals, mdlp_cuts, quantile_cuts, target_cuts
from ebnc.domain import Interval


def test_intervals_have_no_gaps_and_print_as_inequalities():
    found = intervals(np.array([1.5, 2.0]))
    assert found == (Interval(-np.inf, 1.5), Interval(1.5, 2.0), Interval(2.0, np.inf))
    assert [str(i) for i in found] == ["≤ 1.5", "(1.5, 2]", "> 2"]
    assert [str(i) for i in intervals(np.empty(0))] == ["any number"]


@pytest.mark.parametrize(
    ("column", "cuts"),
    [(0, [5.55, 6.15]), (1, [2.95, 3.35]), (2, [2.45, 4.75]), (3, [0.8, 1.75])],
)
def test_mdlp_finds_the_cut_points_that_weka_finds_on_iris(column, cuts):
    """weka.filters.supervised.attribute.Discretize with its defaults (Fayyad & Irani's MDL)."""
    iris = load_iris()
    np.testing.assert_allclose(mdlp_cuts(iris.data[:, column], iris.target, 3), cuts, atol=1e-12)


def slow_mdlp(values, classes):
    """Fayyad & Irani (1993) by loops over rows."""

    def entropy(ys):
        shares = np.array([ys.count(c) / len(ys) for c in set(ys)])
        return float(-(shares * np.log2(shares)).sum())

    pairs = sorted(zip(values, classes, strict=True))
    points = sorted(set(values))
    best = None
    ys = [y for _, y in pairs]
    for low, high in itertools.pairwise(points):
        cut = (low + high) / 2
        left, right = [y for v, y in pairs if v <= cut], [y for v, y in pairs if v > cut]
        after = (len(left) * entropy(left) + len(right) * entropy(right)) / len(ys)
        if best is None or after < best[0] - 1e-12:
            best = (after, cut, left, right)
    if best is None:
        return []
    after, cut, left, right = best
    n, k = len(ys), len(set(ys))
    delta = np.log2(3**k - 2) - (
        k * entropy(ys) - len(set(left)) * entropy(left) - len(set(right)) * entropy(right)
    )
    if entropy(ys) - after <= (np.log2(n - 1) + delta) / n:
        return []
    below = [(v, y) for v, y in pairs if v <= cut]
    above = [(v, y) for v, y in pairs if v > cut]
    return sorted(
        [cut, *slow_mdlp(*zip(*below, strict=True)), *slow_mdlp(*zip(*above, strict=True))]
    )


@given(st.integers(0, 10_000))
def test_mdlp_equals_its_definition(seed):
    generator = np.random.default_rng(seed)
    values = generator.integers(0, 30, size=120).astype(float)
    classes = (values // generator.integers(5, 20) + (generator.random(120) < 0.1)).astype(int) % 3
    np.testing.assert_allclose(
        mdlp_cuts(values, classes, 3), slow_mdlp(values.tolist(), classes.tolist())
    )


def test_mdlp_leaves_noise_in_one_piece_and_ignores_missing():
    generator = np.random.default_rng(0)
    values, classes = generator.normal(size=300), generator.integers(0, 2, 300)
    assert mdlp_cuts(values, classes, 2).size == 0
    step = (values > 0).astype(int)
    clean = mdlp_cuts(values, step, 2)
    with_gaps = mdlp_cuts(np.append(values, [np.nan] * 5), np.append(step, [0] * 5), 2)
    assert len(clean) == 1
    np.testing.assert_array_equal(clean, with_gaps)


def test_weights_count_as_rows():
    generator = np.random.default_rng(1)
    values = generator.integers(0, 20, 100).astype(float)
    classes = ((values > 9) ^ (generator.random(100) < 0.2)).astype(int)
    weights = generator.integers(1, 4, 100).astype(float)
    repeat = weights.astype(int)
    np.testing.assert_allclose(
        mdlp_cuts(values, classes, 2, weights),
        mdlp_cuts(np.repeat(values, repeat), np.repeat(classes, repeat), 2),
    )
    np.testing.assert_allclose(
        quantile_cuts(values, 4, weights), quantile_cuts(np.repeat(values, repeat), 4)
    )
    np.testing.assert_allclose(fine_cuts(values, weights), fine_cuts(np.repeat(values, repeat)))


@pytest.mark.parametrize("n_bins", [2, 3, 10])
def test_quantiles_have_about_equal_weight(n_bins):
    values = np.random.default_rng(2).permutation(1000).astype(float)
    cuts = quantile_cuts(values, n_bins)
    assert len(cuts) == n_bins - 1
    counts = np.bincount(np.searchsorted(cuts, values))
    assert counts.max() - counts.min() <= 1


def test_fine_cuts_of_the_largest_numbers_are_finite():
    largest = np.finfo(float).max
    assert fine_cuts(np.repeat([-largest, largest], 10)).tolist() == [0.0]
    assert fine_cuts(np.repeat([largest / 2, largest], 10)).tolist() == [0.75 * largest]


def test_few_values_make_few_intervals_and_constants_none():
    assert fine_cuts(np.array([1.0] * 4 + [2.0] * 4 + [np.nan])).tolist() == [1.5]
    assert fine_cuts(np.array([1.0, 1.0])).size == fine_cuts(np.array([np.nan])).size == 0
    assert quantile_cuts(np.array([1.0, 1.0, 2.0, np.nan]), 5).tolist() == [1.5]
    assert quantile_cuts(np.array([1.0, 1.0]), 5).size == 0
    assert quantile_cuts(np.array([np.nan]), 5).size == 0
    assert mdlp_cuts(np.array([np.nan]), np.array([0]), 2).size == 0


# -- fine bins -------------------------------------------------------------------------------------


def bins_of(values, cuts):
    """The number of each value's bin, low < x ≤ high."""
    return np.searchsorted(cuts, values)


def with_atoms(seed):
    """Numbers, some of which occur often, some twice, some never again."""
    generator = np.random.default_rng(seed)
    values = generator.normal(size=generator.integers(2, 700))
    for atom in generator.normal(size=generator.integers(0, 5)):
        values[generator.random(len(values)) < generator.uniform(0, 0.2)] = atom
    return values.round(int(generator.integers(0, 5)))


@pytest.mark.parametrize("n", [2, 3, 4, 7, 8, 12, 40, 100, 123, 124, 125, 1000, 5000])
def test_fine_bins_of_different_values_have_about_the_same_number_of_rows(n):
    """An odd number of bins: 31, or as many as have about four rows."""
    values = np.random.default_rng(n).permutation(n) ** 3.0
    cuts = fine_cuts(values)
    counts = np.bincount(bins_of(values, cuts))
    assert len(counts) == min(31, n // 4) | 1
    assert np.ptp(counts) <= 2
    assert len(counts) == 1 or counts.min() >= 2


@given(st.integers(0, 100_000))
def test_fine_bins_are_reversed_when_the_sign_of_all_values_changes(seed):
    values = with_atoms(seed)
    cuts, flipped = fine_cuts(values), fine_cuts(-values)
    np.testing.assert_array_equal(flipped, -cuts[::-1])
    np.testing.assert_array_equal(bins_of(-values, flipped), len(cuts) - bins_of(values, cuts))


@given(st.integers(0, 100_000))
def test_fine_bins_keep_under_monotone_transformations_and_orders_of_rows(seed):
    values = with_atoms(seed)
    bins = bins_of(values, fine_cuts(values))
    for changed in (np.exp(values), 1e6 + 3.0 * values, np.arctan(values), values**3):
        np.testing.assert_array_equal(bins_of(changed, fine_cuts(changed)), bins)
    order = np.random.default_rng(seed).permutation(len(values))
    np.testing.assert_array_equal(fine_cuts(values[order]), fine_cuts(values))
    gaps = np.append(values, [np.nan, np.nan])
    np.testing.assert_array_equal(fine_cuts(gaps), fine_cuts(values))


@given(st.integers(0, 100_000))
def test_weights_of_fine_bins_count_as_rows(seed):
    values = with_atoms(seed)
    weights = np.random.default_rng(seed).integers(1, 4, len(values))
    np.testing.assert_array_equal(
        fine_cuts(values, weights.astype(float)), fine_cuts(np.repeat(values, weights))
    )


@given(st.integers(0, 100_000))
def test_a_value_that_is_frequent_is_a_bin_of_its_own(seed):
    """1/31 of the rows and at least four; then every bin has a value, and cuts lie between."""
    values = with_atoms(seed)
    cuts = fine_cuts(values)
    bins = bins_of(values, cuts)
    assert len(np.unique(bins)) == len(cuts) + 1
    distinct, counts = np.unique(values, return_counts=True)
    assert not np.isin(cuts, distinct).any()
    for value, count in zip(distinct, counts, strict=True):
        if count >= max(4, len(values) / 31) and len(distinct) > 1:
            assert set(values[bins == bins_of(value, cuts)]) == {value}
    atoms = (counts >= max(4, len(values) / 31)).sum()
    assert len(cuts) <= 31 + atoms


def test_twice_the_rows_have_the_same_fine_bins_once_there_are_enough():
    values = np.random.default_rng(5).normal(size=200)
    np.testing.assert_array_equal(fine_cuts(np.append(values, values)), fine_cuts(values))


def test_zeros_and_a_limit_are_bins_between_the_others():
    """300 zeros, 100 at the limit of 5, 600 numbers between."""
    between = np.random.default_rng(0).uniform(0.1, 4.9, 600)
    values = np.concatenate([np.zeros(300), between, np.full(100, 5.0)])
    counts = np.bincount(bins_of(values, fine_cuts(values)))
    assert counts[0] == 300
    assert counts[-1] == 100
    assert len(counts) == 2 + 29
    assert np.ptp(counts[1:-1]) <= 2


def test_a_constant_or_nothing_is_not_cut():
    assert fine_cuts(np.full(9, 2.5)).size == 0
    assert fine_cuts(np.array([np.nan, np.nan])).size == 0
    assert fine_cuts(np.array([1.0, np.nan, 1.0])).size == 0


def test_neighbouring_floats_are_different_bins():
    """Nothing lies between them: the cut is the lower one, and each keeps its bin, mirrored too."""
    values = np.repeat([1.0 + 2.0**-52, 1.0 + 2.0**-51, 1.0 + 3 * 2.0**-52], 10)
    for sign in (1.0, -1.0):
        cuts = fine_cuts(sign * values)
        assert (np.diff(cuts) > 0).all()
        assert np.bincount(np.searchsorted(cuts, sign * values)).tolist() == [10, 10, 10]


def test_outer_bins_of_a_target_are_halved_three_times_while_they_have_eight_rows():
    values = np.random.default_rng(0).lognormal(sigma=2.0, size=2_500)
    counts = np.bincount(bins_of(values, target_cuts(values)))
    assert len(counts) == 31 + 6
    for tail in (counts, counts[::-1]):
        assert tail[:4].tolist() == [10, 10, 20, tail[:4].sum() - 40]
    assert np.bincount(bins_of(values[:400], target_cuts(values[:400]))).min() >= 8
    assert len(target_cuts(values[:400])) + 1 == 31  # outer bins of 12 rows
    many = np.random.default_rng(1).normal(size=20_000)
    assert len(target_cuts(many)) + 1 == 31 + 6


@pytest.mark.parametrize("seed", range(5))
def test_bins_of_a_target_have_no_side_and_count_weights_as_rows(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=1_200).round(int(rng.integers(1, 4)))
    cuts = target_cuts(values)
    np.testing.assert_array_equal(target_cuts(-values), -cuts[::-1])
    assert (np.diff(cuts) > 0).all()
    assert (np.bincount(bins_of(values, cuts), minlength=len(cuts) + 1) > 0).all()
    weights = rng.integers(1, 4, 1_200)
    np.testing.assert_array_equal(
        target_cuts(values, weights.astype(float)), target_cuts(np.repeat(values, weights))
    )


def test_an_atom_at_the_end_of_a_target_is_one_bin():
    values = np.maximum(np.random.default_rng(0).normal(size=2_000), 0.0)
    counts = np.bincount(bins_of(values, target_cuts(values)))
    assert counts[0] == (values == 0.0).sum()
