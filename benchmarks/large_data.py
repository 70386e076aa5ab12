"""Files larger than memory: 50 000 000 rows × 20 columns of Parquet, learned in ≤ 1 GB.

``python -m benchmarks.large_data`` generates the file (into a temporary folder), learns from it in
a process of its own, and compares with DuckDB's GROUP BY ALL on the same file, in the same run.
Then 20 000 000 rows of which nearly all differ, in ≤ 2 GB. ``--rows N`` for another size, ``--keep
FOLDER`` to leave the files there.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import ebnc
from benchmarks.measure import Comparison, watched

COMMAND = Path(sys.executable).with_name("ebnc")
ROWS = 50_000_000
CHUNK = 1_000_000
N_INPUTS = 19


def generate(path: Path, n_rows: int, seed: int = 0, *, distinct: bool = False) -> None:
    """A chain of 19 inputs of 2–4 states, text and numbers, and a class with one interaction.

    ``distinct``: independent inputs instead, so that nearly all rows differ.
    """
    chunk = _distinct_chunk if distinct else _chunk
    generator = np.random.default_rng(seed)
    writer = None
    for start in range(0, n_rows, CHUNK):
        n = min(CHUNK, n_rows - start)
        table = chunk(generator, n)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def _distinct_chunk(generator: np.random.Generator, n: int) -> pa.Table:
    """Independent text of 2–5 states, so that nearly all rows differ, and a class."""
    codes = [generator.integers(0, 2 + i % 4, n) for i in range(N_INPUTS)]
    log_odds = (codes[0] == 1) - 0.8 * (codes[2] == 0) + 1.5 * ((codes[1] == 1) & (codes[3] == 2))
    y = generator.random(n) < 1 / (1 + np.exp(0.5 - log_odds))
    columns = {}
    for name, column in {**{f"x{i}": c for i, c in enumerate(codes)}, "y": y}.items():
        words = pa.array([f"{name}-{j}" for j in range(5)])
        small = pa.array(column.astype(np.int8))
        columns[name] = pa.DictionaryArray.from_arrays(small, words).cast(pa.string())
    return pa.table(columns)


def _chunk(generator: np.random.Generator, n: int) -> pa.Table:
    hidden = generator.integers(0, 3, n)
    codes: list[np.ndarray] = []
    before = hidden
    for i in range(N_INPUTS):
        r = 2 + i % 3
        follows = (before + hidden * (i % 2)) % r
        before = np.where(generator.random(n) < 0.93, follows, generator.integers(0, r, n))
        codes.append(before)
    log_odds = (
        1.5 * (codes[0] == 1)
        - 1.2 * (codes[3] == 0)
        + 2.0 * ((codes[1] == 1) & (codes[2] == 2))
        + 0.8 * codes[5]
        - 2.0
    )
    y = (generator.random(n) < 1 / (1 + np.exp(-log_odds))).astype(np.int8)
    columns = {}
    for i, code in enumerate(codes):
        small = pa.array(code.astype(np.int8))
        words = pa.array([f"s{j}" for j in range(2 + i % 3)])
        text = pa.DictionaryArray.from_arrays(small, words).cast(pa.string())
        columns[f"x{i}"] = small if i % 2 else text
    words = pa.array(["no", "yes"])
    columns["y"] = pa.DictionaryArray.from_arrays(pa.array(y), words).cast(pa.string())
    return pa.table(columns)


MANY_ROWS = """
import numpy as np
import pandas as pd
import ebnc
rng = np.random.default_rng(0)
hidden, columns = rng.random((3, 290_000)) < 0.4, [np.zeros(290_000, bool)]
for i in range(17):
    p = np.where(hidden[i % 3] ^ columns[-1], 0.7, 0.2)
    columns.append(rng.random(290_000) < p)
frame = pd.DataFrame({f"V{i}": x for i, x in enumerate(columns[1:])})
ebnc.Network.learn(frame)
"""

GROUP = """
import json, sys, time, duckdb
connection = duckdb.connect()
connection.execute("SET memory_limit = '1GB'")
connection.execute("SET temp_directory = '" + sys.argv[2] + "'")
began = time.perf_counter()
connection.execute(
    "CREATE TABLE grouped AS SELECT *, count(*) AS n FROM '" + sys.argv[1] + "' GROUP BY ALL"
)
seconds = time.process_time()
(rows,) = connection.execute("SELECT count(*) FROM grouped").fetchone()
print(json.dumps({"seconds": seconds, "rows": rows}))
"""


def learn(path: Path, folder: Path) -> dict[str, Any]:
    """``ebnc learn`` from start to end: CPU seconds, and the peak of its resident memory."""
    model = folder / "model.json"
    used = watched(COMMAND, "learn", path, "-t", "y", "-o", model, "--quiet", "--force")
    return used | {"structure": str(ebnc.load(model).structure_)}


def group(path: Path, folder: Path) -> dict[str, Any]:
    """GROUP BY ALL in a process of its own; the CPU seconds of the query alone."""
    command = [sys.executable, "-c", GROUP, str(path), str(folder)]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(run.stdout.splitlines()[-1]))


def measure(path: Path, folder: Path) -> dict[str, dict[str, Any]]:
    """Both, taking turns; the better of two rounds each."""
    found: dict[str, dict[str, Any]] = {}
    for _ in range(2):
        for name, how in (("group", group), ("learn", learn)):
            result = how(path, folder)
            if name not in found or result["seconds"] < found[name]["seconds"]:
                found[name] = result
    return found


def comparisons(n_rows: int = ROWS, keep: Path | None = None) -> Iterator[Comparison]:
    """Peak memory against 1 GB, and CPU seconds against GROUP BY ALL."""
    with tempfile.TemporaryDirectory(prefix="ebnc-bench-") as temporary:
        folder = keep or Path(temporary)
        path = folder / f"rows-{n_rows}.parquet"
        if not path.exists():
            began = time.perf_counter()
            generate(path, n_rows)
            seconds = time.perf_counter() - began
            size = path.stat().st_size / 1e6
            print(f"generated {n_rows} rows, {size:.0f} MB, in {seconds:.0f} s", flush=True)
        found = measure(path, Path(temporary))
        other = folder / f"distinct-{n_rows * 2 // 5}.parquet"
        if not other.exists():
            generate(other, n_rows * 2 // 5, distinct=True)
        distinct = learn(other, Path(temporary))
    ours, peer = found["learn"], found["group"]
    print(f"{peer['rows']} distinct rows; {ours['structure']}", flush=True)
    yield Comparison(
        f"learn from {n_rows} rows × 20 of Parquet: peak resident GB",
        *("1 GB", 1.0, "ebnc learn", ours["peak"] / 1e9, "≤ 1"),
    )
    yield Comparison(
        f"learn from {n_rows} rows × 20 of Parquet: CPU seconds, command to model file",
        *("GROUP BY ALL", peer["seconds"], "ebnc learn", ours["seconds"], "≤ 4"),
    )

    yield Comparison(
        f"learn from {n_rows * 2 // 5} rows × 20 of Parquet, nearly all distinct: peak resident GB",
        *("2 GB", 2.0, "ebnc learn", distinct["peak"] / 1e9, "≤ 1"),
    )
    yield Comparison(
        "Network.learn of a frame, 290 000 × 17 binary: peak resident GB",
        *("1.5 GB", 1.5, "ebnc", watched(sys.executable, "-c", MANY_ROWS)["peak"] / 1e9, "≤ 1"),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--keep", type=Path, default=None)
    given = parser.parse_args()
    holds = True
    for comparison in comparisons(given.rows, given.keep):
        verdict = "ok" if comparison.holds else "MISSED"
        print(
            f"{comparison.name}\n    {comparison.ours}: {comparison.ours_value:.3g}, "
            f"{comparison.peer}: {comparison.peer_value:.3g}, "
            f"ratio {comparison.ratio:.3g} (needed {comparison.needed}) {verdict}",
            flush=True,
        )
        holds = holds and comparison.holds
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
