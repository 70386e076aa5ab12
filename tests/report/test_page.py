"""Pages and files: the sum as bars, ticks, nothing half-written."""

import os
import re
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebnc import EBNCClassifier
from ebnc.errors import FileError
from ebnc.report import render_html, summarise, write_report
from ebnc.report.axes import nice_ticks
from ebnc.report.view import page_data
from ebnc.report.waterfall import waterfall
from report_problems import HOSTILE, hostile, two_classes

finite = st.floats(-50, 50)


@given(st.lists(finite, min_size=1, max_size=40), finite)
def test_bars_of_a_waterfall_add_up(values, others):
    """Each begins where the one before ended; the last is the sum of all."""
    names = [str(i) for i in range(len(values))]
    bars = waterfall(names, names, values, others, 3)
    assert bars[-1].value == pytest.approx(sum(values) + others, abs=1e-9)
    assert bars[0].label == "0"
    for before, after in pairwise(bars[:-1]):
        assert after.start == before.end
    assert bars[-1].end == pytest.approx(bars[-2].end)
    assert len(bars) <= 14
    rest = [bar for bar in bars if bar.kind == "rest"]
    assert rest[0].label.startswith(str(3 + max(0, len(values) - 12)))


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_are_few_and_inside(low, span):
    ticks = nice_ticks(low, low + span)
    slack = 1e-6 * (abs(low) + span)
    assert 1 <= len(ticks) <= 7
    assert all(low - slack <= tick <= low + span + slack for tick in ticks)


class Tags(HTMLParser):
    """Elements that could load or run anything, and attributes that could."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "img", "iframe", "object", "embed", "form", "base"):
            self.found.append((tag, dict(attrs)))
        self.found += [(tag, name) for name, _ in attrs if name.startswith("on")]
        self.found += [(tag, dict(attrs)) for name, _ in attrs if name == "src"]


def test_markup_in_names_is_text():
    """For an HTML parser too, nothing but the page's own script, its data and its form."""
    problem = hostile()
    html = render_html(
        summarise(problem.model, problem.x, problem.y, target=problem.target, title=HOSTILE[1])
    )
    parser = Tags()
    parser.feed(html)
    tags = [tag for tag, _ in parser.found]
    assert sorted(tags) == ["form", "script", "script"]
    assert "{{ 7 * 7 }}" in html
    assert not re.search(r"https?://", html)


def test_data_in_the_page_cannot_end_its_element():
    problem = hostile()
    data = page_data(summarise(problem.model, problem.x, problem.y, n_folds=0))
    assert not set("<>&\u2028\u2029") & set(data)


def test_a_report_is_whole_or_not_there(tmp_path, monkeypatch):
    """Written beside and renamed; where that fails the old file stays and no other."""
    problem = two_classes()
    summary = summarise(problem.model, problem.x, problem.y, n_folds=0)
    path = tmp_path / "report.html"
    assert write_report(path, summary) == path
    written = path.read_text(encoding="utf-8")
    assert written == render_html(summary)

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(FileError, match="disk full"):
        write_report(path, summary)
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text(encoding="utf-8") == written


def test_the_page_says_why_an_input_of_negative_worth_is_there():
    rng = np.random.default_rng(0)
    x = pd.DataFrame({f"x{i}": rng.integers(0, 3, 300) for i in range(6)})
    y = (x["x1"] + rng.normal(size=300) > 1).to_numpy()
    said = "stays because it is required"
    limits = {"required_features": ["x0"], "forbidden_features": ["x2", "x3", "x4", "x5"]}
    required = EBNCClassifier(**limits).fit(x, y)
    assert [worth.feature for worth in required.feature_worths_ if worth.worth < 0] == ["x0"]
    assert said in render_html(summarise(required))
    assert said not in render_html(summarise(two_classes().model))
