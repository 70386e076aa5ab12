"""Small searches by which a new process loads what jobs need."""

import subprocess
import sys

import pytest

CODE = """
import sys
import numpy as np
from numba.core.dispatcher import Dispatcher
import ebnc
import ebnc.network.rehearsal, ebnc.search.rehearsal

ebnc.search.rehearsal.rehearse()
ebnc.network.rehearsal.rehearse()

def loaded():
    return {
        (module, name, signature)
        for module in list(sys.modules)
        if module.startswith("ebnc.kernels.")
        for name, kernel in vars(sys.modules[module]).items()
        if isinstance(kernel, Dispatcher)
        for signature in kernel.signatures
    }

before = loaded()
rng = np.random.default_rng(1)
x = rng.integers(0, 3, (500, 4))
y = (x[:, 0] == x[:, 1]) ^ (rng.random(500) < 0.1)
REGIME
print([f"{module}.{name}" for module, name, _ in sorted(loaded() - before, key=str)])
"""

SEARCH = "ebnc.EBNCClassifier(n_jobs=1, prior_scale='evidence').fit(x, y)"
SPARSE = """
data = {f"V{i}": x[:, i] for i in range(4)} | {"y": y}
ebnc.Network.learn(data, regime="sparse", n_jobs=1)
"""


@pytest.mark.parametrize("regime", [SEARCH, SPARSE])
def test_jobs_need_no_compiled_code_that_was_not_rehearsed(regime):
    code = CODE.replace("REGIME", regime)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
