"""The density of a number in bins, against numerical integration and scipy's distributions."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import expon, kstest

from ebnc.data.discretise import fine_cuts
from ebnc.errors import ParameterError
from ebnc.parameters.bin_density import BinDensity

RNG = np.random.default_rng(0)
VALUES = {
    "normal": RNG.normal(3.0, 2.0, 500),
    "long tail": np.exp(2 * RNG.normal(size=500)),
    "atom at the end": np.maximum(RNG.normal(size=400), 0.0),
    "two bins": np.array([1.0, 1.0, 2.0, 5.0, 7.0]),
}


@pytest.fixture(params=list(VALUES))
def learned(request):
    values = VALUES[request.param]
    cuts = fine_cuts(values) if len(values) > 10 else np.array([3.0])
    density = BinDensity.of(values, cuts)
    shares = np.bincount(np.searchsorted(cuts, values), minlength=density.n_bins) / len(values)
    tilted = shares * np.random.default_rng(1).uniform(0.5, 2.0, density.n_bins)
    return values, density, tilted / tilted.sum()


def integral(density, p, x):
    """∫ p(y) dy up to x, piece by piece."""

    def at(y):
        return float(np.exp(density.log_density(np.log(p)[None], np.array([y])))[0])

    least = 2 * density.means[0] - density.cuts[0] if 0 in density.atoms else -np.inf
    ends = [least, *density.cuts[density.cuts < x], x]
    return sum(quad(at, *ends[i : i + 2])[0] for i in range(len(ends) - 1))


def test_density_integrates_to_one(learned):
    _, density, p = learned
    assert integral(density, p, np.inf) == pytest.approx(1.0, abs=1e-7)


def test_quantiles_are_those_of_the_integrated_density(learned):
    _, density, p = learned
    levels = np.array([1e-4, 0.01, 0.2, 0.5, 0.9, 0.999])
    at = density.quantiles(p[None], levels)[0]
    assert (np.diff(at) >= 0).all()
    upper = np.cumsum(p)
    for level, x in zip(levels, at, strict=True):
        own = int(np.searchsorted(density.cuts, x))
        if own in density.atoms:  # the value, wherever the level lies inside the bin
            assert upper[own] - p[own] <= level <= upper[own]
            assert x == density.means[own]
        else:
            assert integral(density, p, x) == pytest.approx(level, abs=1e-7)


def test_samples_follow_the_density(learned):
    _, density, p = learned
    generator = np.random.default_rng(2)
    drawn = density.sample(generator.choice(len(p), 4000, p=p), generator)
    atoms = np.array(density.atoms, dtype=int)
    values, of_atoms = density.means[atoms], p[atoms].sum()
    assert np.isin(drawn, values).mean() == pytest.approx(of_atoms, abs=0.03)
    drawn, p = drawn[~np.isin(drawn, values)], p.copy()
    p[atoms] = 0.0
    p /= p.sum()
    levels = np.linspace(0, 1, 4001)[1:-1]
    at = density.quantiles(p[None], levels)[0]
    assert kstest(drawn, lambda x: np.interp(x, at, levels, 0.0, 1.0)).pvalue > 0.01


def test_mean_with_the_training_shares_is_the_mean_of_the_training_values(learned):
    values, density, _ = learned
    codes = np.searchsorted(density.cuts, values)
    shares = np.bincount(codes, minlength=density.n_bins) / len(values)
    assert density.mean(shares[None])[0] == pytest.approx(values.mean())


def test_tails_are_exponential_with_the_maximum_likelihood_rate():
    values = np.random.default_rng(3).exponential(2.5, 2000)
    density = BinDensity.of(values, fine_cuts(values))
    beyond = values[values > density.cuts[-1]] - density.cuts[-1]
    _, rate = expon.fit(beyond, floc=0.0)
    found = density.log_density_in_bin(density.cuts[-1] + np.array([0.1, 3.0, 50.0]))
    np.testing.assert_allclose(found, expon.logpdf([0.1, 3.0, 50.0], scale=rate))


def test_weights_count_rows():
    values, weights = np.array([1.0, 2.0, 4.0, 8.0]), np.array([3.0, 1.0, 2.0, 4.0])
    cuts = np.array([3.0])
    repeated = np.repeat(values, weights.astype(int))
    assert BinDensity.of(values, cuts, weights) == BinDensity.of(repeated, cuts)


def test_missing_entries_have_no_density():
    density = BinDensity.of(VALUES["normal"], fine_cuts(VALUES["normal"]))
    assert density.log_density_in_bin(np.array([np.nan]))[0] == 0.0


def test_equal_records_are_equal():
    density = BinDensity([1.0, 2.0], [0.5, 1.5, 2.5])
    assert density == BinDensity(density.cuts.copy(), density.means.copy())
    assert density != BinDensity([1.0, 2.0], [0.4, 1.5, 2.5])
    assert len({density, BinDensity(density.cuts, density.means)}) == 1


@pytest.mark.parametrize(
    ("cuts", "means", "message"),
    [
        ([2, 1], [0, 1, 3], "ascend"),
        ([], [1, 2], "one mean more"),
        ([1], [0.5], "one mean more"),
        ([1, 2], [0.5, 7.0, 8.0], "outside"),
        ([1], [0.5, np.inf], "finite"),
    ],
)
def test_impossible_records_are_refused(cuts, means, message):
    with pytest.raises(ParameterError, match=message):
        BinDensity(cuts, means)


def test_impossible_levels_are_refused():
    with pytest.raises(ParameterError, match="between 0 and 1"):
        BinDensity([1.0], [0.0, 2.0]).quantiles(np.array([[0.5, 0.5]]), np.array([1.0]))


def test_a_value_of_many_rows_is_a_quantile_and_a_sample_and_has_no_tail():
    """A zero that is the least value: nothing is below it, and intervals end at it."""
    values = np.array([0.0] * 60 + list(range(1, 41)), dtype=float)
    density = BinDensity.of(values, np.array([0.5, 20.5]))
    assert density.atoms == (0,)
    p = np.array([[0.6, 0.2, 0.2]])
    np.testing.assert_array_equal(density.quantiles(p, np.array([0.01, 0.3, 0.59])), [[0.0] * 3])
    samples = density.sample(np.zeros(5, dtype=int), np.random.default_rng(0))
    assert samples.tolist() == [0.0] * 5
    y = np.linspace(-2.0, 0.5, 250_001)
    inside = np.exp(density.log_density(np.log(np.repeat(p, len(y), axis=0)), y))
    assert inside[y < -0.5].max() == 0.0
    np.testing.assert_allclose(np.trapezoid(inside, y), 0.6, rtol=1e-4)


def test_one_row_is_no_atom_and_weights_count_as_rows():
    assert BinDensity.of(np.array([0.0, 1.0, 1.0, 5.0]), np.array([0.5, 3.0])).atoms == (1,)
    weighted = BinDensity.of(np.array([0.0, 1.0, 5.0]), np.array([0.5, 3.0]), np.array([1.0, 2, 1]))
    assert weighted.atoms == (1,)


def test_means_of_the_largest_numbers_are_finite():
    values = np.array([1.0, 1.5, 1.7]) * 1e308
    np.testing.assert_allclose(BinDensity.of(values, np.array([1.2e308])).means, [1e308, 1.6e308])


def test_a_single_bin_is_its_mean():
    density = BinDensity.of(np.array([4.0, 4.0, 7.0]), np.empty(0))
    assert density == BinDensity([], [5.0], (0,))
    p = np.ones((2, 1))
    assert density.mean(p).tolist() == [5.0, 5.0]
    assert density.quantiles(p, [0.1, 0.9]).tolist() == [[5.0, 5.0]] * 2
    assert density.sample(np.zeros(3, int), np.random.default_rng(0)).tolist() == [5.0] * 3
    assert density.log_density_in_bin(np.array([4.0, np.nan])).tolist() == [0.0, 0.0]
    assert density.shares_inside(4.5, 5.0).tolist() == [1.0]
    assert density.shares_inside(5.0, 9.0).tolist() == [0.0]


def test_samples_of_whole_numbers_are_whole_and_stay_in_their_bins():
    density = BinDensity([1.5, 4.5, 6.0], [1.0, 3.0, 5.5, 9.0], (0,), whole=True)
    bins = np.repeat(np.arange(4), 500)
    drawn = density.sample(bins, np.random.default_rng(0)).reshape(4, 500)
    assert (drawn == np.round(drawn)).all()
    assert set(drawn[0]) == {1.0}
    assert np.bincount(drawn[1].astype(int))[2:] == pytest.approx([167, 167, 167], abs=40)
    assert set(drawn[2]) == {5.0, 6.0}
    assert drawn[3].min() == 7.0
