"""Terms and tables of variables of all kinds, with weak pairs: against columns written out."""

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columns import all_codes, coding_of, columns_of, design_of, log_odds_of, terms_of
from ebnc import EBNC, Domain, EmbeddedStructure
from ebnc.data.rows import CodedRows
from ebnc.domain import Levels
from ebnc.parameters.coding import INDICATOR, ORTHONORMAL
from ebnc.parameters.contributions import contributions
from ebnc.parameters.phi import (
    WEAK,
    Basis,
    phi_to_tables,
    products_of_columns,
    recode,
    transfer,
)
from strategies import bins, mixed_models, seeds

SMALL = mixed_models(min_inputs=1, max_inputs=4, most_states=4, wide=False, most=600)
WIDE = mixed_models(min_inputs=1, max_inputs=3, most=3000)


def shifted(domain, name):
    """The indicator coding: indicators, or a curve that is 0 in the first state."""
    matrix, waves = coding_of(domain, name)
    if name in domain.ordered:
        return matrix - matrix[:1], waves
    return np.eye(len(domain[name]))[:, 1:], waves


CODINGS = pytest.mark.parametrize(
    ("coding", "full_of"), [(ORTHONORMAL, coding_of), (INDICATOR, shifted)], ids=["H", "I"]
)


def rows_of(domain, codes):
    return CodedRows.from_codes(domain, codes)


@given(st.one_of(SMALL, WIDE), st.booleans())
def test_terms_and_columns_are_those_written_out(model, weak_pairs):
    """All waves of an input, products with Π j ≤ 6 inside clusters, slowest waves of weak pairs."""
    basis = Basis(model.structure, model.domain, weak_pairs)
    terms = terms_of(model.structure, model.domain, weak_pairs)
    assert [(t.inputs, t.is_weak) for t in basis.terms] == terms
    found = [
        (term.inputs, tuple(columns), term.group)
        for term in basis.terms
        for columns in term.columns.tolist()
    ]
    assert found == columns_of(model.structure, model.domain, weak_pairs)
    assert basis.n_outputs == model.t["Y"]
    assert basis.dimension == len(found) * model.t["Y"]
    starts = [term.start for term in basis.terms]
    assert starts == [0, *(term.stop for term in basis.terms[:-1])]
    weak = [t.inputs for t in basis.terms if t.is_weak]
    assert basis.scopes == (*basis.structure.clusters, *weak)
    assert all((t.group == WEAK) == t.is_weak for t in basis.terms)


@pytest.mark.parametrize(
    ("levels", "largest", "count"),
    [
        ((), 6, 1),
        ((Levels(31, 31),), 6, 12),
        ((Levels(31, 31), Levels(31, 31)), 6, 6 + 3 + 2 + 1 + 1 + 1),
        ((Levels(31, 31), Levels(31, 31)), 1, 1),
        ((Levels(32, 31), Levels(3)), 6, 7 * 2),  # six waves and the column of missing entries
        ((Levels(32, 31), Levels(3)), 1, 2 * 2),
        ((Levels(10), Levels(9)), 1, 72),  # tables have no fast columns
        ((Levels(4, 4), Levels(3, 3), Levels(3, 3)), 6, 10),  # 12 less 2 · 2 · 2 and 3 · 2 · 2
    ],
)
def test_the_hyperbolic_cross_counted_by_hand(levels, largest, count):
    found = products_of_columns(levels, largest)
    assert found.shape == (count, len(levels))
    assert found.tolist() == sorted(found.tolist())


def test_the_cross_of_three_curves_by_a_list():
    """(2, 2, 2) has the product 8, and (3, 2, 2) has 12; all others stay."""
    found = products_of_columns((Levels(4, 4), Levels(3, 3), Levels(3, 3)))
    expected = [js for js in product((1, 2, 3), (1, 2), (1, 2)) if prod(js) <= 6]
    assert (found + 1).tolist() == [list(js) for js in expected]


@CODINGS
@settings(max_examples=60)
@given(model=st.one_of(SMALL, WIDE), weak_pairs=st.booleans(), seed=seeds)
def test_tables_are_the_sum_over_columns(coding, full_of, model, weak_pairs, seed):
    """λ at every configuration, in both codings; targets of any kind."""
    structure, domain = model.structure, model.domain
    basis = Basis(structure, domain, weak_pairs)
    phi = np.random.default_rng(seed).normal(size=basis.dimension)
    codes = all_codes(structure, domain)
    found = phi_to_tables(basis, phi, coding).log_odds(rows_of(domain, codes))
    expected = log_odds_of(structure, domain, phi, codes, weak_pairs, full_of)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@settings(max_examples=60)
@given(model=st.one_of(SMALL, WIDE), weak_pairs=st.booleans(), seed=seeds)
def test_recoding_keeps_the_function(model, weak_pairs, seed):
    """Both ways, and for several φ at once."""
    structure, domain = model.structure, model.domain
    basis = Basis(structure, domain, weak_pairs)
    phi = np.random.default_rng(seed).normal(size=(basis.dimension, 2))
    codes = all_codes(structure, domain)
    expected = log_odds_of(structure, domain, phi[:, 0], codes, weak_pairs)
    there = recode(basis, phi, ORTHONORMAL, INDICATOR)
    found = log_odds_of(structure, domain, there[:, 0], codes, weak_pairs, shifted)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
    back = recode(basis, there, INDICATOR, ORTHONORMAL)
    np.testing.assert_allclose(back, phi, rtol=0, atol=1e-8)
    one = recode(basis, phi[:, 0], ORTHONORMAL, INDICATOR)
    np.testing.assert_allclose(one, there[:, 0], rtol=0, atol=1e-12)


def anova(values, sizes, weights):
    """Hoeffding's decomposition of a table for independent inputs: {axes: table}."""
    n = len(sizes)

    def mean_over(axes):
        table = values
        for axis in axes:
            table = np.average(table, axis=axis, weights=weights[axis], keepdims=True)
        return table

    effects = {}
    for subset in product((False, True), repeat=n):
        own = tuple(i for i in range(n) if subset[i])
        table = mean_over([i for i in range(n) if i not in own]) + np.zeros_like(values)
        for smaller, effect in effects.items():
            if set(smaller) < set(own):
                table = table - effect
        effects[own] = table
    return effects


@settings(max_examples=40, deadline=None)
@given(
    model=mixed_models(min_inputs=1, max_inputs=3, most_states=4, wide=False, most=300),
    weak_pairs=st.booleans(),
    weighted=st.booleans(),
    seed=seeds,
)
def test_contributions_are_the_functional_anova_of_the_log_odds(model, weak_pairs, weighted, seed):
    """Means over the whole table of the log odds against the mean of the other classes."""
    structure, domain = model.structure, model.domain
    generator = np.random.default_rng(seed)
    basis = Basis(structure, domain, weak_pairs)
    phi = generator.normal(size=basis.dimension)
    codes = all_codes(structure, domain)
    log_p = np.pad(log_odds_of(structure, domain, phi, codes, weak_pairs), [(0, 0), (1, 0)])
    k = log_p.shape[1]
    against = log_p - (log_p.sum(axis=1, keepdims=True) - log_p) / (k - 1)
    sizes = [len(domain[x]) for x in structure.inputs]
    shares = [generator.dirichlet(np.ones(r)) if weighted else np.full(r, 1 / r) for r in sizes]
    of_input = dict(zip(structure.inputs, shares, strict=True)) if weighted else {}
    found = contributions(basis, phi, rows_of(domain, codes), of_input)
    np.testing.assert_allclose(found.log_odds, against, rtol=0, atol=1e-9)
    effects = anova(against.reshape(*sizes, k), sizes, shares)
    place = {x: i for i, x in enumerate(structure.inputs)}
    for t, inputs in enumerate(found.terms):
        effect = effects[tuple(place[x] for x in inputs)].reshape(-1, k)
        np.testing.assert_allclose(found.values[:, t], effect, rtol=0, atol=1e-9)


def test_a_table_of_phi_names_waves_and_states():
    structure = EmbeddedStructure.chain("Y", ["A", "B"])
    domain = Domain({"A": ["a", "b"], "B": [*bins(3), None], "Y": [1, 2, 3]}, ["B", "Y"])
    basis = Basis(structure, domain)
    phi = np.random.default_rng(0).normal(size=basis.dimension)
    table = EBNC(structure, domain, phi).phi_table()
    waves = ["wave 1", "wave 2", None]
    states = [(), ("b",), *((w,) for w in waves), *(("b", w) for w in waves)]
    assert [(r.states, r.of_class) for r in table] == list(product(states, ["wave 1", "wave 2"]))
    np.testing.assert_array_equal([row.value for row in table], phi)
    assert "b · (missing)" in str(table)


@settings(max_examples=50)
@given(model=mixed_models(min_inputs=2, max_inputs=4, wide=False, most=1000), seed=seeds)
def test_weak_pairs_follow_the_terms_of_the_same_structure(model, seed):
    """``transfer`` adds them with coefficients of 0, and takes them off, without another change."""
    plain, weak = (Basis(model.structure, model.domain, w) for w in (False, True))
    phi = np.random.default_rng(seed).normal(size=plain.dimension)
    wider = transfer(phi, plain, weak)
    np.testing.assert_array_equal(wider[: plain.dimension], phi)
    np.testing.assert_array_equal(wider[plain.dimension :], 0)
    np.testing.assert_array_equal(transfer(wider, weak, plain), phi)


def test_pairs_of_three_inputs_are_in_no_structure():
    """{12, 13, 23}: no structure has these terms and no others, a naive one with weak pairs has."""
    structure = EmbeddedStructure.naive("Y", ["A", "B", "C"])
    domain = Domain({"A": bins(5), "B": bins(5), "C": bins(5), "Y": 2}, ["A", "B", "C"])
    basis = Basis(structure, domain, weak_pairs=True)
    assert [t.inputs for t in basis.terms][-3:] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert basis.dimension == 1 + 3 * 4 + 3


@settings(max_examples=30)
@given(model=mixed_models(min_inputs=1, max_inputs=3, wide=False, most=300), seed=seeds)
def test_models_of_structures_that_fill_their_span_have_an_embedded_network(model, seed):
    """φ → θ: tables over bins, with the same log odds; the way back is a nominal model."""
    structure, domain = model.structure, model.domain
    if not structure.fills_span:
        return
    basis = Basis(structure, domain)
    phi = 0.5 * np.random.default_rng(seed).normal(size=basis.dimension)
    ebnc = EBNC(structure, domain, phi, "orthonormal")
    rows = rows_of(domain, all_codes(structure, domain))
    network = ebnc.to_embedded_network()
    np.testing.assert_allclose(network.log_odds(rows), ebnc.log_odds(rows), rtol=0, atol=1e-8)
    back = EBNC.from_embedded_network(network)
    np.testing.assert_allclose(back.log_odds(rows), ebnc.log_odds(rows), rtol=0, atol=1e-8)
    assert not back.domain.ordered


def test_columns_written_out_have_full_rank():
    """The oracle itself: no column is a sum of others, so φ is not redundant."""
    structure = EmbeddedStructure.chain("Y", ["A", "B", "C"])
    domain = Domain(
        {"A": [*bins(16), None], "B": ["x", "y", "z"], "C": bins(5), "Y": 3}, ["A", "C"]
    )
    design = design_of(structure, domain, all_codes(structure, domain), weak_pairs=True)
    assert np.linalg.matrix_rank(design) == design.shape[1]
