"""Files give the states, codes and counts that the same table gives in memory."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ebnc.data.cases import Cases
from ebnc.data.coder import Coder, coded_batches, encode
from ebnc.data.files import DataFiles
from ebnc.data.parts import StoredParts
from ebnc.data.read import learn_cases
from ebnc.data.sources import column_names, source_of
from ebnc.data.table import Coding
from ebnc.domain import Domain, Interval
from ebnc.errors import DataError, ParameterError


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
    assert found.domain == expected.domain
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
    assert isinstance(states["day"][0], Interval)
    assert states["holes"][-1] is None


# The parser that pandas used to have reads other numbers without the argument.
@pytest.mark.filterwarnings("ignore:The 'float_precision' argument is deprecated")
@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz", "data.tsv"])
def test_csv_is_read_as_pandas_reads_it(tmp_path: Path, name: str) -> None:
    frame = table().drop(columns="day")
    delimiter = "\t" if name.endswith("tsv") else ","
    frame.to_csv(tmp_path / name, index=False, sep=delimiter)
    inputs = [x for x in INPUTS if x != "day"]
    whole = pd.read_csv(tmp_path / name, sep=delimiter, float_precision="round_trip")
    expected = learn_cases(whole, inputs, "y")
    assert_same(learn_cases(tmp_path / name, inputs, "y"), expected)


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
    with pytest.raises(DataError, match=r"weight -1.0 of row 0 is not a finite number"):
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
    monkeypatch.setattr("ebnc.data.read.PART_ROWS", 3000)
    monkeypatch.setattr("ebnc.data.file_batches.BATCH_ENTRIES", 1000)
    expected = learn_cases(frame, INPUTS, "y")
    spill = tmp_path / "spill"
    spill.mkdir()
    files = DataFiles(tmp_path / "data.parquet", temp_directory=spill, memory_limit="400KB")
    parts = learn_cases(files, INPUTS, "y")
    assert isinstance(parts, StoredParts)
    assert len(parts.files) > 5
    assert parts.n_rows > 12_000
    whole = Cases.joined(parts.collect(lambda part: part))
    assert_same(whole, expected)
    assert list(spill.iterdir()) == [parts.directory.path]
    del parts
    assert list(spill.iterdir()) == []


def test_many_rows_of_few_kinds_are_counted_in_batches(tmp_path: Path, monkeypatch) -> None:
    frame = table(30_000)[["text", "few", "flag", "y"]]
    frame.to_parquet(tmp_path / "data.parquet")
    monkeypatch.setattr("ebnc.data.file_batches.BATCH_ENTRIES", 1000)
    files = DataFiles(tmp_path / "data.parquet", memory_limit="40KB")
    found = learn_cases(files, ["text", "few", "flag"], "y")
    assert isinstance(found, Cases)
    assert_same(found, learn_cases(frame, ["text", "few", "flag"], "y"))


def test_a_type_that_changes_in_mid_file_is_text(tmp_path: Path, monkeypatch) -> None:
    """Numbers in the first batches, a label in the last: all entries are labels as written."""
    monkeypatch.setattr("ebnc.data.file_batches.BLOCK_BYTES", 2000)
    lines = [f"{i % 7},{'no' if i % 2 else 'yes'}" for i in range(4000)]
    (tmp_path / "data.csv").write_text("\n".join(["x,y", *lines, "other,no", ""]))
    found = learn_cases(tmp_path / "data.csv", ["x"], "y")
    assert found.domain["x"] == (*"0123456", "other")
    assert found.total_weight == 4001


def test_rows_come_back_in_order_for_prediction(tmp_path: Path, monkeypatch) -> None:
    frame = table()
    frame.to_parquet(tmp_path / "data.parquet")
    domain = learn_cases(frame[:50], INPUTS, "y").domain
    files = DataFiles(tmp_path / "data.parquet")
    expected = encode(frame, domain, INPUTS, unseen="extra")
    monkeypatch.setattr("ebnc.data.file_batches.BATCH_ENTRIES", 1100 * len(INPUTS))
    batches = list(coded_batches(source_of(files), Coder(domain, INPUTS, "extra")))
    assert len(batches) == 3
    assert batches[0].n_states == expected.n_states
    codes = np.concatenate([batch.codes for batch in batches], axis=1)
    np.testing.assert_array_equal(codes, expected.codes)
    assert column_names(files) == list(frame.columns)


def test_progress_is_reported(tmp_path: Path) -> None:
    table().to_parquet(tmp_path / "data.parquet")
    told = []
    files = DataFiles(tmp_path / "data.parquet", progress=lambda *what: told.append(what))
    learn_cases(files, INPUTS, "y")
    assert ("reading", 1.0) in told


@pytest.mark.parametrize(("numbers", "most_rows"), [("smooth", 0.005), ("mdlp", 0.03)])
def test_very_many_values_are_cut_nearly_the_same(
    tmp_path: Path, monkeypatch, numbers, most_rows
) -> None:
    """And exactly the same from every source; between two such cuts are at most ``most_rows``."""
    frame = table(50_000)[["number", "gappy", "y"]]
    frame.to_parquet(tmp_path / "data.parquet", row_group_size=3000)

    def learned(data: object) -> Domain:
        return learn_cases(data, ["number", "gappy"], "y", coding=Coding(numbers)).domain

    exact = learned(frame)
    monkeypatch.setattr("ebnc.data.summaries.MOST_VALUES", 2000)
    monkeypatch.setattr("ebnc.data.file_batches.BATCH_ENTRIES", 3000)
    coarse = learned(tmp_path / "data.parquet")
    assert coarse == learned(frame)
    assert len(exact["number"]) > 3
    for name in ("number", "gappy"):
        assert len(exact[name]) == len(coarse[name])
        for one, other in zip(exact[name], coarse[name], strict=True):
            if one != other:
                low, high = sorted([one.high, other.high])
                assert frame[name].between(low, high).mean() < most_rows


# -- bad input --------------------------------------------------------------------------------


def files_of(folder: Path, *frames: pd.DataFrame) -> Path:
    folder.mkdir()
    for i, frame in enumerate(frames):
        frame.to_parquet(folder / f"part{i}.parquet")
    return folder


def test_a_file_without_a_column_is_named(tmp_path: Path) -> None:
    frame = table(100)
    folder = files_of(tmp_path / "parquet", frame, frame.drop(columns="few"))
    with pytest.raises(DataError, match=r"part1.parquet' and .* have different columns"):
        learn_cases(folder, INPUTS, "y")
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.drop(columns="few").to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(DataError, match=r"b.csv' and .* have different columns"):
        learn_cases(tmp_path / "*.csv", ["text"], "y")
    with pytest.raises(DataError, match="no column 'nothing'; they have 'text'"):
        learn_cases(tmp_path / "a.csv", ["nothing"], "y")


def test_a_file_of_another_type_is_named(tmp_path: Path) -> None:
    frame = table(100)
    other = frame.assign(few=frame["few"].astype(str) + "x")
    folder = files_of(tmp_path / "parquet", frame, other)
    message = r"column 'few' differs in type between files .*number .*part0.*label .*part1"
    with pytest.raises(DataError, match=message):
        learn_cases(folder, INPUTS, "y")
    frame.to_csv(tmp_path / "a.csv", index=False)
    other.to_csv(tmp_path / "b.csv", index=False)
    found = learn_cases(tmp_path / "*.csv", ["few"], "y")  # text, in which anything may stand
    assert set(found.domain["few"]) == {*map(str, range(-2, 3)), *(f"{i}x" for i in range(-2, 3))}
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
        (folder / "part1.parquet").unlink(missing_ok=True)

    files = DataFiles(folder, temp_directory=spill, progress=delete)
    with pytest.raises(DataError, match=r"part1\.parquet"):
        learn_cases(files, INPUTS, "y")
    assert list(spill.iterdir()) == []

    def grow(task: str, share: float) -> None:
        table(700).to_parquet(folder / "part0.parquet")

    table(500).to_parquet(folder / "part1.parquet")
    files = DataFiles(folder, temp_directory=spill, progress=grow)
    with pytest.raises(DataError, match=r"part0\.parquet' changed while it was read"):
        learn_cases(files, INPUTS, "y")
    assert list(spill.iterdir()) == []


def test_impossible_requests_are_refused(tmp_path: Path) -> None:
    frame = table(2000)
    frame["name"] = [f"person {i}" for i in range(len(frame))]
    path = tmp_path / "data.parquet"
    frame.to_parquet(path)
    with pytest.raises(DataError, match=r"'name' has more than 1000 different labels.*identifier"):
        learn_cases(path, ["name"], "y")
    with pytest.raises(DataError, match=r"file or folder .* does not exist"):
        learn_cases(tmp_path / "none.csv", ["a"], "y")
    with pytest.raises(DataError, match="no file matches"):
        learn_cases(tmp_path / "*.csv", ["a"], "y")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="has no file whose name ends in"):
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
    with pytest.raises(DataError, match="the data have no rows"):
        learn_cases(path, ["a"], "y")
