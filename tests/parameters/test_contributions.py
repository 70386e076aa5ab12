"""Contributions: against probabilities, means of the whole table, and a numerical Hessian."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given

from ebnc import EBNC, Domain, EBNCClassifier, EmbeddedStructure, fit
from ebnc.data.rows import CodedRows
from ebnc.errors import ParameterError
from ebnc.parameters.background import Background
from ebnc.parameters.phi import Basis
from problems import STRUCTURES, domain_of, random_data, structure_named
from strategies import models, seeds


def random_ebnc(structure, domain, seed, coding="orthonormal"):
    phi = np.random.default_rng(seed).normal(size=Basis(structure, domain).dimension)
    return EBNC(structure, domain, phi, coding)


def all_rows(structure, domain):
    cells = list(product(*(range(domain.n_states(x)) for x in structure.inputs)))
    return {x: np.array([cell[i] for cell in cells]) for i, x in enumerate(structure.inputs)}


def against_the_others(probabilities):
    """log p_k minus the mean of log p_j over the other classes."""
    log_p = np.log(probabilities)
    n_classes = log_p.shape[1]
    others = (log_p.sum(axis=1, keepdims=True) - log_p) / (n_classes - 1)
    return log_p - others


@given(model=models(max_inputs=4, max_states=3), seed=seeds)
def test_contributions_add_up_to_the_log_odds_of_the_probabilities(model, seed):
    """For any structure, any numbers of states and classes, in either coding of φ."""
    domain = Domain(model.n_states)
    if domain.n_states(model.structure.target) < 2:
        return
    ebnc = random_ebnc(model.structure, domain, seed, "indicator")
    rows = all_rows(model.structure, domain)
    found = ebnc.contributions(rows)
    wanted = against_the_others(ebnc.probabilities(rows))
    np.testing.assert_allclose(found.log_odds, wanted, atol=1e-9)


def test_two_classes_have_their_ordinary_log_odds():
    structure = structure_named("worked")
    ebnc = random_ebnc(structure, domain_of(structure, 2), 0)
    rows = all_rows(structure, ebnc.domain)
    found = ebnc.contributions(rows).log_odds
    np.testing.assert_allclose(found[:, 1], ebnc.log_odds(rows)[:, 0], atol=1e-12)
    np.testing.assert_allclose(found[:, 0], -found[:, 1], atol=1e-12)


def background_with(structure, domain, state_weights):
    """A background with these weights; its rows, which contributions do not need, are one."""
    names = structure.inputs
    rows = CodedRows.from_codes(domain, {x: [0] for x in names})
    return Background({x: np.asarray(state_weights[x]) for x in names}, rows, np.ones(1))


def random_weights(structure, domain, seed):
    """Shares of states, some of which never occurred."""
    rng = np.random.default_rng(seed)
    found = {}
    for x in structure.inputs:
        shares = rng.dirichlet(np.full(domain.n_states(x), 0.5))
        shares[rng.integers(len(shares))] *= rng.integers(0, 2)
        found[x] = shares / shares.sum()
    return found


@pytest.mark.parametrize("weights", ["training", "uniform"])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("name", STRUCTURES)
def test_each_term_is_what_its_means_add_to_those_of_its_subsets(name, n_classes, weights):
    """Inclusion–exclusion on means of the whole table of log odds, written without a coding."""
    structure = structure_named(name)
    domain = domain_of(structure, n_classes)
    shares = random_weights(structure, domain, 3)
    phi = random_ebnc(structure, domain, 1).phi
    background = background_with(structure, domain, shares)
    ebnc = EBNC(structure, domain, phi, "orthonormal", background=background)
    rows = all_rows(structure, domain)
    inputs = structure.inputs
    shape = tuple(domain.n_states(x) for x in inputs)
    whole = against_the_others(ebnc.probabilities(rows)).reshape(*shape, n_classes)
    found = ebnc.contributions(rows, weights=weights)
    for t, term in enumerate(found.terms):
        wanted = np.zeros_like(whole)
        for size in range(len(term) + 1):
            for kept in combinations(term, size):
                mean = whole
                for i, x in enumerate(inputs):
                    if x not in kept:
                        by = shares[x] if weights == "training" else None
                        mean = np.average(mean, axis=i, weights=by, keepdims=True)
                wanted += (-1) ** (len(term) - size) * mean
        np.testing.assert_allclose(found.values[:, t], wanted.reshape(-1, n_classes), atol=1e-12)
    np.testing.assert_allclose(found.log_odds, whole.reshape(-1, n_classes), atol=1e-12)


def test_a_fit_is_centred_by_the_rows_it_was_learned_from():
    """The intercept is the mean log odds of an average row; rare states do not count as common."""
    structure = EmbeddedStructure.naive("Y", ["A", "B"])
    rng = np.random.default_rng(0)
    data = {"A": (rng.random(500) < 0.01).astype(int), "B": rng.integers(0, 3, 500)}
    data["Y"] = (rng.random(500) < 0.3).astype(int)
    fitted = fit(structure, data)
    values = fitted.contributions(data).values
    np.testing.assert_allclose(values[:, 1:].mean(axis=0), 0, atol=1e-12)  # additive: row by row
    np.testing.assert_allclose(values[0, 0, 1], fitted.log_odds(data).mean(), atol=1e-12)
    uniform = fitted.contributions(data, weights="uniform")
    np.testing.assert_allclose(uniform.log_odds, values.sum(axis=1), atol=1e-12)
    with pytest.raises(ParameterError, match="weights must be 'training' or 'uniform', got 'x'"):
        fitted.contributions(data, weights="x")


def test_contributions_do_not_depend_on_the_order_of_states():
    """Another baseline state and another baseline class: the same contributions."""
    structure = EmbeddedStructure.naive("Y", ["A", "B"])
    data, _ = random_data(structure, Domain({"A": 3, "B": 2, "Y": 3}), 300, seed=4)
    states = {"A": [0, 1, 2], "B": [0, 1], "Y": [0, 1, 2]}
    turned = {name: labels[::-1] for name, labels in states.items()}
    rows = {"A": [0, 1, 2], "B": [1, 0, 1]}
    one = fit(structure, data, 1.0, categories=states).contributions(rows)
    other = fit(structure, data, 1.0, categories=turned).contributions(rows)
    np.testing.assert_allclose(one.values, other.values[:, :, ::-1], atol=1e-8)


def test_a_state_never_seen_contributes_nothing():
    structure = structure_named("worked")
    ebnc = random_ebnc(structure, domain_of(structure, 3), 2)
    row = {x: [0] for x in structure.inputs} | {"C": [99]}
    found = ebnc.contributions(row, unseen="average")
    for term, values in zip(found.terms, found.values[0], strict=True):
        assert np.any(values != 0) == ("C" not in term)
    wanted = against_the_others(ebnc.probabilities(row, unseen="average"))
    np.testing.assert_allclose(found.log_odds, wanted, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_standard_errors_come_from_the_curvature_of_the_posterior(n_classes):
    """Against second differences of the log posterior, and differences of the contributions."""
    small = EmbeddedStructure.chain("Y", ["A", "B"])
    domain = Domain({"A": 3, "B": 2, "Y": n_classes})
    data, _ = random_data(small, domain, 200, seed=3)
    fitted = fit(small, data, 0.7, categories=dict(domain))

    def model(phi):
        return EBNC(small, domain, phi, "orthonormal", background=fitted.background)

    scales = np.full(fitted.dimension, 0.7)
    scales[: n_classes - 1] = 10.0  # the intercept's

    def log_posterior(phi):
        log_p = np.log(model(phi).probabilities(data))
        picked = log_p[np.arange(len(data["Y"])), data["Y"]].sum()
        return picked - 0.5 * ((phi / scales) ** 2).sum()

    at, unit = fitted.phi_in("orthonormal"), np.eye(fitted.dimension) * 1e-3
    hessian = np.array(
        [
            [
                (
                    log_posterior(at + a + b)
                    - log_posterior(at + a - b)
                    - log_posterior(at - a + b)
                    + log_posterior(at - a - b)
                )
                / 4e-6
                for b in unit
            ]
            for a in unit
        ]
    )
    covariance = np.linalg.inv(-hessian)
    rows = all_rows(small, domain)
    for weights in ("training", "uniform"):
        values = fitted.contributions(rows, weights=weights).values
        moved = [model(at + e).contributions(rows, weights=weights).values for e in unit]
        slopes = (np.stack(moved) - values) / 1e-3
        wanted = np.sqrt(np.einsum("artk,ab,brtk->rtk", slopes, covariance, slopes))
        for t, term in enumerate(fitted.basis.terms):
            errors = fitted.contribution_errors(term, weights=weights)
            found = np.broadcast_to(
                errors[tuple(np.array(rows[x]) for x in term.inputs)], wanted[:, t].shape
            )
            np.testing.assert_allclose(found, wanted[:, t], 1e-4)


def test_a_classifier_gives_the_contributions_of_its_best_model():
    structure = structure_named("naive")
    data, _ = random_data(structure, domain_of(structure, 3), 400, seed=5)
    x = np.column_stack([data[name] for name in structure.inputs])
    model = EBNCClassifier(average=False).fit(x, data["Y"])
    found = model.contributions(x[:20])
    wanted = against_the_others(model.predict_proba(x[:20]))
    np.testing.assert_allclose(found.log_odds, wanted, atol=1e-9)
