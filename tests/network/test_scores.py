"""A score entered in one table works wherever scores do."""

import json
import math

import numpy as np
import pandas as pd
import pytest

import ebnc
from akaike import AIC
from cli.command import succeeded
from ebnc.report import render_html, summarise_network
from ebnc.score.criterion import CRITERIA


@pytest.fixture
def data(monkeypatch):
    monkeypatch.setitem(CRITERIA, "aic", lambda _: AIC())
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 500))
    c = (a | b) ^ (rng.random(500) < 0.1)
    return pd.DataFrame({"a": a, "b": b, "c": c.astype(int), "d": rng.integers(0, 3, 500)})


def frequencies(data, name, parents):
    """Σ N_jk log N_jk/N_j and the dimension of a full table, by pandas."""
    cells = data.groupby([*parents, name]).size()
    totals = data.groupby(parents)[name].transform("size") if parents else pd.Series(len(data))
    rows = data.groupby([*parents, name])[name].transform("size") / totals.to_numpy()
    n_states = data[name].nunique()
    assert len(cells) == np.prod([data[x].nunique() for x in (*parents, name)])
    return float(np.log(rows).sum()), len(cells) // n_states * (n_states - 1)


@pytest.mark.parametrize("kinds", ["table", ("ebnc", "table", "tree", "graph", "noisy-max")])
def test_a_score_in_the_table_is_maximised_saved_and_reported(data, kinds, tmp_path):
    options = {"local": kinds, "structure_prior": False, "tiers": [["a", "b"], ["c"]]}
    learned = ebnc.Network.learn(data, score="aic", **options)
    assert set(learned.parents("c")) == {"a", "b"}
    for name, score in learned.scores.items():
        if learned.local(name).kind == "table":
            likelihood, dimension = frequencies(data, name, list(learned.parents(name)))
            assert score == pytest.approx(likelihood - dimension)
    again = learned.score(data, "aic")
    if kinds == "table":
        assert again.total == pytest.approx(learned.learned_score)
    assert learned.learned_score > ebnc.Network.learn(data, score="bic", **options).learned_score
    learned.save(tmp_path / "model.json")
    assert ebnc.load(tmp_path / "model.json") == learned
    page = render_html(summarise_network(learned, data))
    assert f"{learned.learned_score:,.1f}".replace("-", "−").replace(",", "") in page


def test_a_score_in_the_table_works_in_commands(data, tmp_path):
    data.to_csv(tmp_path / "data.csv", index=False)
    options = ["--score", "aic", "--json", "--force", "--out", tmp_path / "model.json"]
    said = succeeded("network", "learn", tmp_path / "data.csv", *options)
    assert math.isfinite(json.loads(said.text)["score"])
    succeeded("learn", tmp_path / "data.csv", "-t", "c", *options)


def test_the_help_names_every_score():
    for command in (["network", "learn"], ["learn"]):
        shown = succeeded(*command, "--help").text
        assert f"[{'|'.join(CRITERIA)}]" in shown
