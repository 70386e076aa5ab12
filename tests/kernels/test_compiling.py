"""Kernels work where no cache can be written."""

import os
import subprocess
import sys


def test_without_a_place_for_the_cache_kernels_are_compiled_in_memory(tmp_path):
    """numba finds no locator when its only folder is not writable: here, a file."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    code = (
        "import numba.core.caching as c; c.CacheImpl._locator_classes = []; "
        "import ebnc; n = ebnc.EmbeddedNetwork.random("
        "ebnc.EmbeddedStructure.naive('Y', ['A']), {'A': 2, 'Y': 2}); "
        "print(n.probabilities({'A': [0, 1]}).sum())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_CACHE_DIR": str(blocked)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(run.stdout) == 2.0
