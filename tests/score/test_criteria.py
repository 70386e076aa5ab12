"""A score entered in one table works wherever scores do: Python, files, reports, commands."""

import math
from itertools import chain, combinations

import numpy as np
import pandas as pd
import pytest

import ebnc
from akaike import AIC
from cli.command import succeeded
from ebnc.formats.native import schema
from ebnc.report import render_html, summarise, summarise_network
from ebnc.score.criterion import CRITERIA


@pytest.fixture
def data(monkeypatch):
    monkeypatch.setitem(CRITERIA, "aic", lambda _prior: AIC())
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 2, (3, 300))
    y = (a + b + (rng.random(300) < 0.15)) % 2
    return pd.DataFrame({"a": a, "b": b, "c": c, "y": y})


def aic_of_table(data, target, parents):
    """L(θ̂) − d, from counts of pandas."""
    parents = list(parents)
    counts = data.value_counts([*parents, target]).to_numpy()
    within = data.groupby([*parents, target]).size()
    totals = within.groupby(level=parents).transform("sum") if parents else within.sum()
    assert len(counts) == 2 ** (len(parents) + 1)
    return float((within * np.log(within / totals)).sum()) - 2 ** len(parents)


@pytest.mark.parametrize("local", ["table", "ebnc"])
def test_a_network_maximises_a_score_in_the_table(data, local, tmp_path):
    tiers = [["a", "b", "c"], ["y"]]
    learned = ebnc.Network.learn(
        data, score="aic", local=local, tiers=tiers, structure_prior=False, required=[("a", "y")]
    )
    subsets = chain.from_iterable(combinations(["b", "c"], k) for k in range(3))
    best = max((aic_of_table(data, "y", ("a", *subset)), subset) for subset in subsets)
    if local == "table":
        assert set(learned.parents("y")) == {"a", *best[1]}
        assert learned.scores["y"] == pytest.approx(best[0], abs=1e-8)
    else:  # with both inputs and their interaction an EBNC is the full table
        assert learned.scores["y"] >= best[0] - 1e-6
    aic = learned.score(data, "aic").by_node
    assert all(math.isclose(aic[x], learned.scores[x], abs_tol=1e-6) for x in learned)
    learned.save(tmp_path / "model.json")
    assert ebnc.load(tmp_path / "model.json") == learned
    assert "y" in render_html(summarise_network(learned, data))


def test_a_classifier_maximises_a_score_in_the_table(data, tmp_path):
    inputs, y = data.drop(columns="y"), data["y"]
    model = ebnc.EBNCClassifier(criterion="aic").fit(inputs, y)
    assert {"a", "b"} <= set(model.selected_features_)
    model.save(tmp_path / "model.json")
    read = ebnc.load(tmp_path / "model.json")
    assert read.criterion == "aic"
    np.testing.assert_array_equal(read.predict_proba(inputs), model.predict_proba(inputs))
    assert "by AIC" in render_html(summarise(model, inputs, y, n_folds=2))


def test_commands_know_a_score_in_the_table(data, tmp_path):
    source, model, page = (tmp_path / x for x in ("data.csv", "model.json", "page.html"))
    data.to_csv(source, index=False)
    options = ["--score", "aic", "--out", model, "--report", page, "--force"]
    succeeded("learn", source, "--target", "y", "--folds", "2", *options)
    assert ebnc.load(model).criterion == "aic"
    assert "by AIC" in page.read_text(encoding="utf-8")
    succeeded("predict", model, source)
    succeeded("network", "learn", source, *options)
    succeeded("network", "query", model, "y")


@pytest.mark.parametrize("command", [("learn",), ("network", "learn")])
def test_the_schema_and_the_help_name_every_score(command):
    parameters = schema()["$defs"]["classifier"]["properties"]["parameters"]
    assert set(parameters["properties"]["score"]["enum"]) == set(CRITERIA)
    shown = " ".join(succeeded(*command, "--help").text.split())
    assert all(name in shown for name in CRITERIA)
