"""Measure: ``python -m study.numbers --data DIR [--sets a,b] [--models m,n] [--label TEXT]``

Log-loss in nats, accuracy, and seconds of the processor that the fit took, on all threads. Some
rivals, forests above all, give classes the probability 0: rivals' probabilities are clipped at
1e-15, ours are not. What is on file is not measured again unless ``--again`` names its model. A
model that takes more than ``--seconds`` is on file without a loss. ``--table`` prints the file.
"""

import argparse
import sys
import traceback
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import ebnc
from study.cells import Cells, Value, select_names
from study.classification.data import Split
from study.classification.measure import OutOfTimeError, alarm
from study.classification.peers import log_loss
from study.numbers.rivals import COMPARED, OURS, Model
from study.numbers.sets import DataSet, data_sets
from study.numbers.table import table

RESULTS = Path(__file__).with_name("results.csv")
KEYS = ("set", "model", "fold")
VALUES = ("log_loss", "accuracy", "fit_cpu", "version")


def measure(model: Model, split: Split, seconds: float) -> dict[str, Value]:
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        try:
            with alarm(seconds):
                probability, fit_cpu, _ = model.predict(split)
        except OutOfTimeError:
            return {"fit_cpu": seconds, "version": model.version}
    y = split.class_numbers(split.test)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, atol=1e-5)
    least = 0.0 if model is COMPARED[OURS] else 1e-15
    return {
        "log_loss": log_loss(np.maximum(probability, least), y),
        "accuracy": float(np.mean(probability.argmax(axis=1) == y)),
        "fit_cpu": fit_cpu,
        "version": model.version,
    }


def write_sets(sets: Mapping[str, DataSet]) -> None:
    """Kinds and folds of the sets, so that what is quoted needs no data."""
    lines = [f"{each.name},{each.kind},{each.n_folds}" for each in sets.values()]
    RESULTS.with_name("sets.csv").write_text("\n".join(["set,kind,folds", *lines, ""]))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Compare classifiers on raw data.")
    parser.add_argument("--data", type=Path, required=True, help="directory with SCHEMA.json")
    parser.add_argument("--sets", help="names with commas; all unless given")
    parser.add_argument("--models", help="names with commas; all that are installed unless given")
    parser.add_argument("--label", default=ebnc.__version__, help="of our cells, to tell variants")
    parser.add_argument("--again", default="", help="forget what is on file for these models")
    parser.add_argument("--seconds", type=float, default=600, help="of the processor, for one fit")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="only print what is on file")
    options = parser.parse_args(arguments)
    store = Cells(options.results, KEYS, VALUES)
    sets = data_sets(options.data)
    if options.results == RESULTS:
        write_sets(sets)
    chosen = select_names(options.sets, list(sets), "set")
    models = select_names(options.models, list(COMPARED), "model")
    # Our cells are called "ebnc LABEL".
    names = {model: f"{OURS} {options.label}" if model == OURS else model for model in models}
    if options.table:
        frame = store.frame()
        is_shown = frame["set"].isin(chosen) & frame["model"].str.split().str[0].isin(models)
        print(table(frame[is_shown], sets))
        return
    if options.again:
        again = {names[model] for model in select_names(options.again, models, "model")}
        store.forget(lambda line: line["set"] in chosen and line["model"] in again)
    if missing := sorted({COMPARED[x].package for x in models if COMPARED[x].version is None}):
        print(f"left out, since not installed: {', '.join(missing)}", file=sys.stderr)
    failed = 0
    done = store.done()
    for name in chosen:
        for fold, split in enumerate(sets[name].splits(options.data)):
            for model, label in names.items():
                key = {"set": name, "model": label, "fold": fold}
                if store.key(key) in done or COMPARED[model].version is None:
                    continue
                try:
                    cell = {**key, **measure(COMPARED[model], split, options.seconds)}
                except Exception:
                    failed += 1
                    print(f"FAILED: {key}\n{traceback.format_exc()}", file=sys.stderr, flush=True)
                    continue
                store.append([cell])
                loss = f"{cell['log_loss']:.4f}" if "log_loss" in cell else "out of time"
                print(f"{name} {label} {fold}: {loss}, {cell['fit_cpu']:.1f} s", flush=True)
    if failed:
        sys.exit(f"{failed} measurements failed")


if __name__ == "__main__":
    main()
