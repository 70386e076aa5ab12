"""φ: its terms against an enumeration of Δ, its values against Möbius inversion of brute force."""

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import configurations, posterior
from ebnc import Domain, EmbeddedNetwork, EmbeddedStructure, dimension
from ebnc.data.rows import CodedRows
from ebnc.domain import Levels
from ebnc.errors import EBNCError, ParameterError, TooLargeError
from ebnc.parameters.coding import INDICATOR, ORTHONORMAL
from ebnc.parameters.kappa import kappa_to_tables, theta_to_kappa
from ebnc.parameters.phi import (
    Basis,
    check_phi,
    count_products,
    phi_to_tables,
    products_of_columns,
    tables_to_phi,
)
from strategies import cluster_sets, complex_of, models, seeds

CODINGS = pytest.mark.parametrize("coding", [INDICATOR, ORTHONORMAL], ids=lambda c: c.name)


def brute_log_odds(model, theta):
    """λ by Bayes' rule on the joint: {configuration of the inputs: vector over k}."""
    p = posterior(model.structure, model.n_states, theta)
    rows = product(*(range(model.n_states[x]) for x in model.structure.inputs))
    return dict(zip(rows, np.log(p[:, 1:] / p[:, :1]), strict=True))


def coded(model):
    return CodedRows.from_codes(
        Domain(model.n_states), configurations(model.structure, model.n_states)
    )


def theta_to_phi(model, theta, coding):
    tables = kappa_to_tables(model.structure, theta_to_kappa(model.structure, theta))
    return tables_to_phi(Basis(model.structure, Domain(model.n_states)), tables, coding)


# -- terms ---------------------------------------------------------------------------------------


@given(models(max_inputs=5, one_state=True))
def test_terms_are_the_subsets_of_clusters_in_order_of_size(model):
    """Δ enumerated without one-state inputs; blocks of φ follow one another without gaps."""
    basis = Basis(model.structure, Domain(model.n_states))
    r = model.n_states
    varying = model.structure.without([x for x in model.structure.inputs if r[x] == 1])
    kept = cluster_sets(varying)
    assert {frozenset(term.inputs) for term in basis.terms} == complex_of(kept)
    assert len(basis.terms) == len(complex_of(kept))
    place = {x: i for i, x in enumerate(model.structure.inputs)}
    keys = [(len(term.inputs), [place[x] for x in term.inputs]) for term in basis.terms]
    assert keys == sorted(keys)
    assert basis.terms[0].inputs == ()
    start = 0
    for term in basis.terms:
        assert term.start == start
        columns = list(product(*(range(r[x] - 1) for x in term.inputs)))
        assert term.columns.tolist() == list(map(list, columns))
        assert term.stop == start + len(columns) * (model.n_classes - 1)
        start = term.stop
    assert start == basis.dimension == dimension(model.structure, r)


def test_a_term_is_found_by_its_inputs_in_any_order():
    """Sets, lists, reversed."""
    structure = EmbeddedStructure.table("Y", ["A", "B", "C"])
    basis = Basis(structure, Domain(dict.fromkeys(structure.names, 3)))
    assert basis.term(["C", "A"]) is basis.term({"A", "C"})
    assert basis.term(()).inputs == ()
    assert [t.inputs for t in basis.terms_inside(("B", "C"))] == [(), ("B",), ("C",), ("B", "C")]


@pytest.mark.parametrize("inputs", [["A", "B"], ["D"], ["nonsense"], ["A", "nonsense"], ["Y"]])
def test_a_term_that_does_not_exist_is_refused(inputs):
    """Two clusters, A and B; D outside of the blanket; names that are no inputs."""
    structure = EmbeddedStructure.from_string("[Y][A|Y][B|Y][D]", target="Y")
    basis = Basis(structure, Domain(dict.fromkeys(structure.names, 2)))
    with pytest.raises(ParameterError, match=inputs[-1]):
        basis.term(inputs)


# -- values --------------------------------------------------------------------------------------


@given(models(max_inputs=4, max_configurations=200), seeds)
def test_indicator_phi_is_the_moebius_inversion_of_the_log_odds(model, seed):
    """φ_k(S, s) = Σ_{T ⊆ S} (−1)^{|S \\ T|} λ_k(s on T, baseline elsewhere), λ by brute force."""
    network = EmbeddedNetwork.random(model.structure, model.n_states, random_state=seed)
    log_odds = brute_log_odds(model, network.theta)
    phi = theta_to_phi(model, network.theta, INDICATOR)
    inputs = model.structure.inputs
    for term in Basis(model.structure, Domain(model.n_states)).terms:
        others = [model.n_states[x] - 1 for x in term.inputs]
        block = phi[term.start : term.stop].reshape(*others, model.n_classes - 1)
        for states in product(*(range(1, model.n_states[x]) for x in term.inputs)):
            total = np.zeros(model.n_classes - 1)
            for on in product((0, 1), repeat=len(states)):
                at = {x: s for x, s, o in zip(term.inputs, states, on, strict=True) if o}
                sign = (-1) ** (len(states) - sum(on))
                total += sign * log_odds[tuple(at.get(x, 0) for x in inputs)]
            index = tuple(s - 1 for s in states)
            np.testing.assert_allclose(block[index], total, rtol=0, atol=1e-9)


@CODINGS
@given(model=models(min_inputs=1, max_inputs=4, one_state=True), seed=seeds)
def test_theta_to_phi_to_log_odds_is_brute_force_bayes(coding, model, seed):
    """In both codings, with one-state variables and a single class too."""
    network = EmbeddedNetwork.random(model.structure, model.n_states, random_state=seed)
    basis = Basis(model.structure, Domain(model.n_states))
    phi = theta_to_phi(model, network.theta, coding)
    found = phi_to_tables(basis, phi, coding).log_odds(coded(model))
    expected = np.array(list(brute_log_odds(model, network.theta).values()))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@CODINGS
@given(model=models(min_inputs=1, max_inputs=4, one_state=True), seed=seeds)
def test_phi_survives_the_way_to_tables_and_back(coding, model, seed):
    """phi_to_tables then tables_to_phi is the identity."""
    basis = Basis(model.structure, Domain(model.n_states))
    phi = np.random.default_rng(seed).normal(size=basis.dimension)
    again = tables_to_phi(basis, phi_to_tables(basis, phi, coding), coding)
    np.testing.assert_allclose(again, phi, rtol=0, atol=1e-10)


@CODINGS
@given(model=models(min_inputs=1, max_inputs=3, max_states=3), seed=seeds)
def test_log_odds_are_the_sum_over_terms_written_out(coding, model, seed):
    """λ_k(x) = Σ_S (E_Y[k] − E_Y[0]) · Φ_S · ⊗ E_i[x_i], one configuration at a time."""
    basis = Basis(model.structure, Domain(model.n_states))
    phi = np.random.default_rng(seed).normal(size=basis.dimension)
    rows = coded(model)
    found = phi_to_tables(basis, phi, coding).log_odds(rows)
    e_y = coding.matrix(model.n_classes)
    for row in range(len(rows)):
        total = np.zeros(model.n_classes - 1)
        for term in basis.terms:
            vector = np.ones(1)
            for x in term.inputs:
                vector = np.kron(vector, coding.matrix(model.n_states[x])[rows.column(x)[row]])
            block = phi[term.start : term.stop].reshape(len(vector), -1)
            total += (e_y[1:] - e_y[0]) @ (vector @ block)
        np.testing.assert_allclose(found[row], total, rtol=0, atol=1e-10)


@given(models(min_inputs=1, max_inputs=3, max_states=4), seeds)
def test_orthonormal_phi_is_an_isometry(model, seed):
    """Parseval: the mean of f_k(x)² over all x and classes is |Φ|² (EᵀE = r·I)."""
    basis = Basis(model.structure, Domain(model.n_states))
    phi = np.random.default_rng(seed).normal(size=basis.dimension)
    log_odds = phi_to_tables(basis, phi, ORTHONORMAL).log_odds(coded(model))
    f = np.column_stack([np.zeros(len(log_odds)), log_odds])
    f -= f.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(np.mean(f**2), phi @ phi, rtol=1e-10)


@given(models(max_inputs=3, max_states=4), seeds, st.data())
def test_the_length_of_every_orthonormal_term_is_the_same_whatever_states_are_called(
    model, seed, data
):
    """Permute the states of all variables, the classes too: a prior on |Φ_S| does not notice."""
    structure, n_states = model.structure, model.n_states
    network = EmbeddedNetwork.random(structure, n_states, random_state=seed)
    shuffle = {x: data.draw(st.permutations(range(r))) for x, r in n_states.items()}
    renamed = {
        x: np.asarray(table)[np.ix_(*(shuffle[a] for a in (*structure.parents(x), x)))]
        for x, table in network.theta.items()
    }
    basis = Basis(structure, Domain(n_states))
    before = theta_to_phi(model, network.theta, ORTHONORMAL)
    after = theta_to_phi(model, renamed, ORTHONORMAL)
    for term in basis.terms:
        place = slice(term.start, term.stop)
        np.testing.assert_allclose(
            np.linalg.norm(after[place]), np.linalg.norm(before[place]), atol=1e-9
        )


# -- errors --------------------------------------------------------------------------------------

NAIVE = Basis(EmbeddedStructure.naive("Y", ["A"]), Domain({"A": 2, "Y": 2}))


@pytest.mark.parametrize(
    ("phi", "message"),
    [
        ([1.0], r"shape \(2,\), got \(1,\)"),
        ([1.0, 2.0, 3.0], r"shape \(2,\), got \(3,\)"),
        ([[1.0, 2.0]], r"shape \(2,\), got \(1, 2\)"),
        (1.0, r"shape \(2,\), got \(\)"),
        ([], r"shape \(2,\), got \(0,\)"),
        ([0.0, np.nan], "nan at 1"),
        ([np.inf, 0.0], "inf at 0"),
        ([-np.inf, 0.0], "-inf at 0"),
        (["a", "b"], "not an array of numbers"),
        ([[1.0], [1.0, 2.0]], "not an array of numbers"),
        ([None, 1.0], "nan at 0"),
        ([{}, 1.0], "not an array of numbers"),
        (np.array([1j, 1.0]), "φ"),
        (None, "shape"),
    ],
    ids=str,
)
def test_a_bad_phi_gets_one_clear_error(phi, message):
    """Wrong length or shape, NaN, infinity, no numbers."""
    with pytest.raises(ParameterError, match=message) as error:
        check_phi(NAIVE, phi)
    assert isinstance(error.value, EBNCError)


def test_phi_is_copied():
    """A later change of the caller's array changes nothing."""
    phi = np.zeros(2)
    checked = check_phi(NAIVE, phi)
    phi[0] = 1.0
    assert checked[0] == 0.0


@pytest.mark.parametrize("n", [40, 60, 1000])
def test_terms_of_a_large_table_are_refused_at_once_with_their_number(n):
    """2^n parameters: named, not listed."""
    structure = EmbeddedStructure.table("Y", [f"X{i}" for i in range(n)])
    basis = Basis(structure, Domain(dict.fromkeys(structure.names, 2)))
    with pytest.raises(TooLargeError, match=r"φ, .* parameters .* would take .*(TiB|EiB|2\^)"):
        basis.terms  # noqa: B018


@pytest.mark.parametrize("largest", [1, 6])
@pytest.mark.parametrize(
    "levels",
    [
        (),
        (Levels(4),),
        (Levels(31, 31),),
        (Levels(3), Levels(5)),
        (Levels(32, 31), Levels(10, 10)),
        (Levels(5, 4), Levels(3), Levels(2, 1), Levels(31, 31)),
    ],
)
def test_products_are_counted_without_making_them(levels, largest):
    """By brute force: all combinations of columns, with the product of their waves."""
    waves = [
        [*range(1, n.n_waves + 1), *[1] * (n.n_columns - n.n_waves)]
        if n.n_ordered
        else [1] * (n.n_states - 1)
        for n in levels
    ]
    chosen = [c for c in product(*waves) if len(levels) < 2 or prod(c) <= largest]
    assert count_products(levels, largest) == len(chosen)
    assert products_of_columns(levels, largest).shape == (len(chosen), len(levels))
