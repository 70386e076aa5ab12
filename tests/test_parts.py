"""Cases in parts are learned from as in memory, whatever the parts are."""

import gc
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ebnc import Domain, EBNCClassifier, EmbeddedStructure
from ebnc.data.cases import Cases
from ebnc.data.files import DataFiles
from ebnc.data.parts import StoredParts
from ebnc.data.rows import CodedRows
from ebnc.errors import NoMaximumError, StorageError
from ebnc.fitting.newton import maximise
from ebnc.learn import fit, fit_cases, fit_theta
from ebnc.likelihood.counts import count_cells
from ebnc.likelihood.design import Design
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import NormalPrior
from ebnc.parameters.phi import Basis
from ebnc.score.criterion import BIC, Laplace
from ebnc.search.families import forest, kdb, tan
from ebnc.search.greedy import greedy_search
from ebnc.search.scorer import Scorer
from problems import STRUCTURES, domain_of, random_data, read_cases, structure_named


def cut(cases: Cases, edges: list[int], order=None) -> StoredParts:
    """The rows, in another order, cut at the edges."""
    order = np.arange(len(cases)) if order is None else order
    parts = []
    for chosen in np.split(order, edges):
        rows = CodedRows(cases.inputs, cases.n_states, cases.rows.codes[:, chosen])
        weights = None if cases.weights is None else cases.weights[chosen]
        parts.append(Cases(cases.domain, cases.target, rows, cases.classes[chosen], weights))
    return StoredParts.write(parts)


@pytest.fixture(params=[1, 5])
def n_parts(request) -> int:
    return request.param


def problem(name="worked", n_classes=3, n_rows=3000, weighted=False):
    structure = structure_named(name)
    domain = domain_of(structure, n_classes)
    data, _ = random_data(structure, domain, n_rows, seed=2, scale=0.4)
    weights = np.random.default_rng(1).random(n_rows) + 0.5 if weighted else None
    return structure, read_cases(data, domain, structure.inputs, "Y", weights)


def in_parts(cases: Cases, n_parts: int, seed: int = 0) -> StoredParts:
    """Rows shuffled and cut anywhere; one part may be empty."""
    generator = np.random.default_rng(seed)
    edges = np.sort(generator.integers(0, len(cases) + 1, n_parts - 1))
    return cut(cases, edges.tolist(), generator.permutation(len(cases)))


@pytest.mark.parametrize("name", list(STRUCTURES))
@pytest.mark.parametrize("prior_scale", ["evidence", 0.7])
def test_a_fit_does_not_depend_on_the_parts(name, prior_scale, n_parts):
    structure, cases = problem(name)
    basis = Basis(structure, cases.domain)
    expected = fit_cases(basis, cases, prior_scale)
    found = fit_cases(basis, in_parts(cases, n_parts), prior_scale)
    np.testing.assert_allclose(found.solution.phi, expected.solution.phi, rtol=0, atol=1e-8)
    assert found.log_evidence == pytest.approx(expected.log_evidence, abs=1e-8)
    assert found.bic == pytest.approx(expected.bic, abs=1e-8)


def test_some_parts_are_counted_and_others_are_not():
    """Parts of one table: the first distinct rows with their weights, later ones as they came."""
    structure, cases = problem(n_rows=6000)
    counted, rest = cases.rows_of(0, 4000).distinct(), cases.rows_of(4000, 6000)
    assert counted.weights is not None
    assert rest.weights is None
    basis = Basis(structure, cases.domain)
    expected = fit_cases(basis, cases, "loo")
    found = fit_cases(basis, StoredParts.write([counted, rest]), "loo")
    np.testing.assert_allclose(found.solution.phi, expected.solution.phi, rtol=0, atol=1e-8)


def test_weights_and_maximum_likelihood(n_parts):
    structure, cases = problem("chain", n_classes=2, weighted=True)
    basis = Basis(structure, cases.domain)
    expected = fit_cases(basis, cases, math.inf)
    found = fit_cases(basis, in_parts(cases, n_parts), math.inf)
    np.testing.assert_allclose(found.solution.phi, expected.solution.phi, rtol=0, atol=1e-8)
    assert found.n_cases == pytest.approx(cases.total_weight, rel=1e-12)


def test_a_sketch_of_many_rows_comes_from_all_parts(n_parts):
    structure, cases = problem("chain", n_rows=150_000, n_classes=2)
    basis = Basis(structure, cases.domain)
    parts = in_parts(cases, n_parts)
    design = Design.of(basis)
    posterior = Posterior(design, count_cells(design, parts), NormalPrior((1.0,)))
    thin = posterior.thinned(2000)
    assert thin.data.n_rows == pytest.approx(2000, rel=0.1)
    assert thin.data.n_cases == pytest.approx(len(cases), rel=0.1)
    expected = fit_cases(basis, cases, 1.0)
    found = fit_cases(basis, parts, 1.0)
    np.testing.assert_allclose(found.solution.phi, expected.solution.phi, rtol=0, atol=1e-8)


def test_many_parameters_without_a_hessian(n_parts):
    structure, cases = problem()
    design = Design.of(Basis(structure, cases.domain))
    prior = NormalPrior((1.0,))
    expected = maximise(Posterior(design, count_cells(design, cases), prior))
    parts = Posterior(design, count_cells(design, in_parts(cases, n_parts)), prior)
    found = maximise(parts, largest_factor=5)
    assert found.value == pytest.approx(expected.value, abs=1e-8)


@pytest.mark.parametrize("criterion", [Laplace(), BIC()], ids=["laplace", "bic"])
def test_a_search_takes_the_same_steps(criterion):
    _, cases = problem("chain", n_classes=2, n_rows=800)
    start = EmbeddedStructure.naive("Y", cases.inputs)
    expected = greedy_search(Scorer(cases, criterion), start)
    found = greedy_search(Scorer(in_parts(cases, 3), criterion), start)
    assert [s.move for s in found.trace.steps] == [s.move for s in expected.trace.steps]
    assert len(found.trace.steps) > 2
    assert str(found.best.structure) == str(expected.best.structure)
    assert found.best.score == pytest.approx(expected.best.score, abs=1e-8)
    np.testing.assert_allclose(
        found.best.fit.solution.phi, expected.best.fit.solution.phi, rtol=0, atol=1e-8
    )


def test_fixed_families_are_the_same(n_parts):
    _, cases = problem()
    parts = in_parts(cases, n_parts)
    for family in (tan, forest, lambda c: kdb(c, 2)):
        assert str(family(parts)) == str(family(cases))


def test_files_whose_rows_do_not_fit(tmp_path: Path, monkeypatch):
    """The whole way from a file to a classifier, rows left on disk."""
    structure, cases = problem("chain", n_classes=2)
    data, _ = random_data(structure, cases.domain, 800, seed=2, scale=0.4)
    frame = pd.DataFrame(data)
    frame.to_parquet(tmp_path / "data.parquet")
    inputs = list(structure.inputs)
    in_memory = EBNCClassifier().fit(frame[inputs], frame["Y"])
    fitted = fit(structure, frame)
    monkeypatch.setattr("ebnc.data.read.PART_ROWS", 40)
    spill = tmp_path / "spill"
    spill.mkdir()
    files = DataFiles(tmp_path / "data.parquet", temp_directory=spill, memory_limit=100)
    found = EBNCClassifier().fit(files, "Y")
    expected = in_memory.predict_proba(frame[inputs])
    np.testing.assert_allclose(found.predict_proba(frame[inputs]), expected, atol=1e-8)
    assert found.structure_.cluster_key == in_memory.structure_.cluster_key
    again = fit(structure, files)
    assert again.log_evidence == pytest.approx(fitted.log_evidence, abs=1e-8)
    with pytest.raises(StorageError, match="the fit in θ needs all rows in memory"):
        fit_theta(structure, files)
    del found, again
    gc.collect()
    assert list(spill.iterdir()) == []


def test_separated_classes_are_still_refused():
    structure = EmbeddedStructure.naive("Y", ["A", "B"])
    data = {"A": [0, 1] * 50, "B": [0, 0, 1, 1] * 25, "Y": [0, 1] * 50}
    cases = read_cases(data, Domain({"A": 2, "B": 2, "Y": 2}), structure.inputs, "Y")
    with pytest.raises(NoMaximumError, match="may be separated"):
        fit_cases(Basis(structure, cases.domain), cut(cases, [30]), math.inf)


def test_lost_files_are_named():
    structure, cases = problem()
    parts = cut(cases, [1000, 2000])
    lost = parts.files[1]
    lost.write_bytes(lost.read_bytes()[:-10])
    with pytest.raises(StorageError, match=r"part-000001.npz.*do not change the temporary"):
        fit_cases(Basis(structure, cases.domain), parts, 1.0)
    lost.unlink()
    with pytest.raises(StorageError, match=r"part-000001.npz'"):
        fit_cases(Basis(structure, cases.domain), parts, 1.0)


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    _, cases = problem()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(StorageError, match="No space left on device; give a temp_directory"):
        StoredParts.write([cases], tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(StorageError, match="no temporary directory can be made"):
        StoredParts.write([cases], tmp_path / "nowhere")
