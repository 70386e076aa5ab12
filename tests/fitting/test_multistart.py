"""The strict model in θ: as likely as φ where the span is filled, never more elsewhere."""

import numpy as np
import pytest

import ebnc
from ebnc.fitting import multistart
from ebnc.fitting.theta_likelihood import Climb, ThetaLikelihood
from problems import domain_of, random_data, structure_named

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("string", "n_classes"),
    [
        ("[Y][A|Y][B|Y][C|Y]", 2),
        ("[Y][A|Y][B|A:Y][C|B:Y]", 3),
        ("[A][B][Y|A:B][C|A:B:Y]", 2),
        ("[A][B][Y|A:B]", 3),
    ],
)
def test_theta_and_phi_reach_the_same_likelihood_where_the_span_is_filled(string, n_classes):
    structure = ebnc.EmbeddedStructure.from_string(string, target="Y")
    assert structure.fills_span
    domain = domain_of(structure, n_classes)
    data, _ = random_data(structure, domain, 3_000, seed=1, scale=0.4)
    in_phi = ebnc.fit(structure, data, prior_scale=np.inf)
    in_theta = ebnc.fit_theta(structure, data, n_starts=4)
    assert in_theta.log_likelihood == pytest.approx(in_phi.log_likelihood, abs=1e-5)
    np.testing.assert_allclose(
        in_theta.network.probabilities(data), in_phi.probabilities(data), atol=1e-3
    )


@pytest.mark.parametrize("seed", [1, 3])
def test_theta_never_beats_phi_elsewhere(seed):
    structure = structure_named("worked")
    assert not structure.fills_span
    domain = domain_of(structure, 2)
    data, _ = random_data(structure, domain, 4_000, seed=seed, scale=0.2)
    in_phi = ebnc.fit(structure, data, prior_scale=np.inf)
    in_theta = ebnc.fit_theta(structure, data, n_starts=2)
    assert in_theta.log_likelihood <= in_phi.log_likelihood + 1e-6


def test_a_span_that_is_not_filled_costs_likelihood():
    """X1 → X2 ← Y: y must become more likely with either state of X2, which θ cannot do."""
    structure = ebnc.EmbeddedStructure.from_string("[A][Y][B|A:Y]", target="Y")
    counts = {(0, 0): (50, 50), (0, 1): (50, 50), (1, 0): (10, 90), (1, 1): (20, 80)}
    rows = [(a, b, y) for (a, b), both in counts.items() for y in (0, 1) for _ in range(both[y])]
    data = dict(zip("ABY", np.array(rows).T, strict=True))
    in_phi = ebnc.fit(structure, data, prior_scale=np.inf)
    in_theta = ebnc.fit_theta(structure, data, n_starts=5)
    assert in_theta.log_likelihood < in_phi.log_likelihood - 1


def test_distinct_maxima_are_summed_as_the_paper_says():
    structure = ebnc.EmbeddedStructure.from_string("[A][Y][B|A:Y]", target="Y")
    domain = domain_of(structure, 2)
    data, _ = random_data(structure, domain, 500, seed=5)
    found = ebnc.fit_theta(structure, data, n_starts=8)
    heights = [maximum.log_likelihood for maximum in found.maxima]
    assert heights == sorted(heights, reverse=True)
    assert sum(maximum.n_starts for maximum in found.maxima) == 8
    assert len(heights) >= 2
    by_hand = np.log(np.sum(np.exp(np.array(heights) - heights[0]))) + heights[0]
    assert found.summed_bic(5, 500) == pytest.approx(by_hand - 2.5 * np.log(500))
    dimension = ebnc.generic_dimension(structure, domain)
    expected = by_hand - 0.5 * dimension * np.log(500)
    assert found.summed_bic() == pytest.approx(expected)


def test_climbs_that_end_a_little_apart_are_one_maximum(monkeypatch):
    """In a cell of little weight p(y|x) of two climbs may differ by a hundredth and cost nothing;
    with many cases a thousandth is another maximum."""
    structure = ebnc.EmbeddedStructure.from_string("[A][Y|A]", target="Y")
    data = {"A": [0, 0, 1, 1], "Y": [0, 1, 0, 1]}
    ends = {"one": (0.5, 0.5), "as good": (0.51, 0.5), "another": (0.5, 0.499)}

    def stand_in(likelihood, start):
        p = ends[next(names)]
        logits = np.log([[1 - p[0], p[0]], [1 - p[1], p[1]]]).ravel()
        return Climb(logits, likelihood.value_and_gradient(logits)[0], True)

    monkeypatch.setattr(multistart, "climb", stand_in)
    names = iter(["one", "as good", "one"])
    found = ebnc.fit_theta(structure, data, n_starts=3, weights=[0.01, 0.01, 1e4, 1e4])
    assert [maximum.n_starts for maximum in found.maxima] == [3]
    assert found.n_cases == pytest.approx(20_000.02)
    names = iter(["one", "another"])
    found = ebnc.fit_theta(structure, data, n_starts=2, weights=[0.01, 0.01, 1e4, 1e4])
    assert [maximum.n_starts for maximum in found.maxima] == [1, 1]


def test_the_gradient_in_logits_equals_finite_differences():
    structure = structure_named("worked")
    domain = domain_of(structure, 3)
    generator = np.random.default_rng(0)
    from ebnc.data.rows import all_configurations

    rows = all_configurations(domain, structure.markov_blanket)
    likelihood = ThetaLikelihood(structure, domain, rows, generator.random((len(rows), 3)))
    logits = generator.normal(size=likelihood.size)
    _, gradient = likelihood.value_and_gradient(logits)
    for i in range(0, likelihood.size, 7):
        unit = np.zeros(likelihood.size)
        unit[i] = 1e-5
        ahead, _ = likelihood.value_and_gradient(logits + unit)
        behind, _ = likelihood.value_and_gradient(logits - unit)
        assert gradient[i] == pytest.approx((ahead - behind) / 2e-5, abs=1e-5)
