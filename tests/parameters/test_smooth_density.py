"""Densities without steps: numerical integration, least squares, and known distributions."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm

from ebnc.data.discretise import fine_cuts, target_cuts
from ebnc.errors import ParameterError
from ebnc.parameters import smooth_density
from ebnc.parameters.bin_density import BinDensity
from ebnc.parameters.smooth_density import SmoothDensity
from ebnc.parameters.smooth_widths import TAU_SQUARED, smooth_corrections

RNG = np.random.default_rng(0)
VALUES = {
    "normal": RNG.normal(3.0, 2.0, 300),
    "long tail": np.exp(2 * RNG.normal(size=300)),
    "atoms": np.where(RNG.random(300) < 0.3, RNG.choice([0.0, 1.0], 300), RNG.normal(size=300)),
    "atom at the end": np.maximum(RNG.normal(size=300), 0.0),
    "two bins": np.array([1.0, 1.0, 2.0, 5.0, 7.0]),
}


@pytest.fixture(params=list(VALUES))
def learned(request):
    values = VALUES[request.param]
    cuts = fine_cuts(values) if len(values) > 10 else np.array([3.0])
    density = SmoothDensity.of(values, cuts)
    p = np.random.default_rng(1).uniform(0.2, 2.0, density.bins.n_bins)
    return values, density, p / p.sum()


def at(density, p, y):
    numbers = np.atleast_1d(np.asarray(y, dtype=float))
    return np.exp(density.log_density(np.log(np.repeat(p[None], len(numbers), axis=0)), numbers))


def integral(density, p, x):
    """∫ p(y) dy up to x, piece by piece."""
    bins = density.bins
    least = 2 * bins.means[0] - bins.cuts[0] if 0 in bins.atoms else -np.inf
    knots = np.sort(np.concatenate([bins.cuts, (bins.cuts[1:] + bins.cuts[:-1]) / 2]))
    ends = [least, *knots[knots < x], x]
    return sum(quad(lambda y: at(density, p, y)[0], *piece)[0] for piece in pairwise(ends))


def test_density_integrates_to_one(learned):
    _, density, p = learned
    assert integral(density, p, np.inf) == pytest.approx(1.0, abs=1e-6)


def test_quantiles_are_those_of_the_integrated_density(learned):
    _, density, p = learned
    levels = np.array([1e-4, 0.01, 0.2, 0.5, 0.9, 0.999])
    found = density.quantiles(p[None], levels)[0]
    assert (np.diff(found) >= 0).all()
    cuts = density.bins.cuts
    for level, x in zip(levels, found, strict=True):
        own = int(np.searchsorted(cuts, x))
        if own in density.bins.atoms:  # the value, wherever the level lies inside the bin
            low = integral(density, p, cuts[own - 1]) if own else 0.0
            high = integral(density, p, cuts[own]) if own < len(cuts) else 1.0
            assert low - 1e-6 <= level <= high + 1e-6
            assert x == density.bins.means[own]
        else:
            assert integral(density, p, x) == pytest.approx(level, abs=1e-6)


def test_density_is_continuous_except_beside_atoms(learned):
    _, density, p = learned
    bins = density.bins
    for i, cut in enumerate(bins.cuts):
        below, above = at(density, p, [cut, np.nextafter(cut, np.inf)])
        has_neighbour_inside = i > 0 or i + 2 < bins.n_bins
        if not {i, i + 1} & set(bins.atoms) and has_neighbour_inside:
            assert below == pytest.approx(above, rel=1e-6)


def test_midpoints_have_the_corrected_densities_of_their_bins(learned):
    """Up to the common factor: p_b exp(f_b − u_b) over the width."""
    _, density, p = learned
    bins = density.bins
    middle = (bins.cuts[1:] + bins.cuts[:-1]) / 2
    if len(middle) > 1:
        expected = (p * np.exp(density.corrections) / bins.widths)[1:-1]
        found = at(density, p, middle)
        np.testing.assert_allclose(found / found[0], expected / expected[0], rtol=1e-9)


def test_corrections_are_least_squares_at_the_scale_of_largest_evidence():
    """f minimises Σ n (u − f)² + |D f|²/τ²; the density of D u is compared by scipy."""
    values = VALUES["normal"]
    bins = BinDensity.of(values, fine_cuts(values))
    n = np.bincount(np.searchsorted(bins.cuts, values))[1:-1].astype(float)
    u = np.log(n / np.diff(bins.cuts))
    second = np.diff(np.eye(len(n)), 2, axis=0)
    noise = second @ np.diag(1 / n) @ second.T
    evidence = [
        multivariate_normal.logpdf(second @ u, cov=noise + t * np.eye(len(noise)))
        for t in TAU_SQUARED
    ]
    tau_squared = TAU_SQUARED[np.argmax(evidence)]
    rows = np.vstack([np.diag(np.sqrt(n)), second / np.sqrt(tau_squared)])
    f = np.linalg.lstsq(rows, np.append(np.sqrt(n) * u, np.zeros(len(second))), rcond=None)[0]
    found = smooth_corrections(bins, values)
    np.testing.assert_allclose(found[1:-1], f - u, atol=1e-7)
    assert found[[0, -1]].tolist() == [0.0, 0.0]
    assert np.ptp(found) > 0.1


def test_the_curve_is_nearer_to_the_truth_than_bins_on_few_rows():
    """∫ p log(p/q) with p normal, by its quantiles, on twenty samples of 100 rows."""
    y = norm.ppf((np.arange(2_000) + 0.5) / 2_000)
    lost = []
    for seed in range(20):
        values = np.random.default_rng(seed).normal(size=100)
        smooth = SmoothDensity.of(values, target_cuts(values))
        shares = np.bincount(np.searchsorted(smooth.bins.cuts, values)) / 100
        log_p = np.log(np.repeat(shares[None], len(y), axis=0))
        lost.append(
            [(norm.logpdf(y) - q.log_density(log_p, y)).mean() for q in (smooth.bins, smooth)]
        )
    of_bins, of_curve = np.mean(lost, axis=0)
    assert of_curve < 0.75 * of_bins


def test_unit_and_sign_do_not_matter():
    values, p = VALUES["normal"], None
    cuts = fine_cuts(values)
    one = SmoothDensity.of(values, cuts)
    p = np.random.default_rng(2).dirichlet(np.ones(one.bins.n_bins))
    y = np.linspace(-4.0, 11.0, 101)
    scaled = SmoothDensity.of(100 * values - 5, 100 * cuts - 5)
    np.testing.assert_allclose(at(scaled, p, 100 * y - 5), at(one, p, y) / 100, rtol=1e-7)
    reverse = SmoothDensity.of(-values, -cuts[::-1])
    np.testing.assert_allclose(at(reverse, p[::-1], -y), at(one, p, y), rtol=1e-7)


def test_weights_count_rows():
    values = VALUES["normal"][:100]
    weights = np.random.default_rng(3).integers(1, 4, 100).astype(float)
    cuts = fine_cuts(values)
    repeated = SmoothDensity.of(np.repeat(values, weights.astype(int)), cuts)
    np.testing.assert_allclose(
        SmoothDensity.of(values, cuts, weights).corrections, repeated.corrections, atol=1e-9
    )


def test_probabilities_of_zero_and_one_are_possible():
    density = SmoothDensity.of(VALUES["normal"], fine_cuts(VALUES["normal"]))
    p = np.zeros((1, density.bins.n_bins))
    p[0, 7] = 1.0
    low, high = density.quantiles(p, [0.01, 0.99])[0]
    assert density.bins.cuts[5] < low < high < density.bins.cuts[8]
    with np.errstate(divide="ignore"):
        assert np.isfinite(density.log_density(np.log(p), np.array([100.0])))[0]


def test_rows_are_computed_one_by_one(monkeypatch):
    density = SmoothDensity.of(VALUES["normal"], fine_cuts(VALUES["normal"]))
    p = np.random.default_rng(4).dirichlet(np.ones(density.bins.n_bins), 25)
    y = np.linspace(-4.0, 11.0, 25)
    whole = density.log_density(np.log(p), y), density.quantiles(p, [0.1, 0.5])
    monkeypatch.setattr(smooth_density, "ROWS_AT_ONCE", 7)
    np.testing.assert_array_equal(density.log_density(np.log(p), y), whole[0])
    np.testing.assert_array_equal(density.quantiles(p, [0.1, 0.5]), whole[1])


def test_the_median_solves_the_integral():
    values = VALUES["long tail"]
    density = SmoothDensity.of(values, fine_cuts(values))
    p = np.random.default_rng(5).dirichlet(np.ones(density.bins.n_bins))
    root = brentq(lambda x: integral(density, p, x) - 0.5, values.min(), values.max())
    assert density.quantiles(p[None], [0.5])[0, 0] == pytest.approx(root, rel=1e-5)


def test_offsets_are_the_same_as_other_probabilities():
    values = VALUES["atoms"]
    plain = SmoothDensity.of(values, fine_cuts(values))
    rng = np.random.default_rng(6)
    p = rng.dirichlet(np.ones(plain.bins.n_bins), 9)
    offsets = rng.normal(size=plain.bins.n_bins)
    moved = SmoothDensity.of(values, fine_cuts(values), offsets=offsets)
    other = p * np.exp(offsets)
    other /= other.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(moved.mean(p), plain.mean(other))
    np.testing.assert_allclose(moved.quantiles(p, [0.2]), plain.quantiles(other, [0.2]))
    y = np.linspace(-2.0, 2.0, 9)
    np.testing.assert_allclose(
        moved.log_density(np.log(p), y), plain.log_density(np.log(other), y), atol=1e-9
    )


def test_few_bins_are_not_corrected_and_records_are_compared_by_value():
    values = VALUES["two bins"]
    density = SmoothDensity.of(values, np.array([3.0]))
    assert density.corrections.tolist() == [0.0, 0.0]
    same = SmoothDensity(density.bins, np.zeros(2), np.zeros(2))
    assert same == density
    assert len({same, density}) == 1
    assert SmoothDensity(density.bins, np.ones(2), np.zeros(2)) != density
    assert SmoothDensity(density.bins, np.zeros(2), np.ones(2)) != density


@pytest.mark.parametrize("corrections", [[0.0], [0.0, np.nan], [[0.0, 0.0]]])
def test_impossible_corrections_are_refused(corrections):
    with pytest.raises(ParameterError, match="corrections"):
        SmoothDensity(BinDensity([1.0], [0.0, 2.0]), corrections, [0.0, 0.0])
    with pytest.raises(ParameterError, match="offsets"):
        SmoothDensity(BinDensity([1.0], [0.0, 2.0]), [0.0, 0.0], corrections)


@pytest.mark.parametrize("q", [0.0, 1.5, np.nan, "half", [[0.1, 0.9]], None, 0.5 + 1j])
def test_impossible_levels_are_refused(q):
    bins = BinDensity([1.0], [0.0, 2.0])
    for density in (bins, SmoothDensity(bins, np.zeros(2), np.zeros(2))):
        with pytest.raises(ParameterError, match="q "):
            density.quantiles(np.array([[0.5, 0.5]]), q)
