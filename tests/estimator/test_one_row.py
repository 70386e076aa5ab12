"""Predictions for single rows: the same numbers, errors and warnings as for tables."""

import copy
import pickle
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest

import ebnc
from ebnc.errors import DataError, DataWarning
from ebnc.kernels.numpy_lookup import FlatTables, numpy_probabilities
from ebnc.kernels.one_row import StackedTables


def table_of(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    words = np.array(["red", "green", "blue", None], dtype=object)
    table = pd.DataFrame(
        {
            "colour": words[rng.integers(0, 4, n_rows)],
            "age": rng.integers(10, 90, n_rows),
            "height": rng.normal(170, 10, n_rows).round(2),
            "member": rng.random(n_rows) < 0.5,
            "grade": pd.Categorical(np.array(["a", "b", "c"])[rng.integers(0, 3, n_rows)]),
        }
    )
    table.loc[rng.random(n_rows) < 0.1, "height"] = np.nan
    return table


@pytest.fixture(scope="module", params=[2, 3])
def problem(request):
    """An average of several models of inputs of all kinds, and new rows."""
    x = table_of(600)
    score = x["age"] / 40 + (x["colour"] == "red") * (x["grade"] == "a") - x["member"]
    noise = np.random.default_rng(1).gumbel(size=len(x))
    y = np.digitize(score + noise, [1.5] if request.param == 2 else [1.0, 2.5])
    model = ebnc.EBNCClassifier().fit(x, np.array(["no", "some", "yes"])[y])
    assert len(model.models_) > 1
    return model, table_of(40, seed=2)


def entries_of(table, i):
    return {name: table[name].iloc[i] for name in table}


def test_single_rows_have_the_bits_of_the_table(problem):
    """As a frame, as columns of one entry, and as entries; for one model and for the average."""
    model, new = problem
    whole, of_best = model.predict_proba(new), model.ebnc_.probabilities(new)
    log_p, best = model.predict_log_proba(new), model.predict(new)
    for i in range(len(new)):
        row, entries = new.iloc[[i]], entries_of(new, i)
        columns = {name: [entry] for name, entry in entries.items()}
        for data in (row, columns, row.astype(object), row.astype({"colour": "category"})):
            assert model.predict_proba(data).tolist() == [whole[i].tolist()]
        assert model.predict_log_proba(row).tolist() == [log_p[i].tolist()]
        assert model.predict(columns).tolist() == [best[i]]
        assert model.ebnc_.probabilities(row).tolist() == [of_best[i].tolist()]
        assert model.ebnc_.probabilities(columns).tolist() == [of_best[i].tolist()]
        p = model.predict_proba_one(entries)
        assert p == dict(zip(model.classes_.tolist(), whole[i].tolist(), strict=True))


def test_a_row_can_be_computed_by_hand():
    """Two inputs, three classes: softmax of sums that are written out here."""
    structure = ebnc.EmbeddedStructure.naive("Y", ["A", "B"])
    domain = {"A": ["x", "y"], "B": [ebnc.Interval(-np.inf, 0.5), ebnc.Interval(0.5, np.inf)]}
    phi = np.array([0.1, -0.2, 0.3, 0.4, -0.5, 0.6])
    model = ebnc.EBNC(structure, {**domain, "Y": ["a", "b", "c"]}, phi)
    for (i, a), (j, b) in product(enumerate("xy"), enumerate([0.5, 0.6])):
        log_odds = phi[:2] + i * phi[2:4] + j * phi[4:]
        p = np.exp([0.0, *log_odds]) / np.exp([0.0, *log_odds]).sum()
        assert np.allclose(model.probabilities({"A": [a], "B": [b]}), p, rtol=1e-14)


@pytest.mark.parametrize(("n_models", "n_bags", "n_classes"), [*product([1, 4], [1, 4, 7], [2, 5])])
def test_stacked_tables_have_the_bits_of_each_model(n_models, n_bags, n_classes):
    rng = np.random.default_rng(n_models + 10 * n_bags + 100 * n_classes)
    r, codes = 3, rng.integers(0, 3, (6, 50)).astype(np.uint8)
    models = []
    for m in range(n_models):
        sizes = rng.integers(0, 3, n_bags + m)  # a table of no inputs has one cell
        columns = [rng.choice(6, size, replace=False) for size in sizes]
        strides = [r ** np.arange(size)[::-1] for size in sizes]
        offsets = np.cumsum([0, *(r**sizes)])
        tables = rng.normal(scale=5, size=(n_classes - 1, offsets[-1]))
        flat = (np.concatenate(columns), np.concatenate(strides), np.cumsum([0, *sizes]), offsets)
        models.append(FlatTables(*(part.astype(np.int64) for part in flat), tables))
    stacked = StackedTables.of(models, 6)
    wanted = np.stack([numpy_probabilities(codes, flat) for flat in models], axis=1)
    for row, p in zip(codes.T.astype(np.int64), wanted, strict=True):
        assert np.array_equal(stacked.probabilities(np.append(row, 1)), p)


def test_unknown_entries_are_averaged_with_a_warning(problem):
    model, new = problem
    entries = {**entries_of(new, 0), "colour": "violet", "member": None}
    table = pd.concat([new, pd.DataFrame([entries])], ignore_index=True)
    with pytest.warns(DataWarning, match=r"'colour' \(1\), 'member' \(1, all missing\)"):
        p = model.predict_proba_one(entries)
    with pytest.warns(DataWarning):
        wanted = model.predict_proba(table)[-1]
    assert list(p.values()) == wanted.tolist()
    with pytest.warns(DataWarning):
        of_frame = model.predict_proba(table.iloc[[-1]])
    assert of_frame[0].tolist() == wanted.tolist()


def test_wrong_rows_raise_the_errors_of_tables(problem):
    model, new = problem
    entries = entries_of(new, 0)
    for wrong, message in (
        ({**entries, "age": "old"}, "column 'age' must hold numbers, got 'old'"),
        ({**entries, "colour": 5}, "they are numbers"),
        ({x: entries[x] for x in entries if x != "age"}, "no column 'age'"),
        ({**entries, "height": float("inf")}, "infinite"),
        ({**entries, "age": [1, 2]}, "age"),
    ):
        with pytest.raises(DataError, match=message):
            model.predict_proba_one(wrong)
        if "age" in wrong:
            with pytest.raises(DataError, match=message):
                model.predict_proba({name: [entry] for name, entry in wrong.items()})


def test_names_of_columns_are_checked_as_for_tables(problem):
    model, new = problem
    with pytest.raises(ValueError, match="feature names"):
        model.predict_proba(new.iloc[[0], ::-1])
    with pytest.raises(ValueError, match="feature names"):
        model.predict_proba(new.iloc[[0]].rename(columns={"age": "years"}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        p = model.predict_proba(new.iloc[[0]].to_numpy(dtype=object))
    assert np.array_equal(p, model.predict_proba(new.iloc[[0]]))


def test_only_inputs_that_are_used_are_needed():
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"a": rng.integers(0, 2, 300), "b": rng.integers(0, 2, 300), "c": 0})
    model = ebnc.EBNCClassifier("naive").fit(x[["a", "c"]], x["a"] ^ (rng.random(300) < 0.1))
    assert model.predict_proba_one({"a": 1}) == model.predict_proba_one({"a": 1, "b": "?"})


def test_a_model_of_no_inputs_predicts_the_shares_of_the_classes():
    x = pd.DataFrame({"a": ["x", "y"] * 40})
    model = ebnc.EBNCClassifier(average=False).fit(x, [0, 0, 0, 0, 1, 1, 0, 0] * 10)
    assert model.predictor_.used == ()
    p = model.predict_proba_one({})
    assert list(p.values()) == model.predict_proba(x.iloc[:1])[0].tolist()
    assert abs(p[1] - 0.25) < 0.02


def test_arrays_name_their_columns():
    x = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]] * 20)
    model = ebnc.EBNCClassifier("naive").fit(x, x[:, 0] > 0.5)
    p = model.predict_proba_one({"x0": 1.0, "x1": np.float32(0)})
    assert list(p.values()) == model.predict_proba([[1.0, 0.0]])[0].tolist()
    assert list(p) == [False, True]


def test_refitting_copying_and_saving_keep_rows_right(problem, tmp_path):
    model, new = copy.deepcopy(problem[0]), problem[1]
    entries = entries_of(new, 3)
    p = model.predict_proba_one(entries)
    model.save(tmp_path / "model.json")
    for again in (pickle.loads(pickle.dumps(model)), ebnc.load(tmp_path / "model.json")):
        assert again.predict_proba_one(entries) == p
    other = new.assign(height=1.0)
    model.fit(other, np.arange(len(new)) % 2)
    assert list(model.predict_proba_one(entries)) == [0, 1]


def test_an_unfitted_classifier_says_so():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        ebnc.EBNCClassifier().predict_proba_one({"a": 1})


def test_a_regressor_predicts_single_rows():
    x = table_of(300)
    y = x["age"] + np.random.default_rng(0).normal(size=300)
    model = ebnc.EBNCRegressor().fit(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = model.predict(x.iloc[:5])
        single = [model.predict(x.iloc[[i]])[0] for i in range(5)]
    assert np.allclose(single, whole, rtol=1e-13)
