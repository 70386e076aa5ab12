"""Evidence of a query: observed states, and intervals that contain numbers.

An interval that is no state gives every state of its variable a weight,

    w_b = p(low < z ≤ high | z in bin b)

the share of the bin's density inside the interval; a missing entry has the weight 0. Then

    p(other variables, low < z ≤ high) = Σ_b p(other variables, b) w_b
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ebnc.data.coder import code_of
from ebnc.data.one_row import RowCoder
from ebnc.domain import Interval, State
from ebnc.errors import QueryError
from ebnc.network.model.joint import Joint, interval_cuts
from ebnc.typing import FloatArray


@dataclass(frozen=True, eq=False)
class Evidence:
    """``codes``: observed states. ``weights``: of the states of variables with an interval."""

    codes: Mapping[str, int]
    weights: Mapping[str, FloatArray] = field(default_factory=dict)

    @classmethod
    def of(cls, network: Joint, given: Mapping[str, State], row_coder: RowCoder) -> "Evidence":
        """Convert states, numbers and intervals by variable; raise if one is impossible.

        ``row_coder``: codes the entries of all variables.
        """
        codes, weights = {}, {}
        for name, entry in given.items():
            states = network.domain[name]
            is_numeric = isinstance(states[0], Interval)
            if is_numeric and isinstance(entry, Interval) and entry not in states:
                weights[name] = _weights(network, name, entry)
            else:
                code = row_coder.code(name, entry)
                # A negative code is an unusual type, or an error.
                codes[name] = code if code >= 0 else code_of(network.domain, name, entry)
        return cls(codes, weights)

    @property
    def names(self) -> tuple[str, ...]:
        """All variables with evidence."""
        return (*self.codes, *self.weights)

    @property
    def log_weights(self) -> dict[str, FloatArray]:
        """log w of each state; −∞ outside of the interval."""
        with np.errstate(divide="ignore"):
            return {name: np.log(weights) for name, weights in self.weights.items()}


def _weights(network: Joint, name: str, wanted: Interval) -> FloatArray:
    """Return the share of every state of a numeric variable inside an interval."""
    low, high = wanted
    if not low < high:
        raise QueryError(f"an interval of {name!r} must have low < high, got {wanted!r}")
    cuts, density = interval_cuts(network.domain, name), network.densities.get(name)
    if density is not None:
        inside = density.shares_inside(low, high)
    elif all(end in cuts for end in (low, high) if np.isfinite(end)):
        ends = np.concatenate([[-np.inf], cuts, [np.inf]])
        inside = ((low <= ends[:-1]) & (ends[1:] <= high)).astype(np.float64)
    else:
        raise QueryError(
            f"{name!r} has no density inside its intervals, so {wanted} must begin and end at "
            f"their bounds {', '.join(f'{cut:g}' for cut in cuts)}; learn with numbers='smooth' "
            "to ask for any interval"
        )
    missing = np.zeros(network.domain.n_states(name) - len(inside))
    return np.concatenate([inside, missing])
