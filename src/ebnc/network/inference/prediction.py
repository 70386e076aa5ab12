"""Prediction of one variable from others, for many rows; missing entries are summed out.

    p(z | x) ∝ Σ_hidden Π_i p(z_i | pa_i)

Only nodes matter that unobserved variables connect with z; all other factors are constants. Rows
for which the same nodes and the same observed variables matter are computed together.
"""

import warnings
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ebnc.data.frames import labels_to_column
from ebnc.data.rows import CodedRows
from ebnc.domain import State
from ebnc.errors import ParameterError, QueryError, TooLargeError
from ebnc.network.inference.elimination import Eliminator
from ebnc.network.inference.evidence import Evidence
from ebnc.network.inference.query import draw, sampled
from ebnc.network.inference.query_result import QueryResult
from ebnc.network.inference.question import Question
from ebnc.network.inference.sampling import blank_rows
from ebnc.network.model.joint import Joint
from ebnc.parameters.bin_density import BinDensity
from ebnc.typing import CodeArray, FloatArray, IntArray


class NodePredictor:
    """p(z | x) for coded rows of the variables x.

    Parameters
    ----------
    eliminator : Eliminator
        The sums of the network.
    target : str
        z.
    n_samples : int, optional
        Number of samples for a row whose exact sum needs too large tables; None refuses such rows.
    random_state : int
        Seed of the samples, the same for each row.
    """

    def __init__(
        self,
        eliminator: Eliminator,
        target: str,
        n_samples: int | None = None,
        random_state: int = 0,
    ) -> None:
        if n_samples is not None and n_samples < 1:
            raise ParameterError(f"n_samples must be at least 1, got {n_samples}")
        eliminator.network[target]  # raises an error if the network has no such node
        self.target, self._eliminator = target, eliminator
        self._n_samples, self._random_state = n_samples, random_state

    @property
    def classes(self) -> NDArray[np.object_]:
        """The states of z, in the order of the columns of p(z | x)."""
        states = self._network.domain[self.target]
        labels = np.empty(len(states), dtype=object)
        labels[:] = states
        return labels

    @property
    def density(self) -> BinDensity | None:
        """The density of z inside its intervals, if it has one."""
        return self._network.densities.get(self.target)

    def best(self, p: FloatArray) -> IntArray:
        """Return the code of the most probable state that is not missing, from p(z | x)."""
        known = self._known
        return np.asarray(known[p[:, known].argmax(axis=1)])

    def predict(self, p: FloatArray) -> NDArray[Any]:
        """Return the mean of a number, or the most probable label, given that none is missing.

        ``p``: p(z | x), shape (rows, K).
        """
        if self.density is not None:
            return self.density.mean(self.density.given_known(p))
        known = self._known
        labels = labels_to_column(self.classes[known].tolist())
        return np.asarray(labels[p[:, known].argmax(axis=1)])

    @property
    def _known(self) -> IntArray:
        """The codes of all states but that of a missing entry, unless it is the only one."""
        known = [k for k, state in enumerate(self.classes) if state is not None]
        return np.array(known or [0])

    def probabilities(self, rows: CodedRows) -> FloatArray:
        """Return p(z | x), shape (rows, K). A code beyond the states of a variable is missing."""
        network = self._network
        names = tuple(x for x in rows.names if x != self.target)
        n_states = np.array([network.domain.n_states(x) for x in names], dtype=np.int64)
        codes = rows.codes[[rows.place(x) for x in names]]
        hidden = codes >= n_states[:, None]
        known = blank_rows(network, len(rows))
        known.codes[[known.place(x) for x in names]] = np.where(hidden, 0, codes)
        result = np.empty((len(rows), network.domain.n_states(self.target)))
        estimates: list[QueryResult] = []
        for group in _groups(network, self.target, names, hidden):
            chosen = CodedRows(known.names, known.n_states, known.codes[:, group.rows])
            try:
                result[group.rows] = self._exact(chosen, group)
            except TooLargeError as error:
                if self._n_samples is None:
                    raise TooLargeError(
                        f"{error} for row {group.rows[0]}; give n_samples (--samples) to estimate "
                        "such rows from that many samples each"
                    ) from None
                distinct, place = np.unique(chosen.codes, axis=1, return_inverse=True)
                answers = [self._sampled(known, row, group.observed) for row in distinct.T]
                p = np.array([each.probabilities for each in answers])
                result[group.rows] = p[place.reshape(-1)]
                estimates += answers
        if estimates:
            self._warn(estimates)
        return result

    @property
    def _network(self) -> Joint:
        return self._eliminator.network

    def _exact(self, rows: CodedRows, group: "_Group") -> FloatArray:
        joint = self._eliminator.log_products(rows, (self.target,), group.observed, group.nodes)
        log_sums = np.logaddexp.reduce(joint, axis=1, keepdims=True)
        impossible = np.flatnonzero(log_sums[:, 0] == -np.inf)
        if impossible.size:
            row = rows.codes[:, impossible[0]]
            given = self._states(rows, row, group.observed)
            raise QueryError(
                f"the entries {given} of row {group.rows[impossible[0]]} have probability 0"
            )
        return np.asarray(np.exp(joint - log_sums))

    def _sampled(self, rows: CodedRows, row: CodeArray, observed: Collection[str]) -> QueryResult:
        codes = {x: int(row[rows.place(x)]) for x in rows.names if x in observed}
        given = self._states(rows, row, observed)
        question = Question(
            self._eliminator,
            (self.target,),
            given,
            Evidence(codes),
            self._n_samples or 0,
            self._random_state,
        )
        return sampled(question, draw(question, question.n_samples))

    def _states(
        self, rows: CodedRows, row: CodeArray, observed: Collection[str]
    ) -> dict[str, State]:
        domain = self._network.domain
        return {x: domain[x][row[rows.place(x)]] for x in rows.names if x in observed}

    def _warn(self, estimates: Sequence[QueryResult]) -> None:
        largest = max(
            float(each.standard_errors.max())
            for each in estimates
            if each.standard_errors is not None
        )
        doubtful = [each.warning for each in estimates if each.warning is not None]
        message = (
            f"p({self.target}) of {len(estimates)} different rows is estimated from "
            f"{self._n_samples} samples each, with standard errors up to {largest:.2g}"
        )
        if doubtful:
            message += (
                f"; {len(doubtful)} of them cannot be trusted, the first because {doubtful[0]}"
            )
        warnings.warn(message, UserWarning, stacklevel=4)


class _Group(NamedTuple):
    """``rows`` for which the same ``nodes`` and ``observed`` variables matter."""

    nodes: tuple[str, ...]
    observed: frozenset[str]
    rows: IntArray


def _groups(
    network: Joint, target: str, names: Sequence[str], hidden: NDArray[np.bool_]
) -> list[_Group]:
    """Group rows by what matters to the target. ``hidden``: (names, rows), True if missing."""
    patterns, member = np.unique(hidden, axis=1, return_inverse=True)
    groups: dict[tuple[tuple[str, ...], frozenset[str]], list[int]] = {}
    for i, pattern in enumerate(patterns.T):
        observed = {x for x, lacking in zip(names, pattern, strict=True) if not lacking}
        nodes = relevant_nodes(network, target, observed)
        involved = {u for x in nodes for u in (x, *network.parents(x))}
        groups.setdefault((nodes, frozenset(observed & involved)), []).append(i)
    place = member.reshape(-1)
    return [
        _Group(nodes, observed, np.flatnonzero(np.isin(place, of_group)))
        for (nodes, observed), of_group in groups.items()
    ]


def relevant_nodes(network: Joint, target: str, observed: Collection[str]) -> tuple[str, ...]:
    """Return the nodes whose factors p(target | observed) depends on, parents first.

    They are ancestors of these variables, because all other nodes sum to 1, and unobserved
    variables connect them with the target.
    """
    nodes = network.ancestral([target, *observed])
    scopes = {x: [u for u in (x, *network.parents(x)) if u not in observed] for x in nodes}
    holders: dict[str, list[str]] = {}
    for x, scope in scopes.items():
        for u in scope:
            holders.setdefault(u, []).append(x)
    reached, found, waiting = {target}, set(), [target]
    while waiting:
        for x in holders[waiting.pop()]:
            if x not in found:
                found.add(x)
                new = [u for u in scopes[x] if u not in reached]
                reached.update(new)
                waiting += new
    return tuple(x for x in nodes if x in found)
