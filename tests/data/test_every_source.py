"""The same table by path, frame, mapping, standard input or partitions: states, codes, model.

What the entries mean comes from ``random_tables``, which reads them by the written rules alone.
"""

import io
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ebnc
from ebnc.data.coder import encode
from ebnc.data.files import DataFiles
from ebnc.data.read import learn_cases
from ebnc.domain import Interval
from ebnc.errors import DataError
from random_tables import as_csv, code, meaning, random_table

N_TABLES = 1500


def sources(text: str, columns: dict[str, list[str]], folder):
    (folder / "data.csv").write_bytes(text.encode())
    frame = pd.DataFrame(columns, dtype=str)
    frame.astype(object).to_parquet(folder / "data.parquet")
    return {
        "csv": folder / "data.csv",
        "parquet": folder / "data.parquet",
        "pandas": frame,
        "pandas object": frame.astype(object),
        "polars": pl.DataFrame(columns),
        "polars categorical": pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Categorical)),
        "pyarrow": pa.table(columns),
        "mapping": columns,
    }


def check(seed: int, folder) -> None:
    generator = np.random.default_rng(seed)
    columns, classes = random_table(generator)
    columns["y"] = classes
    text = as_csv(columns, generator)
    inputs = [name for name in columns if name != "y"]
    meant = {name: meaning(columns[name]) for name in columns}
    first = None
    for name, data in sources(text, columns, folder).items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                cases = learn_cases(data, inputs, "y", leave_out=True)
        except DataError as error:
            found = str(error)
        else:
            found = dict(cases.domain)
            rows = encode(data, cases.domain, list(cases.inputs))
            for x in cases.inputs:
                kind, entries = meant[x]
                expected = [code(cases.domain[x], kind, entry) for entry in entries]
                assert rows.column(x).tolist() == expected, (seed, name, x)
            assert cases.total_weight == len(classes)
            assert all(
                isinstance(cases.domain[x][0], Interval)
                for x in cases.inputs
                if meant[x][0] == "date"
            )
        first = found if first is None else first
        assert found == first, (seed, name)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(0, N_TABLES, 100))
def test_every_source_gives_the_same_states_and_codes(seed, tmp_path):
    for each in range(seed, seed + 100):
        check(each, tmp_path)


@pytest.mark.parametrize("seed", range(6))
def test_learned_from_any_source_predicted_from_any_other(seed, tmp_path, monkeypatch):
    """One model, and the same predictions; also weighted, and by standard input."""
    generator = np.random.default_rng(1000 + seed)
    n = 200
    columns = {
        "hex": generator.choice(["0x1", "0x2", "0x3"], n).tolist(),
        "zeros": generator.choice(["01", "02", ""], n).tolist(),
        "flag": generator.choice(["TRUE", "FALSE"], n).tolist(),
        "number": [f"{x:.4f}" for x in generator.normal(size=n)],
        "day": [f"2020-{m:02d}-11" for m in generator.integers(1, 13, n)],
        "w": generator.choice(["0", "1", "2.5"], n).tolist(),
    }
    score = np.array([x == "0x1" for x in columns["hex"]]) + np.array(columns["number"], float)
    columns["y"] = np.where(score + generator.normal(size=n) > 0.5, "yes", "no").tolist()
    given = sources(as_csv(columns, generator), columns, tmp_path)
    models, predictions = [], []
    for data in given.values():
        files = isinstance(data, type(tmp_path))
        frame = data if not files else None
        inputs = [x for x in columns if x not in ("y", "w")]
        if files:
            model = ebnc.EBNCClassifier("tan").fit(DataFiles(data), "y", sample_weight="w")
        else:
            part = {x: frame[x] for x in inputs}
            weights = np.array(columns["w"], float)
            model = ebnc.EBNCClassifier("tan").fit(part, columns["y"], sample_weight=weights)
        models.append((model.ebnc_.domain, str(model.structure_).replace("class", "y")))
        for other in (given["csv"], given["parquet"], {x: columns[x] for x in inputs}):
            predictions.append(model.predict_proba(other))
    for found in predictions[1:]:
        np.testing.assert_allclose(found, predictions[0], atol=1e-9)
    states = [{x: domain[x] for x in domain if x in inputs} for domain, _ in models]
    assert all(found == states[0] for found in states)
    assert set(models[0][0]["hex"]) == {"0x1", "0x2", "0x3"}
    assert set(models[0][0]["zeros"]) == {"01", "02", None}
    assert set(models[0][0]["flag"]) == {"TRUE", "FALSE"}


def test_a_frame_with_types_predicts_by_a_model_from_text(tmp_path):
    """pandas reads TRUE as a boolean and dates as text; both are the states they were."""
    frame = pd.DataFrame(
        {"flag": [True, False] * 40, "n": range(80), "y": ["a", "b", "b", "b"] * 20}
    )
    text = frame.to_csv(index=False).replace("True", "TRUE").replace("False", "FALSE")
    (tmp_path / "data.csv").write_text(text)
    model = ebnc.EBNCClassifier().fit(tmp_path / "data.csv", "y")
    assert model.ebnc_.domain["flag"] == ("FALSE", "TRUE")
    read = pd.read_csv(io.StringIO(text))
    assert read["flag"].dtype == bool
    expected = model.predict_proba(tmp_path / "data.csv")
    np.testing.assert_array_equal(model.predict_proba(read[["flag", "n"]]), expected)


@pytest.mark.parametrize(
    ("states", "entries", "codes"),
    [
        ((0, 1), ["0", "1"], [0, 1]),
        ((0, 1), [True, False], [1, 0]),
        ((False, True), [0, 1], [0, 1]),
        ((False, True), ["TRUE", "false"], [1, 0]),
        (("FALSE", "TRUE"), [True, False], [1, 0]),
        (("1", "2"), [1, 2.0], [0, 1]),
        (("0.5", "2"), [0.5, 2.0], [0, 1]),
    ],
)
def test_entries_of_another_type_are_converted(states, entries, codes):
    found = encode({"x": entries}, ebnc.Domain({"x": states}), ["x"], unseen="extra")
    assert found.codes[0].tolist() == codes


@pytest.mark.parametrize(
    ("states", "entries", "words"),
    [
        (("01", "02"), [1, 2], "no entry of column 'x' .* they are numbers"),
        (("a", "b"), [True, False], "no entry of column 'x' .* they are booleans"),
        ((0, 1), ["a", "b"], "must hold numbers, got 'a'"),
        ((False, True), ["yes", "no"], "no entry of column 'x' .* they are text"),
        (("a", "b"), ["c"] * 10, "no entry of column 'x'"),
    ],
)
def test_entries_of_which_none_is_known_are_refused(states, entries, words):
    with pytest.raises(DataError, match=words):
        encode({"x": entries}, ebnc.Domain({"x": states}), ["x"], unseen="extra")
