"""The density of a number from probabilities of bins: against numerical integration."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from ebnc.data.discretise import target_cuts
from ebnc.density import BinDensity
from ebnc.errors import ParameterError

PROBABILITIES = np.array([[0.2, 0.1, 0.4, 0.3], [0.001, 0.989, 0.005, 0.005]])


@pytest.fixture
def density():
    return BinDensity(np.array([-1.0, 0.5, 4.0]), np.array([-2.5, 0.0, 1.0, 4.25]))


def at(density, row, y):
    """p(y|x) for one row of ``PROBABILITIES``."""
    log_p = np.log(PROBABILITIES[row : row + 1])
    return float(np.exp(density.log_density(log_p, np.array([y])))[0])


def integral(density, row, low, high):
    inside = [cut for cut in density.cuts if low < cut < high]
    edges = [low, *inside, high]
    return sum(
        quad(lambda y: at(density, row, y), *piece, epsabs=1e-12)[0] for piece in pairwise(edges)
    )


@pytest.mark.parametrize("row", [0, 1])
def test_it_integrates_to_one(density, row):
    assert integral(density, row, -np.inf, np.inf) == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize("row", [0, 1])
def test_every_bin_keeps_its_probability(density, row):
    edges = [-np.inf, *density.cuts, np.inf]
    found = [integral(density, row, *edges[i : i + 2]) for i in range(4)]
    np.testing.assert_allclose(found, PROBABILITIES[row], atol=1e-8)


@pytest.mark.parametrize("row", [0, 1])
def test_quantiles_invert_the_integral(density, row):
    levels = np.array([1e-4, 0.05, 0.2, 0.25, 0.5, 0.7, 0.95, 0.9999])
    quantiles = density.quantiles(PROBABILITIES, levels)
    assert (np.diff(quantiles, axis=1) >= 0).all()
    found = [integral(density, row, -np.inf, q) for q in quantiles[row]]
    np.testing.assert_allclose(found, levels, atol=1e-7)


def test_the_mean_is_that_of_the_values_in_the_bins():
    rng = np.random.default_rng(0)
    values = rng.lognormal(size=500)
    cuts = target_cuts(values)
    density = BinDensity.of(values, cuts, None)
    shares = np.bincount(np.searchsorted(cuts, values), minlength=len(cuts) + 1) / 500
    assert density.mean(shares[None])[0] == pytest.approx(values.mean())


def test_the_tail_is_the_exponential_of_largest_likelihood():
    """Its scale is the mean excess over the last cut, as scipy's fit of an exponential finds."""
    values = np.random.default_rng(1).exponential(size=400)
    cuts = target_cuts(values)
    density = BinDensity.of(values, cuts, None)
    excess = values[values > cuts[-1]] - cuts[-1]
    p = np.full((1, len(cuts) + 1), 1 / (len(cuts) + 1))
    far = cuts[-1] + np.array([1.0, 3.0])
    both = density.log_density(np.log(np.repeat(p, 2, axis=0)), far)
    assert both[0] - both[1] == pytest.approx(2.0 / excess.mean())


def test_a_value_of_many_rows_has_a_bin_of_its_own():
    values = np.concatenate([np.zeros(100), np.random.default_rng(2).uniform(1, 2, 300)])
    cuts = target_cuts(values)
    assert 0 < cuts[0] < 1
    assert (values < cuts[0]).sum() == 100


@pytest.mark.parametrize("n", [2, 3, 5, 10, 40, 1000])
def test_few_rows_have_bins_too(n):
    assert len(target_cuts(np.arange(n, dtype=float))) >= 1


def test_one_value_has_no_cuts():
    assert len(target_cuts(np.ones(50))) == 0


@pytest.mark.parametrize("level", [0.0, 1.0, np.nan])
def test_a_wrong_quantile_is_refused(density, level):
    with pytest.raises(ParameterError, match="between 0 and 1"):
        density.quantiles(PROBABILITIES, np.array([level]))
