"""``numbers`` and ``kinds`` of estimators, of ``ebnc.fit`` and of networks."""

import numpy as np
import pandas as pd
import pytest
from scipy.fft import idct
from sklearn.base import clone

import ebnc
from ebnc import EBNCClassifier, EBNCFeatures
from ebnc.errors import ParameterError

N = 240
GENERATOR = np.random.default_rng(4)
X = pd.DataFrame(
    {
        "number": GENERATOR.normal(size=N),
        "code": GENERATOR.integers(0, 6, N),
        "grade": np.array(["A", "B", "C", "D"])[GENERATOR.integers(0, 4, N)],
    }
)
Y = np.where(np.sin(X["number"]) + (X["code"] == 3) + GENERATOR.normal(size=N) > 0.5, "yes", "no")
NAIVE = ebnc.EmbeddedStructure.naive("y", list(X))


def test_each_option_makes_its_own_variables():
    for numbers, kinds, expected in [
        ("smooth", None, ["numeric", "ordered", "nominal"]),
        ("mdlp", None, ["nominal", "nominal", "nominal"]),
        ("quantile", None, ["nominal", "nominal", "nominal"]),
        ("mdlp", {"code": "numeric", "grade": "ordered"}, ["nominal", "numeric", "ordered"]),
        ("smooth", {"code": "nominal"}, ["numeric", "nominal", "nominal"]),
    ]:
        model = EBNCClassifier("naive", numbers=numbers, kinds=kinds)
        domain = clone(model).fit(X, Y).ebnc_.domain
        assert [domain.kind(x) for x in X if x in domain] == expected[-len(domain) + 1 :]
        fitted = ebnc.fit(NAIVE, X.assign(y=Y), numbers=numbers, kinds=kinds)
        for x in set(X) & set(domain):
            assert (fitted.domain[x], fitted.domain.kind(x)) == (domain[x], domain.kind(x))


def test_a_nominal_code_is_text():
    """The same predictions as for codes that are labels."""
    data = X[["code", "grade"]]
    as_text = data.assign(code="c" + data["code"].astype(str))
    found = EBNCClassifier("naive", kinds={"code": "nominal"}).fit(data, Y)
    expected = EBNCClassifier("naive").fit(as_text, Y)
    np.testing.assert_allclose(
        found.predict_proba(data), expected.predict_proba(as_text), atol=1e-9
    )


def test_quantiles_are_five_labels():
    data = X[["number"]]
    cut = pd.DataFrame({"number": pd.qcut(X["number"], 5, labels=list("abcde")).astype(str)})
    found = EBNCClassifier("naive", numbers="quantile").fit(data, Y)
    expected = EBNCClassifier("naive").fit(cut, Y)
    np.testing.assert_allclose(found.predict_proba(data), expected.predict_proba(cut), atol=1e-9)


def test_ordered_labels_are_whole_numbers_in_that_order():
    place = X["grade"].map({"A": 1, "B": 2, "C": 3, "D": 4}).rename("grade").to_frame()
    labels = X[["grade"]]
    category = labels.astype(pd.CategoricalDtype(list("ABCD"), ordered=True))
    expected = EBNCClassifier("naive").fit(place, Y).predict_proba(place)
    for data, kinds in [(labels, {"grade": "ordered"}), (category, None)]:
        found = EBNCClassifier("naive", kinds=kinds).fit(data, Y).predict_proba(data)
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_files_and_frames_give_the_same_model(tmp_path):
    X.assign(y=Y).to_csv(tmp_path / "data.csv", index=False)
    model = EBNCClassifier("naive", kinds={"grade": "ordered", "code": "numeric"})
    by_path = clone(model).fit(tmp_path / "data.csv", "y")
    in_memory = clone(model).fit(X, Y)
    assert by_path.ebnc_.domain.ordered == in_memory.ebnc_.domain.ordered == set(X)
    np.testing.assert_allclose(by_path.predict_proba(X), in_memory.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"numbers": "rough"}, "numbers must be one of smooth, mdlp, quantile, got 'rough'"),
        ({"numbers": None}, "numbers must be one of"),
        ({"kinds": "ordered"}, "kinds must be a mapping"),
        ({"kinds": {"code": "whole"}}, "the kind of column 'code' must be one of"),
    ],
)
@pytest.mark.parametrize("estimator", [EBNCClassifier, EBNCFeatures])
def test_wrong_parameters_are_refused_before_the_data_are_read(estimator, parameters, words):
    with pytest.raises(ParameterError, match=words):
        estimator(**parameters).fit(None, None)


def test_a_column_that_does_not_exist_has_no_kind():
    with pytest.raises(ValueError, match="grad"):
        EBNCClassifier(kinds={"grad": "ordered"}).fit(X, Y)


# -- EBNCFeatures ------------------------------------------------------------------------------


def test_features_of_numbers_are_waves_with_and_without_a_target():
    """Cosines of SciPy's transform, divided by their number, from the first bin on."""
    for y in (None, Y):
        features = EBNCFeatures().fit(X[["number"]], y)
        names = list(features.get_feature_names_out())
        assert names == [f"number=wave {j}" for j in range(1, 13)]
        found = features.transform(X[["number"]])
        bins = pd.cut(
            X["number"],
            [low for low, _ in features.basis_.domain["number"]] + [np.inf],
            labels=False,
        )
        waves = np.sqrt(31) * idct(np.eye(31), norm="ortho", axis=0)[:, 1:13] / np.arange(1, 13)
        np.testing.assert_allclose(found, (waves - waves[0])[bins], atol=1e-12)


def test_features_by_mdlp_and_at_quantiles_are_indicators():
    for numbers, y in [("quantile", None), ("quantile", Y), ("mdlp", None)]:
        features = EBNCFeatures(numbers=numbers).fit(X[["number"]], y)
        expected = pd.get_dummies(pd.qcut(X["number"], 5, labels=False)).to_numpy()[:, 1:]
        np.testing.assert_array_equal(features.transform(X[["number"]]), expected)
    step = np.where(X["number"] > 0.25, "b", "a")
    features = EBNCFeatures(numbers="mdlp").fit(X[["number"]], step)
    np.testing.assert_array_equal(features.transform(X[["number"]])[:, 0], step == "b")


def test_features_take_kinds():
    features = EBNCFeatures(kinds={"code": "nominal", "grade": "ordered"}).fit(X[["code", "grade"]])
    assert list(features.get_feature_names_out()) == [
        *(f"code={state}" for state in range(1, 6)),
        *(f"grade=wave {j}" for j in range(1, 4)),
    ]


# -- θ and networks ----------------------------------------------------------------------------


def test_theta_has_states_and_no_curves():
    data = X[["grade"]].assign(y=Y)
    structure = ebnc.EmbeddedStructure.naive("y", ["grade"])
    plain = ebnc.fit_theta(structure, data, n_starts=2)
    ordered = ebnc.fit_theta(structure, data, n_starts=2, kinds={"grade": "ordered"})
    assert ordered.maxima[0].log_likelihood == pytest.approx(
        plain.maxima[0].log_likelihood, abs=1e-6
    )
    for more in ({"numbers": "smooth"}, {"kinds": {"grade": "numeric"}}):
        with pytest.raises(ParameterError, match="θ has a probability for every state"):
            ebnc.fit_theta(structure, data, **more)


def test_networks_cut_at_quantiles_unless_told_otherwise():
    data = X[["number", "code"]].assign(y=Y)
    for numbers, number, code in [
        ({}, 5, "nominal"),
        ({"numbers": "mdlp"}, 5, "nominal"),
        ({"numbers": "smooth"}, 31, "ordered"),
        ({"kinds": {"number": "numeric"}}, 31, "nominal"),
    ]:
        network = ebnc.Network.learn(data, local="table", **numbers)
        assert network.domain.n_states("number") == number
        assert network.domain.kind("code") == code


def test_a_node_with_numeric_parents_is_the_ebnc_of_its_family(tmp_path):
    data = X[["number", "code"]].assign(y=Y)
    network = ebnc.Network.fit(
        [("number", "y"), ("code", "y")],
        data,
        local={"number": "table", "code": "table", "y": "ebnc"},
        numbers="smooth",
    )
    alone = ebnc.fit(ebnc.EmbeddedStructure.naive("y", ["number", "code"]), data)
    assert network.domain.kind("number") == "numeric"
    np.testing.assert_allclose(
        network["y"].probabilities(data), alone.probabilities(data), atol=1e-6
    )
    network.save(tmp_path / "network.json")
    back = ebnc.load(tmp_path / "network.json")
    assert back.domain == network.domain
    np.testing.assert_array_equal(back.log_likelihood(data), network.log_likelihood(data))
