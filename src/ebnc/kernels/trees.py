"""Decision trees over coded rows: the leaf of each row, and counts for the next split."""

import numpy as np

from ebnc.kernels.compiling import compiled
from ebnc.threads import in_parallel, row_blocks
from ebnc.typing import CodeArray, IntArray


@compiled
def _walk(codes, columns, states, equal, other, begin, end, out):  # type: ignore[no-untyped-def]
    for row in range(begin, end):
        node = 0
        while columns[node] >= 0:
            same = codes[columns[node], row] == states[node]
            node = equal[node] if same else other[node]
        out[row] = node


@compiled
def count_states(codes, columns, rows, classes, weights, n_states, n_classes):  # type: ignore[no-untyped-def]
    """Count each state of each column with each class in ``rows``.

    Shape (columns, n_states, n_classes); ``weights`` is empty if all weights are 1.
    """
    counts = np.zeros((len(columns), n_states, n_classes))
    for v in range(len(columns)):
        column = codes[columns[v]]
        table = counts[v]
        if weights.size:
            for row in rows:
                table[column[row], classes[row]] += weights[row]
        else:
            for row in rows:
                table[column[row], classes[row]] += 1.0
    return counts


def find_leaves(
    codes: CodeArray, columns: IntArray, states: IntArray, equal: IntArray, other: IntArray
) -> IntArray:
    """The leaf of every row. Node i tests whether ``codes[columns[i]] == states[i]`` and continues
    at ``equal[i]`` or ``other[i]``; a leaf has column −1. Node 0 is the root."""
    out = np.empty(codes.shape[1], dtype=np.int64)
    in_parallel(
        lambda block: _walk(codes, columns, states, equal, other, *block, out),
        row_blocks(codes.shape[1]),
    )
    return out
