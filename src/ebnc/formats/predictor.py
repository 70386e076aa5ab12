"""Predict from a model file, without loading what only learning needs (scikit-learn, numba)."""

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ebnc.data.rows import CodedRows
from ebnc.domain import Domain
from ebnc.errors import FormatError
from ebnc.formats.classifier_json import stored_from_json
from ebnc.formats.ebnc_json import ebnc_from_json
from ebnc.formats.native import named, open_document
from ebnc.formats.strict_json import read_json
from ebnc.parameters.ebnc import EBNC
from ebnc.parameters.tables import TableSum
from ebnc.parameters.unknown import with_averages
from ebnc.typing import FloatArray

__all__ = ["Predictor", "read_predictor"]


class Predictor(Protocol):
    """p(y|x) for rows of ``used``, which are coded with one more state for what was never seen."""

    @property
    def domain(self) -> Domain: ...

    @property
    def target(self) -> str: ...

    @property
    def classes(self) -> NDArray[Any]: ...

    @property
    def used(self) -> tuple[str, ...]: ...

    def probabilities(self, rows: CodedRows) -> FloatArray: ...


@dataclass(frozen=True, eq=False)
class EBNCPredictor:
    """One EBNC as a predictor; what is not known is averaged over the training data."""

    model: EBNC

    @property
    def domain(self) -> Domain:
        """Of all variables."""
        return self.model.domain

    @property
    def target(self) -> str:
        """The variable that is predicted."""
        return self.model.structure.target

    @property
    def classes(self) -> NDArray[Any]:
        """The target's states."""
        labels = np.empty(self.domain.n_states(self.target), dtype=object)
        labels[:] = self.domain[self.target]
        return labels

    @property
    def used(self) -> tuple[str, ...]:
        """The inputs that p(y|x) depends on."""
        return self.model.structure.markov_blanket

    @cached_property
    def _tables(self) -> TableSum:
        return self.model.tables.with_extra_state()

    def probabilities(self, rows: CodedRows) -> FloatArray:
        """p(y|x), shape (rows, K)."""
        return with_averages(self._predict, rows, self.model.background)

    def _predict(self, rows: CodedRows) -> FloatArray:
        return self._tables.probabilities(rows, compiled=False)


def read_predictor(path: str | os.PathLike[str]) -> Predictor:
    """The predictor in a model file; every field is checked, as in ``ebnc.load``."""
    with named(path):
        opened = open_document(read_json(path))
        if opened.kind == "classifier":
            return stored_from_json(opened.model)
        if opened.kind == "ebnc":
            return EBNCPredictor(ebnc_from_json(opened.model))
        raise FormatError(f"a model of kind {opened.kind!r} does not predict one variable")
