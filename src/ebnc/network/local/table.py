"""Local distributions as full tables: one row of probabilities for each configuration (§1).

A table is the trivial EBNC. Its evidence is exact, because the Dirichlet prior is conjugate.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, partial
from itertools import chain, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ebnc.data.cases import Cases
from ebnc.data.coder import encode
from ebnc.data.frames import cells_to_frame
from ebnc.data.table import TableLike as Rows
from ebnc.domain import Domain, DomainLike, as_domain
from ebnc.errors import ParameterError
from ebnc.markup import MOST_ROWS, html_table, probability, text_table
from ebnc.memory import refuse_if_too_large
from ebnc.network.local.configurations import (
    ConfigurationCounts,
    count_cells,
    count_configurations,
    count_with,
    number_configurations,
)
from ebnc.network.local.decision_nodes import state_text
from ebnc.network.local.node import Kind, LocalFit, Node, NodeState
from ebnc.network.local.plain import FieldType, distributions, equal_by_value, frozen, shaped
from ebnc.parameters.tables import TableSum
from ebnc.score.dirichlet import best_alpha, table_alphas
from ebnc.threads import in_parallel
from ebnc.typing import FloatArray

ROUNDING = 1e-3
"""Maximum difference from 1, per state, of a row's sum (tables are often printed with few digits);
rows are then divided by their sum."""

TOGETHER = 8  # number of tables in one task of a thread


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
    >>> print(rain)
    Cloudy  Rain = 0  Rain = 1
    0       0.9000    0.1000
    1       0.3000    0.7000
    """

    kind = "table"

    def __init__(
        self, target: str, parents: Sequence[str], domain: DomainLike, theta: ArrayLike
    ) -> None:
        declared = as_domain(domain)
        self.target, self.parents = target, tuple(parents)
        if len({target, *self.parents}) <= len(self.parents):
            raise ParameterError(f"{target!r} and its parents {list(self.parents)} repeat a name")
        self.domain = declared.only((*self.parents, target))
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
        shape = [domain.n_states(x) for x in (*parents, target)]
        refuse_if_too_large(
            8 * prod(shape),
            f"the table of {target!r} given {len(parents)} parents",
            "use an EBNC or a tree for this node, or fewer parents",
        )
        codes, counts = count_configurations(cases, parents)
        alpha, _ = best_alpha(counts, table_alphas(prod(shape), sample_size))
        table = np.full((1, *shape), alpha)
        table[(np.zeros(len(counts), np.intp), *codes)] += counts
        return cls(target, parents, domain, (table / table.sum(-1, keepdims=True))[0])

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
        """Return p(z | parents) of every row, shape (rows, K).

        Parameters
        ----------
        data : table
            Rows with the parents of the node.
        """
        rows = encode(data, self.domain, self.parents)
        cells = (np.zeros(len(rows), np.intp), *map(rows.column, self.parents))
        return np.asarray(self.theta[None][cells])

    def log_probability(self, data: Rows) -> FloatArray:
        """Return log p of the observed z of every row, shape (rows,); −∞ if p is 0.

        Parameters
        ----------
        data : table
            Rows with the node and its parents.
        """
        return self._logarithms.log_odds(encode(data, self.domain, tuple(self.domain)))[:, 0]

    def __str__(self) -> str:
        *given, states = self._labels()
        rows = self.theta.reshape(-1, len(states))
        columns = (*self.parents, *(f"{self.target} = {state}" for state in states))
        shown = text_table(
            columns,
            [
                (*labels, *(f"{p:.4f}" for p in row))
                for labels, row in zip(product(*given), rows[:MOST_ROWS].tolist(), strict=False)
            ],
        )
        n_more = len(rows) - MOST_ROWS
        return f"{shown}\n… and {n_more} more rows" if n_more > 0 else shown

    def _labels(self) -> list[list[str]]:
        return [[state_text(s) for s in self.domain[x]] for x in (*self.parents, self.target)]

    def _repr_html_(self) -> str:
        labels = self._labels()
        rows = [
            (*given, *map(probability, row))
            for given, row in zip(
                product(*labels[:-1]), self.theta.reshape(-1, len(labels[-1])).tolist(), strict=True
            )
        ]
        given_text = f" | {', '.join(self.parents)}" if self.parents else ""
        return html_table((*self.parents, *labels[-1]), rows, title=f"p({self.target}{given_text})")

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


class TableLearner:
    """Fits tables to a node; gains are exact. The model of a fit is the tuple of parents."""

    is_table_without_parents = False

    def __init__(self, node: Node) -> None:
        self.node = node

    def learn(
        self,
        parents: tuple[str, ...],
        near: LocalFit | None = None,  # noqa: ARG002
    ) -> LocalFit | None:
        """Score a full table; None if it is too large."""
        node = self.node
        if node.n_cells(parents) > node.settings.most_cells:
            return None
        score = self._scoring()(count_cells(node.cases, parents))
        return LocalFit(score + node.log_prior(len(parents)), parents)

    def gains(self, state: NodeState, names: Sequence[str]) -> dict[str, float]:
        """Return the exact gain of each of ``names`` as an extra parent, unless too large."""
        node, parents = self.node, state.parents
        n_inside, n_classes = node.n_cells(parents), node.n_states[node.target]
        small = [x for x in names if n_inside * node.n_states[x] <= node.settings.most_cells]
        inside = number_configurations(node.cases, [*parents, node.target])
        score = self._scoring()

        def scores(some: Sequence[str]) -> list[float]:
            found = []
            for name in some:
                column, n_states = node.cases.rows.column(name), node.n_states[name]
                counts = count_with(node.cases, inside, n_inside, column, n_states)
                found.append(score(counts.reshape(-1, n_classes, n_states)))
            return found

        shares = [small[i : i + TOGETHER] for i in range(0, len(small), TOGETHER)]
        found = chain.from_iterable(in_parallel(scores, shares))
        prior = node.log_prior(len(parents) + 1)
        return {x: one + prior - state.score for x, one in zip(small, found, strict=True)}

    def local(self, fit: LocalFit) -> Table:
        """Return the table at its posterior mean."""
        return Table.learn(self.node.cases, fit.model, self.node.settings.sample_size)

    def _scoring(self) -> Callable[[FloatArray], float]:
        """Return the function from the counts of a table, zeros included, to its score."""
        criterion, n_cases = self.node.settings.criterion, self.node.cases.total_weight
        alphas = cache(partial(table_alphas, sample_size=self.node.settings.sample_size))

        def score(counts: FloatArray) -> float:
            n_cells = counts.size
            dimension = n_cells - n_cells // counts.shape[1]
            return criterion.of_local(
                ConfigurationCounts(counts, dimension, alphas(n_cells)), n_cases
            )

        return score


def counts_of_table(
    counts: FloatArray, n_cells: int, sample_size: float | None
) -> ConfigurationCounts:
    """Return the counts of a table with ``n_cells`` cells, for its scores.

    Axis 1 of ``counts`` is the target. ``sample_size``: the equivalent sample size of BDeu; None
    chooses it by evidence.
    """
    dimension = n_cells - n_cells // counts.shape[1]
    return ConfigurationCounts(counts, dimension, table_alphas(n_cells, sample_size))


def _from_plain(target: str, domain: Domain, plain: Mapping[str, Any]) -> Table:
    parents = plain["parents"]
    shape = tuple(domain.n_states(x) for x in (*parents, target))
    return Table(target, parents, domain, shaped("theta", plain["theta"], shape))


TABLE = Kind(
    name="table",
    words="full table",
    fields={"parents": FieldType.VARIABLES, "theta": FieldType.PROBABILITIES},
    to_plain=Table.to_plain,
    from_plain=_from_plain,
    learner=TableLearner,
)
