"""Measure: ``python -m study.classification --data DIR [--sets a,b] [--models m,n] [--jobs N]``

The same folds and bins for every model; one thread for each job. All sets are measured once before
any is measured twice, the smallest first, so that a run that is stopped is balanced. What is on
file is not measured again unless ``--again`` is given. Every line that is printed ends with the
options that make it again, e.g. ``--sets car --models ebnc --repeats 0 --again``.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from joblib import Parallel, delayed

from study.cells import Cells, Value, select_names
from study.classification.data import N_REPEATS, Split, read_set, set_names, splits
from study.classification.measure import RESULTS, cells, measure_all
from study.classification.models import MODELS, STUDIED

Task = tuple[list[dict[str, Value]], Split]


def tasks(
    store: Cells,
    directory: Path,
    sets: Sequence[str],
    models: Sequence[str],
    repeats: Sequence[int],
    sizes: Sequence[int | None],
) -> Iterator[Task]:
    """What is not done yet, split by split."""
    done = store.done()
    for repeat in repeats:
        for name in sets:
            for fold, split in enumerate(splits(read_set(directory, name), repeat)):
                for size in sizes:
                    part = split if size is None else split.first(size)
                    if part is None:
                        continue
                    keys: list[dict[str, Value]] = [
                        {
                            **{"set": name, "model": model, "repeat": repeat, "fold": fold},
                            "rows": len(part.train),
                        }
                        for model in models
                    ]
                    missing = [key for key in keys if store.key(key) not in done]
                    if missing:
                        yield missing, part


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Measure classifiers by 5×2-fold CV.")
    parser.add_argument("--data", type=Path, required=True, help="directory with SCHEMA.json")
    parser.add_argument("--sets", help="names with commas; all of the study unless given")
    parser.add_argument("--models", help="names with commas; those of the study unless given")
    parser.add_argument("--repeats", help="numbers with commas; 0 to 4 unless given")
    parser.add_argument("--sizes", help="learn from this many rows, for learning curves")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=300, help="of the processor, for one fit")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--again", action="store_true", help="forget what is on file for these")
    options = parser.parse_args(arguments)
    store = cells(options.results)
    sets = select_names(options.sets, set_names(options.data), "set")
    models = options.models.split(",") if options.models else list(STUDIED)
    select_names(",".join(models), list(MODELS), "model")
    known = [str(repeat) for repeat in range(N_REPEATS)]
    repeats = select_names(options.repeats, known, "repeat")
    sizes = [int(size) for size in options.sizes.split(",")] if options.sizes else [None]
    if options.again:
        store.forget(lambda x: x["set"] in sets and x["model"] in models and x["repeat"] in repeats)
    failed = 0
    work = tasks(store, options.data, sets, models, [int(x) for x in repeats], sizes)
    run = Parallel(options.jobs, return_as="generator_unordered", batch_size=1)
    for found, failures in run(delayed(measure_all)(*task, options.seconds) for task in work):
        store.append(found)
        for cell in found:
            loss = f"{cell['log_loss']:.4f}" if "log_loss" in cell else "out of time"
            print(
                f"log-loss {loss}  {cell['fit_seconds']:8.2f} s  fold {cell['fold']}  "
                f"{cell['rows']:6} rows  --sets {cell['set']} --models {cell['model']} "
                f"--repeats {cell['repeat']} --again",
                flush=True,
            )
        for failure in failures:
            failed += 1
            print(f"FAILED: {failure}", file=sys.stderr, flush=True)
    if failed:
        sys.exit(f"{failed} measurements failed")


if __name__ == "__main__":
    main()
