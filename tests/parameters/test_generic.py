"""Generic dimension: the rank of ∂λ/∂θ, where Theorem 1 stops being true (errata E6)."""

import numpy as np
import pytest
from hypothesis import given, settings

from brute_force import posterior
from ebnc import Domain, EmbeddedStructure, dimension, generic_dimension
from ebnc.errors import TooLargeError
from ebnc.parameters.theta import random_theta
from strategies import jacobian_rank, models, seeds

COLLIDER = EmbeddedStructure.from_string("[X1][Y][X2|X1:Y]", target="Y")


@pytest.mark.parametrize(
    ("n_classes", "span", "generic"), [(2, 4, 4), (3, 8, 8), (4, 12, 11), (5, 16, 14), (6, 20, 17)]
)
def test_a_binary_child_has_too_few_parameters_for_many_classes(n_classes, span, generic):
    """X1 → X2 ← Y: θ has 2K + K − 1 free parameters that reach λ, the span 4(K − 1)."""
    n_states = {"X1": 2, "X2": 2, "Y": n_classes}
    assert dimension(COLLIDER, n_states) == span
    assert generic_dimension(COLLIDER, n_states) == generic
    assert jacobian_rank(COLLIDER, n_states) == generic
    assert generic == min(span, 3 * n_classes - 1)


@pytest.mark.parametrize("x1", [2, 3, 4])
@pytest.mark.parametrize("x2", [2, 3, 4])
@pytest.mark.parametrize("n_classes", [2, 3, 4, 5])
def test_states_of_the_collider_against_flint(x1, x2, n_classes):
    """Every combination of two to four (five) states."""
    n_states = {"X1": x1, "X2": x2, "Y": n_classes}
    assert generic_dimension(COLLIDER, n_states) == jacobian_rank(COLLIDER, n_states)


@settings(max_examples=25)
@given(models(max_inputs=3, max_states=3, max_configurations=60), seeds)
def test_generic_dimension_is_the_numerical_rank_at_a_random_theta(model, seed):
    """Central differences of brute-force log odds in softmax coordinates of all tables."""
    structure, n_states = model.structure, model.n_states
    theta = random_theta(structure, Domain(n_states), np.random.default_rng(seed))
    logits = {name: np.log(table) for name, table in theta.items()}
    step = 1e-4

    def log_odds(shifted):
        tables = {v: np.exp(t) / np.exp(t).sum(-1, keepdims=True) for v, t in shifted.items()}
        p = posterior(structure, n_states, tables)
        return np.log(p[:, 1:] / p[:, :1]).ravel()

    columns = []
    for name, table in logits.items():
        for place in np.ndindex(table.shape):
            ends = []
            for sign in (1, -1):
                moved = table.copy()
                moved[place] += sign * step
                ends.append(log_odds({**logits, name: moved}))
            columns.append((ends[0] - ends[1]) / (2 * step))
    values = np.linalg.svd(np.array(columns), compute_uv=False)
    found = generic_dimension(structure, n_states)
    assert np.sum(values > 1e-6) >= found - np.sum((values > 1e-9) & (values <= 1e-6))
    assert np.sum(values > 1e-6) <= found


@given(models(max_inputs=4), seeds)
def test_the_random_point_does_not_matter(model, seed):
    """Another θ, the same rank."""
    first = generic_dimension(model.structure, model.n_states)
    assert generic_dimension(model.structure, model.n_states, random_state=seed) == first


@given(models(max_inputs=4, one_state=True))
def test_generic_dimension_is_bounded_by_the_parameters_that_reach_the_log_odds(model):
    """Never more than the span, nor than the free entries of the factors' tables."""
    structure, r = model.structure, model.n_states
    free = sum(
        int(np.prod([r[p] for p in structure.parents(f.head)])) * (r[f.head] - 1)
        for f in structure.factors
    )
    assert generic_dimension(structure, r) <= min(free, dimension(structure, r))


def test_inputs_outside_of_the_blanket_need_no_states():
    """As in the other three dimension functions."""
    structure = EmbeddedStructure.from_string("[Y][A|Y][B|A]", target="Y")
    n_states = {"Y": 2, "A": 3}
    assert dimension(structure, n_states) == 3
    assert generic_dimension(structure, n_states) == 3


@pytest.mark.parametrize("n", [40, 60, 200])
def test_a_full_table_is_refused_at_once(n):
    """The Jacobian would have 2^n rows."""
    table = EmbeddedStructure.table("Y", [f"X{i}" for i in range(n)])
    with pytest.raises(TooLargeError, match="would take"):
        generic_dimension(table, dict.fromkeys(table.names, 2))
