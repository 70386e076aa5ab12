"""The default classifier against others on real data sets: CPU time and memory of one fit.

``DATA=folder make bench``, with the folder of the study; without it, or without a package, these
comparisons are left out. All fit the same rows once, on one thread, each in a process of its own,
and kernels are loaded before.
"""

import math
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from study.classification.data import Split, read_set, set_names
from study.numbers.rivals import COMPARED, OURS

from benchmarks.measure import Comparison, watched

LIGHTGBM = "lightgbm"
SLOWER = ("catboost", "explainable")
FEW_SETS = ("german", "vowel", "car", "segment", "soybean")
LARGE_SETS = ("soybean", "letter", "krkopt", "optdigits", "poker-hand-train")
SHOWN_ROWS = 100


class Used(NamedTuple):
    """CPU seconds of one fit, and the resident bytes of its process."""

    seconds: float
    peak: float


def comparisons() -> Iterator[Comparison]:
    """The mean and the worst ratio of CPU times, peaks of memory, and two slower peers."""
    folder = Path(os.environ.get("DATA", ""))
    if not (folder / "SCHEMA.json").exists():
        print("classifiers: left out; DATA=folder names the data of the study", file=sys.stderr)
        return
    ours: dict[str, Used] = {}

    def both(peer: str, names: Sequence[str]) -> dict[str, tuple[Used, Used]]:
        if not COMPARED[peer].version:
            print(f"classifiers: {peer} is left out: not installed", file=sys.stderr)
            return {}
        for name in names:
            if name not in ours:
                ours[name] = one_fit(folder, name, OURS)
        return {name: (ours[name], one_fit(folder, name, peer)) for name in names}

    boosted = both(LIGHTGBM, set_names(folder))
    if boosted:
        mean = [
            math.exp(
                math.fsum(math.log(pair[i].seconds) for pair in boosted.values()) / len(boosted)
            )
            for i in range(2)
        ]
        yield Comparison(
            f"fit of EBNCClassifier, {len(boosted)} sets: geometric mean of CPU seconds",
            *("ebnc", mean[0], "LightGBM", mean[1], "≥ 0.25"),
        )
        yield _worst("LightGBM", boosted, "≥ 0.04")
        name, (used, of_peer) = max(boosted.items(), key=lambda pair: pair[1][0].peak)
        yield Comparison(
            f"fit of EBNCClassifier, largest peak of memory (MB), {name}",
            *("ebnc", used.peak / 1e6, "LightGBM", of_peer.peak / 1e6, "≥ 0.1"),
        )
        for name in set(LARGE_SETS) & set(boosted):
            yield Comparison(
                f"fit of EBNCClassifier, {name}: CPU seconds",
                *("ebnc", ours[name].seconds, "limit", 8.0 if name == "soybean" else 60.0, "≥ 1"),
            )
    for peer in SLOWER:
        few = both(peer, FEW_SETS)
        if few:
            yield _worst(peer, few, "≥ 1")


def _worst(peer: str, used: dict[str, tuple[Used, Used]], needed: str) -> Comparison:
    name = max(used, key=lambda name: used[name][0].seconds / used[name][1].seconds)
    seconds = [one.seconds for one in used[name]]
    return Comparison(
        f"fit of EBNCClassifier, worst of {len(used)} sets against {peer} ({name}): CPU seconds",
        *("ebnc", seconds[0], peer, seconds[1], needed),
    )


def one_fit(folder: Path, name: str, model: str) -> Used:
    """Fit a model to all rows of a set in another process."""
    with tempfile.TemporaryDirectory() as scratch:
        answer = Path(scratch) / "seconds"
        words = ["-m", "benchmarks.classifiers", folder, name, model, answer]
        process = watched("env", "OMP_NUM_THREADS=1", sys.executable, *words)
        used = Used(float(answer.read_text()), process["peak"])
    print(f"    {name}, {model}: {used.seconds:.3g} s, {used.peak / 1e6:.0f} MB", flush=True)
    return used


def main(folder: str, name: str, model: str, answer: str) -> None:
    """Fit one model to one set, and write its CPU seconds."""
    data = read_set(Path(folder), name)
    classes = tuple(sorted(data["class"].unique()))
    split = Split(data, data.head(SHOWN_ROWS), classes)
    Path(answer).write_text(repr(COMPARED[model].predict(split).fit_seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
