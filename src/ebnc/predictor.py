"""``Predictor``: p(y|x) for coded rows; shared by classifiers, EBNCs, model files and reports."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from operator import eq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ebnc.data.one_row import RowCoder
from ebnc.data.rows import CodedRows
from ebnc.domain import Domain
from ebnc.fitting.fit import Fit
from ebnc.kernels.one_row import StackedTables
from ebnc.parameters.background import Background
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.ebnc import EBNC
from ebnc.parameters.phi import Basis, phi_to_tables
from ebnc.parameters.smooth_density import SmoothDensity
from ebnc.parameters.tables import TableSum
from ebnc.parameters.unknown import average_over_unknown, with_averages
from ebnc.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class WeightedModel:
    """One model of an average, with its weight, its terms and φ̃ in the orthonormal coding."""

    weight: float
    basis: Basis
    phi: FloatArray

    @classmethod
    def of(cls, weight: float, fit: Fit) -> "WeightedModel":
        """Make the model of a fit."""
        return cls(weight, fit.design.basis, fit.phi)

    @cached_property
    def tables(self) -> TableSum:
        """Log odds; every input has one more state, for unknown entries."""
        return phi_to_tables(self.basis, self.phi, ORTHONORMAL).with_extra_state()


@dataclass(frozen=True, eq=False)
class Predictor:
    """p(y|x) = Σ_m w_m p(y|x, m), averaged over the background if entries are unknown.

    ``weighted``: weights, which add up to 1, and log odds; every input has one more state, for
    unknown entries. ``classes``: labels, in the order of the columns of p(y|x). ``compiled``:
    whether to use compiled kernels; None: only if they are worth loading. ``density``: of a number
    whose bins are the classes.
    """

    weighted: tuple[tuple[float, TableSum], ...]
    domain: Domain
    target: str
    classes: NDArray[Any]
    background: Background | None = None
    compiled: bool | None = None
    density: SmoothDensity | None = None

    @classmethod
    def of_ebnc(cls, ebnc: EBNC, compiled: bool | None = None) -> "Predictor":
        """Make the predictor of one EBNC; the classes are the states of its target."""
        labels = ebnc.domain[ebnc.target]
        classes = np.empty(len(labels), dtype=object)
        classes[:] = labels
        weighted = ((1.0, ebnc.tables.with_extra_state()),)
        return cls(weighted, ebnc.domain, ebnc.target, classes, ebnc.background, compiled)

    @classmethod
    def of_models(
        cls,
        models: Iterable[WeightedModel],
        ebnc: EBNC,
        classes: NDArray[Any],
        compiled: bool | None = None,
    ) -> "Predictor":
        """Make an average of models; domain, target and background are those of ``ebnc``."""
        weighted = tuple((model.weight, model.tables) for model in models)
        return cls(weighted, ebnc.domain, ebnc.target, classes, ebnc.background, compiled)

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: what is computed from them is not worth a place in a pickle."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def used(self) -> tuple[str, ...]:
        """The inputs that p(y|x) depends on, in the order of the domain."""
        reached = {x for _, tables in self.weighted for scope in tables.scopes for x in scope}
        return tuple(x for x in self.domain if x in reached)

    def row_coder(self, names: Sequence[str]) -> RowCoder:
        """The coder of a single row of the inputs ``names``."""
        key = tuple(names)
        if key not in self._row_coders:
            self._row_coders[key] = RowCoder(self.domain, key, extra=True)
        return self._row_coders[key]

    def probabilities(self, rows: CodedRows) -> FloatArray:
        """p(y|x), shape (rows, K); inputs of ``rows`` are ``used``, with one state for unknown.

        A single row without unknown entries has a shorter way to the same bits.
        """
        if len(rows) == 1 and not self.compiled:
            codes, (unknown, stacked) = rows.codes[:, 0].tolist(), self._stacked(rows)
            if not any(map(eq, codes, unknown)):
                return self._of_one_row(stacked, np.array([*codes, 1], dtype=np.int64))
        p = with_averages(self._average, rows, self.background)
        if len(self.weighted) > 1:
            p /= p.sum(axis=1, keepdims=True)  # the rounded weights may not add up to 1
        return p

    def best(self, p: FloatArray) -> IntArray:
        """Return the number of the most probable class, from p(y|x)."""
        return np.asarray(p.argmax(axis=1))

    def log_probabilities(self, rows: CodedRows) -> FloatArray:
        """log p(y|x); for a single model exact even if p(y|x) underflows."""
        if len(self.weighted) > 1:
            with np.errstate(divide="ignore"):
                return np.log(self.probabilities(rows))
        _, tables = self.weighted[0]
        full = np.column_stack([np.zeros(len(rows)), tables.log_odds(rows)])
        full -= full.max(axis=1, keepdims=True)
        log_p = full - np.log(np.exp(full).sum(axis=1, keepdims=True))
        averages = average_over_unknown(self._average, rows, self.background)
        if averages is not None:
            with np.errstate(divide="ignore"):
                log_p[averages.places] = np.log(averages.probabilities)
        return np.asarray(log_p)

    def _of_one_row(self, stacked: StackedTables, codes: IntArray) -> FloatArray:
        p = np.add.accumulate(self._weights * stacked.probabilities(codes))[-1:]
        if len(self.weighted) > 1:
            p /= p.sum(axis=1, keepdims=True)
        return p

    def _stacked(self, rows: CodedRows) -> tuple[list[int], StackedTables]:
        """The codes of unknown entries, and the tables of all models, for rows of these inputs."""
        if rows.names not in self._stacks:
            flat = [tables.addressed(rows) for _, tables in self.weighted]
            unknown = [r - 1 for r in rows.n_states]
            self._stacks[rows.names] = unknown, StackedTables.of(flat, len(rows.names))
        return self._stacks[rows.names]

    @cached_property
    def _weights(self) -> FloatArray:
        return np.array([[weight] for weight, _ in self.weighted])

    @cached_property
    def _row_coders(self) -> dict[tuple[str, ...], RowCoder]:
        return {}

    @cached_property
    def _stacks(self) -> dict[tuple[str, ...], tuple[list[int], StackedTables]]:
        return {}

    def _average(self, rows: CodedRows) -> FloatArray:
        """Σ_m w_m p(y|x, m) for rows without unknown entries."""
        total = np.zeros((len(rows), len(self.classes)))
        for weight, tables in self.weighted:
            total += weight * tables.probabilities(rows, compiled=self.compiled)
        return total
