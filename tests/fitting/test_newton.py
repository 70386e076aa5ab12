"""The fit: known truths, other people's optimum, every path to the same maximum."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import ebnc
from ebnc import EBNC
from ebnc.data.cases import Cases
from ebnc.data.rows import CodedRows
from ebnc.fitting.cholesky import Cholesky
from ebnc.fitting.newton import maximise, polish
from ebnc.fitting.solution import Status
from ebnc.likelihood.counts import count_cells
from ebnc.likelihood.design import Design
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import INTERCEPT_SCALE, NormalPrior
from ebnc.parameters.phi import Basis
from problems import (
    STRUCTURES,
    domain_of,
    exact_counts,
    posterior_of,
    random_data,
    structure_named,
)


def polished(posterior, solution):
    """One more step with the exact Hessian."""
    return polish(posterior, solution, Cholesky.of(posterior.upper_neg_hessian(solution.phi)))


@pytest.mark.parametrize("name", list(STRUCTURES))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_maximum_likelihood_on_exact_counts_is_the_truth(name, n_classes):
    """Weights equal to true probabilities: ML = truth, to 1e-8."""
    structure = structure_named(name)
    domain = domain_of(structure, n_classes)
    generator = np.random.default_rng(4)
    phi = generator.normal(scale=0.3, size=Basis(structure, domain).dimension)
    truth = EBNC(structure, domain, phi, "orthonormal")
    data, weights = exact_counts(truth, generator)
    fitted = ebnc.fit(structure, data, prior_scale=np.inf, weights=weights * 1e4, categories=domain)
    assert fitted.solution.status is Status.CONVERGED
    np.testing.assert_allclose(fitted.phi, phi, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["naive", "chain", "worked"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_map_equals_scikit_learn_on_an_equivalent_design(name, n_classes):
    """The same objective: f = Z Φ H_Yᵀ, so ‖W‖² = K‖Φ‖² and C = K σ² (4 σ² for a single λ)."""
    structure = structure_named(name)
    domain = domain_of(structure, n_classes)
    data, _ = random_data(structure, domain, 600, seed=3, scale=0.4)
    assert len(set(data["Y"])) == n_classes
    sigma = 0.6
    posterior, cases = posterior_of(structure, domain, data, sigma)
    solution = maximise(posterior)
    design = posterior.design
    cells = design.cells(cases.rows)
    z = np.column_stack(
        [bag.to_cells(np.eye(bag.keep.size))[cells[b]] for b, bag in enumerate(design.bags)]
    )
    z[:, np.flatnonzero(design.groups == 0)] *= INTERCEPT_SCALE / sigma
    c = (4 if n_classes == 2 else n_classes) * sigma**2
    peer = LogisticRegression(C=c, fit_intercept=False, tol=1e-10, max_iter=10_000)
    peer.fit(z, cases.classes)
    log_p = peer.predict_log_proba(z)[np.arange(len(z)), cases.classes]
    penalty = 0.5 * np.sum(peer.coef_**2) / c
    assert solution.value == pytest.approx(log_p.sum() - penalty, rel=1e-6)
    assert solution.value >= log_p.sum() - penalty - 1e-8 * abs(solution.value)
    ours = EBNC(structure, domain, design.to_basis(solution.phi), "orthonormal")
    p = ours.probabilities({x: cases.rows.column(x) for x in cases.rows.names})
    np.testing.assert_allclose(p, peer.predict_proba(z), atol=1e-4)


def problem(n_rows=20_000, n_classes=3, weights=None):
    structure = structure_named("worked")
    domain = domain_of(structure, n_classes)
    data, _ = random_data(structure, domain, n_rows, seed=9)
    return posterior_of(structure, domain, data, 0.5, weights)[0]


@pytest.mark.parametrize("weighted", [False, True])
def test_a_sketch_of_the_rows_leads_to_the_same_maximum(weighted):
    weights = np.random.default_rng(0).random(200_000) if weighted else None
    posterior = problem(200_000, 2, weights)
    with_sketch = maximise(posterior)
    without = maximise(posterior, sketch_rows=10**9)
    assert with_sketch.converged
    assert without.converged
    assert with_sketch.n_values < without.n_values
    assert with_sketch.value == pytest.approx(without.value, rel=1e-12)
    ends = [polished(posterior, s) for s in (with_sketch, without)]
    np.testing.assert_allclose(ends[0].phi, ends[1].phi, atol=1e-8)


def test_rare_states_do_not_mislead_the_sketch():
    structure = structure_named("naive")
    domain = domain_of(structure, 2)
    data, _ = random_data(structure, domain, 300_000, seed=1, scale=0.3)
    data["C"][:] = 0
    data["C"][:10] = 3
    posterior, _ = posterior_of(structure, domain, data, 1.0)
    solution = maximise(posterior)
    assert solution.converged
    assert solution.n_values < 20


def test_blocks_of_the_hessian_lead_to_the_same_maximum(monkeypatch):
    """Above ``largest_factor`` parameters A itself is never made."""
    posterior = problem()
    whole = maximise(posterior)
    monkeypatch.setattr(type(posterior), "upper_neg_hessian", None)
    blocks = maximise(posterior, largest_factor=1)
    assert blocks.converged
    np.testing.assert_allclose(blocks.phi, whole.phi, atol=1e-6)
    assert blocks.value == pytest.approx(whole.value, rel=1e-12)


def test_a_warm_start_takes_fewer_steps_to_the_same_maximum():
    posterior = problem()
    cold = maximise(posterior)
    moved = cold.phi + 1e-3
    warm = maximise(posterior, moved)
    assert warm.steps < cold.steps
    ends = [polished(posterior, s) for s in (warm, cold)]
    np.testing.assert_allclose(ends[0].phi, ends[1].phi, atol=1e-8)


def test_nearly_separated_data_do_not_stall_in_rounding_errors():
    """The value is small, but the difference of two large terms: its noise decides when to stop."""
    generator = np.random.default_rng(0)
    structure = structure_named("naive")
    domain = domain_of(structure, 2)
    data = {x: generator.integers(0, domain.n_states(x), 20_000) for x in structure.inputs}
    data["Y"] = (data["C"] >= 2).astype(int)
    posterior, _ = posterior_of(structure, domain, data, 3.0)
    solution = maximise(posterior)
    assert solution.converged
    assert solution.n_values < 60


def test_any_start_leads_to_the_one_maximum():
    posterior = problem()
    best = maximise(posterior)
    generator = np.random.default_rng(0)
    for scale in (1.0, 10.0, 100.0):
        there = maximise(posterior, scale * generator.normal(size=best.phi.shape))
        assert there.converged
        np.testing.assert_allclose(there.phi, best.phi, atol=1e-7)


def test_a_fit_that_is_stopped_says_so():
    posterior = problem()
    solution = maximise(posterior, max_steps=1)
    assert solution.status is Status.MOST_STEPS
    assert not solution.converged
    assert "max_steps" in solution.status.value


def test_converges_where_log_z_is_far_larger_than_the_linear_term():
    """The value's rounding error is then that of log Z, a sum over thousands of rows."""
    for counts in ([2032, 1854, 1051, 63], [1918, 2168, 914], [5000, 4990]):
        classes = np.repeat(np.arange(len(counts)), counts).astype(np.uint8)
        rows = CodedRows((), (), np.empty((0, len(classes)), dtype=np.uint8))
        domain = ebnc.Domain({"Y": len(counts)})
        cases = Cases(domain, "Y", rows, classes, None)  # not counted: every row adds to log Z
        design = Design.of(Basis(ebnc.EmbeddedStructure.naive("Y", []), domain))
        posterior = Posterior(design, count_cells(design, cases), NormalPrior((1.0,)))
        solution = maximise(posterior)
        assert solution.converged
        assert solution.steps < 10
