"""An estimate of the peak memory of learning, made before learning starts.

With d parameters of the naive structure, or of its weak pairs where these are fitted, K classes, r
states of an input and n distinct rows:

- Newton's method, the evidence and leave-one-out need about ten d × d matrices if the Hessian is
  factored, and only vectors otherwise; separate classes (``likelihood.class_form``) need less;
- the blocks of one input need K(K − 1)/2 · r² numbers, or K · r² for separate classes, two at a
  time;
- rows need their codes and a few numbers for each class.

Measured peaks were 183, 115, 101 and 290 MB; the estimates are 294, 169, 201 and 262. A fit with a
fixed scale σ needs less: 287 MB instead of 1 068 for 26 classes and 16 inputs of ten states.
"""

import math
from collections.abc import Sequence

from ebnc.domain import Domain, Levels
from ebnc.errors import TooLargeError
from ebnc.fitting.newton import LARGEST_FACTOR
from ebnc.likelihood.class_form import factor_size, separates_classes
from ebnc.memory import available_memory, readable_size
from ebnc.parameters.coding import wave_numbers

SHARE = 0.8  # maximum share of the available memory for a fit
SMALL = 128 * 2**20  # bytes that every search needs
MATRICES = 10  # number of matrices of the Hessian's size at the peak
LARGEST_BLOCK = 2**31  # maximum bytes for a single input

MOST_IN_PAIRS = 100  # inputs: some 5 000 weak pairs
LARGEST_WITH_PAIRS = 4000  # ``factor_size``; the work grows with the third power
FEW_PARAMETERS = 1500  # up to here weak pairs may have more parameters than there are data


def may_have_pairs(n_inputs: int, of_target: Levels, dimension: int, n_cases: float) -> bool:
    """Whether weak pairs of this dimension in total are fitted."""
    if dimension > max(FEW_PARAMETERS, n_cases * of_target.n_columns):
        return False
    size = factor_size(of_target, dimension)
    return 1 < n_inputs <= MOST_IN_PAIRS and size <= LARGEST_WITH_PAIRS


def fit_bytes(levels: Sequence[Levels], of_target: Levels, n_rows: int) -> int:
    """Return the peak bytes of learning from inputs with these levels."""
    n_classes = of_target.n_states
    dimension = of_target.n_columns * (1 + sum(each.n_columns for each in levels))
    with_pairs = dimension + of_target.n_columns * _columns_of_pairs(levels)
    if may_have_pairs(len(levels), of_target, with_pairs, n_rows):
        dimension = with_pairs
    # Blocks of separate classes are as many numbers as a matrix of this size.
    is_separate = separates_classes(of_target, dimension)
    size = (
        dimension / of_target.n_columns * math.sqrt(n_classes) if is_separate else float(dimension)
    )
    hessian = int(MATRICES * size**2) if size <= LARGEST_FACTOR else 20 * dimension
    rows = n_rows * (len(levels) + 3 * n_classes)
    most_states = max((each.n_states for each in levels), default=1)
    return SMALL + 8 * (hessian + rows) + _block_bytes(most_states, of_target)


def _columns_of_pairs(levels: Sequence[Levels]) -> int:
    """Return the columns of all weak pairs: products of columns that are no fast waves."""
    slow = [sum(wave == 1 for wave in wave_numbers(each)) for each in levels]
    return (sum(slow) ** 2 - sum(n**2 for n in slow)) // 2


def refuse_large_fit(domain: Domain, inputs: Sequence[str], target: str, n_rows: int) -> None:
    """Raise an error that names the largest columns if a fit needs more memory than available."""
    n_classes = domain.n_states(target)
    largest = sorted(inputs, key=domain.n_states, reverse=True)[:3]
    shown = ", ".join(f"{x!r} ({domain.n_states(x)} states)" for x in largest)
    problem = f"learning {target!r} ({n_classes} classes) would need about"
    remedy = f"the largest inputs are {shown}: merge states or classes, or leave columns out"
    for x in largest[:1]:
        block = _block_bytes(domain.n_states(x), domain.levels(target))
        if block > LARGEST_BLOCK:
            raise TooLargeError(
                f"{problem} {readable_size(block)} for {x!r} alone, more than the "
                f"{readable_size(LARGEST_BLOCK)} that one input may take; {remedy}"
            )
    needed = fit_bytes([domain.levels(x) for x in inputs], domain.levels(target), n_rows)
    limit = int(SHARE * available_memory())
    if needed > limit:
        raise TooLargeError(
            f"{problem} {readable_size(needed)}, more than the {readable_size(limit)} that are "
            f"available; {remedy}"
        )


def refuse_large_nodes(domain: Domain, names: Sequence[str]) -> None:
    """Raise an error if a node of a network with one parent would exceed ``LARGEST_BLOCK``."""
    if len(names) < 2:
        return
    parent, target = sorted(names, key=domain.n_states, reverse=True)[:2]
    n_classes, n_states = domain.n_states(target), domain.n_states(parent)
    block = _block_bytes(n_states, domain.levels(target))
    if block > LARGEST_BLOCK:
        raise TooLargeError(
            f"{target!r} ({n_classes} states) given {parent!r} ({n_states} states) would need "
            f"about {readable_size(block)}, more than the {readable_size(LARGEST_BLOCK)} that a "
            "node of kind 'ebnc' may take; merge states, leave a column out, or learn with "
            "local=('table', 'tree')"
        )


def _block_bytes(n_states: int, of_target: Levels) -> int:
    """Return the bytes of two copies of the blocks of one input's Hessian.

    They have r² numbers for each pair of classes, or for each class if these are separate.
    """
    n_classes = of_target.n_states
    is_separate = separates_classes(of_target, of_target.n_columns * (n_states - 1))
    n_blocks = n_classes if is_separate else n_classes * (n_classes - 1) // 2
    return 2 * 8 * n_blocks * n_states**2
