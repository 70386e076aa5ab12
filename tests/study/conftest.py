"""Sets that several parts of the study are tested on."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def directory(tmp_path):
    """Two sets of the study's format, one of them only numeric."""
    rng = np.random.default_rng(1)
    n = 40
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n).round(3),
            "flag": np.where(rng.random(n) < 0.5, "true", "false"),
            "rare": ["only-here", *["usual"] * (n - 1)],
            "class": ["a", "b"] * (n // 2 - 1) + ["c", "c"],
        }
    )
    frame.loc[3, "flag"] = None
    frame.to_csv(tmp_path / "toy.csv.gz", index=False)
    frame[["size", "class"]].to_csv(tmp_path / "numeric.csv.gz", index=False)
    kinds = {"size": "numeric", "flag": "categorical", "rare": "categorical"}
    schema = {
        "toy": kinds | {"class": "categorical"},
        "numeric": {"size": "numeric", "class": "categorical"},
    }
    pd.Series(schema).to_json(tmp_path / "SCHEMA.json")
    return tmp_path
