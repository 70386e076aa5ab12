"""Local distributions as full tables: one row of probabilities for each configuration (§1).

A table is the trivial EBNC. Its evidence is exact, because the Dirichlet prior is conjugate.
"""

from collections.abc import Sequence
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ebnc.data.cases import Cases, distinct_rows
from ebnc.data.coder import encode
from ebnc.data.frames import cells_to_frame
from ebnc.data.table import TableLike as Rows
from ebnc.domain import Domain, DomainLike, as_domain
from ebnc.errors import ParameterError
from ebnc.memory import refuse_if_too_large
from ebnc.network.local.configurations import count_cells
from ebnc.network.local.plain import distributions, equal_by_value, frozen
from ebnc.parameters.tables import TableSum
from ebnc.score.dirichlet import best_alpha, table_alphas
from ebnc.typing import FloatArray, IntArray

__all__ = ["Table", "count_configurations", "table_log_evidence"]

ROUNDING = 1e-3
"""Maximum difference from 1, per state, of a row's sum (tables are often printed with few digits);
rows are then divided by their sum."""


class Table:
    """θ = p(z | parents) as an array: one axis per parent, in their order, then one for z itself.

    Parameters
    ----------
    target : str
        The node z.
    parents : sequence of str
        Its parents.
    domain : Domain or mapping
        The states of the node and of its parents.
    theta : array
        The probabilities, shape (r_1, …, r_n, K).

    Attributes
    ----------
    target, parents, domain, theta
        As above; ``domain`` has only the node and its parents, ``theta`` is read-only.

    Examples
    --------
    >>> rain = Table("Rain", ["Cloudy"], {"Cloudy": 2, "Rain": 2}, [[0.9, 0.1], [0.3, 0.7]])
    >>> rain.probabilities({"Cloudy": [1]}), rain.dimension
    (array([[0.3, 0.7]]), 2)
    """

    kind = "table"

    def __init__(
        self, target: str, parents: Sequence[str], domain: DomainLike, theta: ArrayLike
    ) -> None:
        declared = as_domain(domain)
        self.target, self.parents = target, tuple(parents)
        if len({target, *self.parents}) <= len(self.parents):
            raise ParameterError(f"{target!r} and its parents {list(self.parents)} repeat a name")
        self.domain = Domain({name: declared[name] for name in (*self.parents, target)})
        names = (*self.parents, target)
        shape = tuple(map(self.domain.n_states, names))
        checked = distributions(
            theta, shape, names, f"the table of {target!r}", ROUNDING * shape[-1]
        )
        sums = checked.sum(axis=-1, keepdims=True)
        is_exact = np.abs(sums - 1.0).max() < 1e-12
        self.theta: FloatArray = frozen(checked if is_exact else checked / sums)

    @classmethod
    def learn(
        cls, cases: Cases, parents: Sequence[str], sample_size: float | None = None
    ) -> "Table":
        """Return the table of posterior means θ_jk = (N_jk + α)/(N_j + Kα), α = s/(q K).

        Parameters
        ----------
        cases : Cases
            Coded data whose target is the node.
        parents : sequence of str
            The parents of the node.
        sample_size : float, optional
            s, the equivalent sample size of BDeu. By default, evidence chooses it.
        """
        domain, target = cases.domain, cases.target
        shape = [*(domain.n_states(x) for x in parents), domain.n_states(target)]
        _refuse_large(target, shape)
        where, counts = count_configurations(cases, parents)
        n_cells = prod(shape)
        alpha, _ = best_alpha(counts, table_alphas(n_cells, sample_size))
        table = np.full((n_cells // shape[-1], shape[-1]), alpha)
        table[where] += counts
        return cls(target, parents, domain, (table / table.sum(1, keepdims=True)).reshape(shape))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and equal_by_value(self, other, Table.to_plain)

    def __hash__(self) -> int:
        return hash((self.target, self.parents, self.theta.tobytes()))

    def __repr__(self) -> str:
        return f"Table({self.target!r}, {list(self.parents)}, dimension={self.dimension})"

    @property
    def dimension(self) -> int:
        """Number of free parameters: q·(K − 1)."""
        n_classes = self.domain.n_states(self.target)
        return self.theta.size // n_classes * (n_classes - 1)

    def probabilities(self, data: Rows) -> FloatArray:
        """Return p(z | parents) of every row of ``data``, shape (rows, K)."""
        rows = encode(data, self.domain, self.parents)
        n_classes = self.theta.shape[-1]
        if not self.parents:
            return np.broadcast_to(self.theta, (len(rows), n_classes)).copy()
        flat = self.theta.reshape(-1, n_classes)
        cells = np.ravel_multi_index(
            tuple(rows.column(x).astype(np.int64) for x in self.parents), self.theta.shape[:-1]
        )
        return flat[cells]

    def log_probability(self, data: Rows) -> FloatArray:
        """Return log p of the observed z of every row of ``data``, shape (rows,); −∞ if p is 0."""
        return self._logarithms.log_odds(encode(data, self.domain, tuple(self.domain)))[:, 0]

    def to_frame(self) -> Any:
        """A DataFrame of the first of pandas, polars, pyarrow that is installed.

        It has one row for each cell of θ: the states of the parents, that of z, ``probability``.
        """
        return cells_to_frame(self.domain, {"probability": self.theta})

    def to_plain(self) -> dict[str, Any]:
        """Return the fields that a file holds; z runs fastest, then the last parent."""
        return {"parents": self.parents, "theta": self.theta.ravel()}

    @cached_property
    def _logarithms(self) -> TableSum:
        with np.errstate(divide="ignore"):
            logarithms = np.log(self.theta)[..., None]
        return TableSum(((*self.parents, self.target),), (logarithms,), 1)


def count_configurations(cases: Cases, parents: Sequence[str]) -> tuple[IntArray, FloatArray]:
    """Return the (mixed-radix) numbers of configurations that occur, and N_jk of each, (q′, K).

    Configurations that do not occur take no memory, so the number of parents is not limited.
    """
    sizes = [cases.domain.n_states(x) for x in parents]
    if prod(sizes) <= max(1024, len(cases)):
        counts = count_cells(cases, parents)
        where = np.flatnonzero(counts.any(axis=1))
        return where, counts[where]
    n_classes = cases.domain.n_states(cases.target)
    columns = [cases.rows.column(x) for x in parents]
    first, inverse = distinct_rows(columns, sizes)
    where = np.zeros(len(first), dtype=np.int64)
    for column, size in zip(columns, sizes, strict=True):
        where = where * size + column[first]  # wraps beyond 2^63; only small tables use it
    cells = inverse * n_classes + cases.classes
    flat = np.bincount(cells, cases.weights, minlength=len(first) * n_classes)
    return where, flat.astype(np.float64).reshape(-1, n_classes)


def table_log_evidence(
    cases: Cases, parents: Sequence[str], sample_size: float | None = None
) -> float:
    """Return the exact log evidence of a table, the local score of BDeu.

    ``sample_size``: s, the equivalent sample size; None chooses it by evidence.
    """
    _, counts = count_configurations(cases, parents)
    domain = cases.domain
    n_cells = prod(domain.n_states(x) for x in (*parents, cases.target))
    return best_alpha(counts, table_alphas(n_cells, sample_size))[1]


def _refuse_large(target: str, shape: Sequence[int]) -> None:
    refuse_if_too_large(
        8 * prod(shape),
        f"the table of {target!r} given {len(shape) - 1} parents",
        "use an EBNC or a tree for this node, or fewer parents",
    )
