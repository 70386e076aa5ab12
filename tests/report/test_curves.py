"""Charts of effects: what is drawn against contributions computed by hand."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest

from ebnc import EBNCClassifier, EmbeddedStructure, fit
from ebnc.report import render_html, summarise
from ebnc.report.curves import STRIP, Range
from ebnc.report.tables import scales_of, term_view
from report_problems import two_classes


def points(path):
    return np.array(re.findall(r"(-?[\d.]+) (-?[\d.]+)", path), dtype=float)


def view_of(summary, name):
    """The view of a term, and the ends of its vertical axis by the ticks."""
    scales = scales_of(summary, summary.terms[1:])
    views = [term_view(summary, term, scales) for term in summary.terms[1:]]
    view = next(view for view in views if view.name == name)
    if view.curve is None:
        return view, None
    first, last = view.curve.y_axis[0], view.curve.y_axis[-1]
    odds = [float(tick.text.replace("−", "-")) for tick in (first, last)]
    slope = (odds[1] - odds[0]) / (last.at - first.at)
    low, high = (odds[0] + slope * (y - first.at) for y in (view.curve.bottom, 10))
    return view, Range(low, high)


@cache
def with_a_number():
    problem = two_classes()
    return problem, summarise(problem.model, problem.x, problem.y, n_folds=0)


def by_hand(model, x, name):
    """log odds with one entry changed, minus their mean over the training values of that input."""
    ebnc, row = model.ebnc_, x.iloc[:1].copy()
    codes = model.encode(x).column(name)
    values = []
    for state in range(ebnc.domain.n_states(name)):
        value = x[name].to_numpy()[np.flatnonzero(codes == state)[0]]
        values.append(float(ebnc.log_odds(row.assign(**{name: value}))[0, 0]))
    values = np.array(values)
    return values - values[codes].mean()


def test_a_curve_is_the_log_odds_as_the_number_changes():
    """An input without interactions: within the rounding of coordinates, missing entries too."""
    problem, summary = with_a_number()
    view, shared = view_of(summary, "warmth")
    wanted = by_hand(problem.model, problem.x, "warmth")
    (line,) = view.curve.lines
    drawn = points(line.path)[1:-1]  # the ends are level

    def odds(y):
        height = view.curve.bottom - 10
        return shared.low + (view.curve.bottom - y) / height * (shared.high - shared.low)

    one_pixel = (shared.high - shared.low) / (view.curve.bottom - 10)
    np.testing.assert_allclose(odds(drawn[:, 1]), wanted[:-1], atol=0.1 * one_pixel)
    assert odds(line.missing.y) == pytest.approx(wanted[-1], abs=1e-9)
    assert odds(view.curve.zero) == pytest.approx(0, abs=1e-9)
    assert (np.diff(drawn[:, 0]) > 0).all()


def test_a_band_is_1_96_standard_errors():
    problem, summary = with_a_number()
    view, shared = view_of(summary, "warmth")
    basis = problem.model.ebnc_.basis
    term = next(term for term in basis.terms if term.inputs == ("warmth",))
    errors = problem.model.ebnc_.contribution_errors(term)[:-1, 1]
    band = points(view.curve.lines[0].band)
    n = len(errors) + 2
    thickness = (band[n:, 1][::-1] - band[:n, 1])[1:-1]
    per_pixel = (shared.high - shared.low) / (view.curve.bottom - 10)
    upper, lower = band[1 : n - 1, 1], band[n:, 1][::-1][1:-1]
    whole = (upper > 10) & (lower < view.curve.bottom)  # the others are cut off
    assert whole.sum() > 25
    wanted = 2 * 1.959964 * errors
    np.testing.assert_allclose(thickness[whole] * per_pixel, wanted[whole], atol=0.2 * per_pixel)


def test_a_curve_stands_over_the_density_of_its_data():
    problem, summary = with_a_number()
    view, _ = view_of(summary, "warmth")
    cuts = [state.high for state in problem.model.ebnc_.domain["warmth"][:-2]]
    counts = np.histogram(problem.x["warmth"].dropna(), [-np.inf, *cuts, np.inf])[0]
    widths = np.array([width for _, width, _ in view.curve.bars])
    heights = np.array([height for _, _, height in view.curve.bars])
    areas = widths * heights
    low = heights < 0.999 * STRIP
    np.testing.assert_allclose(areas[low] / areas[low].sum(), counts[low] / counts[low].sum())


def test_the_table_of_a_curve_is_folded_and_whole():
    _, summary = with_a_number()
    view, _ = view_of(summary, "warmth")
    n_states = len(next(x for x in summary.inputs if x.name == "warmth").states)
    assert n_states > 16
    assert len(view.bars.rows) == n_states
    html = render_html(summary)
    figure = html[html.index('title="warmth"><b>') :]
    assert figure.index("<svg") < figure.index("<details>") < figure.index('<table class="bars">')


def pair(n_rows=600):
    """A number and a label that interact; no row of "w" is positive."""
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=n_rows), rng.choice(["u", "v", "w"], n_rows)
    a = np.where(b == "w", -np.abs(a), a)
    y = np.where(a * np.where(b == "u", 2, -1) + rng.normal(size=n_rows) > 0, "p", "q")
    structure = EmbeddedStructure.from_string("[y][a|y][b|a:y]", target="y")
    data = pd.DataFrame({"a": a, "b": b, "y": y})
    return fit(structure, data), data


def test_a_heat_map_has_the_colour_of_each_cell_and_no_cells_far_from_rows():
    model, data = pair()
    summary = summarise(model, data, n_folds=0)
    view, _ = view_of(summary, "a × b")
    ((of_class, chart),) = view.heats
    assert of_class == 1
    term = next(term for term in summary.terms if len(term.inputs) == 2)
    shares = next(x for x in summary.inputs if x.name == "b").shares
    order = np.argsort(-np.array(shares), kind="stable")  # rows are listed by frequency
    values = np.reshape(term.values, (-1, 3, 2))[:, order, 1]  # a, then b
    counts = np.reshape(term.counts, (-1, 3))[:, order]
    assert counts.sum() == len(data)
    scale = np.abs(values[counts > 0]).max()
    n_pixels = chart.right - chart.left
    found = {}
    for level, path in chart.levels:
        for x, y, width in re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)", path):
            row = round((float(y) - chart.top) / (chart.bottom - chart.top) * 3)
            found.setdefault(row, []).append((float(x), float(width), level))
    axis = np.linspace(0, 1, 200)
    for row, runs in found.items():
        for x, width, level in runs:
            edges = [(x - chart.left) / n_pixels, (x + width - chart.left) / n_pixels]
            inside = axis[(axis > edges[0] + 0.01) & (axis < edges[1] - 0.01)]
            for place in inside:
                at = np.searchsorted(_bounds(summary), place) - 1
                assert level == pytest.approx(5 * values[at, row] / scale, abs=0.5 + 1e-9)
    covered = {row: sum(width for _, width, _ in runs) / n_pixels for row, runs in found.items()}
    last = list(order).index(2)  # "w"
    assert covered[(last + 1) % 3] == pytest.approx(1, abs=0.01)
    assert covered[last] < 0.75


def _bounds(summary):
    from ebnc.report.axes import axis_of

    return axis_of(next(x for x in summary.inputs if x.name == "a")).bounds


def test_a_model_without_data_or_errors_has_curves_too():
    """An EBNC with given parameters: no band, no density, no counts."""
    from ebnc import EBNC

    model, _ = pair()
    bare = EBNC(model.structure, model.domain, model.phi_in("orthonormal"), "orthonormal")
    summary = summarise(bare)
    view, _ = view_of(summary, "a")
    assert view.curve.lines[0].band == ""
    assert {height for _, _, height in view.curve.bars} == {0.0}
    html = render_html(summary)
    assert 'class="band' not in html
    assert "stay empty" not in html


def test_many_classes_share_a_chart_and_grades_have_labels():
    rng = np.random.default_rng(6)
    grade = rng.integers(0, 4, 500)
    labels = pd.Categorical.from_codes(grade, ["poor", "fair", "good", "best"], ordered=True)
    y = (grade + rng.normal(size=500)).round().clip(0, 3).astype(int)
    model = EBNCClassifier("naive").fit(pd.DataFrame({"grade": labels}), y)
    view, _ = view_of(summarise(model), "grade")
    assert [line.color for line in view.curve.lines] == [0, 1, 2, 3]
    assert [tick.text for tick in view.curve.x_axis] == ["poor", "fair", "good", "best"]
