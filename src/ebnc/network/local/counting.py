"""EBNCs that count: one more input is the number of parents in an unusual state.

    λ(x) = φ_∅ + Σ_i φ_i(x_i) + f(c(x)),     c(x) = Σ_i I(x_i ≠ usual state of X_i)

The usual state of a parent is its most frequent one. Rows of baskets, texts and ratings differ in
how many ones they have far more than main effects allow: a sum of log odds over 500 parents cannot
bend with the count. f is a curve over bins of c, of about equal width in log(1 + c). It has a scale
of its own in the prior, because a count says more than one parent among many.

c is a function of the parents. So the graph has only the variables of the data, and the node is an
ordinary distribution p(z | parents); inside it is a naive EBNC with one more, ordered input.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ebnc.data.cases import Cases
from ebnc.data.coder import encode
from ebnc.data.rows import CodedRows
from ebnc.data.table import TableLike as Rows
from ebnc.domain import Domain, DomainLike, as_domain
from ebnc.errors import ParameterError
from ebnc.fitting.newton import LARGEST_FACTOR
from ebnc.fitting.optimum import likelihood_of
from ebnc.likelihood.posterior import Posterior
from ebnc.network.local.embedded import EmbeddedLearner
from ebnc.network.local.local import Local
from ebnc.network.local.node import Kind, LocalFit, Node, NodeState
from ebnc.network.local.plain import FieldType, equal_by_value, frozen
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.ebnc import EBNC
from ebnc.parameters.phi import Basis
from ebnc.score.scales import maximise_evidence
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.typing import CodeArray, FloatArray, IntArray

MOST_BINS = 32
"""Maximum number of bins of the count."""


@dataclass(frozen=True, eq=False)
class Counter:
    """The derived input of a node: how the unusual states of its parents are counted.

    ``usual``: the code of the usual state of each parent. ``cuts``: the largest count of every bin
    but the last, which has no end.
    """

    target: str
    parents: tuple[str, ...]
    usual: IntArray
    cuts: IntArray

    @classmethod
    def of(cls, cases: Cases, parents: Sequence[str]) -> "Counter":
        """Take the most frequent states in some cases, and bins up to their largest count."""
        codes = cases.rows.codes[[cases.rows.place(x) for x in parents]]
        usual = [np.bincount(column, cases.weights).argmax() for column in codes]
        start = cls(cases.target, tuple(parents), np.array(usual, np.int64), np.empty(0, np.int64))
        largest = int(start.counts(codes).max(initial=0))
        ends = np.expm1(np.linspace(0.0, np.log1p(largest), MOST_BINS, endpoint=False))
        cuts = np.unique(ends.astype(np.int64))
        return replace(start, cuts=cuts[cuts < largest])

    @property
    def name(self) -> str:
        """The name of the derived input, which no variable has."""
        name = "number of unusual states"
        while name in (*self.parents, self.target):
            name += "'"
        return name

    @property
    def structure(self) -> EmbeddedStructure:
        """The naive structure with all parents and the derived input."""
        return EmbeddedStructure.naive(self.target, [*self.parents, self.name])

    def counts(self, codes: CodeArray) -> IntArray:
        """c of every row; ``codes`` of the parents, shape (parents, rows)."""
        return np.asarray((codes != self.usual[:, None]).sum(axis=0, dtype=np.int64))

    def domain(self, domain: Domain) -> Domain:
        """The states of the target, of the parents, and of the derived input, in order."""
        names = (*self.parents, self.target)
        starts = [0, *(self.cuts + 1).tolist()]
        labels = [f"{a} to {b}" for a, b in zip(starts, self.cuts.tolist(), strict=False)]
        states = {x: domain[x] for x in names} | {self.name: [*labels, f"{starts[-1]} or more"]}
        return Domain(states, [*domain.ordered.intersection(names), self.name])

    def rows(self, rows: CodedRows) -> CodedRows:
        """The columns of the parents and of the derived input."""
        places = [rows.place(x) for x in self.parents]
        codes = rows.codes[places]
        bins = np.searchsorted(self.cuts, self.counts(codes)).astype(codes.dtype)
        n_states = (*(rows.n_states[i] for i in places), len(self.cuts) + 1)
        return CodedRows((*self.parents, self.name), n_states, np.vstack([codes, bins]))

    def likelihood(self, cases: Cases, *, own_scale: bool = True) -> tuple[Posterior, Cases]:
        """Return the likelihood of φ for the target of some cases, and its cases.

        ``own_scale``: whether f has a scale of its own in the prior.
        """
        merged = cases.projected(self.parents)
        domain = self.domain(cases.domain)
        counted = Cases(domain, self.target, self.rows(merged.rows), merged.classes, merged.weights)
        basis = Basis(self.structure, domain, apart=self.name if own_scale else None)
        return likelihood_of(basis, counted), counted


class CountingEBNC:
    """p(z | parents) of a naive EBNC that also counts the parents in an unusual state.

    Parameters
    ----------
    target : str
        The node z.
    parents : sequence of str
        Its parents.
    domain : Domain or mapping
        The states of the node and of its parents.
    usual : array of int
        The number of the usual state of each parent.
    cuts : array of int
        The largest count of every bin of counts but the last, which has no end.
    phi : array
        The parameters of ``ebnc``, in the orthonormal coding.

    Attributes
    ----------
    target, parents, usual, cuts, phi
        As above; parents with one state are removed, arrays are read-only.
    domain : Domain
        The states of the node and of its parents.
    counter : Counter
        What counts the unusual states of rows.
    ebnc : EBNC
        The EBNC inside, with the bins of the count as one more input.

    Examples
    --------
    >>> two = {"A": 2, "B": 2, "many": ["no", "yes"]}
    >>> node = CountingEBNC("many", ["A", "B"], two, [0, 0], [1], [0, 0, 0, 1])
    >>> node.probabilities({"A": [0, 0, 1], "B": [0, 1, 1]}).round(3)
    array([[0.119, 0.881],
           [0.119, 0.881],
           [0.881, 0.119]])
    """

    kind = "counting"

    def __init__(
        self,
        target: str,
        parents: Sequence[str],
        domain: DomainLike,
        usual: ArrayLike,
        cuts: ArrayLike,
        phi: ArrayLike,
    ) -> None:
        declared, names = as_domain(domain), tuple(parents)
        states, ends = _whole_numbers("usual", usual), _whole_numbers("cuts", cuts)
        n_states = np.array([declared.n_states(x) for x in names], dtype=np.int64)
        if states.shape != n_states.shape:
            raise ParameterError(
                f"usual has {states.size} states, for {len(names)} parents of {target!r}"
            )
        if (states >= n_states).any():
            i = int(np.argmax(states >= n_states))
            raise ParameterError(f"{names[i]!r} has no state number {states[i]}")
        varying = n_states > 1
        most = int(varying.sum())
        if (np.diff(ends) <= 0).any() or (ends >= most).any():
            raise ParameterError(
                f"cuts must ascend and be smaller than {most}, the number of parents of "
                f"{target!r}; got {ends.tolist()}"
            )
        self.target = target
        self.parents = tuple(x for x, varies in zip(names, varying.tolist(), strict=True) if varies)
        self.usual: IntArray = frozen(states[varying], np.int64)
        self.cuts: IntArray = frozen(ends, np.int64)
        self.counter = Counter(target, self.parents, self.usual, self.cuts)
        self.ebnc = EBNC(
            self.counter.structure, self.counter.domain(declared), phi, ORTHONORMAL.name
        )
        self.phi: FloatArray = frozen(self.ebnc.phi)
        self.domain = declared.only((*self.parents, target))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CountingEBNC) and equal_by_value(
            self, other, CountingEBNC.to_plain
        )

    def _repr_html_(self) -> str:
        return self.ebnc._repr_html_()

    def __hash__(self) -> int:
        return hash((self.target, self.parents, self.phi.tobytes()))

    def __repr__(self) -> str:
        return f"CountingEBNC({self.target!r}, {list(self.parents)}, dimension={self.dimension})"

    @property
    def dimension(self) -> int:
        """Number of parameters of ``ebnc``.

        If every bin is a single count, K − 1 of them are redundant: the sum of the main effects can
        rise with the count, too. With few parents a full table may then have fewer.
        """
        return self.ebnc.dimension

    def probabilities(self, data: Rows) -> FloatArray:
        """Return p(z | parents) of every row, shape (rows, K).

        Parameters
        ----------
        data : table
            Rows with the parents of the node.
        """
        rows = encode(data, self.domain, self.parents)
        return self.ebnc.tables.probabilities(self.counter.rows(rows))

    def log_probability(self, data: Rows) -> FloatArray:
        """Return log p of the observed z of every row, shape (rows,).

        Parameters
        ----------
        data : table
            Rows with the node and its parents.
        """
        rows = encode(data, self.domain, tuple(self.domain))
        counted, classes = self.counter.rows(rows), rows.column(self.target)
        return self.ebnc.tables.log_probability(counted, classes)

    def to_plain(self) -> dict[str, Any]:
        """Return the fields that a file holds."""
        return {
            "parents": self.parents,
            "usual": self.usual,
            "cuts": self.cuts,
            "phi": self.phi,
        }


class CountingLearner:
    """Fits ``CountingEBNC`` to a node; the model of a fit is the distribution."""

    is_table_without_parents = True

    def __init__(self, node: Node) -> None:
        self.node = node

    def learn(
        self,
        parents: tuple[str, ...],
        near: LocalFit | None = None,  # noqa: ARG002
    ) -> LocalFit | None:
        """Fit all parents and their count; None if they have too many parameters."""
        node, cases = self.node, self.node.cases
        counter = Counter.of(cases, parents)
        likelihood, _ = counter.likelihood(cases)
        if likelihood.design.dimension > LARGEST_FACTOR:
            return None
        fit = maximise_evidence(likelihood)
        local = CountingEBNC(
            node.target, parents, cases.domain, counter.usual, counter.cuts, fit.phi
        )
        criterion = node.settings.criterion
        scored = fit if criterion.tunes_scales else criterion.fit(likelihood, None, None)
        score = criterion.value(scored) + self.intercept_correction
        return LocalFit(score + node.log_prior(len(parents)), local)

    def gains(self, state: NodeState, names: Sequence[str]) -> dict[str, float]:
        """Return the gain of each of ``names`` as an extra parent, by a fit with it."""
        fits = {x: self.learn((*state.parents, x)) for x in names}
        return {
            x: fit.score - state.score
            for x, fit in fits.items()
            if fit is not None and fit.score is not None
        }

    def local(self, fit: LocalFit) -> Local:
        """Return the distribution of a fit."""
        local: CountingEBNC = fit.model
        return local

    @property
    def intercept_correction(self) -> float:
        """The same as that of EBNCs; see ``network.local.embedded``."""
        return EmbeddedLearner(self.node).intercept_correction


def _whole_numbers(name: str, values: ArrayLike) -> IntArray:
    array = np.asarray(values)
    if array.size and (array.dtype.kind not in "iu" or array.min() < 0):
        raise ParameterError(f"{name} must be whole numbers, none negative, got {values!r}")
    return np.asarray(array.ravel(), dtype=np.int64)


def _from_plain(target: str, domain: Domain, plain: Mapping[str, Any]) -> CountingEBNC:
    return CountingEBNC(
        target, plain["parents"], domain, plain["usual"], plain["cuts"], plain["phi"]
    )


COUNTING = Kind(
    name=CountingEBNC.kind,
    words="counting embedded network",
    fields={
        "parents": FieldType.VARIABLES,
        "usual": FieldType.WHOLE_NUMBERS,
        "cuts": FieldType.WHOLE_NUMBERS,
        "phi": FieldType.PARAMETERS,
    },
    to_plain=CountingEBNC.to_plain,
    from_plain=_from_plain,
    learner=CountingLearner,
)
