"""Predictions do not depend on names of states, nor on the order of columns, rows or labels."""

import numpy as np
import pandas as pd
import pytest

import ebnc

LABELS = {"k0": "b", "k1": "c", "k2": "a"}


def problem(n_rows, n_inputs=8, n_states=4, n_classes=3):
    """Nearly all rows differ; the first two inputs interact."""
    generator = np.random.default_rng(0)
    codes = generator.integers(0, n_states, (n_rows, n_inputs))
    effects = generator.normal(0, 0.6, (n_inputs, n_states, n_classes))
    effects[5:] = 0.0
    log_odds = sum(effects[j][codes[:, j]] for j in range(n_inputs))
    log_odds[:, 0] += 1.5 * ((codes[:, 0] == 1) & (codes[:, 1] == 2))
    p = np.exp(log_odds)
    p /= p.sum(axis=1, keepdims=True)
    y = (np.cumsum(p, axis=1)[:, :-1] < generator.random((n_rows, 1))).sum(axis=1)
    x = pd.DataFrame({f"c{j}": [f"s{code}" for code in codes[:, j]] for j in range(n_inputs)})
    return x, np.array([f"k{k}" for k in y])


def fitted(x, y, weights=None, **options):
    return ebnc.EBNCClassifier(**options).fit(x, y, sample_weight=weights)


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [300, 4_000])
def test_names_and_orders_do_not_matter(n_rows):
    """Also with more distinct rows than leave-one-out looks at."""
    x, y = problem(n_rows)
    test = x.iloc[:100]
    expected = fitted(x, y).predict_proba(test)
    generator = np.random.default_rng(1)

    def check(model, rows, columns=slice(None)):
        np.testing.assert_allclose(model.predict_proba(rows)[:, columns], expected, atol=1e-8)

    order = generator.permutation(n_rows)
    check(fitted(x.iloc[order], y[order]), test)
    names = list(generator.permutation(x.columns))
    check(fitted(x[names], y), test[names])
    renamed = pd.DataFrame(
        {
            name: x[name].map(
                dict(zip(sorted(set(x[name])), generator.permutation(4), strict=True))
            )
            for name in x
        }
    ).astype(str)
    renamed = "t" + renamed  # text of numbers alone would be numbers, in order
    check(fitted(renamed, y), renamed.iloc[:100])
    other = fitted(x, np.array([LABELS[k] for k in y]))
    check(other, test, [list(other.classes_).index(LABELS[k]) for k in ("k0", "k1", "k2")])


@pytest.mark.slow
def test_weights_may_be_split_above_the_rows_that_are_always_counted():
    """20 000 rows, most of them distinct: not collapsed before the fit."""
    x, y = problem(20_000, n_inputs=10)
    test = x.iloc[:100]
    expected = fitted(x, y).predict_proba(test)
    twice, both = pd.concat([x, x], ignore_index=True), np.concatenate([y, y])
    split = np.concatenate([np.full(len(y), 0.25), np.full(len(y), 0.75)])
    np.testing.assert_allclose(fitted(twice, both, split).predict_proba(test), expected, atol=1e-8)
    order = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_allclose(
        fitted(x.iloc[order], y[order]).predict_proba(test), expected, atol=1e-8
    )


# -- numbers ---------------------------------------------------------------------------------------


def numbers(n_rows=240, seed=0):
    """Numbers with smooth effects, an interaction, a frequent zero and missing entries; labels."""
    generator = np.random.default_rng(seed)
    x = pd.DataFrame(generator.normal(size=(n_rows, 4)), columns=list("abcd"))
    x.loc[generator.random(n_rows) < 0.2, "c"] = 0.0
    log_odds = 2.0 * np.sin(2 * x["a"]) + 1.5 * x["b"] * (x["c"] > 0)
    y = np.where(generator.random(n_rows) < 1 / (1 + np.exp(-log_odds)), "yes", "no")
    x.loc[generator.random(n_rows) < 0.1, "b"] = np.nan
    x["e"] = generator.choice(["p", "q", "r"], n_rows)
    return x, y


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("shift", lambda v: v + 17.25),
        ("scale", lambda v: 1e-4 * v),
        ("sign", lambda v: -v),
        ("sign and shift", lambda v: 3.0 - 2.0 * v),
        ("monotone", lambda v: np.exp(v / 2.0)),
        ("another monotone", lambda v: v**3),
    ],
)
def test_transformed_numbers_have_the_same_predictions(name, change):
    """Shift, scale, sign, and monotone functions, on the rows of ``fit``; with weak pairs."""
    x, y = numbers(seed=3)
    expected = fitted(x, y)
    assert any(model.basis.weak_pairs for model in expected.models_)
    changed = x.assign(**{column: change(x[column]) for column in "abcd"})
    found = fitted(changed, y)
    assert [feature for feature in found.selected_features_ if feature in "abcd"]
    np.testing.assert_allclose(found.predict_proba(changed), expected.predict_proba(x), atol=1e-8)
    assert found.structure_ == expected.structure_


def test_one_number_may_change_its_sign_alone():
    """Its curve is reversed; other columns do not notice. So is an ordered category."""
    x, y = numbers(seed=2)
    x["f"] = pd.Categorical(
        np.digitize(x["a"] + np.random.default_rng(0).normal(size=len(x)), [-1, 0, 1]),
        categories=[0, 1, 2, 3],
        ordered=True,
    )
    changed = x.assign(a=-x["a"], f=x["f"].cat.reorder_categories([3, 2, 1, 0]))
    expected, found = fitted(x, y), fitted(changed, y)
    np.testing.assert_allclose(found.predict_proba(changed), expected.predict_proba(x), atol=1e-8)


def test_rows_classes_and_columns_of_numbers_may_be_in_any_order():
    x, y = numbers(seed=1)
    expected = fitted(x, y).predict_proba(x)
    order = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_allclose(
        fitted(x.iloc[order], y[order]).predict_proba(x), expected, atol=1e-8
    )
    names = list("edcab")
    np.testing.assert_allclose(fitted(x[names], y).predict_proba(x[names]), expected, atol=1e-8)
    renamed = np.where(y == "yes", "a", "b")
    np.testing.assert_allclose(fitted(x, renamed).predict_proba(x)[:, ::-1], expected, atol=1e-8)
