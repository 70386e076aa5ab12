"""Part C on a small network made here: its divergences by brute force, its order, its page."""

import gzip
import xml.etree.ElementTree as ET
from itertools import permutations

import numpy as np
import pytest
from study.local import __main__ as part_c
from study.local import report
from study.local.learners import KINDS, PEERS, learn
from study.local.measure import Cell, balanced, cells
from study.local.truth import Truth, read_truth

import ebnc
from network.networks import everything, joint_table, random_network


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A network of five nodes, as a gzipped BIF file."""
    path = tmp_path_factory.mktemp("networks")
    random_network(3, n_nodes=5, kinds=("table", "noisy-max")).write_bif(path / "small.bif")
    (path / "small.bif.gz").write_bytes(gzip.compress((path / "small.bif").read_bytes()))
    return path


@pytest.fixture(scope="module")
def results(folder):
    """All kinds with given arcs, some with searched ones."""
    path = folder / "results.csv"
    options = ["--data", str(folder), "--networks", "small", "--results", str(path)]
    options += ["--sizes", "100,400"]
    part_c.main([*options, "--structures", "given", "--repeats", "0"])
    some = ["--kinds", "table,ebnc,pyagrum", "--structures", "searched", "--repeats", "0,1"]
    part_c.main([*options, *some])
    return path


def divergence(truth, learned):
    """Σ p log p/q over all configurations."""
    p = joint_table(truth).ravel()
    q = np.exp(learned.log_likelihood(everything(truth)))
    return float(p[p > 0] @ np.log(p[p > 0] / q[p > 0]))


@pytest.mark.parametrize("kind", ["tree", "noisy-max", "ebnc"])
def test_divergence_with_given_arcs_is_exact(folder, kind):
    truth = read_truth(folder, "small")
    learned = learn(truth.rows(300, 0), truth.network, "given", kind)
    assert set(learned.arcs) <= set(truth.network.arcs)
    found = truth.divergence(learned)
    assert found.standard_error == 0
    assert found.value == pytest.approx(divergence(truth.network, learned), rel=1e-5)
    sampled = truth.sampled_divergence(learned)
    assert abs(sampled.value - found.value) < 5 * sampled.standard_error


def test_divergence_with_other_arcs_is_sampled():
    network = random_network(5, n_nodes=5, kinds=("table",))
    truth = Truth(network)
    alone = ebnc.Network(
        ebnc.Table(x, [], network.domain, network.query(x).probabilities) for x in network
    )
    tail, head = next(pair for pair in permutations(network, 2) if pair not in network.arcs)
    other = network.query([tail, head]).probabilities
    table = ebnc.Table(head, [tail], network.domain, other / other.sum(axis=1, keepdims=True))
    wrong = ebnc.Network([*(alone[x] for x in network if x != head), table])
    found = truth.divergence(wrong)
    assert found.standard_error > 0
    assert abs(found.value - divergence(network, wrong)) < 5 * found.standard_error


def test_smoke_every_kind_is_measured_once(results, folder, capsys):
    frame = cells(results).frame()
    given = frame[frame["structure"] == "given"]
    assert set(given["kind"]) == set(KINDS)
    assert (given["standard_error"] == 0).all()
    assert (frame["divergence"] > -3 * frame["standard_error"]).all()
    wide = given.pivot_table(index="kind", columns="rows", values="divergence")
    assert wide[400].mean() < wide[100].mean()
    assert set(frame["kind"]) == {*KINDS, *PEERS}
    options = ["--data", str(folder), "--networks", "small", "--results", str(results)]
    part_c.main([*options, "--sizes", "100", "--structures", "given", "--repeats", "0"])
    assert capsys.readouterr().out == ""


def test_any_line_is_made_again_by_its_own_options(results, folder, capsys):
    before = cells(results).frame().sort_values(list(cells(results).keys)).reset_index(drop=True)
    options = Cell("small", "searched", "ebnc", 400, 1).options().split()
    part_c.main(["--data", str(folder), "--results", str(results), *options])
    assert capsys.readouterr().out.rstrip().endswith(" ".join(options))
    after = cells(results).frame().sort_values(list(cells(results).keys)).reset_index(drop=True)
    columns = ["divergence", "dimension", "arcs", "missing", "extra", "kinds"]
    assert after[columns].equals(before[columns])


def test_the_order_is_balanced_wherever_it_is_stopped():
    order = list(
        balanced(["a", "b"], ["given", "searched"], ["table", "pyagrum"], [4000, 250], [1, 0])
    )
    assert order[0] == Cell("a", "given", "table", 250, 0)
    assert [cell.rows for cell in order] == sorted(cell.rows for cell in order)
    small = [cell.repeat for cell in order if cell.rows == 250]
    assert small == sorted(small)
    assert not any(cell.structure == "given" and cell.kind == "pyagrum" for cell in order)
    assert len(order) == 2 * 2 * 2 * 3


def test_page_and_figures_are_made_of_the_results(results, tmp_path):
    report.main(["--results", str(results), "--out", str(tmp_path)])
    text = (tmp_path / "local.md").read_text()
    frame = cells(results).frame()
    table = report.means(frame, "given")
    best = table.loc[("small", 100)].min()
    assert f"**{best:.3f}**" in text
    assert "100 rows" in text
    assert "32000 rows: nothing" in text
    for structure in ("given", "searched"):
        for name in (f"local-{structure}.svg", f"local-{structure}-parameters.svg"):
            assert name in text
            ET.parse(tmp_path / name)
    assert report.repeats(frame, "searched").to_dict() == {("small", 100): 2, ("small", 400): 2}
    again = report.page(frame)
    assert again == text
    names = report.winners(table)[("small", 100)]
    assert (
        table.loc[("small", 100), names[0]] == table.loc[("small", 100), list(report.SINGLE)].min()
    )
    assert report.ratios(table)["table"].tolist() == [1.0, 1.0]
