"""The examples of docs/guides/other-libraries.md that import libraries with their own warnings."""

import re
from pathlib import Path

import numpy as np
import pytest

import ebnc
from network.networks import random_network

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "other-libraries.md"


def blocks():
    """The blocks of Python, but for those with prompts, which run as doctests."""
    return re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.usefixtures("without_warnings")
def test_a_search_of_pgmpy_with_the_evidence_of_ebncs():
    (code,) = [block for block in blocks() if "EBNCEvidence" in block]
    names = {}
    exec(code, names)
    found, data = names["found"], names["data"]
    assert set(found.arcs) == {(f"cause{i}", "effect") for i in range(4)}
    score = names["EBNCEvidence"](data)
    arcs = [(x, "effect") for x in data.columns[:4]]
    expected = ebnc.Network.fit(arcs, data)
    total = sum(score.local_score(x, tuple(expected.parents(x))) for x in data.columns)
    assert total == pytest.approx(expected.log_evidence, abs=1e-6)


@pytest.mark.parametrize("ending", ["bifxml", "net", "dsl"])
def test_other_formats_through_pyagrum(ending, tmp_path, gum, monkeypatch):
    network = random_network(2, n_nodes=6)
    (code,) = [block for block in blocks() if "saveBN" in block]
    names = {"network": network, "ebnc": ebnc}
    monkeypatch.chdir(tmp_path)
    exec(code.replace("network.bifxml", f"network.{ending}"), names)
    rows = network.sample(30, random_state=0)
    np.testing.assert_allclose(
        names["network"].log_likelihood(rows), network.log_likelihood(rows), atol=1e-4
    )
