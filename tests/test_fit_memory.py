"""Tables that look small and are not: many classes times many states, at a bounded memory."""

import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from ebnc import Domain, EmbeddedStructure
from ebnc.domain import Levels
from ebnc.errors import TooLargeError
from ebnc.parameters.phi import Basis
from ebnc.score.fit_memory import SMALL, fit_bytes, refuse_large_fit, refuse_large_nodes

GIB = 2**30
COMMAND = Path(sys.executable).with_name("ebnc")


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """2 000 rows: 584 days, as dates and as labels, and 72 ages."""
    generator = np.random.default_rng(0)
    n = 2000
    days = np.r_[np.arange(584), generator.integers(0, 584, n - 584)]
    ages = np.r_[np.arange(18, 90), generator.integers(18, 90, n - 72)]
    lines = ["date,day,city,age,bought"]
    for day, age in zip(days.tolist(), ages.tolist(), strict=True):
        moment = date(2020, 1, 1) + timedelta(day)
        city, bought = generator.choice(["Paris", "Rome"]), generator.choice(["yes", "no"])
        lines.append(f"{moment},d{day},{city},a{age},{bought}")
    path = tmp_path_factory.mktemp("memory") / "shop.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_many_states_times_many_classes_are_refused_by_name():
    states = {"age": [f"a{i}" for i in range(72)], "day": [f"d{i}" for i in range(2000)], "city": 2}
    domain = Domain(states)
    with pytest.raises(TooLargeError) as refusal:
        refuse_large_fit(domain, ["day", "city"], "age", 10_000)
    for words in ("'age' (72 classes)", "'day' (2000 states)", "for 'day' alone"):
        assert words in str(refusal.value)
    with pytest.raises(TooLargeError) as refusal:
        refuse_large_nodes(domain, list(domain))
    for words in ("'age' (72 states) given 'day' (2000 states)", "('table', 'tree')"):
        assert words in str(refusal.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["learn", "--target", "age", "--exclude", "day"],
        ["learn", "--target", "bought", "--exclude", "date"],
    ],
    ids=" ".join,
)
def test_dates_and_many_labels_are_learned_in_less_than_two_gigabytes(shop, tmp_path, arguments):
    options = [*arguments[1:], "--out", tmp_path / "model.json", "--quiet"]
    script = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
    script += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)"
    command = [sys.executable, "-c", script, COMMAND, arguments[0], shop, *options]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    assert int(ran.stdout) < 2 * GIB


@pytest.mark.parametrize(
    ("levels", "n_classes", "n_rows", "measured"),
    [
        ([Levels(8)] * 50, 5, 4_000, 183e6),
        ([Levels(584), *[Levels(5)] * 5], 2, 2_000, 115e6),
        ([Levels(4)] * 10, 2, 400_000, 101e6),
        ([Levels(31, 31)] * 40, 2, 400, 290e6),
    ],
)
def test_estimates_against_peaks_that_were_measured(levels, n_classes, n_rows, measured):
    """Of ``EBNCClassifier.fit``, on two cores, above what the process had before."""
    assert 0.8 * measured < fit_bytes(levels, Levels(n_classes), n_rows) < 2.5 * measured


@pytest.mark.parametrize("levels", [Levels(3), Levels(31, 31), Levels(5, 4)])
def test_estimates_count_the_columns_of_curves_and_of_weak_pairs(levels):
    """The part of the Hessian: ten matrices of the size of the largest model."""
    names = [f"x{i}" for i in range(8)]
    states = [*range(levels.n_ordered or 3), *[None] * (levels.n_states > levels.n_ordered > 0)]
    ordered = names if levels.n_ordered else ()
    domain = Domain(dict.fromkeys(names, states) | {"y": 3}, ordered)
    assert domain.levels("x0") == levels
    basis = Basis(EmbeddedStructure.naive("y", names), domain, weak_pairs=True)
    rest = SMALL + 8 * 3 * 2 * levels.n_states**2
    assert fit_bytes([levels] * 8, Levels(3), 0) - rest == 80 * basis.dimension**2
