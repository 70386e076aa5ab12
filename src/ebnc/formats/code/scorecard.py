"""A model as plain numbers: what exported code computes, for any language.

    code of an input   = place among its cuts or labels; missing and unknown entries have their own
    λ_k(x)             = intercept_k + Σ_t table_t[codes of the inputs of t, k],  λ_0 = 0
    p(y|x)             ∝ Σ_m w_m softmax(λ of model m)
    mean of a number   = Σ_b p_b v_b m_b / Σ_b p_b v_b

If entries of a row are unknown, p(y|x) is the average over the background, eq. of
``parameters.unknown``: with one unknown input over its states, weighted by their shares; with more
over the background's rows.
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from ebnc.domain import Domain, Interval, State
from ebnc.errors import FormatError
from ebnc.parameters.tables import TableSum
from ebnc.predictor import Predictor

Kind = Literal["interval", "number", "boolean", "text"]


@dataclass(frozen=True)
class Column:
    """An input: how an entry becomes a code.

    ``kind`` "interval": the code is the number of ``cuts`` below the entry. Otherwise it is that of
    an equal label; ``labels`` and ``codes`` are parallel. ``missing``: the code of missing entries.
    ``unknown``: the code of all others.
    """

    name: str
    kind: Kind
    cuts: list[float]
    labels: list[Any]
    codes: list[int]
    missing: int
    unknown: int


@dataclass(frozen=True)
class Term:
    """A table of one model: the row of ``table`` is Σ strides · codes of ``inputs``."""

    inputs: list[int]
    strides: list[int]
    table: list[list[float]]


@dataclass(frozen=True)
class WeightedTerms:
    """One model of an average; ``intercept`` and rows of tables are for classes 1 … K − 1."""

    weight: float
    intercept: list[float]
    terms: list[Term]


@dataclass(frozen=True)
class Fillings:
    """What stands for unknown entries.

    ``shares[i]``: weights of the states of input i. ``rows``: codes of all inputs.
    """

    shares: list[list[float]]
    rows: list[list[int]]
    weights: list[float]


@dataclass(frozen=True)
class Mean:
    """What makes a number of the probabilities of its bins: ``weights`` v_b and ``means`` m_b."""

    weights: list[float]
    means: list[float]


@dataclass(frozen=True)
class Scorecard:
    """All numbers of a model. ``fillings`` is None if ``unknown`` codes need no average."""

    target: str
    classes: list[Any]
    columns: list[Column]
    models: list[WeightedTerms]
    fillings: Fillings | None
    mean: Mean | None

    @classmethod
    def of(cls, predictor: Predictor) -> "Scorecard":
        """Collect the numbers of a predictor."""
        used = predictor.used
        background, density = predictor.background, predictor.density
        fillings = mean = None
        if background is not None:
            places = [background.rows.place(x) for x in used]
            shares = [background.state_weights[x].tolist() for x in used]
            rows = background.rows.codes[places].T.tolist()
            fillings = Fillings(shares, rows, background.row_weights.tolist())
        if density is not None:
            mean = Mean(np.exp(density.offsets).tolist(), density.bins.means.tolist())
        return cls(
            predictor.target,
            [str(x) if isinstance(x, Interval) else _label(x) for x in predictor.classes.tolist()],
            [_column(x, predictor.domain) for x in used],
            [_terms(weight, tables, used) for weight, tables in predictor.weighted],
            fillings,
            mean,
        )

    def to_plain(self) -> dict[str, Any]:
        """Return the numbers as dicts and lists."""
        return asdict(self)


def _column(name: str, domain: Domain) -> Column:
    states = domain[name]
    known = [(state, code) for code, state in enumerate(states) if state is not None]
    unknown = len(states)
    missing = states.index(None) if None in states else unknown
    labels = [state for state, _ in known]
    cuts: list[float] = []
    if isinstance(labels[0], Interval):
        cuts = [state.high for state in labels if isinstance(state, Interval)][:-1]
        return Column(name, "interval", cuts, [], [], missing, unknown)
    kinds: dict[Kind, Any] = {"boolean": bool, "text": str, "number": int | float}
    kind = next((k for k, of in kinds.items() if all(isinstance(x, of) for x in labels)), None)
    if kind is None:
        raise FormatError(
            f"column {name!r} has states that exported code cannot hold, such as {labels[0]!r}; "
            "convert them to text before learning"
        )
    return Column(name, kind, cuts, labels, [code for _, code in known], missing, unknown)


def _terms(weight: float, tables: TableSum, used: tuple[str, ...]) -> WeightedTerms:
    intercept = np.zeros(tables.n_outputs)
    terms = []
    for scope, table in zip(tables.scopes, tables.tables, strict=True):
        if not scope:
            intercept += table
            continue
        sizes = table.shape[:-1]
        strides = [int(np.prod(sizes[i + 1 :])) for i in range(len(sizes))]
        values = table.reshape(-1, tables.n_outputs).tolist()
        terms.append(Term([used.index(x) for x in scope], strides, values))
    return WeightedTerms(float(weight), intercept.tolist(), terms)


def _label(label: State) -> Any:
    if label is None or isinstance(label, bool | int | float | str):
        return label
    raise FormatError(f"class {label!r} is of a type that exported code cannot hold")
