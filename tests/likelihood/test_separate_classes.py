"""Separate classes: one block of A for each class, against explicit arithmetic in NumPy."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from ebnc import EBNCClassifier
from ebnc.domain import Levels
from ebnc.errors import ParameterError
from ebnc.fitting.cholesky import factor_at
from ebnc.fitting.optimum import find_optimum
from ebnc.fitting.solve import solve_exactly
from ebnc.likelihood.class_form import MOST_JOINT, factor_size, separates_classes
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import NormalPrior
from ebnc.score.laplace import laplace_log_evidence
from ebnc.score.leave_one_out import leave_one_out_log_loss
from ebnc.score.log_determinant import log_determinant_gradient
from ebnc.score.scales import maximise_evidence
from explicit import problem_named

PRIOR = NormalPrior((0.7, 0.4), intercept_scale=3.0, weak_scale=0.2)


@pytest.fixture(params=[False, True], ids=["", "weak pairs"])
def setting(request):
    """Three classes: the problem, its posterior with separate classes, and a φ."""
    problem = problem_named("three kinds", request.param)
    posterior = replace(problem.posterior(PRIOR), separate=True)
    phi = 0.5 * np.random.default_rng(1).normal(size=posterior.design.dimension)
    return problem, posterior, phi


def blocks_by_hand(problem, phi):
    """V_k = Σ c n p_k (1 − p_k) z zᵀ + (τ/K) I, in the order of the basis."""
    p = softmax(problem.scores(phi), axis=1)
    n_classes = p.shape[1]
    precision = problem.precision(PRIOR)[:: n_classes - 1] / n_classes
    for own in p.T:
        weights = n_classes / (n_classes - 1) * problem.weights * own * (1 - own)
        yield (problem.z * weights[:, None]).T @ problem.z + np.diag(precision)


@pytest.mark.parametrize("rows_are_cheaper", [False, True])
def test_blocks_are_sums_over_explicit_rows(setting, rows_are_cheaper, monkeypatch):
    problem, posterior, phi = setting
    monkeypatch.setattr(Posterior, "writes_rows_out", rows_are_cheaper)
    design = posterior.design
    found = posterior.upper_blocks(design.from_basis(phi))
    for own, expected in zip(found, blocks_by_hand(problem, phi), strict=True):
        in_order = expected[np.ix_(design.order, design.order)]
        np.testing.assert_allclose(np.triu(own), np.triu(in_order), rtol=0, atol=1e-8)


def test_the_factor_is_that_of_the_matrix_that_the_blocks_stand_for(setting):
    """A ≈ (E ⊗ I)ᵀ (⊕ V_k) (E ⊗ I), whose inverse is taken block by block, not as a whole."""
    problem, posterior, phi = setting
    design = posterior.design
    factor = factor_at(posterior, design.from_basis(phi))
    inverse = 0.0
    for coding, block in zip(problem.of_class, blocks_by_hand(problem, phi), strict=True):
        own = np.linalg.inv(block[np.ix_(design.order, design.order)])
        inverse = inverse + np.kron(own, np.outer(coding, coding)) / 9
    vector = np.random.default_rng(0).normal(size=(design.n_columns, 2))
    solved = inverse @ vector.ravel()
    np.testing.assert_allclose(factor.solve(vector).ravel(), solved, rtol=1e-9, atol=1e-12)
    root = factor.inverse_root()
    np.testing.assert_allclose(root @ root.T, inverse, rtol=0, atol=1e-9)
    logs = [np.linalg.slogdet(block)[1] for block in blocks_by_hand(problem, phi)]
    expected = 2 * (design.n_columns * np.log(3) + np.mean(logs))
    assert factor.log_determinant == pytest.approx(expected, rel=1e-12)


def test_the_gradient_of_the_log_determinant_is_that_of_finite_differences(setting):
    _, posterior, _ = setting
    fit = find_optimum(posterior)
    gradient = log_determinant_gradient(posterior, fit)
    step = 1e-5 * np.random.default_rng(2).normal(size=gradient.shape)
    ahead, behind = (
        factor_at(posterior, fit.solution.phi + sign * step).log_determinant for sign in (1, -1)
    )
    assert np.vdot(gradient, step) == pytest.approx((ahead - behind) / 2, rel=1e-5)


def test_optima_do_not_depend_on_the_blocks_and_evidence_hardly():
    problem = problem_named("three kinds")
    joint = problem.posterior(PRIOR)
    both = [find_optimum(each) for each in (joint, replace(joint, separate=True))]
    np.testing.assert_allclose(both[0].solution.phi, both[1].solution.phi, rtol=0, atol=1e-5)
    joint_evidence, separate_evidence = map(laplace_log_evidence, both)
    of_joint = both[0].log_likelihood - joint_evidence
    assert joint_evidence > separate_evidence > joint_evidence - 0.1 * of_joint
    losses = [leave_one_out_log_loss(joint, fit) for fit in both]
    assert losses[1] == pytest.approx(losses[0], rel=0.03)
    with pytest.raises(ParameterError, match="separate classes"):
        laplace_log_evidence(both[1], "likelihood")


def test_with_two_classes_nothing_changes():
    """There the blocks are exact: evidence and leave-one-out agree with the whole matrix."""
    problem = problem_named("chain")
    joint = problem.posterior(PRIOR)
    separate = replace(joint, separate=True)
    fits = [find_optimum(joint), find_optimum(separate)]
    evidences = list(map(laplace_log_evidence, fits))
    assert evidences[1] == pytest.approx(evidences[0], abs=1e-7)
    losses = [leave_one_out_log_loss(joint, fit) for fit in fits]
    assert losses[1] == pytest.approx(losses[0], rel=1e-7)


def test_where_all_classes_are_equally_probable_the_determinant_is_exact():
    problem = problem_named("three kinds")
    joint = problem.posterior(PRIOR)
    phi = np.zeros((joint.design.n_columns, joint.design.n_outputs))
    exact = np.linalg.slogdet(problem.neg_hessian(phi.ravel(), PRIOR))[1]
    found = factor_at(replace(joint, separate=True), phi).log_determinant
    assert found == pytest.approx(exact, rel=1e-10)


def test_leave_one_out_is_that_of_its_formula(setting):
    problem, posterior, _ = setting
    fit = find_optimum(posterior)
    phi = fit.phi
    scores, p = problem.scores(phi), softmax(problem.scores(phi), axis=1)
    moved = scores.copy()
    for k, block in enumerate(blocks_by_hand(problem, phi)):
        h = np.einsum("ic,cd,id->i", problem.z, np.linalg.inv(block), problem.z)
        of_case = np.minimum(problem.weights, 1.0)
        pull = of_case * ((problem.codes["Y"] == k) - p[:, k])
        moved[:, k] -= h * pull / (1 - of_case * 1.5 * p[:, k] * (1 - p[:, k]) * h)
    losses = -log_softmax(moved, axis=1)[np.arange(len(p)), problem.codes["Y"]]
    # Equal rows are merged, and a case is one unit of weight: compare rows that occur once.
    whole = np.column_stack([*problem.codes.values()])
    _, first, times = np.unique(whole, axis=0, return_index=True, return_counts=True)
    heavy = first[(times > 1)]
    assert len(heavy) < len(whole) / 2
    if not len(heavy):
        expected = float(problem.weights @ losses)
        assert leave_one_out_log_loss(posterior, fit) == pytest.approx(expected, rel=1e-6)


def test_equations_are_solved_with_the_exact_hessian(setting):
    problem, posterior, _ = setting
    fit = find_optimum(posterior)
    phi = fit.solution.phi
    vector = np.random.default_rng(4).normal(size=phi.shape)
    in_basis = np.empty(phi.size)
    order = posterior.design.from_basis(np.arange(phi.size, dtype=float)).ravel().astype(int)
    in_basis[order] = vector.ravel()
    expected = np.linalg.solve(problem.neg_hessian(fit.phi, PRIOR), in_basis)[order]
    found = solve_exactly(posterior, phi, fit.curvature, vector, 1e-8)
    np.testing.assert_allclose(found.ravel(), expected, rtol=0, atol=1e-4 * np.abs(expected).max())


def test_scales_maximise_the_evidence_of_separate_classes():
    posterior = replace(problem_named("three kinds").posterior(), separate=True)
    fit = maximise_evidence(posterior, 1e-5)
    scale = fit.prior.scales[0]

    def evidence(sigma):
        hyper = -0.5 * (np.log(sigma) - np.log(0.5)) ** 2
        return (
            laplace_log_evidence(find_optimum(posterior.with_prior(NormalPrior((sigma,))))) + hyper
        )

    here = evidence(scale)
    assert here == pytest.approx(fit.log_evidence, abs=1e-6)
    assert here > max(evidence(scale * 1.05), evidence(scale / 1.05))


def test_which_models_have_separate_classes():
    assert not separates_classes(Levels(2), 10 * MOST_JOINT)
    assert not separates_classes(Levels(5), MOST_JOINT)
    assert separates_classes(Levels(5), MOST_JOINT + 1)
    assert not separates_classes(Levels(20, 20), MOST_JOINT + 1), "curves of the class couple it"
    assert factor_size(Levels(2), 700) == 700
    assert factor_size(Levels(27), 26 * 100) == pytest.approx(300)


@pytest.mark.slow
def test_a_classifier_of_many_classes_learns_what_matters():
    """Ten classes, three inputs of ten states that say the class, ten that do not."""
    generator = np.random.default_rng(0)
    y = generator.integers(0, 10, 1500)
    noisy = [np.where(generator.random(1500) < 0.7, y, generator.integers(0, 10, 1500))] * 1
    noisy += [np.where(generator.random(1500) < 0.6, y, generator.integers(0, 10, 1500))]
    noisy += [np.where(generator.random(1500) < 0.5, y, generator.integers(0, 10, 1500))]
    x = np.column_stack([*noisy, generator.integers(0, 10, (1500, 10))]).astype(str)
    model = EBNCClassifier().fit(x, y)
    assert model.ebnc_.fit.form.separate
    assert sorted(model.selected_features_) == ["x0", "x1", "x2"]
    truth = np.log(1e-12 + np.ones((1500, 10)))
    for column, right in zip(x.T, (0.7, 0.6, 0.5), strict=False):
        hit = column[:, None].astype(int) == np.arange(10)
        truth += np.log(np.where(hit, right + (1 - right) / 10, (1 - right) / 10))
    best = -log_softmax(truth, axis=1)[np.arange(1500), y].mean()
    found = -np.log(model.predict_proba(x)[np.arange(1500), y]).mean()
    assert found < best + 0.03
