"""A table and a model that several tests of the command line share."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from cli.command import ebnc, succeeded


def weather(n=300, seed=0):
    """Text, numbers, whole numbers, booleans, gaps, awkward names; and a class that depends."""
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "outlook": generator.choice(["sunny", "rainy", 'it\'s, "odd"'], n),
            "wind speed": generator.normal(size=n).round(3),
            "grade": generator.integers(1, 4, n),
            "warm": generator.random(n) < 0.5,
            "id": [f"row {i}" for i in range(n)],
        }
    )
    frame.loc[generator.random(n) < 0.1, "outlook"] = None
    score = (frame["outlook"] == "sunny") * 2.0 + frame["wind speed"] + frame["warm"]
    frame["play"] = np.where(generator.random(n) < 1 / (1 + np.exp(1 - score)), "yes", "no")
    return frame


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """CSV, Parquet and a model learned from the CSV file."""
    folder = tmp_path_factory.mktemp("cli")
    frame = weather()
    frame.to_csv(folder / "data.csv", index=False)
    frame.to_parquet(folder / "data.parquet")
    model = folder / "model.json"
    learned = succeeded(
        *["learn", folder / "data.csv", "--target", "play", "--exclude", "id", "--out", model],
        start=ebnc,
    )
    return SimpleNamespace(
        folder=folder,
        frame=frame,
        csv=folder / "data.csv",
        parquet=folder / "data.parquet",
        model=model,
        learned=learned,
    )
