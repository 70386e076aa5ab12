"""Files give the states, codes and counts that the same table gives in memory."""

import datetime
import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebnc.data import file_cases
from ebnc.data.cases import Cases
from ebnc.data.encoding import encode
from ebnc.data.file_cases import column_names
from ebnc.data.files import DataFiles
from ebnc.data.parquet_rows import stream_parquet_rows
from ebnc.data.parts import StoredParts
from ebnc.data.rows import CodedRows
from ebnc.data.sources import learn_cases
from ebnc.domain import Interval
from ebnc.errors import DataError, ParameterError, StorageError


def table(n: int = 3000, seed: int = 0) -> pd.DataFrame:
    """All kinds of columns: text, few and many numbers, booleans, dates, gaps."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 3, n)
    day = np.datetime64("2020-01-01") + generator.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "text": np.array(["b", "a", "Ärger", "it's"])[(y + generator.integers(0, 2, n)) % 4],
            "few": generator.integers(-2, 3, n),
            "many": generator.integers(0, 40, n) + 5 * y,
            "wide": generator.integers(0, 10**6, n),
            "number": generator.normal(size=n) + y,
            "halves": generator.integers(0, 4, n) / 2,
            "flag": generator.random(n) < 0.3,
            "gappy": np.where(generator.random(n) < 0.1, np.nan, generator.normal(size=n)),
            "whole": np.where(generator.random(n) < 0.1, np.nan, generator.integers(0, 3, n)),
            "day": day.astype("datetime64[s]"),
            "y": np.array(["no", "yes", "perhaps"])[y],
        }
    )
    frame["holes"] = frame["text"].where(generator.random(n) < 0.8, None)
    return frame


INPUTS = [name for name in table(10).columns if name != "y"]


def assert_same(found: Cases, expected: Cases) -> None:
    assert dict(found.domain) == dict(expected.domain)
    assert found.total_weight == pytest.approx(expected.total_weight, rel=1e-14)
    pairs = []
    for cases in (found, expected):
        weights = np.ones(len(cases)) if cases.weights is None else cases.weights
        rows = pd.DataFrame(np.vstack([cases.rows.codes, cases.classes]).T)
        pairs.append(rows.assign(n=weights).groupby(list(rows.columns))["n"].sum().sort_index())
    pd.testing.assert_series_equal(*pairs, check_dtype=False)


@pytest.mark.parametrize("n", [3000, 150_000])
def test_parquet_is_read_as_pandas_reads_it(tmp_path: Path, n: int) -> None:
    frame = table(n)
    frame.to_parquet(tmp_path / "data.parquet", row_group_size=1000)
    expected = learn_cases(pd.read_parquet(tmp_path / "data.parquet"), INPUTS, "y")
    assert_same(learn_cases(tmp_path / "data.parquet", INPUTS, "y"), expected)
    states = expected.domain
    assert isinstance(states["wide"][0], Interval)
    assert states["few"] == (-2, -1, 0, 1, 2)
    assert states["flag"] == (False, True)
    assert states["day"][0] == datetime.datetime(2020, 1, 1)
    assert states["holes"][-1] is None


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz", "data.tsv"])
def test_csv_is_read_as_pandas_reads_it(tmp_path: Path, name: str) -> None:
    frame = table().drop(columns="day")
    delimiter = "\t" if name.endswith("tsv") else ","
    frame.to_csv(tmp_path / name, index=False, sep=delimiter)
    inputs = [x for x in INPUTS if x != "day"]
    expected = learn_cases(pd.read_csv(tmp_path / name, sep=delimiter), inputs, "y")
    assert_same(learn_cases(tmp_path / name, inputs, "y"), expected)


entries = st.sampled_from(
    [
        "",
        "NA",
        "nan",
        "1",
        "2",
        "-3",
        "01",
        "1.5",
        "1e3",
        "True",
        "false",
        "a",
        "b c",
        "x,y",
        '"',
        "1_0",
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(entries, min_size=2, max_size=12), min_size=1, max_size=3))
def test_types_of_csv_columns_are_pandas_types(
    tmp_path_factory: pytest.TempPathFactory, rows
) -> None:
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    length = min(map(len, rows))
    frame = pd.DataFrame({f"x{i}": column[:length] for i, column in enumerate(rows)})
    frame["y"] = [["no", "yes"][i % 2] for i in range(length)]
    frame.to_csv(path, index=False)
    inputs = list(frame.columns[:-1])
    read = pd.read_csv(path)
    try:
        expected = learn_cases(read, inputs, "y")
    except DataError:  # a column that is missing throughout has no states; so it is from files
        with pytest.raises(DataError):
            learn_cases(path, inputs, "y")
        return
    assert_same(learn_cases(path, inputs, "y"), expected)


def test_one_file_a_folder_and_a_glob_are_the_same(tmp_path: Path) -> None:
    frame = table()
    folder = tmp_path / "folder" / "deeper"
    folder.mkdir(parents=True)
    (tmp_path / "folder" / "_SUCCESS").touch()
    frame.to_parquet(tmp_path / "one.parquet")
    for i, start in enumerate(range(0, len(frame), 700)):
        frame[start : start + 700].to_parquet(folder / f"part.{i}.parquet")
    frame[:0].to_parquet(folder / "empty.parquet")
    one = learn_cases(tmp_path / "one.parquet", INPUTS, "y")
    assert_same(learn_cases(str(tmp_path / "folder"), INPUTS, "y"), one)
    assert_same(learn_cases(str(tmp_path / "folder" / "**" / "*.parquet"), INPUTS, "y"), one)


def test_weights_are_a_column(tmp_path: Path) -> None:
    frame = table()
    frame["w"] = np.random.default_rng(1).integers(0, 4, len(frame)) / 2
    frame.to_parquet(tmp_path / "data.parquet")
    expected = learn_cases(frame, INPUTS, "y", weights=frame["w"])
    assert_same(learn_cases(tmp_path / "data.parquet", INPUTS, "y", weights="w"), expected)
    assert_same(learn_cases(frame, INPUTS, "y", weights="w"), expected)
    with pytest.raises(DataError, match="name of a column"):
        learn_cases(tmp_path / "data.parquet", INPUTS, "y", weights=frame["w"])
    frame.assign(w=-1.0).to_parquet(tmp_path / "data.parquet")
    with pytest.raises(DataError, match=r"'w'.*not a finite number"):
        learn_cases(tmp_path / "data.parquet", INPUTS, "y", weights="w")


def test_declared_states_and_missing(tmp_path: Path) -> None:
    frame = table()
    path = tmp_path / "data.parquet"
    frame.to_parquet(path)
    cuts = [Interval(-np.inf, 0.0), Interval(0.0, 1.0), Interval(1.0, np.inf)]
    categories = {"text": ["it's", "Ärger", "a", "b", "never"], "number": cuts, "few": range(-5, 6)}
    chosen = ["text", "number", "few"]
    expected = learn_cases(frame, chosen, "y", categories=categories)
    assert_same(learn_cases(path, chosen, "y", categories=categories), expected)
    for categories, message in [
        ({"text": ["a", "b"]}, "in column 'text' is not one of its states a, b"),
        ({"gappy": cuts}, "column 'gappy' has missing values"),
        ({"holes": ["a", "b", "it's", "Ärger"]}, "column 'holes' has missing values"),
    ]:
        for data in (frame, path):
            with pytest.raises(DataError, match=message):
                learn_cases(data, list(categories), "y", categories=categories)
    for data in (frame, path):
        with pytest.raises(DataError, match="'gappy' has missing values; fill"):
            learn_cases(data, ["gappy"], "y", missing="refuse")


def test_only_some_columns_are_kept(tmp_path: Path) -> None:
    frame = table()
    frame.to_parquet(tmp_path / "data.parquet")
    kept = ["number", "text"]
    expected = learn_cases(frame, INPUTS, "y", keep=kept)
    assert_same(learn_cases(tmp_path / "data.parquet", INPUTS, "y", keep=kept), expected)


def test_rows_that_do_not_fit_stay_on_disk(tmp_path: Path, monkeypatch) -> None:
    frame = table(20_000)
    frame.to_parquet(tmp_path / "data.parquet")
    monkeypatch.setattr(file_cases, "PART_ROWS", 3000)
    expected = learn_cases(frame, INPUTS, "y")
    spill = tmp_path / "spill"
    spill.mkdir()
    files = DataFiles(tmp_path / "data.parquet", memory_limit="1MB", temp_directory=spill)
    with pytest.raises(StorageError, match="memory_limit is too small"):
        learn_cases(files, INPUTS, "y")
    monkeypatch.setattr(file_cases, "KEPT_SHARE", 1e-6)
    files = DataFiles(tmp_path / "data.parquet", temp_directory=spill)
    parts = learn_cases(files, INPUTS, "y")
    assert isinstance(parts, StoredParts)
    assert len(parts.stored) == 5
    whole = parts.collect(lambda part: part)
    codes = np.concatenate([part.rows.codes for part in whole], axis=1)
    rows = CodedRows(parts.inputs, parts.n_states, codes)
    classes = np.concatenate([part.classes for part in whole])
    weights = np.concatenate([part.weights for part in whole])
    assert_same(Cases(parts.domain, "y", rows, classes, weights), expected)
    assert list(spill.iterdir()) == [parts.directory.path]
    del parts
    assert list(spill.iterdir()) == []


def test_rows_come_back_in_order_for_prediction(tmp_path: Path) -> None:
    frame = table()
    frame.to_parquet(tmp_path / "data.parquet")
    domain = learn_cases(frame[:50], INPUTS, "y").domain
    files = DataFiles(tmp_path / "data.parquet")
    expected = encode(frame, domain, INPUTS, unseen_as_extra=True)
    batches = list(stream_parquet_rows(files, domain, INPUTS, unseen_as_extra=True, batch_rows=700))
    assert len(batches) == 5
    assert batches[0].n_states == expected.n_states
    codes = np.concatenate([batch.codes for batch in batches], axis=1)
    np.testing.assert_array_equal(codes, expected.codes)
    assert column_names(files) == list(frame.columns)


def test_progress_is_reported(tmp_path: Path) -> None:
    table().to_parquet(tmp_path / "data.parquet")
    told = []
    files = DataFiles(tmp_path / "data.parquet", progress=lambda *what: told.append(what))
    learn_cases(files, INPUTS, "y")
    assert ("counting rows", 0.0) in told
    assert ("coding rows", 1.0) in told


def test_values_beyond_memory_are_cut_nearly_the_same(tmp_path: Path, monkeypatch) -> None:
    frame = table(50_000)[["number", "gappy", "y"]]
    frame.to_parquet(tmp_path / "data.parquet")
    exact = learn_cases(frame, ["number", "gappy"], "y").domain
    monkeypatch.setattr("ebnc.data.file_states.PAIR_BYTES", 10**9)
    monkeypatch.setattr("ebnc.data.file_states.BUCKETS", 2000)
    coarse = learn_cases(tmp_path / "data.parquet", ["number", "gappy"], "y").domain
    assert exact["gappy"] == coarse["gappy"]
    assert len(exact["number"]) == len(coarse["number"]) > 3
    for one, other in zip(exact["number"][:-1], coarse["number"][:-1], strict=True):
        low, high = sorted([one.high, other.high])
        assert frame["number"].between(low, high).mean() < 0.03


# -- bad input --------------------------------------------------------------------------------


def files_of(folder: Path, *frames: pd.DataFrame) -> Path:
    folder.mkdir()
    for i, frame in enumerate(frames):
        frame.to_parquet(folder / f"part{i}.parquet")
    return folder


def test_a_file_without_a_column_is_named(tmp_path: Path) -> None:
    frame = table(100)
    folder = files_of(tmp_path / "parquet", frame, frame.drop(columns="few"))
    with pytest.raises(DataError, match=r"part1.parquet' has no column 'few'"):
        learn_cases(folder, INPUTS, "y")
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.drop(columns="few").to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(DataError, match=r"b.csv' has other columns than"):
        learn_cases(tmp_path / "*.csv", ["text"], "y")
    with pytest.raises(DataError, match="no column 'nothing'; they have 'text'"):
        learn_cases(folder, ["nothing"], "y")


def test_a_file_of_another_type_is_named(tmp_path: Path) -> None:
    frame = table(100)
    other = frame.assign(few=frame["few"].astype(str) + "x")
    folder = files_of(tmp_path / "parquet", frame, other)
    message = r"column 'few' differs in type between files: number in .*part0.*text in .*part1"
    with pytest.raises(DataError, match=message):
        learn_cases(folder, INPUTS, "y")
    frame.to_csv(tmp_path / "a.csv", index=False)
    other.to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(DataError, match=r"column 'few' differs in type between files: .*b.csv"):
        learn_cases(tmp_path / "*.csv", ["few"], "y")
    # Whole numbers here and fractions there are numbers all the same.
    frame["few"] = frame["few"] + 0.5
    folder = files_of(tmp_path / "numbers", table(100), frame)
    both = pd.concat([table(100), frame])
    assert_same(learn_cases(folder, ["few"], "y"), learn_cases(both, ["few"], "y"))


def test_broken_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    table(5000).to_parquet(path, row_group_size=500)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"data\.parquet"):
        learn_cases(path, INPUTS, "y")
    path.write_bytes(b"")
    with pytest.raises(DataError, match=r"data\.parquet"):
        learn_cases(path, INPUTS, "y")
    garbled = bytearray(whole)
    garbled[200:2000] = b"\0" * 1800
    path.write_bytes(garbled)
    with pytest.raises(DataError):
        learn_cases(path, INPUTS, "y")
    text = tmp_path / "data.csv"
    text.write_text("a,y\n1,no\n2\n3,yes\n")
    with pytest.raises(DataError, match=r"data\.csv"):
        learn_cases(text, ["a"], "y")
    text.write_text("")
    with pytest.raises(DataError, match=r"data\.csv' is empty"):
        learn_cases(text, ["a"], "y")
    text.write_bytes(gzip.compress(b"a,y\n1,no\n2,yes\n"))
    with pytest.raises(DataError, match=r"data\.csv' cannot be read"):
        learn_cases(text, ["a"], "y")


def test_a_file_that_goes_or_changes_in_between_is_named(tmp_path: Path) -> None:
    folder = files_of(tmp_path / "parquet", table(500), table(500))
    spill = tmp_path / "spill"
    spill.mkdir()

    def delete(task: str, share: float) -> None:
        if task == "counting rows" and share == 0.0:
            (folder / "part1.parquet").unlink()

    files = DataFiles(folder, temp_directory=spill, progress=delete)
    with pytest.raises(DataError, match=r"part1\.parquet"):
        learn_cases(files, INPUTS, "y")
    assert list(spill.iterdir()) == []

    def grow(task: str, share: float) -> None:
        if task == "coding rows" and share == 0.0:
            table(700).to_parquet(folder / "part0.parquet")

    files = DataFiles(folder, temp_directory=spill, progress=grow)
    with pytest.raises(DataError, match=r"part0\.parquet' was changed while it was read"):
        learn_cases(files, INPUTS, "y")
    assert list(spill.iterdir()) == []


def test_a_full_disk_is_a_clear_error(tmp_path: Path) -> None:
    n = 200_000
    generator = np.random.default_rng(0)
    order = generator.permutation(np.arange(4 * n) % n)
    columns = {f"x{i}": generator.integers(0, 100, n)[order] for i in range(8)}
    pq.write_table(pa.table({**columns, "y": order % 2}), tmp_path / "data.parquet")
    spill = tmp_path / "spill"
    spill.mkdir()

    def files(disk_limit: str) -> DataFiles:
        limits = {"memory_limit": "24MB", "disk_limit": disk_limit, "threads": 1}
        return DataFiles(tmp_path / "data.parquet", temp_directory=spill, **limits)

    with pytest.raises(StorageError, match=r"temporary directory is full.*disk_limit"):
        learn_cases(files("100KB"), list(columns), "y")
    assert list(spill.iterdir()) == []
    assert learn_cases(files("1GB"), list(columns), "y").total_weight == 4 * n


def test_impossible_requests_are_refused(tmp_path: Path) -> None:
    frame = table(2000)
    frame["name"] = [f"person {i}" for i in range(len(frame))]
    path = tmp_path / "data.parquet"
    frame.to_parquet(path)
    with pytest.raises(DataError, match=r"'name' has 2000 different values.*identifier"):
        learn_cases(path, ["name"], "y")
    with pytest.raises(DataError, match="there is no file or folder"):
        learn_cases(tmp_path / "none.csv", ["a"], "y")
    with pytest.raises(DataError, match="no file matches"):
        learn_cases(tmp_path / "*.csv", ["a"], "y")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="has no file that ends in"):
        learn_cases(tmp_path / "empty", ["a"], "y")
    frame.to_csv(tmp_path / "data.csv", index=False)
    with pytest.raises(DataError, match="mixes CSV and Parquet"):
        learn_cases(tmp_path, ["a"], "y")
    with pytest.raises(ParameterError, match="memory_limit must be bytes or text"):
        learn_cases(DataFiles(path, memory_limit="much"), ["few"], "y")
    pq.write_table(pa.table({"a": [[1], [2]], "y": ["n", "j"]}), path)
    with pytest.raises(DataError, match="'a' cannot be labels"):
        learn_cases(path, ["a"], "y")
    pq.write_table(pa.table({"a": [1.0, np.inf] * 20, "y": ["n", "j"] * 20}), path)
    with pytest.raises(DataError, match="'a' holds an infinite number"):
        learn_cases(path, ["a"], "y")
    pq.write_table(pa.table({"a": [1.0], "y": ["n"]}).slice(0, 0), path)
    with pytest.raises(DataError, match="no value at all"):
        learn_cases(path, ["a"], "y")
