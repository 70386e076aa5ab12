"""``ebnc network learn|sample|query|predict|marginals|loglik|export``."""

import csv
import io
import json
from types import SimpleNamespace

import jsonschema
import numpy as np
import pandas as pd
import pytest

import ebnc
from cli.command import ebnc as process
from cli.command import refused, succeeded
from cli.conftest import weather
from ebnc.cli.printing import output_schema


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A network of four variables, one of them a number."""
    folder = tmp_path_factory.mktemp("network")
    frame = weather(200)[["outlook", "wind speed", "warm", "play"]]
    frame.to_csv(folder / "data.csv", index=False)
    ran = succeeded(
        "network", "learn", folder / "data.csv", "--out", folder / "net.json", start=process
    )
    return SimpleNamespace(
        ran=ran, frame=frame, csv=folder / "data.csv", path=folder / "net.json", folder=folder
    )


def test_numbers_are_sampled_as_numbers_and_have_a_density(tmp_path):
    frame = weather(120)[["wind speed", "warm"]]
    frame.loc[:9, "wind speed"] = np.nan
    network = ebnc.Network.fit([("warm", "wind speed")], frame, numbers="smooth")
    path = tmp_path / "net.json"
    network.save(path)
    drawn = succeeded("network", "sample", path, "--rows", 40, "--seed", 1)
    rows = list(csv.DictReader(io.StringIO(drawn.text)))
    numbers = [float(row["wind speed"]) for row in rows if row["wind speed"]]
    assert 0 < len(numbers) < 40
    lines = succeeded("network", "sample", path, "--rows", 40, "--seed", 1, "--json").text
    values = [json.loads(line)["row"]["wind speed"] for line in lines.splitlines()]
    assert [x for x in values if x is not None] == numbers
    (tmp_path / "drawn.csv").write_text(drawn.text)
    for data, stdin in ((tmp_path / "drawn.csv", b""), ("-", drawn.out)):
        ran = succeeded("network", "loglik", path, data, "--json", stdin=stdin)
        expected = network.log_likelihood(pd.read_csv(io.BytesIO(drawn.out))).sum()
        assert json.loads(ran.text)["log_likelihood"] == pytest.approx(expected)
    asked = succeeded("network", "query", path, "warm", "-e", f"wind speed={numbers[0]!r}")
    assert "warm" in asked.text


def test_the_network_is_the_one_that_python_learns(learned):
    expected = ebnc.Network.learn(learned.frame)
    found = ebnc.load(learned.path)
    assert set(found.arcs) == set(expected.arcs)
    np.testing.assert_allclose(
        found.log_likelihood(learned.frame), expected.log_likelihood(learned.frame), rtol=1e-9
    )
    for name in learned.frame:
        assert name in learned.ran.text


def test_learning_as_json(learned, tmp_path):
    ran = succeeded(
        *["network", "learn", learned.csv, "--out", tmp_path / "n.json", "--json"],
        *["--local", "table", "--score", "bic", "--max-parents", "1", "--exclude", "warm"],
    )
    printed = json.loads(ran.out)
    jsonschema.validate(printed, output_schema())
    assert {node["kind"] for node in printed["nodes"]} == {"table"}
    assert "warm" not in ebnc.load(tmp_path / "n.json").variables


def test_gaps_are_unknown_entries_on_request(learned, tmp_path):
    frame = learned.frame.astype(object).mask(np.random.default_rng(0).random((200, 4)) < 0.2)
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    out = tmp_path / "net.json"
    succeeded("network", "learn", tmp_path / "gaps.csv", "--gaps", "em", "--out", out, "--quiet")
    expected = ebnc.Network.learn(str(tmp_path / "gaps.csv"), missing="em")
    assert ebnc.load(out) == expected
    assert not any(None in states for states in expected.domain.values())
    arguments = ("network", "learn", tmp_path / "gaps.csv", "--gaps", "no", "--out", "other.json")
    refused(*arguments, words="--gaps must be one of state, refuse, em, got 'no'")


def test_queries_are_those_of_python(learned):
    network = ebnc.load(learned.path)
    ask = ["network", "query", learned.path, "play", "warm", "-e", "outlook=sunny"]
    printed = json.loads(succeeded(*ask, "--evidence", "wind speed=0.3", "--json").out)
    jsonschema.validate(printed, output_schema())
    speed = next(s for s in network.domain["wind speed"] if s.low < 0.3 <= s.high)
    expected = network.query(["play", "warm"], {"outlook": "sunny", "wind speed": speed})
    found = [answer["probability"] for answer in printed["answers"]]
    assert found == expected.probabilities.ravel().tolist()
    assert printed["answers"][0]["states"] == ["no", "False"]
    assert "yes" in succeeded(*ask[:4]).text


@pytest.mark.slow
def test_samples_are_csv_and_the_same_for_the_same_seed(learned, tmp_path):
    sample = ["network", "sample", learned.path, "--rows", "50", "--seed", "3"]
    ran = succeeded(*sample, start=process)
    rows = list(csv.reader(io.StringIO(ran.text)))
    assert rows[0] == list(learned.frame)
    assert len(rows) == 51
    assert {row[3] for row in rows[1:]} == {"no", "yes"}
    succeeded(*sample, "--out", tmp_path / "s.csv")
    assert (tmp_path / "s.csv").read_bytes() == ran.out
    assert succeeded(*sample[:-1], "4").out != ran.out
    printed = [json.loads(line) for line in succeeded(*sample, "--json").text.splitlines()]
    for line in printed:
        jsonschema.validate(line, output_schema())
    assert [[value or "" for value in line["row"].values()] for line in printed] == rows[1:]
    assert any(line["row"]["outlook"] is None for line in printed)


def test_predictions_of_any_column_are_those_of_python(learned, tmp_path):
    network, validator = ebnc.load(learned.path), jsonschema.Draft202012Validator(output_schema())
    for target in learned.frame:
        rows = learned.frame.drop(columns=target)
        ask = [
            "network",
            "predict",
            learned.path,
            learned.csv,
            "--target",
            target,
            "--digits",
            "17",
        ]
        header, *lines = csv.reader(io.StringIO(succeeded(*ask).text))
        found = np.array([line[1:] for line in lines], dtype=float)
        np.testing.assert_array_equal(found, network.predict_proba(target, rows))
        states = ["" if state is None else str(state) for state in network.domain[target]]
        assert header == ["prediction", *(f"p({state})" for state in states)]
        assert [line[0] for line in lines] == [str(x) for x in network.predict(target, rows)]
        for line in succeeded(*ask, "--json").text.splitlines()[:5]:
            validator.validate(json.loads(line))
    few = learned.frame[["warm", "play"]].copy()
    few.loc[:3, "play"] = "new"
    few.to_csv(tmp_path / "few.csv", index=False)
    ran = succeeded(*ask[:3], "-", "--target", "outlook", stdin=(tmp_path / "few.csv").read_bytes())
    assert "count as unknown: 'play' (4)" in ran.err


def test_predicted_numbers_have_intervals(tmp_path):
    frame = weather(150)[["wind speed", "warm"]]
    network = ebnc.Network.fit([("warm", "wind speed")], frame, numbers="smooth")
    path, data = tmp_path / "net.json", tmp_path / "data.csv"
    network.save(path)
    frame[["warm"]].to_csv(data, index=False)
    ask = ["network", "predict", path, data, "--target", "wind speed", "--level", 0.8]
    ask += ["--digits", "17"]
    header, *lines = csv.reader(io.StringIO(succeeded(*ask).text))
    assert header == ["prediction", "low", "high"]
    found = np.array(lines, dtype=float)
    np.testing.assert_array_equal(found[:, 0], network.predict("wind speed", frame))
    ends = network.predict_quantiles("wind speed", frame, [0.1, 0.9])
    np.testing.assert_allclose(found[:, 1:], ends, rtol=1e-12)
    first = json.loads(succeeded(*ask, "--json").text.splitlines()[0])
    jsonschema.validate(first, output_schema())
    assert [first["prediction"], *first["interval"]] == found[0].tolist()


def test_marginals_are_those_of_python(learned):
    network = ebnc.load(learned.path)
    ask = ["network", "marginals", learned.path, "-e", "outlook=sunny"]
    printed = json.loads(succeeded(*ask, "--json").out)
    jsonschema.validate(printed, output_schema())
    expected = network.marginals({"outlook": "sunny"})
    found = [answer["probability"] for answer in printed["answers"]]
    assert found == [p for each in expected.values() for p in each.probabilities.tolist()]
    assert {answer["variable"] for answer in printed["answers"]} == set(expected)
    text = succeeded(*ask).text
    assert "yes" in text
    assert "low" not in text
    sampled = succeeded(*ask, "--method", "weighting").text
    assert "low" in sampled
    estimates = json.loads(succeeded(*ask, "--method", "weighting", "--json").out)["answers"]
    assert all(each["low"] < each["high"] for each in estimates)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["marginals", "--method", "guess"], "--method takes one of"),
        (["marginals", "-e", "Q=1"], "NAME is a variable of the network"),
        (["predict", "DATA", "--target", "Q"], "no node 'Q'"),
        (["predict", "DATA", "--target", "play", "--level", "90"], "--level must lie"),
        (["predict", "DATA"], "--target"),
        (["predict", "OTHER", "--target", "play"], "no variable of the network besides"),
    ],
)
def test_bad_requests_for_predictions_and_marginals(learned, tmp_path, arguments, words):
    (tmp_path / "other.csv").write_text("id,number\n1,2\n")
    places = {"DATA": learned.csv, "OTHER": tmp_path / "other.csv"}
    verb, *rest = [places.get(each, each) for each in arguments]
    refused("network", verb, learned.path, *rest, words=words)


def test_log_likelihood_of_rows(learned, tmp_path):
    ask = ["network", "loglik", learned.path, learned.csv]
    printed = json.loads(succeeded(*ask, "--json", "--out", tmp_path / "l.csv").out)
    jsonschema.validate(printed, output_schema())
    expected = ebnc.load(learned.path).log_likelihood(learned.frame)
    assert printed["log_likelihood"] == pytest.approx(expected.sum(), rel=1e-12)
    lines = (tmp_path / "l.csv").read_text().splitlines()
    assert lines[0] == "log_likelihood"
    np.testing.assert_allclose(np.array(lines[1:], float), expected, rtol=1e-12)
    piped = succeeded(*ask[:3], "-", stdin=learned.csv.read_bytes())
    assert "200" in piped.text


def test_rows_with_too_many_gaps_are_refused_or_estimated(tmp_path):
    names = [f"x{i}" for i in range(19)]
    domain = dict.fromkeys([*names, "y"], 2)
    y = ebnc.EBNC(ebnc.EmbeddedStructure.naive("y", names), domain, [0.1] * 20)
    coins = [ebnc.Table(x, [], domain, [0.5, 0.5]) for x in names]
    ebnc.Network([*coins, y]).save(tmp_path / "n.json")
    (tmp_path / "d.csv").write_text(",".join([*names, "y"]) + "\n" + "," * 19 + "1\n")
    ask = ["network", "loglik", tmp_path / "n.json", tmp_path / "d.csv"]
    refused(*ask, words="--samples")
    ran = succeeded(*ask, "--samples", "1000", start=process)
    assert "ebnc: warning: log p of 1 of 1 rows is estimated" in ran.err


def test_impossible_rows_have_no_logarithm_in_json(tmp_path):
    never = ebnc.Network([ebnc.Table("a", [], {"a": ["no", "yes"]}, [1.0, 0.0])])
    never.save(tmp_path / "n.json")
    (tmp_path / "d.csv").write_text("a\nno\nyes\n")
    ask = ["network", "loglik", tmp_path / "n.json", tmp_path / "d.csv"]
    printed = json.loads(succeeded(*ask, "--json").out)
    jsonschema.validate(printed, output_schema())
    assert printed["log_likelihood"] is None
    assert "-inf" in succeeded(*ask).text


def test_export_says_what_is_lost_and_reads_back(learned, tmp_path):
    ran = succeeded("network", "export", learned.path, "--out", tmp_path / "net.bif")
    assert ran.out == b""
    assert all(line.startswith("ebnc: note: ") for line in ran.err.splitlines())
    told = succeeded(
        "network", "export", learned.path, "-o", tmp_path / "net.bif", "--force", "--json"
    )
    jsonschema.validate(json.loads(told.out), output_schema())
    assert [f"ebnc: note: {x}" for x in json.loads(told.out)["lost"]] == ran.err.splitlines()
    asked = succeeded("network", "query", tmp_path / "net.bif", "play", "--json")
    direct = succeeded("network", "query", learned.path, "play", "--json")
    for one, other in zip(*(json.loads(r.out)["answers"] for r in (asked, direct)), strict=True):
        assert one["probability"] == pytest.approx(other["probability"], abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["query", "NET", "nothing"], "no node 'nothing'"),
        (["query", "NET", "plai"], "no node 'plai'; did you mean 'play'? it has "),
        (["query", "NET", "play", "-e", "outlook=hail"], "'hail' is not a state"),
        (["query", "NET", "play", "-e", "hail"], "NAME=STATE"),
        (["query", "NET", "play", "-e", "warm=True", "-e", "warm=False"], "twice"),
        (["query", "NET", "play", "--method", "guess"], "--method"),
        (["query", "MODEL", "play"], "not a network"),
        (["query", "missing.json", "play"], "missing.json"),
        (["sample", "NET", "--rows", "-1"], "--rows"),
        (["loglik", "NET", "missing.csv"], "missing.csv"),
        (["export", "NET", "--out", "net.xml"], "must end in .bif"),
        (["learn", "missing.csv", "--out", "x.json"], "missing.csv"),
        (["learn", "DATA", "--out", "x.json", "--local", "forest"], "forest"),
        (["learn", "DATA", "--out", "x.json", "--exclude", "nothing"], "no column 'nothing'"),
    ],
)
def test_wrong_questions_are_refused(learned, shared, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    given = {"NET": learned.path, "MODEL": shared.model, "DATA": learned.csv}
    refused("network", *(given.get(word, word) for word in arguments), words=words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_network_has_a_report(learned, tmp_path):
    """From its file, with what was found while learning; from BIF, with what is left."""
    page = tmp_path / "net.html"
    ran = succeeded("report", learned.path, "-o", page, "--json", start=process)
    printed = json.loads(ran.out)
    jsonschema.validate(printed, output_schema())
    html = page.read_text()
    assert "On the 200 rows it was learned from" in html
    assert 'id="search"' in html
    assert f"ebnc network learn {learned.csv}" in html
    piped = succeeded("report", "-", "-o", "-", stdin=learned.path.read_bytes(), start=process)
    assert piped.out == page.read_bytes()
    succeeded("network", "export", learned.path, "--out", tmp_path / "net.bif")
    succeeded("report", tmp_path / "net.bif", "-o", tmp_path / "bif.html")
    assert "no data were given" in (tmp_path / "bif.html").read_text()


def test_learning_writes_the_report_too(learned, tmp_path):
    files = ["--out", tmp_path / "n.json", "--report", tmp_path / "n.html"]
    ask = ["network", "learn", learned.csv, *files]
    printed = json.loads(succeeded(*ask, "--json", "--local", "table").out)
    jsonschema.validate(printed, output_schema())
    assert printed["report"] == str(tmp_path / "n.html")
    again = succeeded("report", tmp_path / "n.json", "-o", "-")
    assert again.out == (tmp_path / "n.html").read_bytes()
    refused(*ask[:-1], "-", "--force", words="a file of its own")
    (tmp_path / "n.json").unlink()
    refused(*ask, words=["n.html", "--force"])
    assert not (tmp_path / "n.json").exists()


def test_findings_that_are_not_ours_are_refused(learned, tmp_path):
    held = json.loads(learned.path.read_text())
    held["findings"]["report"]["scores"] = [1.0]
    (tmp_path / "n.json").write_text(json.dumps(held))
    refused("report", tmp_path / "n.json", "-o", tmp_path / "r.html", words="findings.scores")
    assert not (tmp_path / "r.html").exists()


def test_a_network_does_not_predict_one_variable(learned):
    refused("predict", learned.path, learned.csv, words="does not predict one variable")


def test_numbers_and_kinds_of_variables(learned):
    """Quantiles by default; fine bins and orders as the options say."""
    assert learned_kinds(learned.path) == {"wind speed": ("nominal", 5), "play": ("nominal", 2)}
    options = ["--numbers", "smooth", "--kind", "play=ordered", "--local", "table"]
    path = learned.folder / "smooth.json"
    succeeded("network", "learn", learned.csv, *options, "--out", path)
    assert learned_kinds(path) == {"wind speed": ("numeric", 31), "play": ("ordered", 2)}


def learned_kinds(path):
    domain = ebnc.load(path).domain
    return {x: (domain.kind(x), domain.n_states(x)) for x in ("wind speed", "play")}


def test_options_of_the_search(learned, tmp_path):
    """Tiers, arcs, an order, a checkpoint: as in Python."""
    arcs = ["--require-arc", "warm,wind speed", "--forbid-arc", "outlook,play", "--n-jobs", "1"]
    options = ["--tier", "warm,outlook", "--tier", "wind speed,play", "--max-parents", "2"]
    options += ["--checkpoint", tmp_path / "c.json", "-o", tmp_path / "n.json"]
    data = pd.read_csv(learned.csv)[["outlook", "warm", "wind speed", "play"]]
    data.to_csv(tmp_path / "d.csv", index=False)
    succeeded("network", "learn", tmp_path / "d.csv", *arcs, *options, "-q")
    found = ebnc.load(tmp_path / "n.json")
    assert ("warm", "wind speed") in found.arcs
    assert ("outlook", "play") not in found.arcs
    assert not any(a in ("wind speed", "play") and b in ("warm", "outlook") for a, b in found.arcs)
    learn = ["network", "learn", tmp_path / "d.csv", "-o", tmp_path / "o.json"]
    succeeded(*learn, "--regime", "dense", "--order", "play,outlook,warm,wind speed", "-q")
    dense = ebnc.load(tmp_path / "o.json")
    assert set(dense.parents("wind speed")) == {"play", "outlook", "warm"}
    refused(*learn, "--force", "--regime", "thick", words="regime must be one of")
    refused(*learn, "--force", "--tier", "play,wam", words="wam")
