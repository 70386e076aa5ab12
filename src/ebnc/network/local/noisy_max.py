"""Local distributions as noisy-MAX: each parent causes a level, the node shows the highest.

    Z = max(Z_0, Z_1, …, Z_n),    p(Z_i | x_i) = effects_i[x_i],    p(Z_0) = leak

    Díez, Parameter adjustment in Bayes networks: the generalized noisy OR-gate, UAI 1993;
    Henrion, Some practical issues in constructing belief networks, UAI 1987 (binary, with a leak).

The introduction of the paper names this model of causal independence as an alternative. Levels are
the states of the node in their declared order; the first one means "absent". ``descending``
reverses the order (noisy-MIN). Every parent has a *normal* state, which causes nothing. With two
states the model is the noisy-OR. It has as many parameters as a naive EBNC of the same parents,

    d = (K − 1)·(1 + Σ_i (r_i − 1)).

For levels 0, 1, …, K − 1 and F_k = p(Z ≤ k) the ratios h_k = F_{k−1}/F_k are products over the
causes, so sums of δ_k = −log h_k give all probabilities without cancellation:

    p(Z = k | x) = exp(−Σ_{j>k} Δ_j)·(1 − exp(−Δ_k)),    Δ_k(x) = δ_k(leak) + Σ_i δ_k(i, x_i),

with Δ_0 = ∞. ``network.local.noisy_max_learning`` learns the parameters.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ebnc.data.coder import encode
from ebnc.data.rows import CodedRows
from ebnc.data.table import TableLike as Rows
from ebnc.domain import DomainLike, as_domain
from ebnc.errors import ParameterError
from ebnc.markup import html_text
from ebnc.network.local.decision_nodes import distribution_text, state_text
from ebnc.network.local.plain import distributions, equal_by_value, frozen
from ebnc.typing import FloatArray

ROUNDING = 1e-6
"""Maximum difference between 1 and the sum of a distribution."""


class NoisyMax:
    """p(z | x) of the highest of independently caused levels.

    Parameters
    ----------
    target : str
        The node z.
    domain : Domain or mapping
        The states of the node and of its parents.
    leak : array
        The distribution of the level without any cause, shape (K,).
    effects : mapping
        For every parent, the distributions of the level that its states cause, shape (r_i, K). At
        least one state, the normal one, has all probability on the absent level.
    descending : bool
        Whether the last state of the node means "absent" and the lowest level shows (noisy-MIN).

    Attributes
    ----------
    target, domain, leak, effects, descending
        As above; ``domain`` has only the node and its parents.
    parents : tuple of str
        The parents, in the order of ``effects``.
    normal : dict
        The number of the normal state of every parent.

    Examples
    --------
    >>> two = {"flu": ["no", "yes"], "cold": ["no", "yes"], "fever": ["none", "mild", "high"]}
    >>> nothing = [1, 0, 0]
    >>> effects = {"flu": [nothing, [0.1, 0.3, 0.6]], "cold": [nothing, [0.5, 0.4, 0.1]]}
    >>> fever = NoisyMax("fever", two, [0.9, 0.08, 0.02], effects)
    >>> fever.probabilities({"flu": ["no", "yes"], "cold": ["yes", "yes"]}).round(4)
    array([[0.45  , 0.432 , 0.118 ],
           [0.045 , 0.3078, 0.6472]])
    >>> fever.dimension
    6
    >>> print(fever)
    fever, the highest of these levels:
    otherwise   none 0.900, mild 0.080, high 0.020
    flu = yes   none 0.100, mild 0.300, high 0.600
    cold = yes  none 0.500, mild 0.400, high 0.100
    """

    kind = "noisy-max"

    def __init__(
        self,
        target: str,
        domain: DomainLike,
        leak: ArrayLike,
        effects: Mapping[str, ArrayLike],
        *,
        descending: bool = False,
    ) -> None:
        declared = as_domain(domain)
        self.target, self.parents = target, tuple(effects)
        if target in effects:
            raise ParameterError(f"{target!r} is one of its own causes; remove it from effects")
        self.domain = declared.only((*self.parents, target))
        self.descending = bool(descending)
        n_levels = self.domain.n_states(target)
        self.leak: FloatArray = frozen(
            distributions(leak, (n_levels,), [target], f"the leak of {target!r}", ROUNDING)
        )
        self.effects: dict[str, FloatArray] = {}
        for name, values in effects.items():
            shape = (self.domain.n_states(name), n_levels)
            title = f"the effects of {name!r} on {target!r}"
            self.effects[name] = frozen(
                distributions(values, shape, [name, target], title, ROUNDING)
            )
        self.normal = {name: self._normal_state(name) for name in self.parents}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NoisyMax) and equal_by_value(self, other, NoisyMax.to_plain)

    def __hash__(self) -> int:
        return hash((self.target, self.parents, self.descending, self.leak.tobytes()))

    def __repr__(self) -> str:
        return f"NoisyMax({self.target!r}, {list(self.parents)}, dimension={self.dimension})"

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def __str__(self) -> str:
        """Return every cause as text, with the distribution of the level that it causes."""
        states = self.domain[self.target]
        which = "lowest" if self.descending else "highest"
        causes = [("otherwise", self.leak)]
        for name, effects in self.effects.items():
            causes += [
                (f"{name} = {state_text(state)}", effects[s])
                for s, state in enumerate(self.domain[name])
                if s != self.normal[name]
            ]
        width = max(len(cause) for cause, _ in causes)
        lines = [f"{cause:<{width}}  {distribution_text(states, row)}" for cause, row in causes]
        return "\n".join([f"{self.target}, the {which} of these levels:", *lines])

    @property
    def dimension(self) -> int:
        """Number of free parameters: (K − 1)·(1 + Σ (r_i − 1))."""
        n_causes = 1 + sum(self.domain.n_states(x) - 1 for x in self.parents)
        return n_causes * (self.domain.n_states(self.target) - 1)

    def probabilities(self, data: Rows) -> FloatArray:
        """Return p(z | parents) of every row, shape (rows, K).

        Parameters
        ----------
        data : table
            Rows with the parents of the node.
        """
        ratios = self._ratios(encode(data, self.domain, self.parents))
        p = np.exp(-_above(ratios))
        p[:, 1:] *= -np.expm1(-ratios)
        return p[:, ::-1] if self.descending else p

    def log_probability(self, data: Rows) -> FloatArray:
        """Return log p of the observed z of every row, shape (rows,); −∞ if p is 0.

        Parameters
        ----------
        data : table
            Rows with the node and its parents.
        """
        rows = encode(data, self.domain, tuple(self.domain))
        ratios, level = self._ratios(rows), rows.column(self.target).astype(np.int64)
        if self.descending:
            level = ratios.shape[1] - level
        logarithms = -_above(ratios)
        with np.errstate(divide="ignore"):
            logarithms[:, 1:] += np.log(-np.expm1(-ratios))
        return logarithms[np.arange(len(rows)), level]

    def to_plain(self) -> dict[str, Any]:
        """Return the fields that a file holds."""
        return {
            "parents": self.parents,
            "descending": self.descending,
            "leak": self.leak,
            "effects": [table.ravel() for table in self.effects.values()],
        }

    def _ratios(self, rows: CodedRows) -> FloatArray:
        """Return Δ_k of every row for k = 1, …, K − 1."""
        leak, effects = self._minus_log_ratios
        total = np.tile(leak, (len(rows), 1))
        for name, table in effects.items():
            total += table[rows.column(name)]
        return total

    @cached_property
    def _minus_log_ratios(self) -> tuple[FloatArray, Mapping[str, FloatArray]]:
        """δ of the leak, and of every state of every parent."""
        order = slice(None, None, -1 if self.descending else 1)
        leak = _minus_log_ratios(self.leak[order])
        return leak, {x: _minus_log_ratios(table[:, order]) for x, table in self.effects.items()}

    def _normal_state(self, name: str) -> int:
        absent = -1 if self.descending else 0
        table = self.effects[name]
        without = np.flatnonzero(table[:, absent] == table.sum(axis=1))
        if not without.size:
            state = self.domain[self.target][absent]
            raise ParameterError(
                f"no state of {name!r} is normal: in one state the effect on {self.target!r} must "
                f"be {state!r} with probability 1"
            )
        return int(without[0])


def _above(ratios: FloatArray) -> FloatArray:
    """Σ_{j>k} Δ_j for k = 0, …, K − 1."""
    none = np.zeros((len(ratios), 1))
    return np.concatenate([np.cumsum(ratios[:, ::-1], axis=1)[:, ::-1], none], axis=1)


def _minus_log_ratios(distributions: FloatArray) -> FloatArray:
    """δ_k = −log(F_{k−1}/F_k) for k = 1, …, K − 1; 0 if F_k is 0, where its value is irrelevant."""
    below = np.cumsum(distributions, axis=-1)[..., 1:]
    share = np.divide(distributions[..., 1:], below, out=np.zeros_like(below), where=below > 0)
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log1p(-np.minimum(share, 1.0)))
