"""Evidence, leave-one-out and stacking for variables of all kinds and weak pairs, by NumPy."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from ebnc.fitting.optimum import find_optimum
from ebnc.likelihood.prior import NormalPrior
from ebnc.score.laplace import laplace_log_evidence
from ebnc.score.leave_one_out import chosen_rows, leave_one_out_log_loss, losses_of_rows
from ebnc.score.predictive_scale import rescaled
from ebnc.score.scales import HYPER_MEAN, _FitAtScales, maximise_evidence
from ebnc.score.stacking import weight_of_second
from explicit import DOMAINS, problem_named

CASES = pytest.mark.parametrize(
    ("name", "weak_pairs"), [(name, weak) for name in DOMAINS for weak in (False, True)]
)


def total(problem, groups, rho):
    """Laplace evidence plus hyperprior with log scales ρ, everything by NumPy and SciPy."""
    prior = NormalPrior.of_groups(groups, np.exp(rho).tolist())
    return problem.log_evidence(prior) - 0.5 * float(np.sum((rho - HYPER_MEAN) ** 2))


@CASES
def test_evidence_and_its_gradient_in_all_scales(name, weak_pairs):
    """Finite differences of evidence written out; the last scale may be that of weak pairs."""
    problem = problem_named(name, weak_pairs)
    posterior = problem.posterior()
    groups = posterior.design.scale_groups
    has_weak = any(term.is_weak for term in posterior.design.basis.terms)
    assert groups[-1:] == (-1,) if has_weak else -1 not in groups
    rho = np.linspace(-0.7, 0.2, len(groups))
    place = _FitAtScales.at(posterior, rho, None, None)
    assert place.total == pytest.approx(total(problem, groups, rho), abs=1e-6)
    for s in range(len(groups)):
        step = np.zeros(len(groups))
        step[s] = 1e-3
        ahead, behind = total(problem, groups, rho + step), total(problem, groups, rho - step)
        assert place.gradient[s] == pytest.approx((ahead - behind) / 2e-3, abs=2e-4)


@pytest.mark.parametrize("name", ["three kinds", "curves interact", "ordered target"])
def test_the_scales_found_have_no_better_neighbours(name):
    """With weak pairs: no scale times or by 1.2 has more evidence."""
    problem = problem_named(name, weak_pairs=True)
    posterior = problem.posterior()
    found = maximise_evidence(posterior, tolerance=1e-6)
    groups = posterior.design.scale_groups
    rho = np.log([found.prior.scale_of(group) for group in groups])
    best = total(problem, groups, rho)
    assert found.log_evidence == pytest.approx(best, abs=1e-5)
    for s in range(len(groups)):
        for factor in (1.2, 1 / 1.2):
            there = rho.copy()
            there[s] += np.log(factor)
            assert total(problem, groups, there) < best


def test_laplace_evidence_is_eq_8():
    prior = NormalPrior((0.5, 0.3), weak_scale=0.1)
    problem = problem_named("three kinds", weak_pairs=True)
    fit = find_optimum(problem.posterior(prior))
    assert laplace_log_evidence(fit) == pytest.approx(problem.log_evidence(prior), abs=1e-7)


# -- leave-one-out ---------------------------------------------------------------------------------


@CASES
def test_losses_of_rows_are_near_to_those_of_exact_refits(name, weak_pairs):
    """One unit of weight of each row is taken out, and φ found again by SciPy."""
    prior = NormalPrior((0.4, 0.3), weak_scale=0.1)
    problem = problem_named(name, weak_pairs, n_rows=60, signal=0.4)
    problem = replace(problem, weights=1.0 + (np.arange(60) % 3 == 0))
    posterior = problem.posterior(prior)
    fit = find_optimum(posterior)
    found = losses_of_rows(posterior.data, fit)
    fitted = problem.losses(fit.phi)
    exact = np.empty(60)
    for i in range(60):
        weights = problem.weights.copy()
        weights[i] -= 1.0
        one_less = replace(problem, weights=weights)
        exact[i] = one_less.losses(find_optimum(one_less.posterior(prior)).phi)[i]
    assert np.abs(found - exact).max() < 0.35 * np.abs(exact - fitted).max()
    assert np.abs(found - exact).mean() < 0.15 * np.abs(exact - fitted).mean()
    assert leave_one_out_log_loss(posterior, fit) == pytest.approx(problem.weights @ found)


def test_losses_of_rows_are_newton_steps_from_the_fit():
    """λ − H (I − W H)⁻¹ (e_y − p) with H = J A⁻¹ Jᵀ, for an ordered target with t_Y < K − 1."""
    prior = NormalPrior((0.4, 0.3), weak_scale=0.1)
    problem = problem_named("numeric target", weak_pairs=True, n_rows=40)
    problem = replace(problem, weights=np.ones(40))
    fit = find_optimum(problem.posterior(prior))
    inverse = np.linalg.inv(problem.neg_hessian(fit.phi, prior))
    differences = problem.of_class[1:] - problem.of_class[0]
    scores = problem.scores(fit.phi)
    expected = []
    for z, own, y in zip(problem.z, scores, problem.codes["Y"], strict=True):
        jacobian = np.kron(z, differences)
        h = jacobian @ inverse @ jacobian.T
        p = softmax(own)[1:]
        residual = np.eye(len(own))[y][1:] - p
        w = np.diag(p) - np.outer(p, p)
        moved = h @ np.linalg.solve(np.eye(len(p)) - w @ h, residual)
        expected.append(-log_softmax(np.append(0.0, own[1:] - own[0] - moved))[y])
    found = losses_of_rows(problem.posterior(prior).data, fit)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)


# -- stacking --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["three kinds", "chain", "ordered target"])
@pytest.mark.parametrize("seed", range(4))
def test_the_weight_of_the_second_model_is_the_one_scipy_finds(name, seed):
    """Leave-one-out losses of two fits, and two cases that only the first one allows."""
    plain = problem_named(name, n_rows=120, seed=seed, signal=0.3)
    with_pairs = replace(plain, weak_pairs=True)
    first = find_optimum(plain.posterior(NormalPrior((0.3, 0.1))))
    posterior = with_pairs.posterior(NormalPrior((0.4, 0.3), weak_scale=[1.0, 0.1, 2.0, 0.3][seed]))
    second = find_optimum(posterior)
    found = weight_of_second(first, second, posterior)
    rows = chosen_rows(posterior)
    p, q = (np.exp(-losses_of_rows(rows, fit)) for fit in (first, second))
    assert rows.weights.sum() == pytest.approx(plain.weights.sum())
    peer = minimize_scalar(
        lambda w: -float(rows.weights @ np.log((1 - w) * p + w * q) + 2.0 * np.log(1 - w)),
        bounds=(0.0, 1.0 - 1e-9),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert found == pytest.approx(peer.x, abs=1e-5)


def test_equal_models_need_no_second_and_a_better_one_takes_most():
    problem = problem_named("three kinds", n_rows=200, signal=1.0)
    posterior = problem.posterior(NormalPrior((0.5,)))
    fit = find_optimum(posterior)
    assert weight_of_second(fit, fit, posterior) == 0.0
    nothing = rescaled(posterior, fit, 1e-4)
    assert weight_of_second(nothing, fit, posterior) > 0.9
    assert weight_of_second(fit, nothing, posterior) < 0.1
