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
    display = rendered(ebnc.ReliabilityDisplay.from_estimator(two.model, two.x, two.y, cv=None))
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


def test_pictures_go_where_they_are_told_and_can_be_drawn_again(two):
    """``ax`` given: no new figure; ``plot`` again on others."""
    figure, axes = plt.subplots(2, 2)
    x, y = two.x, two.y
    displays = [
        ebnc.StructureDisplay.from_estimator(two.model, ax=axes[0, 0]),
        ebnc.ContributionsDisplay.from_estimator(two.model, x, ax=axes[0, 1]),
        ebnc.SearchTraceDisplay.from_estimator(two.model, ax=axes[1, 0]),
        ebnc.ReliabilityDisplay.from_estimator(two.model, x, y, cv=None, ax=axes[1, 1]),
    ]
    for display, ax in zip(displays, axes.flat, strict=True):
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
    dollars = ebnc.EmbeddedStructure.naive(r"$\frac{$", ["$a$", "b_$x^"])
    rendered(ebnc.StructureDisplay.from_estimator(dollars))


def test_what_cannot_be_drawn_is_refused(two):
    with pytest.raises(DataError, match="needs the trace of a search"):
        ebnc.SearchTraceDisplay.from_estimator(ebnc.EBNCClassifier("naive").fit(two.x, two.y))
    with pytest.raises(DataError, match="'snow' is not a class"):
        ebnc.ContributionsDisplay.from_estimator(two.model, two.x, of_class="snow")
    with pytest.raises(DataError, match="row 400 does not exist"):
        ebnc.ContributionsDisplay.from_estimator(two.model, two.x, row=400)
    with pytest.raises(DataError, match="got str"):
        ebnc.StructureDisplay.from_estimator("model")
    with pytest.raises(DataError, match="shape"):
        ebnc.ReliabilityDisplay.from_predictions([0, 1], [0.5, 0.5])
