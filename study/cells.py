"""Finished cells of an experiment: a CSV file with one line for each, appended at once.

A cell is one measurement, known by its key columns. What is on file is not measured again, so that
a run that was killed goes on where it was. Every line names the environment that made it, which
``environments.csv`` beside it describes: versions, processor, fingerprint of the package's source.
"""

import csv
import hashlib
import os
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pandas as pd

import ebnc

__all__ = ["ENVIRONMENT", "Cells", "environment", "package_version", "select_names"]

ENVIRONMENT = "environment"
LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "pyagrum")

Value = str | int | float | None


class Cells:
    """The cells in one file; ``keys`` and ``values`` are its columns, and the environment."""

    def __init__(self, path: Path, keys: Sequence[str], values: Sequence[str]) -> None:
        self.path, self.keys, self.values = path, tuple(keys), tuple(values)

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.keys, *self.values, ENVIRONMENT)

    def key(self, line: Mapping[str, object]) -> tuple[str, ...]:
        return tuple(str(line[name]) for name in self.keys)

    def lines(self) -> list[dict[str, str]]:
        """All lines, as strings; of equal keys the last. A line that was cut off is left out."""
        if not self.path.exists():
            return []
        text = self.path.read_text()
        reader = csv.DictReader(text[: text.rfind("\n") + 1].splitlines())
        if tuple(reader.fieldnames or ()) != self.columns:
            columns = ", ".join(self.columns)
            raise ValueError(f"{self.path.name} must have the columns {columns}")
        return list({self.key(line): line for line in reader}.values())

    def done(self) -> set[tuple[str, ...]]:
        return {self.key(line) for line in self.lines()}

    def frame(self) -> pd.DataFrame:
        """All lines, numbers as numbers."""
        frame = pd.DataFrame(self.lines(), columns=self.columns)
        for name in self.columns:
            if name != ENVIRONMENT:
                numbers = pd.to_numeric(frame[name].replace("", "nan"), errors="coerce")
                if (numbers.notna() | frame[name].isin(["", "nan"])).all():
                    frame[name] = numbers
        return frame

    def append(self, lines: Iterable[Mapping[str, Value]]) -> None:
        """Write at the end of the file; numbers with six digits."""
        made_by = environment(self.path.with_name("environments.csv"))
        is_new = not self.path.exists()
        if not is_new and not self.path.read_bytes().endswith(b"\n"):  # a run was killed here
            self._write(self.lines())
        with self.path.open("a", newline="") as file:
            writer = csv.DictWriter(file, self.columns, lineterminator="\n")
            if is_new:
                writer.writeheader()
            writer.writerows({ENVIRONMENT: made_by, **_rounded(line)} for line in lines)

    def forget(self, unwanted: Callable[[Mapping[str, str]], bool]) -> None:
        """Take lines out, and sort the others."""
        self._write(sorted((x for x in self.lines() if not unwanted(x)), key=self.key))

    def _write(self, lines: Iterable[Mapping[str, str]]) -> None:
        beside = self.path.with_suffix(".part")
        with beside.open("w", newline="") as file:
            writer = csv.DictWriter(file, self.columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)
        beside.replace(self.path)


def _rounded(line: Mapping[str, Value]) -> dict[str, Value]:
    return {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in line.items()}


def select_names(given: str | None, known: Sequence[str], what: str) -> list[str]:
    """The names in an option ``a,b,c``, all unless given; an unknown one ends the program."""
    names = list(known) if given is None else given.split(",")
    if unknown := sorted(set(names) - set(known)):
        raise SystemExit(f"no {what} {', '.join(unknown)}; there are {', '.join(known)}")
    return names


@cache
def environment(path: Path) -> str:
    """Name of this environment; it is described in ``path`` from now on."""
    facts = {
        "ebnc": ebnc.__version__,
        "source": _source_fingerprint(),
        "python": platform.python_version(),
        **{name: package_version(name) or "none" for name in LIBRARIES},
        "processor": _processor(),
        "cores": str(os.cpu_count()),
    }
    name = hashlib.sha256(repr(facts).encode()).hexdigest()[:8]
    known = []
    if path.exists():
        with path.open(newline="") as file:
            known = list(csv.DictReader(file))
    if name not in {line[ENVIRONMENT] for line in known}:
        beside = path.with_suffix(f".{os.getpid()}.part")
        with beside.open("w", newline="") as file:
            writer = csv.DictWriter(file, [ENVIRONMENT, *facts], lineterminator="\n")
            writer.writeheader()
            writer.writerows([*known, {ENVIRONMENT: name, **facts}])
        beside.replace(path)
    return name


def _source_fingerprint() -> str:
    root = Path(ebnc.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + path.read_bytes())
    return digest.hexdigest()[:8]


def package_version(package: str) -> str | None:
    """None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
