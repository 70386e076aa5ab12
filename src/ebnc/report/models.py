"""Adapter: a common interface of classifiers and EBNCs for reports.

Classifiers are recognised by a protocol (``AveragingClassifier``), not by their class, because
reports and estimators do not import each other.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ebnc.data.batches import FrameSource
from ebnc.data.cases import check_weights
from ebnc.data.coder import encode
from ebnc.data.columns import Column
from ebnc.data.entries import read_column
from ebnc.data.plan import Plan
from ebnc.data.rows import CodedRows
from ebnc.domain import Domain, State
from ebnc.errors import DataError, DataWarning
from ebnc.fitted import FittedEBNC
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.contributions import Contributions, contributions, weights_named
from ebnc.parameters.ebnc import EBNC
from ebnc.parameters.tables import TableSum
from ebnc.predictor import Predictor
from ebnc.report.held_out import LabelledRows
from ebnc.typing import FloatArray, IntArray


@runtime_checkable
class AveragingClassifier(Protocol):
    """The part of a fitted ``EBNCClassifier`` that reports use."""

    ebnc_: FittedEBNC
    classes_: Any

    @property
    def predictor_(self) -> Predictor: ...

    def columns(self, X: Any) -> Mapping[str, Any]: ...  # noqa: N803

    def encode(self, X: Any) -> CodedRows: ...  # noqa: N803

    def predict_proba(self, X: Any) -> FloatArray: ...  # noqa: N803


@dataclass(frozen=True, eq=False)
class ReportedModel:
    """A model to report.

    ``ebnc``: the best model. ``predictor``: predicts, by one model or an average of several.
    ``target``: the name of the target on the page. ``source``: the object to be reported.
    """

    ebnc: EBNC
    predictor: Predictor
    target: str
    source: Any

    @property
    def domain(self) -> Domain:
        """The states of the inputs and the target."""
        return self.ebnc.domain

    @property
    def inputs(self) -> tuple[str, ...]:
        """All inputs of the training data, selected or not."""
        return self.ebnc.structure.inputs

    @property
    def classes(self) -> tuple[State, ...]:
        """The labels of the target."""
        return tuple(self.predictor.classes.tolist())

    @property
    def state_weights(self) -> Mapping[str, FloatArray]:
        """Shares of the states in the training data (if known), which weight contributions."""
        return weights_named("training", self.ebnc.background)

    @cached_property
    def best(self) -> TableSum:
        """Log odds of the best model; the extra state has the weighted mean of the others."""
        return self.ebnc.tables.with_extra_state(self.state_weights)

    @property
    def best_predictor(self) -> Predictor:
        """A predictor by the best model alone."""
        return replace(self.predictor, weighted=((1.0, self.best),))

    def encode(self, x: Any) -> CodedRows:
        """Encode rows, with an extra state for entries that training did not have."""
        if isinstance(self.source, AveragingClassifier):
            return self.source.encode(x)
        return encode(x, self.domain, self.ebnc.structure.markov_blanket, unseen="extra")

    def contributions(self, rows: CodedRows) -> Contributions:
        """Contributions in the best model, for rows with an extra state."""
        phi = self.ebnc.phi_in(ORTHONORMAL.name)
        return contributions(self.ebnc.basis, phi, rows, self.state_weights)

    def labelled(self, x: Any, y: Any, weights: Any) -> LabelledRows:
        """Encode data with classes and weights for cross-validation."""
        if isinstance(self.source, AveragingClassifier):
            return self._of_classifier(self.source, x, y, weights)
        return self._of_ebnc(x, y, weights)

    def _of_classifier(
        self, model: AveragingClassifier, x: Any, y: Any, weights: Any
    ) -> LabelledRows:
        from sklearn.base import clone

        if y is None:
            raise DataError("y is missing; pass the classes too: summarise(model, X, y)")
        rows = model.encode(x)
        columns = {name: read_column(name, column) for name, column in model.columns(x).items()}
        classes = _class_codes(y, self.classes, len(rows))
        checked = check_weights(weights, len(rows))
        labels = np.char.zfill(classes.astype(str), 9)  # text: a number may be taken as one

        def predict(seen: IntArray, unseen: IntArray) -> FloatArray:
            weight = None if checked is None else checked[seen]
            p = np.zeros((len(unseen), len(self.classes)))
            with warnings.catch_warnings():  # folds often lack rare states
                warnings.simplefilter("ignore", DataWarning)
                # scikit-learn asks whether many classes are a regression.
                warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
                again = clone(model).fit(_rows_of(columns, seen), labels[seen], weight)
                p[:, again.classes_.astype(int)] = again.predict_proba(_rows_of(columns, unseen))
            return p

        return LabelledRows(rows, classes, len(self.classes), checked, predict)

    def _of_ebnc(self, x: Any, y: Any, weights: Any) -> LabelledRows:
        from ebnc.learn import fit

        ebnc, target, names = self.ebnc, self.ebnc.target, self.inputs
        wanted = [*names, target] if y is None else list(names)
        (batch,) = FrameSource(x, wanted).batches(Plan(tuple(wanted)))
        columns = dict(batch.columns)
        labels = columns.pop(target) if y is None else y
        strict = encode(columns, ebnc.domain, names)  # raises for entries that are not states
        rows = encode(columns, ebnc.domain, names, unseen="extra")
        classes = _class_codes(labels, self.classes, len(strict))
        checked = check_weights(weights, len(rows))
        scales = list(ebnc.prior.scales) if isinstance(ebnc, FittedEBNC) else "evidence"
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
            p = np.zeros((len(unseen), len(self.classes)))
            p[:, present] = again.probabilities({name: codes[name][unseen] for name in names})
            return p

        return LabelledRows(rows, classes, len(self.classes), checked, predict)


def reported(model: Any, target: str | None = None) -> ReportedModel:
    """Wrap a fitted classifier or an EBNC for reports; raise ``DataError`` for anything else."""
    if isinstance(model, EBNC):
        return ReportedModel(model, Predictor.of_ebnc(model), target or model.target, model)
    if isinstance(model, AveragingClassifier):
        ebnc = model.ebnc_
        return ReportedModel(ebnc, model.predictor_, target or ebnc.target, model)
    raise DataError(
        f"a report needs a fitted EBNCClassifier or an EBNC, got {type(model).__name__}"
    )


def _rows_of(columns: Mapping[str, Column], chosen: IntArray) -> dict[str, Column]:
    return {name: column.take(chosen) for name, column in columns.items()}


def _class_codes(y: Any, classes: tuple[State, ...], length: int) -> IntArray:
    """Classes as numbers in the model's order."""
    column = read_column("y", y)
    if len(column) != length:
        raise DataError(f"X has {length} rows but y has {len(column)} classes")
    if column.missing.any():
        raise DataError("the classes have missing values; remove those rows")
    codes = encode({"y": column}, Domain({"y": classes}), ["y"]).codes[0]
    return np.asarray(codes, dtype=np.int64)
