"""The memory that learning will need at its peak, estimated before it begins.

Newton's method holds the Hessian of the naive structure, d × d, about three times, as long as it is
factored at all; its blocks of one input hold K(K − 1)/2 · r² numbers, two at a time.
"""

from collections.abc import Sequence

from ebnc.domain import Domain
from ebnc.errors import TooLargeError
from ebnc.fitting.newton import LARGEST_FACTOR
from ebnc.memory import available_memory, readable_size

__all__ = ["fit_bytes", "refuse_large_fit"]

SHARE = 0.8  # of the available memory that a fit may take


def fit_bytes(n_states: Sequence[int], n_classes: int, n_rows: int) -> int:
    """Bytes at the peak of a fit with main effects of inputs that have so many states."""
    dimension = (n_classes - 1) * (1 + sum(r - 1 for r in n_states))
    hessian = 3 * dimension**2 if dimension <= LARGEST_FACTOR else 20 * dimension
    block = n_classes * (n_classes - 1) * max(n_states, default=1) ** 2
    rows = n_rows * (len(n_states) + 3 * n_classes)
    return 8 * (hessian + block + rows)


def refuse_large_fit(domain: Domain, inputs: Sequence[str], target: str, n_rows: int) -> None:
    """Raise, by the names of columns, where a fit would need more memory than there is."""
    n_classes = domain.n_states(target)
    needed = fit_bytes([domain.n_states(x) for x in inputs], n_classes, n_rows)
    limit = int(SHARE * available_memory())
    if needed > limit:
        largest = sorted(inputs, key=domain.n_states, reverse=True)[:3]
        shown = ", ".join(f"{x!r} ({domain.n_states(x)} states)" for x in largest)
        raise TooLargeError(
            f"learning {target!r} ({n_classes} classes) would need about {readable_size(needed)}, "
            f"more than the {readable_size(limit)} that are available; the largest inputs are "
            f"{shown}: merge states or classes, or leave columns out"
        )
