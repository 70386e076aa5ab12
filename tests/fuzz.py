"""Random tables and damaged model files: no silent difference, no foreign error, no hang.

``python tests/fuzz.py --tables 20000 --models 20000`` (``make fuzz``); ``--seed`` repeats one,
whose number a failure prints. A small part of it runs in the tests.
"""

import argparse
import json
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import ebnc
from data.test_every_source import check
from ebnc.errors import EBNCError

GOLDEN = Path(__file__).parent / "golden"
SLOW = 5.0  # seconds
ODD: list[Any] = [None, True, -1, 0, 1e308, float("inf"), "", "\ud800", [], {}, [[]], "x" * 999]


def damaged(document: Any, generator: np.random.Generator) -> Any:
    """A model file with one value replaced, removed or doubled, somewhere in it."""
    document = json.loads(json.dumps(document))
    place = document
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = keys[int(generator.integers(len(keys)))]
        inside = place[key]
        if isinstance(inside, dict | list) and inside and generator.random() < 0.8:
            place = inside
            continue
        chosen = int(generator.integers(len(ODD) + 2))
        if chosen < len(ODD):
            place[key] = ODD[chosen]
        elif chosen == len(ODD):
            del place[key]
        elif isinstance(place, list):
            place.append(inside)
        return document


def load_damaged(seed: int, folder: Path) -> None:
    """Load it: a model, or one of our own errors."""
    generator = np.random.default_rng(seed)
    files = sorted(GOLDEN.glob("*.json"))
    original = files[int(generator.integers(len(files)))]
    path = folder / "model.json"
    if generator.random() < 0.3:
        content = bytearray(original.read_bytes())
        content[int(generator.integers(len(content)))] = int(generator.integers(256))
        path.write_bytes(content)
    else:
        document = damaged(json.loads(original.read_text(encoding="utf-8")), generator)
        path.write_text(json.dumps(document), encoding="utf-8")
    with suppress(EBNCError):
        repr(ebnc.load(path))


def run(job: Any, seeds: range, folder: Path) -> int:
    """How many seeds failed; each is printed."""
    failed = 0
    for seed in seeds:
        began = time.perf_counter()
        try:
            job(seed, folder)
            problem = ""
        except Exception as error:  # whatever it is, it should not be
            problem = f"{type(error).__name__}: {error}"
        seconds = time.perf_counter() - began
        if problem or seconds > SLOW:
            failed += 1
            print(f"{job.__name__} seed {seed}: {problem or f'{seconds:.1f} s'}", flush=True)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=20_000)
    parser.add_argument("--models", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=10_000)
    given = parser.parse_args()
    ebnc.load(GOLDEN / "classifier-1.json")  # what is loaded the first time takes long
    with tempfile.TemporaryDirectory(prefix="ebnc-fuzz-") as name:
        failed = run(check, range(given.seed, given.seed + given.tables), Path(name))
        failed += run(load_damaged, range(given.seed, given.seed + given.models), Path(name))
    print(f"{given.tables} tables, {given.models} model files: {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
