"""Part B on a small set made here, and its table."""

import gzip

import numpy as np
import pandas as pd
import pytest
from study.density import __main__ as part_b
from study.density.measure import cells
from study.density.report import certainties, figures, published, standing, table


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for part, n in (("train", 300), ("test", 200)):
        causes = rng.integers(2, size=(n, 3))
        effects = (rng.random((n, 2)) < 0.1 + 0.8 * causes[:, :2]).astype(int)
        with gzip.open(tmp_path / f"toy.{part}.csv.gz", "wt") as file:
            np.savetxt(file, np.column_stack([causes, effects]), fmt="%d", delimiter=",")
    return tmp_path


def test_smoke_networks_are_measured_once(folder, capsys):
    options = ["--data", str(folder), "--models", "network,sparse,trees-only"]
    options += ["--results", str(folder / "results.csv")]
    part_b.main(options)
    frame = cells(folder / "results.csv").frame()
    assert set(frame["model"]) == {"network", "sparse", "trees-only"}
    truth = -3 * np.log(2) + 2 * (0.9 * np.log(0.9) + 0.1 * np.log(0.1))
    assert frame["test"].to_numpy() == pytest.approx(truth, abs=0.15)
    assert "toy" in capsys.readouterr().out
    part_b.main(options)
    assert cells(folder / "results.csv").frame().equals(frame)


def test_table_marks_what_is_better_than_all_published_figures():
    known = published()
    best = known.drop(columns="AR").max(axis=1)
    frame = pd.DataFrame(
        {"set": ["nltcs", "book", "mine"], "model": "network"}
        | {"test": [best["nltcs"] + 0.01, known.loc["book", "AR"] - 0.01, -1.0]}
    )
    assert standing(frame, "network") == (2, 1, 1, 1)  # the best figure of nltcs is from memory
    lines = table(frame, "network").splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["nltcs", "book", "mine"]
    assert [line.rstrip().endswith("*") for line in lines[2:5]] == [True, False, False]
    assert "better than every figure we know on 1 of 2" in lines[-1]


def test_every_figure_says_how_sure_it_is():
    known = figures()
    assert set(known["certainty"]) == {"published", "from memory ±0.15", "own run"}
    assert not known.duplicated(["set", "model", "certainty"]).any()
    # The highest of several figures of one model counts, with its own certainty.
    assert published().loc["cr52", "CM"] == -81.17
    assert certainties().loc["cr52", "CM"] == "from memory ±0.15"
    assert certainties().loc["tmovie", "CM"] == "own run"


def test_a_figure_from_memory_may_be_higher_after_all():
    highest = {"ad": -13.65, "bbc": -240.19}  # both from memory
    frame = pd.DataFrame({"set": list(highest), "model": "network", "test": [-13.6, -239.0]})
    assert standing(frame, "network") == (2, 2, 1, 1)
