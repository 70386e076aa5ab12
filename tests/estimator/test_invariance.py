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


def numbers(n_rows, n_inputs=5):
    """Smooth effects of numbers, a product, a grade, labels and gaps."""
    generator = np.random.default_rng(2)
    x = pd.DataFrame(generator.normal(size=(n_rows, n_inputs)).round(3))
    x.columns = [f"c{j}" for j in range(n_inputs)]
    x["grade"] = generator.integers(0, 4, n_rows)
    x["label"] = generator.choice(["p", "q", "r"], n_rows)
    log_odds = 1.5 * x["c0"] + x["c1"] * x["c2"] - 0.5 * x["c3"] ** 2 + 0.4 * x["grade"]
    y = generator.random(n_rows) < 1 / (1 + np.exp(-log_odds))
    x.loc[generator.random(n_rows) < 0.1, "c1"] = np.nan
    return x, np.where(y, "yes", "no")


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [200, 3_000])
def test_shifts_scales_signs_and_orders_of_numbers_do_not_matter(n_rows):
    """Of the searched models, and of the model with weak pairs beside them."""
    x, y = numbers(n_rows)
    model = fitted(x, y)
    assert model.models_[-1].basis.weak_pairs
    test = x.iloc[:100]  # no number is exactly at a cut, where the side depends on the sign
    expected = model.predict_proba(test)
    generator = np.random.default_rng(1)

    def check(change):
        own = change(x)
        order = generator.permutation(n_rows)
        found = fitted(own.iloc[order], y[order]).predict_proba(change(test))
        np.testing.assert_allclose(found, expected, atol=1e-8)

    names = [f"c{j}" for j in range(5)]
    check(lambda rows: rows[list(rows.columns[::-1])])
    check(lambda rows: rows.assign(**(8.0 * rows[names] - 3.0)))
    check(lambda rows: rows.assign(**(-rows[names]), grade=-rows["grade"]))
    check(lambda rows: rows.assign(c0=np.exp(rows["c0"]), grade=rows["grade"] ** 3))


@pytest.mark.slow
def test_the_number_of_threads_changes_nothing_with_weak_pairs():
    x, y = numbers(300)
    one, two = (fitted(x, y, n_jobs=n) for n in (1, 2))
    assert one.models_[-1].basis.weak_pairs
    assert [m.weight for m in one.models_] == [m.weight for m in two.models_]
    np.testing.assert_array_equal(one.predict_proba(x), two.predict_proba(x))
