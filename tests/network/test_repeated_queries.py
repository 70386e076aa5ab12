"""A network remembers tables and programs of queries; answers do not depend on what was asked."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import ebnc
from ebnc.data.rows import all_configurations
from ebnc.errors import DataError
from ebnc.network.inference import elimination
from network.networks import joint_table, random_network


def random_questions(network, n, seed=0):
    """Variables and evidence; sets of evidence repeat with other states."""
    rng = np.random.default_rng(seed)
    names = np.array(network.variables)
    for _ in range(n):
        chosen = rng.permutation(names)[: rng.integers(1, 5)].tolist()
        n_asked = int(rng.integers(1, min(2, len(chosen)) + 1))
        evidence = {x: str(rng.choice(network.domain[x])) for x in chosen[n_asked:]}
        yield chosen[:n_asked], evidence


def brute_force(table, network, variables, evidence):
    """p(variables | evidence) and p(evidence) from the joint table."""
    names = network.variables
    for name, state in evidence.items():
        code = network.domain.codes(name)[state]
        table = np.take(table, [code], axis=names.index(name))
    kept = [x for x in names if x in variables]
    p = table.sum(axis=tuple(i for i, x in enumerate(names) if x not in variables))
    return np.transpose(p, [kept.index(x) for x in variables]) / table.sum(), table.sum()


@pytest.mark.parametrize("node_cells", [elimination.NODE_CELLS, 4, 0])
@pytest.mark.parametrize("seed", range(3))
def test_answers_are_right_and_do_not_depend_on_earlier_ones(seed, node_cells, monkeypatch):
    """Also where tables of nodes are too large to be remembered."""
    monkeypatch.setattr(elimination, "NODE_CELLS", node_cells)
    network = random_network(seed, n_nodes=5)
    table, first = joint_table(network), []
    for variables, evidence in random_questions(network, 25, seed):
        found = network.query(variables, evidence, method="exact")
        p, p_evidence = brute_force(table, network, variables, evidence)
        np.testing.assert_allclose(found.probabilities, p, rtol=1e-10)
        assert found.log_evidence == pytest.approx(np.log(p_evidence), abs=1e-10)
        first.append(found.probabilities.tolist())
    fresh = ebnc.Network(network.values())
    asked = [*random_questions(network, 25, seed)]
    for i in reversed(range(25)):
        assert fresh.query(*asked[i], method="exact").probabilities.tolist() == first[i]


def test_threads_share_what_is_remembered():
    network = random_network(4, n_nodes=7)
    asked = [*random_questions(network, 200)]
    alone = [network.query(*question).probabilities.tolist() for question in asked]
    fresh = ebnc.Network(network.values())
    with ThreadPoolExecutor(8) as pool:
        together = pool.map(lambda question: fresh.query(*question).probabilities.tolist(), asked)
        assert [*together] == alone


def test_what_is_remembered_is_bounded_and_not_part_of_the_network():
    network = random_network(5, n_nodes=8)
    untouched = copy.deepcopy(network)
    for question in random_questions(network, 100):
        network.query(*question)
    assert network._eliminator._program.cache_info().currsize <= elimination.N_PROGRAMS
    assert network == untouched
    assert hash(network) == hash(untouched)
    assert not any(name in pickle.dumps(network) for name in (b"Eliminator", b"RowCoder"))
    for again in (pickle.loads(pickle.dumps(network)), copy.deepcopy(network)):
        assert again == network
        name = network.variables[0]
        assert again.query(name).to_dict() == network.query(name).to_dict()


@pytest.mark.parametrize("seed", range(3))
def test_log_likelihood_of_one_row(seed):
    """As a frame, a mapping or codes, against the joint table."""
    network = random_network(seed, n_nodes=5)
    rows = all_configurations(network.domain, network.variables)
    every = pd.DataFrame(
        {x: np.array(network.domain[x])[rows.column(x)] for x in network.variables}
    )
    table = joint_table(network)
    for i in range(0, len(every), 7):
        row = every.iloc[[i]]
        for data in (row, row.to_dict("list"), row.astype("category")):
            np.testing.assert_allclose(
                np.exp(network.log_likelihood(data)), table.ravel()[i], rtol=1e-10
            )
    hidden = every.iloc[[0]].astype(object)
    hidden.iloc[0, 2] = None
    of_rest = table.sum(axis=2).ravel()[0]
    assert np.exp(network.log_likelihood(hidden))[0] == pytest.approx(of_rest, rel=1e-10)
    with pytest.raises(DataError, match="'nothing' in column"):
        network.log_likelihood(
            {**every.iloc[[0]].to_dict("list"), network.variables[0]: ["nothing"]}
        )


def test_numbers_are_evidence_by_their_interval():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    data = pd.DataFrame({"x": x, "y": np.where(x + rng.normal(size=400) > 0, "up", "down")})
    network = ebnc.Network.learn(data)
    answers = [network.query("y", {"x": value}) for value in (1.5, np.float32(1.5), "1.5")]
    interval = next(s for s in network.domain["x"] if s.low < 1.5 <= s.high)
    of_interval = network.query("y", {"x": interval}).to_dict()
    assert all(answer.to_dict() == of_interval for answer in answers)
    with pytest.raises(DataError, match="'x'"):
        network.query("y", {"x": "high"})
