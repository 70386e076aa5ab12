"""NumPy and compiled code give the same bits."""

import numpy as np
import pytest

from ebnc.kernels.lookup import look_up_probabilities
from ebnc.kernels.numpy_lookup import FlatTables, numpy_probabilities


@pytest.mark.parametrize("seed", range(60))
def test_probabilities_are_those_of_the_kernel_to_the_last_bit(seed):
    """Tables of every number, several classes, log odds from tiny to beyond exp's range."""
    rng = np.random.default_rng(seed)
    n_bags, n_outputs, n_rows = seed % 11, 1 + seed % 4, int(rng.integers(0, 3_000))
    n_states = rng.integers(1, 5, 2 * max(1, n_bags))
    codes = np.array([rng.integers(0, r, n_rows) for r in n_states]).astype(np.uint8)
    columns, strides, starts, offsets = [], [], [0], [0]
    for _ in range(n_bags):
        bag = rng.choice(len(n_states), int(rng.integers(0, 3)), replace=False)
        columns += bag.tolist()
        strides += [int(np.prod(n_states[bag[i + 1 :]])) for i in range(len(bag))]
        starts.append(len(columns))
        offsets.append(offsets[-1] + int(np.prod(n_states[bag])))
    recipe = [np.array(part, dtype=np.int64) for part in (columns, strides, starts, offsets)]
    tables = rng.normal(size=(n_outputs, offsets[-1])) * 10 ** rng.uniform(-3, 2.9)
    expected = look_up_probabilities(codes, FlatTables(*recipe, tables))
    found = numpy_probabilities(codes, FlatTables(*recipe, tables))
    assert found.shape == expected.shape
    assert np.array_equal(found.view(np.int64), expected.view(np.int64))
