"""Random tables and damaged files: no silent difference, no foreign error, no hang.

``make fuzz`` runs 20 000 tables, 16 000 model files and 4 000 BIF files, on all cores, and prints
the seed of every failure; ``python tests/fuzz.py --seed N`` runs that seed again, here, with its
traceback. A small part runs in the tests.
"""

import argparse
import csv
import json
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import ebnc
from cli.command import ebnc_here, succeeded
from damage import damaged_bif, damaged_bytes, damaged_json
from ebnc.cli.evaluating import summary_from
from ebnc.domain import Interval
from ebnc.errors import DataError, EBNCError
from ebnc.formats.native import model_bytes, read_model
from ebnc.network.network import Network
from ebnc.report import render_html
from random_tables import (
    as_csv,
    code,
    is_refused,
    meaning,
    random_entries,
    random_table,
    states_are_right,
    typed_frames,
)

GOLDEN = Path(__file__).parent / "golden"
SLOW = 5.0  # CPU seconds that one case may take
HANGS = 60.0  # seconds after which it is stopped
CHUNK = 50  # seeds that a process runs at a time


# -- tables ------------------------------------------------------------------------------------


def check_table(seed: int, folder: Path) -> None:
    """Every source of a table gives the states of the written rules, one model, one prediction."""
    generator = np.random.default_rng(seed)
    columns, classes = random_table(generator)
    inputs = list(columns)
    table = {**columns, "y": classes}
    data = text_sources(table, folder, as_csv(table, generator))
    data |= typed_frames(table)
    if seed % 10 == 0:
        data["dask"] = dask_frame(table)
    learned = {
        name: outcome(lambda source=source: learn(source, inputs, classes))
        for name, source in data.items()
    }
    first = learned["csv"]
    if isinstance(first, str):
        assert is_refused(columns), first
        assert all(words == first for words in learned.values()), learned
        return
    assert not is_refused(columns)
    states = {x: first.ebnc_.domain[x] for x in inputs if x not in first.constant_features_}
    codes, ordered = {}, set()
    for x in inputs:
        kind, entries = meaning(columns[x])
        if x in states:
            assert states_are_right(states[x], kind, entries), (x, states[x])
            gap = -1 if kind != "label" else len(states[x]) - 1  # beside a curve, or a label
            codes[x] = [gap if e is None else code(states[x], kind, e) for e in entries]
            if kind != "label":
                ordered.add(x)
        else:
            assert kind != "label" or len(set(entries)) == 1, x
    expected = model_of_codes(codes, ordered, classes)
    for name, model in learned.items():
        assert not isinstance(model, str), (name, model)
        found = {x: model.ebnc_.domain[x] for x in inputs if x in model.ebnc_.domain}
        assert found == states, name
    for name, source in data.items():
        rows = None if name == "dask" else source
        if rows is not None and not isinstance(rows, Path):
            rows = {x: source[x] for x in inputs}
        if rows is not None:
            np.testing.assert_allclose(first.predict_proba(rows), expected, atol=1e-9, err_msg=name)
        found = learned[name].predict_proba(data["csv"])
        np.testing.assert_allclose(found, expected, atol=1e-9, err_msg=name)
    if seed % 4 == 0:
        found = by_standard_input(data["csv"].read_bytes(), folder)
        np.testing.assert_allclose(found, expected, atol=1e-9, err_msg="standard input")
    if seed % 50 == 0:
        check_network(data, list(table))
    check_new_rows(first, columns, folder, generator)


def text_sources(table: dict[str, list[str]], folder: Path, text: str) -> dict[str, Any]:
    """The same text as a file, and as frames of strings."""
    (folder / "data.csv").write_bytes(text.encode())
    frame = pd.DataFrame(table, dtype=object)
    frame.to_parquet(folder / "data.parquet")
    return {
        "csv": folder / "data.csv",
        "parquet": folder / "data.parquet",
        "pandas": frame.astype("str"),
        "polars": pl.DataFrame(table),
        "pyarrow": pa.table(table),
        "mapping": table,
    }


def dask_frame(table: dict[str, list[str]]) -> Any:
    """Two partitions, on a cluster of one thread in this process."""
    import dask.dataframe as dd

    dask_client()
    return dd.from_pandas(pd.DataFrame(table, dtype=object), npartitions=2)


@cache
def dask_client() -> Any:
    from dask.distributed import Client

    return Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0")


def learn(source: Any, inputs: list[str], classes: list[str]) -> ebnc.EBNCClassifier:
    model = ebnc.EBNCClassifier("naive", prior_scale=1.0)
    if isinstance(source, Path) or hasattr(source, "map_partitions"):
        return model.fit(source, "y")
    return model.fit({x: source[x] for x in inputs}, classes)


def outcome(job: Callable[[], Any]) -> Any:
    """What a job gives, or the words of its refusal."""
    try:
        return job()
    except DataError as error:
        return str(error)


def model_of_codes(
    codes: dict[str, list[int]], ordered: set[str], classes: list[str]
) -> np.ndarray:
    """p(y|x) of a model learned from numbers of states, which leave a reader nothing to do.

    −1 is a missing entry of a variable whose states are in order.
    """
    frame = pd.DataFrame(
        {
            x: pd.Categorical.from_codes(
                column, [f"s{i:03d}" for i in range(max(column) + 1)], ordered=x in ordered
            )
            for x, column in codes.items()
        }
    )
    if frame.empty:
        frame = pd.DataFrame({"nothing": ["a"] * len(classes)})
    return ebnc.EBNCClassifier("naive", prior_scale=1.0).fit(frame, classes).predict_proba(frame)


def by_standard_input(text: bytes, folder: Path) -> np.ndarray:
    model = folder / "stdin.json"
    options = ["--structure", "naive", "--prior-scale", "1", "--quiet", "--force"]
    succeeded("learn", "-", "--target", "y", "--out", model, *options, stdin=text)
    lines = succeeded(
        "predict", model, "-", "--json", "--digits", "17", stdin=text
    ).text.splitlines()
    return np.array([json.loads(line)["probabilities"] for line in lines])


def check_new_rows(
    model: ebnc.EBNCClassifier,
    columns: dict[str, list[str]],
    folder: Path,
    generator: np.random.Generator,
) -> None:
    """Every source predicts the same for entries never seen, or refuses in the same words."""
    rows = {x: random_entries(x.split(" ", 1)[1], 12, generator) for x in columns}
    data = text_sources(rows, folder, as_csv(rows, generator))
    found = {
        name: outcome(lambda source=source: model.predict_proba(source))
        for name, source in data.items()
    }
    first = found["csv"]
    for name, each in found.items():
        assert isinstance(first, str) == isinstance(each, str), (name, first, each)
        if isinstance(first, str):
            assert first == each, (name, first, each)
        else:
            np.testing.assert_allclose(each, first, atol=1e-12, err_msg=name)


def check_network(data: dict[str, Any], names: list[str]) -> None:
    """The network of a file is that of a frame."""
    first, *others = (
        outcome(lambda source=source: str(Network.learn(source, local="table").score(source)))
        for source in (data["csv"], data["polars"], {x: data["pandas typed"][x] for x in names})
    )
    assert all(other == first for other in others), (first, others)


# -- files -------------------------------------------------------------------------------------


def check_model_file(seed: int, folder: Path) -> None:
    """A damaged model file is refused in words, or a model that can be used."""
    generator = np.random.default_rng(seed)
    originals = model_files()
    content = originals[int(generator.integers(len(originals)))]
    if generator.random() < 0.3:
        content = damaged_bytes(content, generator)
    else:
        content = damaged_json(json.loads(content), generator)
    path = folder / "model.json"
    path.write_bytes(content)
    with suppress(EBNCError):
        use(path, folder)


def check_bif_file(seed: int, folder: Path) -> None:
    """A damaged BIF file is refused in words, or a network that can be used."""
    generator = np.random.default_rng(seed)
    originals = bif_files()
    text = originals[int(generator.integers(len(originals)))]
    if generator.random() < 0.3:
        content = damaged_bytes(text.encode(), generator)
    else:
        content = damaged_bif(text, generator)
    path = folder / "network.bif"
    path.write_bytes(content)
    with suppress(EBNCError):
        use_network(Network.read_bif(path), folder)


@cache
def model_files() -> list[bytes]:
    """Model files of every kind: the golden ones, and some with findings for a report."""
    found = [path.read_bytes() for path in sorted(GOLDEN.glob("*.json"))]
    generator = np.random.default_rng(0)
    n = 120
    columns = {
        "label": generator.choice(["a", "b", "c", ""], n).tolist(),
        "number": [f"{x:.2f}" for x in generator.normal(size=n)],
        "flag": generator.choice(["True", "False"], n).tolist(),
    }
    score = np.array(columns["number"], float) + (np.array(columns["label"]) == "a")
    columns["y"] = np.array(["low", "middle", "high"])[
        np.digitize(score + generator.normal(size=n) / 3, [0, 1])
    ].tolist()
    with tempfile.TemporaryDirectory(prefix="ebnc-fuzz-") as name:
        data, out, page = (Path(name) / x for x in ("data.csv", "model.json", "report.html"))
        data.write_text(as_csv(columns, generator), encoding="utf-8")
        both = ["--out", out, "--report", page, "--quiet", "--force"]
        succeeded("learn", data, "--target", "y", "--folds", "2", *both)
        found.append(out.read_bytes())
        succeeded("network", "learn", data, *both)
        found.append(out.read_bytes())
    return found


@cache
def bif_files() -> list[str]:
    """BIF files: the golden network expanded, and one with all that the format knows."""
    with tempfile.TemporaryDirectory(prefix="ebnc-fuzz-") as name:
        path = Path(name) / "golden.bif"
        ebnc.load(GOLDEN / "network-1.json").write_bif(path)
        return [path.read_text(encoding="utf-8"), BIF]


BIF = """// a comment
network "some name" { property author someone; }
variable rain { type discrete [ 2 ] { no, yes }; property position = (1, 2) ; }
variable "wet grass" { type discrete[3] { "a bit" no yes }; }
/* another
   comment */
variable slippery { type discrete [ 2 ] { no, yes }; }
probability ( rain ) { table 0.75, 0.25; }
probability ( "wet grass" | rain ) { default 0.25 0.5 0.25; (yes) 0.125, 0.125, 0.75; }
probability ( slippery | rain, "wet grass" ) {
  table 0.5, 0.5, 0.5, 0.25, 0.125, 0.0, 0.5, 0.5, 0.5, 0.75, 0.875, 1.0;
}
"""


def use(path: Path, folder: Path) -> None:
    """Show a model, save it, draw its report, predict with it."""
    stored = read_model(path)
    model = stored.model
    repr(model)
    model_bytes(model)
    render_html(summary_from(stored))
    if isinstance(model, Network):
        use_network(model, folder)
        return
    domain = model.domain if isinstance(model, ebnc.EBNC) else model.ebnc_.domain
    target = (model if isinstance(model, ebnc.EBNC) else model.ebnc_).structure.target
    rows = {x: [entry_of(state) for state in domain[x][:2]] * 2 for x in domain if x != target}
    rows = {x: entries[:2] for x, entries in rows.items()}
    predict = model.probabilities if isinstance(model, ebnc.EBNC) else model.predict_proba
    if not isinstance(model, ebnc.EBNC):
        given = getattr(model, "feature_names_in_", [f"x{i}" for i in range(model.n_features_in_)])
        rows = {x: rows.get(x, ["", ""]) for x in given}
    found = predict(rows)
    assert not np.isnan(found).any()
    with open(folder / "rows.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([list(rows), *zip(*rows.values(), strict=True)])
    ran = ebnc_here("predict", path, folder / "rows.csv")
    assert "this is a bug" not in ran.err, ran.err


def use_network(network: Network, folder: Path) -> None:
    """Show a network, draw from it, ask it, write it."""
    repr(network)
    drawn = network.sample(3, random_state=0)
    assert not np.isnan(network.log_likelihood(drawn)).any()
    asked, *others = network
    evidence = {others[-1]: drawn[others[-1]][0]} if others else {}
    network.query(asked, evidence)
    model_bytes(network)
    network.write_bif(folder / "written.bif")
    Network.read_bif(folder / "written.bif")


def entry_of(state: Any) -> Any:
    """An entry that is in a state."""
    if isinstance(state, Interval):
        return (
            state.high
            if np.isfinite(state.high)
            else state.low + 1
            if np.isfinite(state.low)
            else 0.0
        )
    return state


# -- running -----------------------------------------------------------------------------------

CHECKS: dict[str, Callable[[int, Path], None]] = {
    "table": check_table,
    "model": check_model_file,
    "bif": check_bif_file,
}


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise ``TimeoutError`` where the block takes longer; only in the main thread."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"still running after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def warm_up(kind: str) -> None:
    """Load what takes long the first time."""
    if kind == "table":
        dask_client()
    else:
        model_files()
        bif_files()


def run(kind: str, seeds: range, *, with_traceback: bool = False) -> list[str]:
    """The failures among the seeds, in words."""
    failures = []
    warm_up(kind)
    with tempfile.TemporaryDirectory(prefix="ebnc-fuzz-") as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in seeds:
            began = time.process_time()
            try:
                with limited(HANGS):
                    CHECKS[kind](seed, Path(name))
                seconds = time.process_time() - began
                assert seconds < SLOW, f"{seconds:.1f} CPU s"
            except Exception as error:  # whatever it is, it should not be
                if with_traceback:
                    traceback.print_exc()
                words = " ".join(f"{type(error).__name__}: {error}".split())
                failures.append(f"{kind} --seed {seed}: {words[:300]}")
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", type=int, default=20_000, help="how many tables")
    parser.add_argument("--model", type=int, default=16_000, help="how many model files")
    parser.add_argument("--bif", type=int, default=4_000, help="how many BIF files")
    parser.add_argument("--first", type=int, default=10_000, help="the first seed of each")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many processes")
    parser.add_argument("--seed", type=int, help="run this one seed of each again")
    options = parser.parse_args()
    if options.seed is not None:
        one = range(options.seed, options.seed + 1)
        failures = [line for kind in CHECKS for line in run(kind, one, with_traceback=True)]
        print("\n".join(failures) or "nothing failed")
        return bool(failures)
    began, n_failed = time.perf_counter(), 0
    with ProcessPoolExecutor(options.jobs) as pool:
        for kind in CHECKS:
            end = options.first + getattr(options, kind)
            starts = range(options.first, end, CHUNK)
            futures = [pool.submit(run, kind, range(i, min(i + CHUNK, end))) for i in starts]
            for future in as_completed(futures):
                for line in future.result():
                    n_failed += 1
                    print(line, flush=True)
            seconds = time.perf_counter() - began
            print(
                f"{end - options.first} of {kind}: {n_failed} failed, {seconds:.0f} s", flush=True
            )
    return n_failed > 0


if __name__ == "__main__":
    sys.exit(main())
