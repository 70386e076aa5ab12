"""What is printed: progress, and a fitted classifier as text and HTML."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from ebnc import EBNCClassifier


@pytest.fixture
def fitted():
    generator = np.random.default_rng(0)
    x = pd.DataFrame({"<b>sky</b>": generator.integers(0, 2, 80), "wind": [0, 1] * 40})
    return EBNCClassifier(average=False).fit(x, x["<b>sky</b>"])


def test_text_says_what_was_found(fitted):
    text = repr(fitted)
    assert text.startswith("EBNCClassifier(average=False)")
    assert f"d: {fitted.dimension_}" in text
    assert f"{fitted.log_evidence_:.3f}" in text
    assert str(fitted.structure_) in text
    assert repr(EBNCClassifier(average=False)) == "EBNCClassifier(average=False)"
    assert "EBNCClassifier" in repr(make_pipeline(fitted))


def test_html_extends_that_of_scikit_learn_and_escapes_names(fitted):
    html = fitted._repr_html_()
    assert "sk-top-container" in html
    table = html[html.index("ebnc-facts") :]
    assert "&lt;b&gt;sky&lt;/b&gt;" in table
    assert "<b>sky" not in table
    assert "ebnc-facts" not in EBNCClassifier()._repr_html_()


def test_long_lists_are_cut():
    generator = np.random.default_rng(0)
    x = generator.integers(0, 2, (60, 30))
    text = repr(EBNCClassifier("naive").fit(x, x[:, 0]))
    assert "30 of 30: x0" in text
    assert "and 18 more" in text


def test_verbose_prints_every_step_and_silence_is_silent(capsys):
    generator = np.random.default_rng(0)
    x = generator.integers(0, 2, (400, 5))
    y = x[:, 1] ^ x[:, 3]
    model = EBNCClassifier(verbose=1).fit(x, y)
    printed = capsys.readouterr().out
    for step in model.trace_.steps:
        assert step.move in printed
        assert f"{step.score:.3f}" in printed
    EBNCClassifier().fit(x, y)
    assert capsys.readouterr() == ("", "")
