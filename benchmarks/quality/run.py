"""Measure: ``python -m benchmarks.quality.run [--data DIR] [--sets a,b] [--models m,n] [--jobs N]``

Every finished (set, model, repeat, fold) is a row of ``results.csv`` and is not computed again
unless ``--again`` is given. The same folds and bins for every model; one thread for each job.
"""

import argparse
import csv
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.quality.data import N_REPEATS, Split, read_set, set_names, splits
from benchmarks.quality.models import models
from benchmarks.quality.peers import log_loss

RESULTS = Path(__file__).with_name("results.csv")


@dataclass(frozen=True)
class Row:
    """One line of the results. ``log_loss`` in nats; ``brier`` is Σ_k (p_k − 1[y = k])², a mean."""

    set: str
    model: str
    repeat: int
    fold: int
    log_loss: float
    error: float
    brier: float
    fit_seconds: float
    dimension: int | None

    @property
    def key(self) -> tuple[str, str, int, int]:
        return self.set, self.model, self.repeat, self.fold


COLUMNS = [field.name for field in fields(Row)]


def measure(name: str, model: str, repeat: int, fold: int, split: Split) -> Row:
    """Fit and judge one model on one split; nothing is clipped, a hard zero is infinite."""
    y = split.class_numbers(split.test)
    probability, seconds, dimension = models()[model](split)
    expected = (len(y), len(split.classes))
    if probability.shape != expected or not np.all(probability >= 0):
        raise ValueError(f"probabilities must be ≥ 0, of shape {expected}: {probability.shape}")
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, atol=1e-6)
    truth = y[:, None] == np.arange(len(split.classes))
    return Row(
        *(name, model, repeat, fold),
        log_loss=log_loss(probability, y),
        error=float(np.mean(probability.argmax(axis=1) != y)),
        brier=float(np.sum((probability - truth) ** 2, axis=1).mean()),
        fit_seconds=seconds,
        dimension=dimension,
    )


def measure_split(
    name: str, repeat: int, fold: int, split: Split, wanted: Sequence[str]
) -> tuple[list[Row], list[str]]:
    """Rows of the models wanted, and what went wrong with the others."""
    rows, failures = [], []
    with threadpool_limits(1):
        for model in wanted:
            try:
                rows.append(measure(name, model, repeat, fold, split))
            except Exception:
                where = f"{name}, {model}, repeat {repeat}, fold {fold}"
                failures.append(f"{where}:\n{traceback.format_exc()}")
    return rows, failures


def read_rows(path: Path) -> dict[tuple[str, str, int, int], Row]:
    """Rows on file, by key; of equal keys the last."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        found = (
            Row(
                *(line["set"], line["model"], int(line["repeat"]), int(line["fold"])),
                *(float(line[x]) for x in ("log_loss", "error", "brier", "fit_seconds")),
                dimension=int(line["dimension"]) if line["dimension"] else None,
            )
            for line in csv.DictReader(file)
        )
        return {row.key: row for row in found}


def append_rows(path: Path, rows: Sequence[Row]) -> None:
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        for row in rows:
            line = asdict(row)
            rounded = {k: f"{v:.6g}" for k, v in line.items() if isinstance(v, float)}
            writer.writerow(line | rounded)


def forget(path: Path, sets: Sequence[str], wanted: Sequence[str]) -> None:
    """Take the rows of these sets and models out of the file, and sort the others."""
    kept = [
        row for row in read_rows(path).values() if row.set not in sets or row.model not in wanted
    ]
    path.unlink(missing_ok=True)
    append_rows(path, sorted(kept, key=lambda row: row.key))


def tasks(
    directory: Path, sets: Sequence[str], wanted: Sequence[str], path: Path
) -> Iterator[tuple[str, int, int, Split, list[str]]]:
    done = read_rows(path).keys()
    for name in sets:
        keys = {(r, f): [m for m in wanted if (name, m, r, f) not in done] for r, f in _folds()}
        if not any(keys.values()):
            continue
        for repeat, fold, split in splits(read_set(directory, name)):
            if keys[repeat, fold]:
                yield name, repeat, fold, split, keys[repeat, fold]


def _folds() -> list[tuple[int, int]]:
    return [(repeat, fold) for repeat in range(N_REPEATS) for fold in range(2)]


def _chosen(given: str | None, known: Sequence[str], what: str) -> list[str]:
    names = list(known) if given is None else given.split(",")
    if unknown := sorted(set(names) - set(known)):
        sys.exit(f"no {what} {', '.join(unknown)}; there are {', '.join(known)}")
    return names


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure classifiers by 5×2-fold CV.")
    parser.add_argument("--data", type=Path, required=True, help="directory with SCHEMA.json")
    parser.add_argument("--sets", help="names with commas; all of the study unless given")
    parser.add_argument("--models", help="names with commas; all that there are unless given")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--again", action="store_true", help="forget what is on file for these")
    options = parser.parse_args()
    sets = _chosen(options.sets, set_names(options.data), "set")
    wanted = _chosen(options.models, list(models()), "model")
    if options.again:
        forget(options.results, sets, wanted)
    failed = 0
    work = tasks(options.data, sets, wanted, options.results)
    run = Parallel(options.jobs, return_as="generator_unordered", batch_size=1)
    for rows, failures in run(delayed(measure_split)(*task) for task in work):
        append_rows(options.results, rows)
        for row in rows:
            print(
                f"{row.set:16} {row.model:15} {row.repeat}.{row.fold}  log-loss {row.log_loss:.4f}"
                f"  error {row.error:.3f}  {row.fit_seconds:.2f} s",
                flush=True,
            )
        for failure in failures:
            failed += 1
            print(f"FAILED: {failure}", file=sys.stderr, flush=True)
    sys.exit(f"{failed} measurements failed" if failed else 0)


if __name__ == "__main__":
    main()
