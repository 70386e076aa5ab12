"""η and ψ: turning on one input after the other, any states, any order (eq. 11–16)."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import configurations, posterior
from ebnc import Domain, EmbeddedNetwork, EmbeddedStructure
from ebnc.data.rows import CodedRows
from ebnc.errors import DataError, StructureError, TooLargeError
from ebnc.parameters.eta import eta_to_psi, psi_to_log_odds, theta_to_eta
from strategies import models, seeds


@given(models(min_inputs=1, max_inputs=4, one_state=True), seeds, st.data())
def test_theta_to_eta_to_psi_to_log_odds_is_brute_force_bayes_in_any_order(model, seed, data):
    """Eq. 12 with a random order of the inputs, or the default one."""
    structure, r = model.structure, model.n_states
    network = EmbeddedNetwork.random(structure, r, random_state=seed)
    order = data.draw(st.one_of(st.none(), st.permutations(structure.inputs)))
    rows = CodedRows.from_codes(Domain(r), configurations(structure, r))
    found = psi_to_log_odds(eta_to_psi(theta_to_eta(structure, network.theta, order)), rows)
    p = posterior(structure, r, network.theta)
    np.testing.assert_allclose(found, np.log(p[:, 1:] / p[:, :1]), rtol=0, atol=1e-9)


@given(models(min_inputs=1, max_inputs=4), seeds, st.data())
def test_psi_is_the_change_of_the_log_odds_when_an_input_is_turned_on(model, seed, data):
    """ψ_i(s, 𝐚) = λ(𝐚, s, 0) − λ(𝐚, 0, 0), later inputs at their baseline; λ by brute force."""
    structure, r = model.structure, model.n_states
    network = EmbeddedNetwork.random(structure, r, random_state=seed)
    order = data.draw(st.permutations(structure.inputs))
    psi = eta_to_psi(theta_to_eta(structure, network.theta, order))
    p = posterior(structure, r, network.theta)
    rows = product(*(range(r[x]) for x in structure.inputs))
    log_odds = dict(zip(rows, np.log(p[:, 1:] / p[:, :1]), strict=True))

    def at(states):
        return log_odds[tuple(states.get(x, 0) for x in structure.inputs)]

    np.testing.assert_allclose(psi.baseline, at({}), atol=1e-10)
    assert [turn.variable for turn in psi.turns] == [
        x for x in order if x in structure.markov_blanket
    ]
    for turn in psi.turns:
        before = order[: order.index(turn.variable)]
        assert list(turn.context) == [x for x in before if x in turn.context]
        for a in product(*(range(r[x]) for x in turn.context)):
            context = dict(zip(turn.context, a, strict=True))
            for s in range(1, r[turn.variable]):
                expected = at({**context, turn.variable: s}) - at(context)
                np.testing.assert_allclose(
                    psi.changes[turn.variable][(*a, s - 1)], expected, rtol=0, atol=1e-9
                )


@given(models(min_inputs=1, max_inputs=4), seeds)
def test_eta_has_one_part_for_each_factor_that_holds_the_input(model, seed):
    """Eq. 14–16: Y's own factor, the input's own, and those of its children."""
    structure = model.structure
    network = EmbeddedNetwork.random(structure, model.n_states, random_state=seed)
    eta = theta_to_eta(structure, network.theta)
    for variable, parts in eta.changes.items():
        assert set(parts) == {f.head for f in structure.factors if variable in f.inputs}
    assert set(eta.changes) == set(structure.markov_blanket)


@pytest.mark.parametrize("order", [["A"], ["A", "A"], ["A", "B", "Y"], ["A", "Z"], [1, "A"], "AB!"])
def test_a_wrong_order_is_refused(order):
    """Each input once."""
    structure = EmbeddedStructure.naive("Y", ["A", "B"])
    network = EmbeddedNetwork.random(structure, {"A": 2, "B": 2, "Y": 2})
    with pytest.raises(StructureError, match="order must name each input once"):
        theta_to_eta(structure, network.theta, order)


def test_a_context_that_does_not_fit_is_refused_at_once_with_its_size():
    """A hub turned on last has 2^50 contexts though all tables are pairs; turned on first, none."""
    spokes = [f"X{i}" for i in range(50)]
    structure = EmbeddedStructure.tree("Y", [("H", x) for x in spokes])
    network = EmbeddedNetwork.random(structure, dict.fromkeys(structure.names, 2))
    eta = theta_to_eta(structure, network.theta, [*spokes, "H"])
    with pytest.raises(TooLargeError, match="ψ of 'H' with 50 inputs in context would take"):
        eta_to_psi(eta)
    assert eta_to_psi(theta_to_eta(structure, network.theta, ["H", *spokes])).changes


def test_rows_without_a_column_are_refused():
    """A missing input is named."""
    structure = EmbeddedStructure.naive("Y", ["A", "B"])
    domain = Domain({"A": 2, "B": 2, "Y": 2})
    network = EmbeddedNetwork.random(structure, domain)
    psi = eta_to_psi(theta_to_eta(structure, network.theta))
    with pytest.raises(DataError, match="no column 'B'"):
        psi_to_log_odds(psi, CodedRows.from_codes(domain, {"A": [0, 1]}))
