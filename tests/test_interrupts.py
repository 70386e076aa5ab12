"""Ctrl-C at random moments, in processes of their own: soon over, nothing false, nothing left.

``EBNC_INTERRUPTS=10`` interrupts every program ten times; ``interrupts.py`` prints how soon.
"""

import os

import numpy as np
import pytest

from cli.conftest import weather
from interrupts import interrupted, programs

pytestmark = pytest.mark.slow

N_MOMENTS = int(os.environ.get("EBNC_INTERRUPTS", "1"))
SOON = 10.0  # seconds, on a machine that is busy with other tests


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Enough columns for a search of seconds."""
    frame = weather(4000).drop(columns="id")
    for i in range(12):
        frame[f"more {i}"] = np.random.default_rng(i).integers(0, 3, 4000)
    path = tmp_path_factory.mktemp("interrupts") / "data.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("moment", np.random.default_rng(7).uniform(1, 6, 10)[:N_MOMENTS].round(2))
@pytest.mark.parametrize("name", ["fit", "cross_val_score", "learn", "network"])
def test_ctrl_c(name, moment, data, tmp_path):
    ended = interrupted(programs(data, "play")[name], float(moment), tmp_path)
    assert ended.seconds is None or ended.seconds < SOON
