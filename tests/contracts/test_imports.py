"""``import ebnc`` stays light; the public names are there."""

import subprocess
import sys

import pytest

import ebnc

HEAVY = ["numpy", "scipy", "numba", "sklearn", "networkx", "narwhals", "pandas", "polars", "joblib"]


def loaded_by(code):
    """Top-level modules in a fresh interpreter after ``code``."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.split(".")[0] for name in done.stdout.splitlines()[-1].split()}


def test_importing_the_package_loads_nothing_heavy():
    """Not even NumPy: names are loaded on first use."""
    assert not loaded_by("import ebnc; dir(ebnc)") & set(HEAVY)


@pytest.mark.parametrize(
    "code",
    [
        "from ebnc import EmbeddedStructure; EmbeddedStructure.naive('Y', ['A']).clusters",
        "import ebnc; s = ebnc.EmbeddedStructure.naive('Y', ['A']);"
        "assert ebnc.dimension(s, {'A': 2, 'Y': 2}) == 2",
        "import ebnc; ebnc.Domain({'A': 2})",
    ],
)
def test_structures_and_the_closed_form_need_no_compiled_kernels(code):
    """Neither numba nor anything of the numerical stack but, at most, NumPy."""
    assert not loaded_by(code) & (set(HEAVY) - {"numpy"})


@pytest.mark.parametrize(
    "code",
    [
        "import ebnc; s = ebnc.EmbeddedStructure.naive('Y', ['A']); n = {'A': 2, 'Y': 2};"
        "ebnc.dimension_by_elimination(s, n); ebnc.dimension_by_blocks(s, n);"
        "ebnc.generic_dimension(s, n)",
        "import ebnc; ebnc.EBNC; ebnc.EmbeddedNetwork",
    ],
)
def test_other_dimensions_and_classes_load_no_kernels_before_they_are_used(code):
    """numba is loaded by the first prediction, not before."""
    assert not loaded_by(code) & {"numba", "sklearn", "networkx", "pandas", "polars"}


def test_saving_a_network_does_not_wait_for_scikit_learn():
    """Its import takes a second, in which Ctrl-C does nothing."""
    code = "import ebnc; t = ebnc.Table('A', [], {'A': 2}, [0.5, 0.5]);"
    code += "from ebnc.formats.native import model_bytes; model_bytes(ebnc.Network([t]))"
    assert "sklearn" not in loaded_by(code)


def test_all_names_of_all_exist_and_others_do_not():
    """``from ebnc import *`` works; a misspelt name is an AttributeError."""
    for name in ebnc.__all__:
        assert getattr(ebnc, name).__name__ == name
    assert dir(ebnc) == sorted(ebnc.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Ebnc'"):
        ebnc.Ebnc  # noqa: B018


def test_a_query_of_a_large_node_compiles_nothing():
    """Compiling takes seconds in a new environment; 2^13 configurations take milliseconds."""
    code = (
        "import numpy as np\n"
        "from ebnc import EBNC, EmbeddedStructure, Network, Table\n"
        "names = [f'P{i}' for i in range(13)]\n"
        "states = {x: 2 for x in (*names, 'Y')}\n"
        "node = EBNC(EmbeddedStructure.naive('Y', names), states, np.linspace(-1, 1, 14))\n"
        "roots = [Table(x, [], states, [0.5, 0.5]) for x in names]\n"
        "assert Network([*roots, node]).query('P0', {'Y': 1}).method == 'exact'\n"
        "import sys\n"
        "assert 'ebnc.kernels.lookup' not in sys.modules"
    )
    loaded_by(code)
