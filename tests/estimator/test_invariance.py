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
