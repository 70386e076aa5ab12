"""Effects: the inputs and terms of a model as plain data, for reports and displays."""

import math
from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from ebnc.data.rows import CodedRows
from ebnc.domain import Interval
from ebnc.errors import DataError
from ebnc.fitted import FittedEBNC
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.contributions import block_to_table, centred, mean_square
from ebnc.parameters.phi import Term
from ebnc.report.models import ReportedModel
from ebnc.report.summary import InputSummary, TermSummary
from ebnc.report.words import interval_texts
from ebnc.typing import FloatArray

MOST_TERMS = 200
MOST_VALUES = 200_000


def input_summaries(adapter: ReportedModel) -> tuple[InputSummary, ...]:
    """All inputs with their states, and the shares of the states in the training data."""
    worths = {w.feature: w.worth for w in getattr(adapter.source, "feature_worths_", ())}
    blanket = set(adapter.ebnc.structure.markov_blanket)
    shares = adapter.state_weights
    inputs = []
    for name in adapter.inputs:
        states = adapter.domain[name]
        highs = tuple(state.high for state in states if isinstance(state, Interval))
        inputs.append(
            InputSummary(
                name=name,
                states=tuple(interval_texts(states)),
                cuts=highs[:-1] if highs else None,
                has_missing=states[-1] is None,
                selected=name in blanket,
                worth=worths.get(name),
                is_ordered=adapter.domain.kind(name) != "nominal",
                shares=tuple(shares[name].tolist()) if name in shares else None,
            )
        )
    return tuple(inputs)


class Effects:
    """The contributions of the terms of a model, centred by the training data."""

    def __init__(self, adapter: ReportedModel) -> None:
        self._ebnc = adapter.ebnc
        self._weights: Mapping[str, FloatArray] = adapter.state_weights
        self._phi = centred(
            adapter.ebnc.basis, adapter.ebnc.phi_in(ORTHONORMAL.name), self._weights
        )
        self._place = {x: i for i, x in enumerate(adapter.inputs)}

    def largest(self, rows: CodedRows | None) -> tuple[TermSummary, ...]:
        """The intercept, then the largest terms, up to the limits of a report.

        The size of a term is its root mean square over the training data.
        """
        terms = self._ebnc.basis.terms
        ranked = [terms[0], *sorted(terms[1:], key=lambda term: -self._size(term))]
        kept: list[TermSummary] = []
        left = MOST_VALUES
        for term in ranked:
            cells = self._ebnc.basis.n_classes * prod(self._shape(term))
            if cells > left or len(kept) == MOST_TERMS:
                continue
            left -= cells
            kept.append(self._summary(term, rows))
        return tuple(kept)

    def of(self, names: Sequence[str], rows: CodedRows | None = None) -> TermSummary:
        """The term of these inputs, in the order of the model."""
        for term in self._ebnc.basis.terms:
            if set(term.inputs) == set(names):
                return self._summary(term, rows)
        listed = [" × ".join(term.inputs) for term in self._ebnc.basis.terms if term.inputs]
        raise DataError(
            f"the model has no term of {' × '.join(map(str, names))!r}; it has {listed[:8]}"
        )

    def _summary(self, term: Term, rows: CodedRows | None) -> TermSummary:
        errors = None
        if isinstance(self._ebnc, FittedEBNC):
            errors = self._ebnc.contribution_errors(term)
        counts = None
        if rows is not None and len(term.inputs) > 1:
            counts = tuple(self._count(term, rows).tolist())
        return TermSummary(
            inputs=tuple(self._place[x] for x in term.inputs),
            values=tuple(self._table(term).ravel().tolist()),
            errors=None if errors is None else tuple(errors.ravel().tolist()),
            size=self._size(term),
            counts=counts,
        )

    def _shape(self, term: Term) -> list[int]:
        return [self._ebnc.domain.n_states(x) for x in term.inputs]

    def _table(self, term: Term) -> FloatArray:
        block = self._phi[term.start : term.stop, None]
        return block_to_table(self._ebnc.basis, term, block, self._weights)[..., 0]

    def _size(self, term: Term) -> float:
        return math.sqrt(mean_square(term, self._table(term), self._weights))

    def _count(self, term: Term, rows: CodedRows) -> FloatArray:
        """The number of rows in every cell; rows with unknown entries are left out."""
        shape = self._shape(term)
        codes = np.array([rows.column(x) for x in term.inputs], dtype=np.int64)
        known = (codes < np.array(shape)[:, None]).all(axis=0)
        cells = np.ravel_multi_index(tuple(codes[:, known]), shape)
        return np.bincount(cells, minlength=prod(shape)).astype(np.float64)
