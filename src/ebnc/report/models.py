"""One face for what can be reported: a classifier, or an EBNC alone.

A ``Reported`` model names its classes and inputs, and gives what it predicts by. Classifiers are
known by what they offer (``AveragingClassifier``), not by their class: reports and estimators do
not import each other.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np

from ebnc.data.batches import FrameSource, take_rows
from ebnc.data.cases import check_weights
from ebnc.data.coder import encode
from ebnc.data.entries import read_column
from ebnc.data.rows import CodedRows
from ebnc.domain import Domain, State
from ebnc.errors import DataError, DataWarning
from ebnc.likelihood.prior import NormalPrior
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.contributions import Contributions, contributions, weights_named
from ebnc.parameters.ebnc import EBNC
from ebnc.parameters.tables import TableSum
from ebnc.parameters.unknown import with_averages
from ebnc.report.held_out import Predict
from ebnc.typing import FloatArray, IntArray

__all__ = ["AveragingClassifier", "Labelled", "Reported", "WithFit", "fit_of", "reported"]


@runtime_checkable
class AveragingClassifier(Protocol):
    """What a report needs of a fitted ``EBNCClassifier``."""

    ebnc_: EBNC
    classes_: Any
    models_: Sequence[Any]  # each with a weight and tables, whose predictions are averaged

    def encode(self, X: Any) -> CodedRows: ...  # noqa: N803

    def predict_proba(self, X: Any) -> FloatArray: ...  # noqa: N803


class WithFit(Protocol):
    """What is known of an EBNC that was fitted, just now or before it was kept in a file."""

    prior: NormalPrior
    n_cases: float
    log_likelihood: float

    @property
    def bic(self) -> float: ...

    @property
    def log_evidence(self) -> float | None: ...


@dataclass(frozen=True, eq=False)
class Labelled:
    """Data with their classes as numbers, in the model's order; ``rows`` have an extra state."""

    rows: CodedRows
    classes: IntArray
    weights: FloatArray | None
    predict: Predict


@dataclass(frozen=True, eq=False)
class Reported:
    """A model to report: the best EBNC, all that is averaged, and names for people."""

    ebnc: EBNC
    averaged: tuple[tuple[float, TableSum], ...]
    target: str
    classes: tuple[State, ...]
    source: Any

    @property
    def domain(self) -> Domain:
        """Of the inputs and the target."""
        return self.ebnc.domain

    @property
    def inputs(self) -> tuple[str, ...]:
        """All inputs the model was offered."""
        return self.ebnc.structure.inputs

    def probabilities(self, rows: CodedRows) -> FloatArray:
        """p(y|x) of rows with an extra state: as the classifier predicts."""
        return self._with_averages(self.averaged, rows)

    def best_probabilities(self, rows: CodedRows) -> FloatArray:
        """p(y|x) of the best model alone."""
        return self._with_averages(((1.0, self.best),), rows)

    def _with_averages(
        self, models: tuple[tuple[float, TableSum], ...], rows: CodedRows
    ) -> FloatArray:
        def predict(some: CodedRows) -> FloatArray:
            return np.asarray(sum(weight * part.probabilities(some) for weight, part in models))

        return with_averages(predict, rows, self.ebnc.background)

    @property
    def state_weights(self) -> Mapping[str, FloatArray]:
        """What contributions are weighted by: shares of states in the training data, if known."""
        return weights_named("training", self.ebnc.background)

    @cached_property
    def best(self) -> TableSum:
        """Log odds of the best model; those of the extra state are the weighted mean."""
        return self.ebnc.tables.with_extra_state(self.state_weights)

    def encode(self, x: Any) -> CodedRows:
        """Rows with an extra state for entries never seen before."""
        if isinstance(self.source, AveragingClassifier):
            return self.source.encode(x)
        return encode(x, self.domain, self.ebnc.structure.markov_blanket, unseen="extra")

    def contributions(self, rows: CodedRows) -> Contributions:
        """Of the best model, for rows with an extra state."""
        phi = self.ebnc.phi_in(ORTHONORMAL.name)
        return contributions(self.ebnc.basis, phi, rows, self.state_weights)

    def labelled(self, x: Any, y: Any, weights: Any) -> Labelled:
        """Data as coded rows and classes, ready for cross-validation."""
        if isinstance(self.source, AveragingClassifier):
            return self._of_classifier(self.source, x, y, weights)
        return self._of_ebnc(x, y, weights)

    def _of_classifier(self, model: AveragingClassifier, x: Any, y: Any, weights: Any) -> Labelled:
        from sklearn.base import clone

        if y is None:
            raise DataError("give the classes of the data too: summarise(model, X, y)")
        rows = model.encode(x)
        classes = _class_codes(y, self.classes, len(rows))
        checked = check_weights(weights, len(rows))

        def predict(seen: IntArray, unseen: IntArray) -> FloatArray:
            weight = {} if checked is None else {"sample_weight": checked[seen]}
            found = np.zeros((len(unseen), len(self.classes)))
            with warnings.catch_warnings():  # what a fold lacks is no news
                warnings.simplefilter("ignore", DataWarning)
                fitted = clone(model).fit(_rows_of(x, seen), classes[seen], **weight)
                found[:, fitted.classes_] = fitted.predict_proba(_rows_of(x, unseen))
            return found

        return Labelled(rows, classes, checked, predict)

    def _of_ebnc(self, x: Any, y: Any, weights: Any) -> Labelled:
        from ebnc.learn import fit

        ebnc, target = self.ebnc, self.ebnc.structure.target
        names = list(self.inputs)
        if y is None:
            columns = FrameSource(x, [*names, target]).read([*names, target])
            y = columns.pop(target)
        else:
            columns = FrameSource(x, names).read(names)
        strict = encode(columns, ebnc.domain, names)  # says what is not a state
        rows = encode(columns, ebnc.domain, names, unseen="extra")
        classes = _class_codes(y, self.classes, len(strict))
        checked = check_weights(weights, len(rows))
        fitted = fit_of(ebnc)
        scales: object = "evidence" if fitted is None else list(fitted.prior.scales)
        counts = {name: ebnc.domain.n_states(name) for name in names}
        codes = {name: strict.column(name).astype(np.int64) for name in names}

        def predict(seen: IntArray, unseen: IntArray) -> FloatArray:
            present, y_seen = np.unique(classes[seen], return_inverse=True)
            again = fit(
                ebnc.structure,
                {**{name: codes[name][seen] for name in names}, target: y_seen},
                scales,
                categories={**counts, target: len(present)},
                weights=None if checked is None else checked[seen],
            )
            found = np.zeros((len(unseen), len(self.classes)))
            found[:, present] = again.probabilities({name: codes[name][unseen] for name in names})
            return found

        return Labelled(rows, classes, checked, predict)


def _rows_of(x: Any, chosen: IntArray) -> Any:
    """Some rows of a table."""
    if isinstance(x, Mapping):
        return take_rows(x, chosen)
    from sklearn.utils import _safe_indexing

    return _safe_indexing(x, chosen)


def fit_of(ebnc: EBNC) -> WithFit | None:
    """The EBNC as one that knows its fit, or None where it was made otherwise."""
    return cast(WithFit, ebnc) if hasattr(ebnc, "n_cases") else None


def reported(model: Any, target: str | None = None) -> Reported:
    """A model's face for reports; refuses what is neither a fitted classifier nor an EBNC."""
    if isinstance(model, EBNC):
        name = model.structure.target
        tables = ((1.0, model.tables.with_extra_state()),)
        return Reported(model, tables, target or name, model.domain[name], model)
    if isinstance(model, AveragingClassifier):
        ebnc = model.ebnc_
        classes = tuple(model.classes_.tolist())
        averaged = tuple(
            (part.weight / len(part.tables), tables)
            for part in model.models_
            for tables in part.tables
        )
        name = target or ebnc.structure.target
        return Reported(ebnc, averaged, name, classes, model)
    raise DataError(
        f"a report needs a fitted EBNCClassifier or an EBNC, got {type(model).__name__}"
    )


def _class_codes(y: Any, classes: tuple[State, ...], length: int) -> IntArray:
    """Classes as numbers in the model's order."""
    column = read_column("y", y)
    if len(column) != length:
        raise DataError(f"there are {length} rows but {len(column)} classes")
    if column.missing.any():
        raise DataError("the classes have missing values; remove those rows")
    codes = encode({"y": column}, Domain({"y": classes}), ["y"]).codes[0]
    return np.asarray(codes, dtype=np.int64)
