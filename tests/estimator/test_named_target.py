"""The classifier on files: as on the frame that they hold."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ebnc import EBNCClassifier
from ebnc.data.files import DataFiles
from ebnc.errors import DataError


def weather(n: int = 2000) -> pd.DataFrame:
    generator = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "outlook": generator.choice(["sunny", "rainy", "overcast"], n),
            "wind": generator.random(n) < 0.4,
            "warmth": generator.normal(size=n),
            "weight": generator.integers(1, 3, n),
        }
    )
    odds = 2.0 * (frame["outlook"] == "sunny") * ~frame["wind"] + frame["warmth"] - 0.5
    frame["play"] = np.where(generator.random(n) < 1 / (1 + np.exp(-odds)), "yes", "no")
    return frame


@pytest.mark.parametrize("weight", [None, "weight"])
def test_a_path_is_fitted_and_predicted_as_its_frame(tmp_path: Path, weight) -> None:
    frame = weather()
    path = tmp_path / "weather.parquet"
    frame.to_parquet(path)
    inputs = frame.drop(columns=["play", *([weight] if weight else [])])
    in_memory = EBNCClassifier().fit(inputs, frame["play"], frame[weight] if weight else None)
    from_file = EBNCClassifier().fit(path, "play", weight)
    assert from_file.classes_.tolist() == ["no", "yes"]
    assert from_file.feature_names_in_.tolist() == list(inputs.columns)
    assert from_file.selected_features_ == in_memory.selected_features_
    assert from_file.structure_.cluster_key == in_memory.structure_.cluster_key
    assert from_file.log_evidence_ == pytest.approx(in_memory.log_evidence_, abs=1e-8)
    expected = in_memory.predict_proba(inputs)
    np.testing.assert_allclose(from_file.predict_proba(inputs), expected, atol=1e-8)
    np.testing.assert_allclose(from_file.predict_proba(path), expected, atol=1e-8)
    assert (from_file.predict(path) == in_memory.predict(inputs)).all()
    one = EBNCClassifier("naive").fit(DataFiles(path), "play")
    np.testing.assert_allclose(np.exp(one.predict_log_proba(path)), one.predict_proba(path))


def test_names_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "weather.parquet"
    weather(50).to_parquet(path)
    with pytest.raises(DataError, match="no column 'no'"):
        EBNCClassifier().fit(path, "no")
    with pytest.raises(ValueError, match="y must be the name of the target column"):
        EBNCClassifier().fit(path, [0, 1])
    with pytest.raises(ValueError, match="class_weight is not supported for data in files"):
        EBNCClassifier(class_weight="balanced").fit(path, "play")
