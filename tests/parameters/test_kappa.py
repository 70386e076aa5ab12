"""κ: log ratios of θ, eq. 7."""

from itertools import product

import numpy as np
from hypothesis import given

from brute_force import configurations, posterior
from ebnc import Domain, EmbeddedNetwork, EmbeddedStructure
from ebnc.data.rows import CodedRows
from ebnc.parameters.kappa import kappa_to_tables, theta_to_kappa
from strategies import models, seeds


@given(models(min_inputs=1, max_inputs=4, one_state=True), seeds)
def test_kappa_is_the_log_ratio_cell_by_cell(model, seed):
    """κ(y^k|pa) and κ(x|a, k) looked up in θ one at a time."""
    structure, r = model.structure, model.n_states
    network = EmbeddedNetwork.random(structure, r, random_state=seed)
    kappa = theta_to_kappa(structure, network.theta)
    assert set(kappa) == {factor.head for factor in structure.factors}
    for factor in structure.factors:
        axes = (*structure.parents(factor.head), factor.head)
        assert kappa[factor.head].shape == (*(r[x] for x in factor.inputs), r["Y"] - 1)
        for states in product(*(range(r[x]) for x in factor.inputs)):
            at = dict(zip(factor.inputs, states, strict=True))
            logs = [
                np.log(network.theta[factor.head][tuple({**at, "Y": y}[x] for x in axes)])
                for y in range(r["Y"])
            ]
            np.testing.assert_allclose(
                kappa[factor.head][states], np.array(logs[1:]) - logs[0], atol=1e-12
            )


@given(models(min_inputs=1, max_inputs=4, one_state=True), seeds)
def test_the_sum_of_kappa_is_the_log_odds(model, seed):
    """κ → λ against Bayes' rule on the joint."""
    structure, r = model.structure, model.n_states
    network = EmbeddedNetwork.random(structure, r, random_state=seed)
    rows = CodedRows.from_codes(Domain(r), configurations(structure, r))
    found = kappa_to_tables(structure, theta_to_kappa(structure, network.theta)).log_odds(rows)
    p = posterior(structure, r, network.theta)
    np.testing.assert_allclose(found, np.log(p[:, 1:] / p[:, :1]), rtol=0, atol=1e-10)


def test_parents_may_stand_in_any_order_with_the_target_among_them():
    """[X2|Y:X1] and [X2|X1:Y] differ in the axes of θ only."""
    generator = np.random.default_rng(0)
    table = generator.dirichlet(np.ones(4), size=(3, 2))  # axes (X1, Y)
    first = EmbeddedStructure.from_string("[X1][Y][X2|X1:Y]", target="Y")
    second = EmbeddedStructure.from_string("[X1][Y][X2|Y:X1]", target="Y")
    shared = {"X1": np.ones(3) / 3, "Y": [0.4, 0.6]}
    a = theta_to_kappa(first, {**shared, "X2": table})
    b = theta_to_kappa(second, {**shared, "X2": np.swapaxes(table, 0, 1)})
    np.testing.assert_array_equal(a["X2"], b["X2"])
