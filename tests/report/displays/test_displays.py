"""Pictures: what is drawn against the model's own numbers, on axes given or new."""

import warnings

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt
from sklearn.calibration import calibration_curve

import ebnc
from ebnc.errors import DataError
from problems import domain_of, random_data, structure_named
from report_problems import HOSTILE, hostile, many_classes, two_classes


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def two():
    return two_classes()


@pytest.fixture(scope="module")
def three():
    return many_classes()


def rendered(display):
    """Draws for real: names that matplotlib cannot render raise here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # the font's business
        display.figure_.canvas.draw()
    return display


def test_a_waterfall_ends_at_the_log_odds_of_the_best_model(three):
    found = three.model.contributions(three.x)
    for k, label in enumerate(three.model.classes_):
        display = rendered(
            ebnc.ContributionsDisplay.from_estimator(three.model, three.x, row=60, of_class=label)
        )
        assert display.bars[-1].value == pytest.approx(found.log_odds[60, k], abs=1e-9)
        widths = [patch.get_width() for patch in display.ax_.patches]
        np.testing.assert_allclose(widths, [b.end - b.start for b in display.bars])
    best = ebnc.ContributionsDisplay.from_estimator(three.model, three.x, row=60)
    assert best.of_class == str(found.log_odds[60].argmax())


def test_a_waterfall_of_an_ebnc_adds_small_terms_up():
    structure = structure_named("worked")
    data, truth = random_data(structure, domain_of(structure, 2), 10)
    display = ebnc.ContributionsDisplay.from_estimator(truth, data, row=3, most=4)
    assert display.bars[-1].value == pytest.approx(truth.log_odds(data)[3, 0], abs=1e-9)
    assert [bar.kind for bar in display.bars] == ["term"] * 4 + ["rest", "total"]


def test_a_structure_shows_every_selected_input(two):
    display = rendered(ebnc.StructureDisplay.from_estimator(two.model, target="weather"))
    shown = {text.get_text() for text in display.ax_.texts}
    assert shown == {"weather", *two.model.selected_features_}


@pytest.mark.parametrize("n_inputs", [3, 40])
def test_structures_of_ebncs_and_bare_ones_are_the_same_picture(n_inputs):
    structure = ebnc.EmbeddedStructure.chain("Y", [f"v{i}" for i in range(n_inputs)])
    data, _ = random_data(structure, ebnc.Domain(dict.fromkeys(structure.names, 2)), 50)
    one = ebnc.StructureDisplay.from_estimator(structure)
    other = ebnc.StructureDisplay.from_estimator(ebnc.fit(structure, data, 1.0))
    assert one.drawing == other.drawing
    assert len(rendered(one).ax_.patches) == len(rendered(other).ax_.patches)


def test_a_trace_shows_every_step(two):
    display = rendered(ebnc.SearchTraceDisplay.from_estimator(two.model))
    line = display.ax_.lines[0]
    np.testing.assert_allclose(line.get_ydata(), [s.score for s in two.model.trace_.steps])


def test_reliability_is_scikit_learns_curve(two):
    """On the data as they are; and with folds, the bins of the report."""
    display = rendered(ebnc.ReliabilityDisplay.from_estimator(two.model, two.x, two.y))
    p = two.model.predict_proba(two.x)[:, 1]
    observed, predicted = calibration_curve(two.y == "rain", p, n_bins=10)
    bins = display.curves["rain"]
    np.testing.assert_allclose([b.observed for b in bins], observed, atol=1e-12)
    np.testing.assert_allclose([b.predicted for b in bins], predicted, atol=1e-12)
    folds = ebnc.ReliabilityDisplay.from_estimator(two.model, two.x, two.y, cv=3)
    from ebnc.report import summarise

    held = summarise(two.model, two.x, two.y, n_folds=3).held_out
    assert folds.curves["rain"] == held.reliability[1]


def test_three_classes_have_three_curves(three):
    display = ebnc.ReliabilityDisplay.from_estimator(three.model, three.x, three.y, cv=2)
    assert list(display.curves) == ["0", "1", "2"]
    labels = display.ax_.get_legend_handles_labels()[1]
    assert labels == ["0", "1", "2"]


def test_the_curve_of_a_number_is_the_log_odds_as_it_changes(two):
    """Against log odds by hand: one entry changed, minus the mean over the training values."""
    model, row = two.model, two.x.iloc[:1]
    display = rendered(ebnc.EffectDisplay.from_estimator(model, "warmth"))
    assert display.ax_.get_ylabel() == "log odds of rain"
    line = display.ax_.get_lines()[1]  # after that of zero
    xs, ys = line.get_xdata()[1:-1], line.get_ydata()[1:-1]
    asked = [*xs, None]
    odds = np.array(
        [model.ebnc_.log_odds(row.assign(warmth=np.array([x], float)))[0, 0] for x in asked]
    )
    mean = np.mean([odds[code] for code in model.encode(two.x).column("warmth")])
    np.testing.assert_allclose(ys, (odds - mean)[:-1], atol=1e-9)
    (missing,) = (bar.lines[0] for bar in display.ax_.containers if hasattr(bar, "has_yerr"))
    assert missing.get_ydata()[0] == pytest.approx((odds - mean)[-1], abs=1e-9)
    term = next(term for term in model.ebnc_.basis.terms if term.inputs == ("warmth",))
    errors = model.ebnc_.contribution_errors(term)[:-1, 1]
    outline = display.ax_.collections[0].get_paths()[0].vertices
    for x, y, error in zip(xs, ys, errors, strict=True):
        ends = outline[outline[:, 0] == x, 1]
        wanted = [y - 1.959964 * error, y + 1.959964 * error]
        np.testing.assert_allclose([ends.min(), ends.max()], wanted, atol=1e-6)


def test_labels_have_bars_and_classes_have_curves(two, three):
    display = rendered(ebnc.EffectDisplay.from_estimator(two.model, "sky"))
    term = display.values[:, 1]
    np.testing.assert_allclose([bar.get_width() for bar in display.ax_.patches], term)
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["clear", "dark", "grey"]
    name = three.model.selected_features_[0]
    display = rendered(ebnc.EffectDisplay.from_estimator(three.model, name))
    assert display.ax_.get_legend_handles_labels()[1] == ["0", "1", "2"]
    one = ebnc.EffectDisplay.from_estimator(three.model, name, of_class=2)
    np.testing.assert_array_equal(
        one.ax_.get_lines()[1].get_ydata(), display.ax_.get_lines()[3].get_ydata()
    )


def number_and_label(n_rows=500):
    """They interact; labels "w" have no positive number, and some numbers are missing."""
    rng = np.random.default_rng(4)
    number, label = rng.normal(size=n_rows), rng.choice(["u", "v", "w"], n_rows)
    number = np.where(label == "w", -np.abs(number), number)
    y = np.where(number * np.where(label == "u", 2, -1) + rng.normal(size=n_rows) > 0, "p", "q")
    number[label == "u"] = np.where(
        rng.random((label == "u").sum()) < 0.2, np.nan, number[label == "u"]
    )
    structure = ebnc.EmbeddedStructure.from_string("[y][a|y][b|a:y]", target="y")
    data = {"a": number, "b": label, "y": y}
    return ebnc.fit(structure, data), data


def test_a_pair_is_a_heat_map_of_its_contributions():
    """Cells of the number and of missing entries; without rows near they are empty."""
    model, data = number_and_label()
    display = rendered(ebnc.EffectDisplay.from_estimator(model, ["b", "a"], data))
    meshes = [mesh.get_array() for mesh in display.ax_.collections]
    cells = np.ma.concatenate(meshes[:2], axis=0)  # the number, then missing entries
    parts = model.contributions(data)
    found = parts.values[:, parts.terms.index(("a", "b")), 1]
    a, b = (model.domain.codes(x) for x in "ab")
    cuts = [state.high for state in model.domain["a"][:-2]]
    for i in range(len(found)):
        value, label = data["a"][i], data["b"][i]
        row = len(a) - 1 if np.isnan(value) else np.searchsorted(cuts, value)
        assert cells[row, b[label]] == pytest.approx(found[i], abs=1e-9)
    assert cells.mask[-1].tolist() == [False, True, True]  # only "u" has missing entries
    assert cells.mask[len(a) - 2].tolist() == [False, False, True]
    whole = ebnc.EffectDisplay.from_estimator(model, ["a", "b"])
    assert not np.ma.getmaskarray(whole.ax_.collections[0].get_array()).any()


def test_importances_are_those_of_the_classifier(two):
    display = rendered(ebnc.ImportanceDisplay.from_estimator(two.model))
    wanted = dict(zip(two.x.columns, two.model.feature_importances_, strict=True))
    assert display.importances == wanted
    widths = [bar.get_width() for bar in display.ax_.patches]
    assert widths == sorted(wanted.values(), reverse=True)
    assert len(ebnc.ImportanceDisplay.from_estimator(two.model, most=2).importances) == 2
    unnamed = ebnc.EBNCClassifier().fit(np.arange(40.0)[:, None] % 4, np.arange(40) % 2)
    assert list(ebnc.ImportanceDisplay.from_estimator(unnamed).importances) == ["x0"]


def test_pictures_go_where_they_are_told_and_can_be_drawn_again(two):
    """``ax`` given: no new figure; ``plot`` again on others."""
    figure, axes = plt.subplots(2, 3)
    x, y = two.x, two.y
    displays = [
        ebnc.StructureDisplay.from_estimator(two.model, ax=axes[0, 0]),
        ebnc.ContributionsDisplay.from_estimator(two.model, x, ax=axes[0, 1]),
        ebnc.SearchTraceDisplay.from_estimator(two.model, ax=axes[1, 0]),
        ebnc.ReliabilityDisplay.from_estimator(two.model, x, y, cv=None, ax=axes[1, 1]),
        ebnc.EffectDisplay.from_estimator(two.model, "warmth", ax=axes[0, 2]),
        ebnc.ImportanceDisplay.from_estimator(two.model, ax=axes[1, 2]),
    ]
    places = [*axes[:, :2].flat, *axes[:, 2]]
    for display, ax in zip(displays, places, strict=True):
        assert display.ax_ is ax
        assert display.figure_ is figure
    assert len(plt.get_fignums()) == 1
    _, other = plt.subplots()
    for display in displays:
        assert display.plot(ax=other).ax_ is other


def test_names_are_text_and_no_formulas():
    """Scripts, quotes, dollars, very long names."""
    problem = hostile()
    rendered(ebnc.ContributionsDisplay.from_estimator(problem.model, problem.x))
    rendered(ebnc.StructureDisplay.from_estimator(problem.model, target=HOSTILE[2]))
    rendered(ebnc.ImportanceDisplay.from_estimator(problem.model))
    for name in problem.model.selected_features_:
        rendered(ebnc.EffectDisplay.from_estimator(problem.model, name))
    dollars = ebnc.EmbeddedStructure.naive(r"$\frac{$", ["$a$", "b_$x^"])
    rendered(ebnc.StructureDisplay.from_estimator(dollars))


def test_what_cannot_be_drawn_is_refused(two):
    with pytest.raises(DataError, match="needs the trace of a search"):
        ebnc.SearchTraceDisplay.from_estimator(ebnc.EBNCClassifier("naive").fit(two.x, two.y))
    with pytest.raises(DataError, match="'snow' is not a class"):
        ebnc.ContributionsDisplay.from_estimator(two.model, two.x, of_class="snow")
    with pytest.raises(DataError, match=r"no term of 'sky × rain'; it has .*'sky × wind'"):
        ebnc.EffectDisplay.from_estimator(two.model, ["sky", "rain"])
    with pytest.raises(DataError, match="one input or two"):
        ebnc.EffectDisplay.from_estimator(two.model, ["sky", "wind", "warmth"])
    with pytest.raises(DataError, match="needs importances"):
        ebnc.ImportanceDisplay.from_estimator(two.model.ebnc_)
    with pytest.raises(DataError, match="row 400 does not exist"):
        ebnc.ContributionsDisplay.from_estimator(two.model, two.x, row=400)
    with pytest.raises(DataError, match="got str"):
        ebnc.StructureDisplay.from_estimator("model")
    with pytest.raises(DataError, match="shape"):
        ebnc.ReliabilityDisplay.from_predictions([0, 1], [0.5, 0.5])
