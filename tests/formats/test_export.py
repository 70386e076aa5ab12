"""Exported code computes what ``predict_proba`` does, in the programs that run it."""

import json
import sqlite3
import subprocess
from shutil import which

import duckdb
import numpy as np
import pandas as pd
import pytest

import ebnc
from ebnc.errors import FormatError, ParameterError

AT_MOST = 1e-9


def table(n=400, seed=0):
    """Numbers, whole numbers, text with quotes, booleans, missing entries."""
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            'the "age"': generator.normal(40, 12, n).round(1),
            "grade": generator.integers(1, 4, n),
            "colour": pd.Series(
                generator.choice(["red", "it's", "</script>", "ü"], n), dtype=object
            ),
            "warm": generator.random(n) < 0.5,
            "wet": generator.random(n) < 0.5,
        }
    )
    frame.loc[generator.random(n) < 0.1, 'the "age"'] = np.nan
    frame.loc[generator.random(n) < 0.1, "colour"] = None
    score = (frame["colour"] == "red") * 2.0 + frame["grade"] * (frame["wet"] * 2 - 1)
    score += frame['the "age"'].fillna(30) / 20 + frame["warm"]
    return frame, score + generator.logistic(size=n)


def to_predict():
    """Rows with entries of every kind: known, missing, never seen, several at once."""
    frame, _ = table(60, seed=1)
    frame["grade"] = frame["grade"].astype(float)
    frame["warm"] = frame["warm"].astype(object)
    frame["wet"] = frame["wet"].astype(object)
    frame.loc[:5, "grade"] = 7.0  # never seen
    frame.loc[3:9, "colour"] = "never seen"
    frame.loc[8:12, "warm"] = None  # no entry was missing in the training data
    frame.loc[11:14, "grade"] = np.nan
    frame.loc[20:, 'the "age"'] = [*range(-5, 34), 1e300]  # also beyond all cuts
    return frame


def classes_of(score, names):
    return np.array(names)[
        np.digitize(score, np.quantile(score, np.arange(1, len(names)) / len(names)))
    ]


def averaged():
    frame, score = table()
    model = ebnc.EBNCClassifier().fit(frame, classes_of(score, ["no", "per'haps", "yes"]))
    assert len(model.models_) > 1
    return model


def binary():
    frame, score = table()
    return ebnc.EBNCClassifier("tan", numbers="mdlp").fit(frame, classes_of(score, [0, 1]))


def of_boolean_classes():
    frame, score = table()
    return ebnc.EBNCClassifier("naive", average=False).fit(frame, score > score.mean())


def without_background():
    """An EBNC written by hand: unknown entries average log odds."""
    structure = ebnc.EmbeddedStructure.from_string("[grade][colour][Y|grade:colour]", target="Y")
    domain = {"grade": [1, 2, 3], "colour": ["red", "ü"], "Y": ["a", "b", "c"]}
    phi = np.random.default_rng(3).normal(size=ebnc.dimension(structure, domain))
    return ebnc.EBNC(structure, domain, phi)


def of_no_input():
    return ebnc.EBNC(ebnc.EmbeddedStructure.naive("Y", []), {"Y": ["a", "b"]}, [0.3])


MODELS = {
    make.__name__: make
    for make in (averaged, binary, of_boolean_classes, without_background, of_no_input)
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return MODELS[request.param]()


@pytest.fixture(scope="module")
def regressor():
    return ebnc.EBNCRegressor().fit(*table())


@pytest.fixture(scope="module")
def rows():
    """Rows to predict: dicts, None for missing entries."""
    frame = to_predict()
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def expected(model, frame=None):
    frame = to_predict() if frame is None else frame
    if isinstance(model, ebnc.EBNC):
        return model.probabilities(frame, unseen="average")
    with pytest.warns(ebnc.errors.DataWarning):
        return model.predict_proba(frame)


def labels_of(model, p):
    names = model.domain[model.target] if isinstance(model, ebnc.EBNC) else model.classes_.tolist()
    return [names[k] for k in p.argmax(axis=1)]


def exported(model, folder, end, **options):
    path = folder / f"model{end}"
    ebnc.export(model, path, **options)
    return path


# -- SQL ----------------------------------------------------------------------------------------


def insert(connection, rows, types):
    names = ", ".join('"' + x.replace('"', '""') + '"' + f" {types[x]}" for x in rows[0])
    connection.execute(f'CREATE TABLE "my data" ({names})')
    marks = ", ".join("?" * len(rows[0]))
    connection.executemany(f'INSERT INTO "my data" VALUES ({marks})', [[*r.values()] for r in rows])


TYPES = {'the "age"': "DOUBLE", "grade": "INTEGER", "colour": "VARCHAR", "warm": "BOOLEAN"}
TYPES["wet"] = "BOOLEAN"


def in_duckdb(query, rows):
    with duckdb.connect() as connection:
        insert(connection, rows, TYPES)
        return connection.execute(query).fetchall()


def in_sqlite(query, rows):
    with sqlite3.connect(":memory:") as connection:
        try:
            connection.execute("SELECT EXP(1.0)")
        except sqlite3.OperationalError:
            pytest.skip("this SQLite has no EXP")
        insert(connection, rows, TYPES)
        return connection.execute(query).fetchall()


@pytest.mark.parametrize("start", [in_duckdb, in_sqlite])
def test_sql(start, model, rows, tmp_path):
    query = exported(model, tmp_path, ".sql", table="my data").read_text(encoding="utf-8")
    answers = start(query, rows)
    p = expected(model)
    n_classes = p.shape[1]
    assert np.abs(np.array([a[-n_classes:] for a in answers]) - p).max() < AT_MOST
    assert [a[-n_classes - 1] for a in answers] == labels_of(model, p)
    assert [a[3] for a in answers] == [row["colour"] for row in rows]


@pytest.mark.parametrize("start", [in_duckdb, in_sqlite])
def test_sql_of_a_number(start, regressor, rows, tmp_path):
    query = exported(regressor, tmp_path, ".sql", table="my data").read_text(encoding="utf-8")
    numbers = np.array([a[-1] for a in start(query, rows)])
    assert np.abs(numbers - numbers_of(regressor)).max() < AT_MOST


# -- Python and JavaScript -----------------------------------------------------------------------


def numbers_of(regressor):
    with pytest.warns(ebnc.errors.DataWarning):
        return regressor.predict(to_predict())


def run_python(path):
    module = {}
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), module)
    return module


def test_python(model, rows, tmp_path):
    module = run_python(exported(model, tmp_path, ".py"))
    p = expected(model)
    assert np.abs(np.array([module["predict_proba"](row) for row in rows]) - p).max() < AT_MOST
    assert [module["predict"](row) for row in rows] == labels_of(model, p)
    assert set(module) >= {"CLASSES", "MODEL"}


def test_python_of_a_number(regressor, rows, tmp_path):
    module = run_python(exported(regressor, tmp_path, ".py"))
    numbers = np.array([module["predict"](row) for row in rows])
    assert np.abs(numbers - numbers_of(regressor)).max() < AT_MOST


def test_python_reads_the_text_of_a_csv_file(rows, tmp_path):
    """Text that is a number or a boolean counts as one; an empty entry is missing."""
    model = averaged()
    module = run_python(exported(model, tmp_path, ".py"))
    texts = [{x: "" if v is None else str(v) for x, v in row.items()} for row in rows]
    found = np.array([module["predict_proba"](row) for row in texts])
    assert np.abs(found - expected(model)).max() < AT_MOST


def in_node(path, rows):
    if which("node") is None:
        pytest.skip("node is not installed")
    program = """
const fs = require("fs");
const model = require(process.argv[1]);
const rows = JSON.parse(fs.readFileSync(0, "utf8"));
const p = rows.map(model.predictProba);
console.log(JSON.stringify({ p, labels: rows.map(model.predict), classes: model.classes }));
"""
    command = ["node", "-e", program, str(path)]
    sent = json.dumps(rows).encode()
    return json.loads(subprocess.run(command, input=sent, capture_output=True, check=True).stdout)


def test_javascript(model, rows, tmp_path):
    path = exported(model, tmp_path, ".js")
    assert "</script" not in path.read_text(encoding="utf-8")
    answer = in_node(path, rows)
    p = expected(model)
    assert np.abs(np.array(answer["p"]) - p).max() < AT_MOST
    assert answer["labels"] == labels_of(model, p)


def test_javascript_of_a_number(regressor, rows, tmp_path):
    numbers = np.array(in_node(exported(regressor, tmp_path, ".js"), rows)["labels"])
    assert np.abs(numbers - numbers_of(regressor)).max() < AT_MOST


# -- ONNX ---------------------------------------------------------------------------------------


def in_onnxruntime(path, rows):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
    columns = {}
    for given in session.get_inputs():
        entries = [row[given.name] for row in rows]
        if given.type == "tensor(string)":
            values = np.array(["" if x is None else x for x in entries], dtype=object)
        else:
            values = np.array([np.nan if x is None else x for x in entries], dtype=np.float64)
        columns[given.name] = values[:, None]
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, columns), strict=True))


def export_onnx(model, folder):
    pytest.importorskip("onnx")
    return exported(model, folder, ".onnx")


@pytest.mark.parametrize("name", [name for name in MODELS if name != "of_no_input"])
def test_onnx(name, rows, tmp_path):
    model = MODELS[name]()
    answer = in_onnxruntime(export_onnx(model, tmp_path), rows)
    p = expected(model)
    assert answer["probabilities"].dtype == np.float64
    assert np.abs(answer["probabilities"] - p).max() < AT_MOST
    assert answer["label"].tolist() == list(map(str, labels_of(model, p)))


def test_onnx_of_a_number(regressor, rows, tmp_path):
    answer = in_onnxruntime(export_onnx(regressor, tmp_path), rows)
    assert np.abs(answer["mean"][:, 0] - numbers_of(regressor)).max() < AT_MOST


def test_onnx_of_rows_without_unknown_entries(tmp_path):
    """No row, one row and several rows; none of them is averaged."""
    model = averaged()
    frame, _ = table(20, seed=2)
    frame = frame.dropna()
    path = export_onnx(model, tmp_path)
    for n in (0, 1, len(frame)):
        answer = in_onnxruntime(path, frame.head(n).to_dict("records"))
        p = model.predict_proba(frame.head(n)) if n else np.empty((0, 3))
        assert answer["probabilities"].shape == p.shape
        assert np.allclose(answer["probabilities"], p, rtol=0, atol=AT_MOST)


def test_onnx_needs_an_input(tmp_path):
    pytest.importorskip("onnx")
    with pytest.raises(ParameterError, match="uses no column"):
        ebnc.export(of_no_input(), tmp_path / "model.onnx")


# -- errors ---------------------------------------------------------------------------------------


def test_the_language_is_told_by_the_name_or_the_parameter(tmp_path):
    model = of_no_input()
    ebnc.export(model, tmp_path / "model.txt", to="python")
    assert "predict_proba" in (tmp_path / "model.txt").read_text(encoding="utf-8")
    with pytest.raises(ParameterError, match=r"'.*model\.doc', does not tell the language"):
        ebnc.export(model, tmp_path / "model.doc")
    with pytest.raises(ParameterError, match="one of sql, python, js, onnx, got 'c'"):
        ebnc.export(model, tmp_path / "model.c", to="c")


def test_what_cannot_be_exported(tmp_path):
    with pytest.raises(FormatError, match="EBNCClassifier does not predict"):
        ebnc.export(ebnc.EBNCClassifier(), tmp_path / "model.sql")
    odd = ebnc.EBNC(
        ebnc.EmbeddedStructure.naive("Y", ["X"]), {"X": [(1, 2), (3, 4)], "Y": 2}, [0.3, 0.1]
    )
    with pytest.raises(FormatError, match=r"column 'X' has states .* such as \(1, 2\)"):
        ebnc.export(odd, tmp_path / "model.sql")
    assert not list(tmp_path.iterdir())
