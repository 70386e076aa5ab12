"""The gradient of log |A|: by finite differences, both ways, and in chunks of rows."""

import numpy as np
import pytest

from ebnc.domain import Domain
from ebnc.fitting.cholesky import Cholesky
from ebnc.fitting.optimum import find_optimum
from ebnc.likelihood.posterior import Posterior
from ebnc.score import log_determinant
from ebnc.score.log_determinant import log_determinant_gradient
from problems import domain_of, posterior_of, random_data, structure_named


@pytest.fixture(
    params=[("naive", 2, ""), ("chain", 4, ""), ("worked", 3, ""), ("naive", 15, "Y")], ids=str
)
def problem(request):
    name, n_classes, ordered = request.param
    structure = structure_named(name)
    domain = Domain(domain_of(structure, n_classes), ordered)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 100)
    data, _ = random_data(structure, domain, 100, seed=4)
    posterior, _ = posterior_of(structure, domain, data, 0.7, weights=weights)
    return posterior, find_optimum(posterior)


def by_way(problem, monkeypatch, writes_rows_out):
    monkeypatch.setattr(Posterior, "writes_rows_out", writes_rows_out)
    return log_determinant_gradient(*problem)


@pytest.mark.parametrize("writes_rows_out", [False, True])
def test_it_equals_finite_differences(problem, monkeypatch, writes_rows_out):
    posterior, phi = problem[0], problem[1].solution.phi
    gradient = by_way(problem, monkeypatch, writes_rows_out)
    assert gradient.shape == phi.shape
    for place in [(0, 0), (3, phi.shape[1] - 1), (phi.shape[0] - 1, 0)]:
        step = np.zeros_like(phi)
        step[place] = 1e-5
        ahead, behind = (Cholesky.of(posterior.upper_neg_hessian(phi + s * step)) for s in (1, -1))
        numeric = (ahead.log_determinant - behind.log_determinant) / 2e-5
        assert gradient[place] == pytest.approx(numeric, abs=1e-5)


def test_both_ways_agree_also_in_chunks_of_rows(problem, monkeypatch):
    looked_up = by_way(problem, monkeypatch, False)
    written_out = by_way(problem, monkeypatch, True)
    np.testing.assert_allclose(looked_up, written_out, rtol=0, atol=1e-11)
    monkeypatch.setattr(log_determinant, "row_chunks", lambda n, _: [(0, 37), (37, n)])
    in_chunks = by_way(problem, monkeypatch, False)
    np.testing.assert_allclose(in_chunks, looked_up, rtol=0, atol=1e-11)
