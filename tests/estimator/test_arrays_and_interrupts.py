"""Arrays beside frames, Ctrl-C, and memory: what scikit-learn's tools rely on."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from ebnc import EBNCClassifier
from ebnc.errors import DataError, TooLargeError
from ebnc.search import greedy

FRAME, Y = load_iris(return_X_y=True, as_frame=True)


def test_fitted_on_a_frame_predicts_arrays_by_position_and_the_reverse():
    model = EBNCClassifier("naive").fit(FRAME, Y)
    expected = model.predict_proba(FRAME)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        np.testing.assert_array_equal(model.predict_proba(FRAME.to_numpy()), expected)
    model = EBNCClassifier("naive").fit(FRAME.to_numpy(), Y)
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        np.testing.assert_allclose(model.predict_proba(FRAME), expected)
    with pytest.raises(ValueError, match="feature names should match"):
        EBNCClassifier("naive").fit(FRAME, Y).predict(FRAME[FRAME.columns[::-1]])


def test_classes_are_labels_of_the_domain():
    y = np.array(["a", "b", "c"])[Y]
    model = EBNCClassifier("naive").fit(FRAME, y)
    assert model.ebnc_.domain["class"] == ("a", "b", "c")
    assert model.predict(FRAME)[0] == "a"


@pytest.mark.parametrize("at", [1, 2])
def test_ctrl_c_raises_unless_the_best_model_is_asked_for(monkeypatch, at):
    calls = []
    whole = greedy.screen

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == at:
            raise KeyboardInterrupt
        return whole(*arguments)

    monkeypatch.setattr(greedy, "screen", interrupted)
    rounded = FRAME.round()  # the search takes two steps
    with pytest.raises(KeyboardInterrupt):
        EBNCClassifier().fit(rounded, Y)
    calls.clear()
    model = EBNCClassifier(on_interrupt="best").fit(rounded, Y)
    assert model.trace_.interrupted
    assert np.isfinite(model.predict_proba(rounded)).all()


def test_ctrl_c_before_the_first_fit_keeps_a_model_without_inputs(monkeypatch):
    from ebnc.search.scorer import Scorer

    whole, calls = Scorer.tuned, []

    def interrupted(self, *arguments, **options):
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return whole(self, *arguments, **options)

    monkeypatch.setattr(Scorer, "tuned", interrupted)
    model = EBNCClassifier(on_interrupt="best", average=False).fit(FRAME, Y)
    assert model.trace_.interrupted
    np.testing.assert_allclose(model.predict_proba(FRAME), 1 / 3, atol=1e-6)


def test_a_fit_that_does_not_fit_is_refused_by_name(monkeypatch):
    monkeypatch.setattr("ebnc.score.fit_memory.available_memory", lambda: 2**20)
    frame = pd.DataFrame({"many": [f"v{i % 300}" for i in range(900)], "few": ["a", "b"] * 450})
    with pytest.raises(TooLargeError, match=r"'class' \(2 classes\) .*'many' \(300 states\)"):
        EBNCClassifier().fit(frame, ["no", "yes", "yes"] * 300)


def test_frames_without_rows_and_frames_to_come_are_refused():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": ["u", "v"]})
    with pytest.raises(DataError, match="X has 0 rows"):
        EBNCClassifier().fit(frame.head(0), [])
    with pytest.raises(DataError, match=r"LazyFrame.*call its collect"):
        EBNCClassifier().fit(frame.lazy(), ["p", "q"])
