"""The line of progress: what it says, and that it says something in every phase."""

import pytest

from cli.command import succeeded
from ebnc.cli.progress import ProgressLine


def test_a_fold_is_shown_with_a_forecast_from_those_before_it(monkeypatch):
    times = iter([100.0, 104.0, 110.0])
    monkeypatch.setattr("time.monotonic", lambda: next(times))
    shown = []
    line = ProgressLine(shown.append)
    for number in (1, 2, 3):
        line.fold(number, 4)
    assert shown == [
        "cross-validating, fold 1 of 4",
        "cross-validating, fold 2 of 4, about 12 s left",  # three folds of 4 s
        "cross-validating, fold 3 of 4, about 10 s left",  # two folds of 5 s
    ]


@pytest.mark.parametrize("target", ["play", "wind speed"])
def test_steps_and_folds_are_counted(shared, target, tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr(ProgressLine, "show", lambda _, words: shown.append(words))
    out, page = tmp_path / "m.json", tmp_path / "report.html"
    learn = ["learn", shared.csv, "-t", target, "--exclude", "id", "-o", out]
    succeeded(*learn, "--report", page, "--folds", 3)
    steps = [words for words in shown if words.startswith("searching, step ")]
    assert [words.split(":")[0] for words in steps] == [
        f"searching, step {i}" for i in range(1, len(steps) + 1)
    ]
    assert steps or target != "play"
    folds = [words.split(", ")[1] for words in shown if words.startswith("cross-validating")]
    assert folds == [f"fold {i} of 3" for i in (1, 2, 3)]
