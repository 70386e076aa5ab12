"""The design as a transformer: any linear model on it is the EBNC."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import ebnc
from ebnc import EBNCFeatures


@pytest.fixture
def data():
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"A": generator.choice(list("pqr"), 500), "B": generator.choice(["no", "yes"], 500)}
    )
    chance = 0.2 + 0.5 * ((frame["A"] == "p") ^ (frame["B"] == "no"))
    return frame, (generator.random(500) < chance).astype(int)


def test_names_and_columns_of_an_interaction(data):
    x, _ = data
    structure = ebnc.EmbeddedStructure.table("Y", ["A", "B"])
    features = EBNCFeatures(structure).fit(x)
    names = ["A=q", "A=r", "B=yes", "A=q · B=yes", "A=r · B=yes"]
    assert list(features.get_feature_names_out()) == names
    found = features.set_output(transform="pandas").transform(x)
    assert list(found.columns) == names
    np.testing.assert_array_equal(found["A=q · B=yes"], (x["A"] == "q") & (x["B"] == "yes"))


def test_an_unpenalised_logistic_regression_on_it_is_the_ebnc(data):
    x, y = data
    structure = ebnc.EmbeddedStructure.table("Y", ["A", "B"])
    pipeline = make_pipeline(
        EBNCFeatures(structure), LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
    )
    ours = ebnc.fit(structure, x.assign(Y=y), prior_scale=np.inf)
    np.testing.assert_allclose(
        pipeline.fit(x, y).predict_proba(x), ours.probabilities(x), atol=1e-5
    )


def test_numbers_become_waves_of_their_bins():
    x = np.linspace(0, 1, 31 * 4)[:, None]
    features = EBNCFeatures().fit(x)
    assert list(features.get_feature_names_out()) == [f"x0=wave {j}" for j in range(1, 13)]
    bins, wave = np.arange(31 * 4) // 4, np.arange(1, 13)
    waves = np.sqrt(2) * np.cos(np.pi * np.outer(bins + 0.5, wave) / 31) / wave
    np.testing.assert_allclose(features.transform(x), waves - waves[0], atol=1e-12)


def test_unknown_inputs_are_refused(data):
    x, _ = data
    with pytest.raises(ValueError, match="'Q' of the structure"):
        EBNCFeatures(ebnc.EmbeddedStructure.naive("Y", ["Q"])).fit(x)
