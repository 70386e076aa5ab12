"""The density of a number in bins, against numerical integration and scipy's distributions."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import kstest

from ebnc.data.discretise import fine_cuts
from ebnc.errors import ParameterError
from ebnc.parameters.bin_density import BinDensity

RNG = np.random.default_rng(0)
VALUES = {
    "normal": RNG.normal(3.0, 2.0, 500),
    "long tail": np.exp(2 * RNG.normal(size=500)),
    "atom at the end": np.maximum(RNG.normal(size=400), 0.0),
    "few": np.array([1.0, 1.0, 2.0, 2.0, 5.0, 7.0, 7.0, 9.0, 9.0, 10.0]),
}


@pytest.fixture(params=list(VALUES))
def learned(request):
    values = VALUES[request.param]
    density = BinDensity.learn(values, fine_cuts(values))
    shares = np.bincount(density.codes(values), minlength=density.n_bins) / len(values)
    tilted = shares * np.random.default_rng(1).uniform(0.5, 2.0, density.n_bins)
    return values, density, tilted / tilted.sum()


def test_density_integrates_to_one(learned):
    _, density, p = learned

    def at(x):
        return float(np.exp(density.log_density(p[None], np.array([x])))[0])

    inside = sum(
        quad(at, low, high)[0]
        for low, high in zip(density.edges[:-1], density.edges[1:], strict=True)
    )
    outside = quad(at, -np.inf, density.edges[0])[0] + quad(at, density.edges[-1], np.inf)[0]
    assert inside + outside == pytest.approx(1.0, abs=1e-7)
    assert 0 < outside < 2 * max(p[0], p[-1])


def test_cumulative_probability_is_the_integral_of_the_density(learned):
    _, density, p = learned
    low, high = density.edges[[0, -1]]
    for x in (low - 0.7 * density.tail_means[0], 0.37 * low + 0.63 * high):
        cells = [edge for edge in density.edges if edge < x]
        ends = [-np.inf, *cells, x]
        integral = sum(
            quad(lambda v: float(np.exp(density.log_density(p[None], np.array([v])))[0]), a, b)[0]
            for a, b in pairwise(ends)
        )
        assert density.cumulative(p[None], np.array([x]))[0] == pytest.approx(integral, abs=1e-7)


def test_quantiles_invert_the_cumulative_probability(learned):
    _, density, p = learned
    levels = np.array([1e-6, 0.01, 0.2, 0.5, 0.9, 0.999, 1 - 1e-9])
    at = density.quantile(p[None], levels)[0]
    assert (np.diff(at) > 0).all()
    back = density.cumulative(np.tile(p, (len(levels), 1)), at)
    np.testing.assert_allclose(back, levels, atol=1e-12)


def test_samples_follow_the_density(learned):
    _, density, p = learned
    generator = np.random.default_rng(2)
    drawn = density.sample(generator.choice(len(p), 5000, p=p), generator)
    distribution = kstest(
        drawn, lambda x: density.cumulative(np.broadcast_to(p, (len(x), len(p))), x)
    )
    assert distribution.pvalue > 0.01
    assert (density.codes(drawn) >= 0).all()


def test_mean_of_the_training_shares_is_the_mean_of_the_training_values(learned):
    values, density, _ = learned
    shares = np.bincount(density.codes(values), minlength=density.n_bins) / len(values)
    assert density.mean(shares[None])[0] == pytest.approx(values.mean())


def test_tail_of_exponential_data_has_their_rate():
    values = np.random.default_rng(3).exponential(2.5, 200_000)
    density = BinDensity.learn(values, fine_cuts(values))
    assert density.tail_means[1] == pytest.approx(2.5, rel=0.05)


def test_weights_count_rows():
    values, weights = np.array([1.0, 2.0, 4.0, 8.0, np.nan]), np.array([3.0, 1.0, 2.0, 4.0, 9.0])
    cuts = np.array([3.0])
    repeated = np.repeat(values, weights.astype(int))
    assert BinDensity.learn(values, cuts, weights) == BinDensity.learn(repeated, cuts)


def test_missing_entries_have_no_density():
    density = BinDensity.learn(VALUES["normal"], fine_cuts(VALUES["normal"]))
    assert density.log_density_in_bin(np.array([np.nan]))[0] == 0.0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"edges": [0, 2, 1]}, "ascend"),
        ({"edges": [0, 1]}, "shapes"),
        ({"means": [0.5, 7.0]}, "outside"),
        ({"tail_shares": [0.0, 0.1]}, "shares"),
        ({"tail_means": [1.0, np.inf]}, "positive"),
    ],
)
def test_impossible_records_are_refused(wrong, message):
    right = {"edges": [0, 1, 2], "means": [0.5, 1.5], "tail_shares": [0.1, 0.1]}
    with pytest.raises(ParameterError, match=message):
        BinDensity(**{**right, "tail_means": [1.0, 1.0], **wrong})
