"""Summaries: what they say against the model and scikit-learn; to JSON and back."""

import copy
import json

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve
from sklearn.metrics import (
    accuracy_score,
    classification_report,
    confusion_matrix,
    log_loss,
    roc_auc_score,
    roc_curve,
)
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from ebnc import EBNC, EBNCClassifier, EmbeddedStructure, fit
from ebnc.errors import DataError, FormatError
from ebnc.formats.native import read_model, save
from ebnc.parameters.phi import Basis
from ebnc.report import Summary, render_html, summarise, with_panel
from ebnc.report.held_out import LabelledRows, area_under_roc, held_out, wilson_interval
from ebnc.report.performance import class_rows
from problems import domain_of, random_data, structure_named
from report_problems import hostile, many_classes, two_classes


def summary_of(problem, **options):
    return summarise(problem.model, problem.x, problem.y, target=problem.target, **options)


@pytest.mark.slow
def test_held_out_numbers_are_those_of_scikit_learn():
    """The same folds by ``cross_val_predict``, the same measures by ``sklearn.metrics``."""
    problem = many_classes()
    summary = summary_of(problem, n_folds=4, random_state=7)
    held = summary.held_out
    folds = StratifiedKFold(4, shuffle=True, random_state=7)
    p = cross_val_predict(EBNCClassifier(), problem.x, problem.y, cv=folds, method="predict_proba")
    y = problem.y.to_numpy()
    assert held.log_loss == pytest.approx(log_loss(y, p), abs=1e-12)
    assert held.accuracy == pytest.approx(accuracy_score(y, p.argmax(axis=1)))
    assert held.brier == pytest.approx(((p - np.eye(3)[y]) ** 2).sum(axis=1).mean())
    np.testing.assert_array_equal(held.confusion, confusion_matrix(y, p.argmax(axis=1)))
    for k, curve in enumerate(held.reliability):
        observed, predicted = calibration_curve(y == k, p[:, k], n_bins=10)
        np.testing.assert_allclose([b.observed for b in curve], observed, atol=1e-12)
        np.testing.assert_allclose([b.predicted for b in curve], predicted, atol=1e-12)
    aucs = [roc_auc_score(y == k, p[:, k]) for k in range(3)]
    np.testing.assert_allclose(held.auc, aucs, atol=1e-12)
    report = classification_report(y, p.argmax(axis=1), output_dict=True)
    for k, row in enumerate(class_rows(summary)):
        assert row.precision == pytest.approx(report[str(k)]["precision"])
        assert row.recall == pytest.approx(report[str(k)]["recall"])
        assert row.rows == report[str(k)]["support"]
    assert held.base_loss == pytest.approx(np.log(3), abs=1e-3)
    assert (held.n_cases, held.n_folds, held.n_unknown) == (150, 4, 0)


def test_areas_and_thresholds_with_weights_and_ties_are_those_of_scikit_learn():
    rng = np.random.default_rng(3)
    n = 500
    p = rng.integers(0, 21, n) / 20  # ties, also with the thresholds
    hits, weights = rng.random(n) < p, rng.integers(0, 4, n).astype(float)
    wanted = roc_auc_score(hits, p, sample_weight=weights)
    assert area_under_roc(p, hits, weights) == pytest.approx(wanted, abs=1e-12)
    assert area_under_roc(p[hits], hits[hits], weights[hits]) is None
    table = np.column_stack([1 - p, p])
    rows = LabelledRows(None, hits.astype(np.int64), 2, weights, lambda seen, unseen: table[unseen])
    found = held_out(rows, n_folds=3)
    false_rate, true_rate, at = roc_curve(hits, p, sample_weight=weights, drop_intermediate=False)
    totals = np.array([weights[~hits].sum(), weights[hits].sum()])
    for i in range(0, 101, 5):
        beyond = at > i / 100 + 1e-9
        rates = false_rate[beyond].max(initial=0), true_rate[beyond].max(initial=0)
        np.testing.assert_allclose(found.passed[i] / totals, rates, atol=1e-12)
    assert found.passed[50] == tuple(row[1] for row in found.confusion)


@pytest.mark.parametrize(("hits", "n"), [(0, 5), (3, 7), (40, 40), (1, 1000)])
def test_intervals_of_shares_are_those_of_scipy(hits, n):
    wanted = binomtest(hits, n).proportion_ci(method="wilson")
    assert wilson_interval(hits / n, n) == pytest.approx((wanted.low, wanted.high), abs=1e-12)


def test_an_ebnc_is_cross_validated_by_fitting_it_again():
    """Against folds written out with ``ebnc.fit``."""
    structure = structure_named("chain")
    data, _ = random_data(structure, domain_of(structure, 3), 300, seed=1)
    fitted = fit(structure, data, 0.8)
    held = summarise(fitted, data, n_folds=3).held_out
    p = np.empty((300, 3))
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    for seen, unseen in folds.split(np.zeros(300), data["Y"]):
        part = {name: column[seen] for name, column in data.items()}
        again = fit(structure, part, 0.8, categories=dict(fitted.domain))
        p[unseen] = again.probabilities({name: column[unseen] for name, column in data.items()})
    assert held.log_loss == pytest.approx(log_loss(data["Y"], p), abs=1e-8)


def test_weights_count_as_cases():
    """Rows with weight w, in folds of their own, count w times in the measures."""
    structure = structure_named("naive")
    data, _ = random_data(structure, domain_of(structure, 2), 200, seed=2)
    weights = np.random.default_rng(0).integers(1, 5, 200).astype(float)
    fitted = fit(structure, data, 1.0, weights=weights)
    held = summarise(fitted, data, sample_weight=weights, n_folds=3).held_out
    assert held.n_cases == weights.sum()
    assert np.sum(held.confusion) == weights.sum()
    plain = summarise(fitted, data, n_folds=3).held_out
    assert plain.log_loss != held.log_loss


def test_a_class_of_one_case_is_left_out_and_counted():
    x = np.array([["a"], ["b"]] * 20 + [["c"]])
    y = np.array(["yes", "no"] * 20 + ["once"])
    summary = summarise(EBNCClassifier().fit(x, y), x, y)
    assert summary.held_out.n_unknown == 1
    assert "rows are left out" in render_html(summary)


def test_terms_are_the_contributions_of_the_model():
    """Every term kept has the values that ``contributions`` gives, cell by cell."""
    problem = two_classes()
    summary = summary_of(problem, n_folds=0)
    found = problem.model.contributions(problem.x)
    codes = problem.model.encode(problem.x)
    names = [x.name for x in summary.inputs]
    for term in summary.terms:
        shape = [len(summary.inputs[i].states) for i in term.inputs]
        table = np.reshape(term.values, (*shape, 2))
        inputs = tuple(names[i] for i in term.inputs)
        column = found.values[:, found.terms.index(inputs)]
        picked = table[tuple(codes.column(x) for x in inputs)]
        np.testing.assert_allclose(np.broadcast_to(picked, column.shape), column, atol=1e-12)
        assert term.size == pytest.approx(_root_mean_square(table, codes, inputs))
    sizes = [term.size for term in summary.terms[1:]]
    assert sizes == sorted(sizes, reverse=True)


def _root_mean_square(table, codes, inputs):
    """Over the classes, and over states as often as they occur, inputs one by one."""
    total = 0.0
    for cell in np.ndindex(table.shape[:-1]):
        shares = [(codes.column(x) == s).mean() for x, s in zip(inputs, cell, strict=True)]
        total += np.prod(shares) * (table[cell] ** 2).mean()
    return np.sqrt(total)


def test_the_case_is_a_row_of_the_data():
    problem = many_classes()
    case = summary_of(problem, n_folds=0, case=77).case
    row = problem.x.iloc[77:78]
    np.testing.assert_allclose(case.probabilities, problem.model.predict_proba(row)[0], atol=1e-12)
    wanted = problem.model.contributions(row)
    np.testing.assert_allclose(case.log_odds, wanted.log_odds[0], atol=1e-12)
    together = np.reshape(case.contributions, (-1, 3)).sum(axis=0) + case.others
    np.testing.assert_allclose(together, wanted.log_odds[0], atol=1e-12)
    with pytest.raises(DataError, match="case 150 is not a row of the data; they have 150 rows"):
        summary_of(problem, n_folds=0, case=150)


def test_sentences_tell_inputs_interactions_and_losses():
    html = render_html(summary_of(two_classes()))
    assert "probability of weather (dry or rain) from 3 of 4 inputs" in html
    assert "the strongest interaction is that of sky and wind" in html
    assert "rows, 5 folds) its accuracy is" in html


@pytest.mark.parametrize("make", [two_classes, many_classes, hostile])
def test_json_and_back_is_the_same_report(make):
    problem = make()
    summary = summary_of(problem, n_folds=2)
    text = json.dumps(summary.to_json(), allow_nan=False)
    again = with_panel(Summary.from_json(json.loads(text)), problem.model)
    assert again == summary
    assert render_html(again) == render_html(summary)


def test_a_report_of_an_earlier_version_is_read():
    """It knew neither orders, shares nor counts: numbers have bars, as they had."""
    plain = summary_of(two_classes(), n_folds=0).to_json()
    for x in plain["inputs"]:
        del x["is_ordered"], x["shares"]
    for term in plain["terms"]:
        del term["counts"]
    summary = Summary.from_json(plain)
    assert {x.is_ordered for x in summary.inputs} == {False}
    assert 'class="band' not in render_html(summary)


@pytest.mark.parametrize(
    ("place", "name", "value", "said"),
    [
        ("inputs", "shares", [0.5], "shares for"),
        ("inputs", "shares", [-1.0, 1.0, 1.0], "must not be negative"),
        ("terms", "counts", [1.0, 2.0], "one count for each cell"),
    ],
)
def test_shares_and_counts_fit_their_states(place, name, value, said):
    plain = summary_of(two_classes(), n_folds=0).to_json()
    plain[place][0][name] = value
    with pytest.raises(FormatError, match=said):
        Summary.from_json(plain)


def test_a_model_read_from_a_file_has_the_same_report(tmp_path):
    """With its findings the very same; without them all but the intervals of its terms."""
    problem = two_classes()
    summary = summary_of(problem, n_folds=2)
    path = tmp_path / "model.json"
    save(problem.model, path, findings=summary.to_json())
    stored = read_model(path)
    assert with_panel(Summary.from_json(stored.findings), stored.model) == summary
    anew = summarise(stored.model, problem.x, problem.y, target=problem.target, n_folds=2)
    assert (anew.held_out, anew.fit, anew.panel) == (summary.held_out, summary.fit, summary.panel)
    assert all(term.errors is None for term in anew.terms)


def test_without_data_there_is_a_report_too():
    """Of a bare EBNC: no losses, no errors, no search; the panel is there."""
    structure = structure_named("worked")
    domain = domain_of(structure, 2)
    phi = np.random.default_rng(0).normal(size=Basis(structure, domain).dimension)
    summary = summarise(EBNC(structure, domain, phi))
    assert summary.held_out is None
    assert summary.trace is None
    html = render_html(summary)
    assert "Its performance is not reported" in html
    assert 'id="what-if"' in html


def test_a_model_without_inputs_has_a_report():
    data = {"a": [0, 1] * 20, "y": ["no", "yes", "yes", "no"] * 10}
    nothing = fit(EmbeddedStructure.from_string("[y][a]", target="y"), data)
    html = render_html(summarise(nothing, data))
    assert "without any input" in html
    assert "No input was selected" in html


def test_thousand_states_are_cut_off_and_counted():
    rng = np.random.default_rng(0)
    x = np.array([[f"state {i:04d}"] for i in range(1000)] * 2)
    y = (rng.random(2000) < np.tile(rng.random(1000), 2)).astype(int)
    summary = summarise(EBNCClassifier("naive", prior_scale=1.0).fit(x, y), x, y, n_folds=2)
    html = render_html(summary)
    assert "984 more rows" in html
    assert len(html) < 500_000


PLACES = [
    (("version",), 2, "version 2 is not 1"),
    (("classes",), ["only"], "1 classes are too few"),
    (("inputs", 0, "states"), [], "input 'sky' has no states"),
    (("inputs", 2, "cuts"), [3.0, 1.0], "cuts"),
    (("arcs", 0), ["sky", "nowhere"], "an arc names 'nowhere'"),
    (("terms", 1, "values"), [1.0], "a term has 1 values, not"),
    (("terms", 1, "inputs"), [99], "a term refers to an input that does not exist"),
    (("terms", 0, "size"), float("nan"), r"findings.terms\[0\].size: must be a finite number"),
    (("case", "states"), [0], "the case must have one state for each input"),
    (("case", "probabilities", 0), "many", r"case.probabilities\[0\]: must be a number"),
    (("fit", "dimension"), 10**400, "findings.fit.dimension: must be a whole number"),
    (("fit", "bic"), 10**400, "findings.fit.bic: must be a finite number"),
    (("held_out", "confusion"), [[1.0]], "confusion"),
    (("title",), None, "findings.title: must be a string"),
    (("trace", "steps"), {}, "findings.trace.steps: must be an array"),
    (("surprise",), 1, "unknown field 'surprise'"),
]


@pytest.fixture(scope="module")
def plain():
    return json.loads(json.dumps(summary_of(two_classes(), n_folds=2).to_json()))


@pytest.mark.parametrize(("place", "value", "message"), PLACES)
def test_findings_that_are_wrong_are_refused_by_name(plain, place, value, message):
    damaged = copy.deepcopy(plain)
    at = damaged
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = value
    with pytest.raises(FormatError, match=message):
        Summary.from_json(damaged)


def test_findings_with_a_field_left_out_are_refused(plain):
    for name in plain:
        damaged = {key: value for key, value in plain.items() if key != name}
        with pytest.raises(FormatError, match=f"field '{name}' is missing"):
            Summary.from_json(damaged)
    with pytest.raises(FormatError, match="must be an object, got 3"):
        Summary.from_json(3)


def test_findings_of_another_model_are_refused(plain):
    summary = Summary.from_json(plain)
    with pytest.raises(DataError, match="that of another model"):
        with_panel(summary, many_classes().model)


def test_what_cannot_be_reported_is_refused():
    with pytest.raises(DataError, match="a fitted EBNCClassifier or an EBNC, got str"):
        summarise("model")
    problem = two_classes()
    with pytest.raises(DataError, match="pass the classes"):
        summarise(problem.model, problem.x)
    with pytest.raises(DataError, match="'snow' in column 'y' is not one of its states"):
        summarise(problem.model, problem.x, ["snow"] * len(problem.x))
