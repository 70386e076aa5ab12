"""Separation and missing identification are found exactly when they are there, and named."""

import numpy as np
import pytest
from scipy.optimize import linprog

import ebnc
from ebnc.errors import NoMaximumError
from ebnc.fitting.separation import refuse_unidentified, separating_direction
from ebnc.parameters.design_matrix import indicator_design
from ebnc.parameters.phi import Basis
from problems import posterior_of, read_cases

NAIVE = ebnc.EmbeddedStructure.naive("Y", ["A", "B"])


def data_of(*rows):
    return {name: list(column) for name, column in zip("ABY", zip(*rows, strict=True), strict=True)}


COMPLETE = data_of((0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1))
PARTIAL = data_of((0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 0, 0), (1, 1, 1), (1, 1, 0))
OVERLAP = data_of(*((a, b, y) for a in (0, 1) for b in (0, 1) for y in (0, 1)))


@pytest.mark.parametrize("data", [COMPLETE, PARTIAL], ids=["complete", "partial"])
def test_separation_is_named_and_refused(data):
    with pytest.raises(NoMaximumError, match=r"separated by A\b.* would be infinite"):
        ebnc.fit(NAIVE, data, prior_scale=np.inf)


def test_overlapping_classes_have_a_maximum():
    fitted = ebnc.fit(NAIVE, OVERLAP, prior_scale=np.inf)
    np.testing.assert_allclose(fitted.probabilities(OVERLAP), 0.5, atol=1e-9)


def test_a_finite_prior_scale_always_has_one():
    for data in (COMPLETE, PARTIAL, OVERLAP):
        fitted = ebnc.fit(NAIVE, data, prior_scale=3.0)
        assert fitted.solution.converged
        assert np.isfinite(fitted.phi).all()


def test_states_that_never_occur_are_not_identified():
    with pytest.raises(NoMaximumError, match="do not determine 1 of 4 parameters, in A"):
        ebnc.fit(NAIVE, OVERLAP, prior_scale=np.inf, categories={"A": [0, 1, 2]})
    twice = OVERLAP | {"B": OVERLAP["A"]}
    with pytest.raises(NoMaximumError, match="do not determine 1 of 3 parameters, in A, B"):
        ebnc.fit(NAIVE, twice, prior_scale=np.inf)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_linear_programme_agrees_with_one_written_out(seed, n_classes):
    """Few random rows are often separated, often not: a dense programme row by row is the judge."""
    generator = np.random.default_rng(seed)
    n_rows = 14 * n_classes
    data = {
        "A": generator.integers(0, 3, n_rows),
        "B": generator.integers(0, 2, n_rows),
        "Y": generator.integers(0, n_classes, n_rows),
    }
    domain = ebnc.Domain({"A": 3, "B": 2, "Y": n_classes})
    structure = ebnc.EmbeddedStructure.from_string("[Y][A|Y][B|A:Y]", target="Y")
    basis = Basis(structure, domain)
    cases = read_cases(data, domain, ["A", "B"], "Y")
    design = indicator_design(basis, cases.rows).toarray()
    rows = []
    for x, own in zip(design, cases.classes, strict=True):
        for other in range(n_classes):
            gain = np.zeros((design.shape[1], n_classes))
            gain[:, own] += x
            gain[:, other] -= x
            if other != own:
                rows.append(gain[:, 1:].ravel())
    rows = np.array(rows)
    judge = linprog(-rows.sum(axis=0), A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1))
    direction = separating_direction(basis, cases)
    assert (direction is not None) == (-judge.fun > 1e-6)
    if direction is not None:
        gains = rows @ direction
        assert gains.min() >= -1e-7
        assert gains.max() > 1e-3
        assert np.abs(direction).max() <= 1 + 1e-9


def test_identified_data_pass():
    domain = ebnc.Domain({"A": 2, "B": 2, "Y": 2})
    posterior, _ = posterior_of(NAIVE, domain, OVERLAP, np.inf)
    refuse_unidentified(posterior)


def test_a_class_that_never_occurs_separates_labels_but_not_a_curve():
    """16 classes in order have 12 waves: none of their sums is low in one class alone."""
    naive = ebnc.EmbeddedStructure.naive("Y", ["A"])
    generator = np.random.default_rng(0)
    data = {"A": generator.integers(0, 2, 400), "Y": generator.integers(0, 15, 400)}
    for ordered in ([], ["Y"]):
        domain = ebnc.Domain({"A": 2, "Y": 16}, ordered)
        basis, cases = Basis(naive, domain), read_cases(data, domain, ["A"], "Y")
        direction = separating_direction(basis, cases)
        assert (direction is None) == bool(ordered)
    ends = {"A": [0, 1] * 20, "Y": [0, 15] * 20}
    direction = separating_direction(basis, read_cases(ends, domain, ["A"], "Y"))
    assert direction is not None
    log_odds = ebnc.EBNC(naive, domain, direction).log_odds({"A": [0, 1]})
    log_odds = np.insert(log_odds, 0, 0.0, axis=1)
    assert (log_odds[[0, 1], [0, 15]] >= log_odds.max(axis=1) - 1e-6).all()  # no class loses
    assert np.ptp(log_odds, axis=1).max() > 0.1  # and some gain
