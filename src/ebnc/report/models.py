"""One face for what can be reported: a classifier, or an EBNC alone.

A ``Reported`` model names its classes and inputs, and gives what it predicts by. Classifiers are
known by what they offer (``AveragingClassifier``), not by their class: reports and estimators do
not import each other.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ebnc.data.batches import FrameSource, take_rows
from ebnc.data.cases import check_weights
from ebnc.data.coder import encode
from ebnc.data.entries import read_column
from ebnc.data.rows import CodedRows
from ebnc.domain import Domain, State
from ebnc.errors import DataError, DataWarning
from ebnc.fitted import FittedEBNC
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.contributions import Contributions, contributions, weights_named
from ebnc.parameters.ebnc import EBNC
from ebnc.parameters.tables import TableSum
from ebnc.predictor import Predictor
from ebnc.report.held_out import Labelled
from ebnc.typing import FloatArray, IntArray

__all__ = ["AveragingClassifier", "Reported", "reported"]


@runtime_checkable
class AveragingClassifier(Protocol):
    """What a report needs of a fitted ``EBNCClassifier``."""

    ebnc_: FittedEBNC
    classes_: Any

    @property
    def predictor_(self) -> Predictor: ...

    def columns(self, X: Any) -> Mapping[str, Any]: ...  # noqa: N803

    def encode(self, X: Any) -> CodedRows: ...  # noqa: N803

    def predict_proba(self, X: Any) -> FloatArray: ...  # noqa: N803


@dataclass(frozen=True, eq=False)
class Reported:
    """A model to report: the best EBNC, what predicts, and what people call the target."""

    ebnc: EBNC
    predictor: Predictor
    target: str
    source: Any

    @property
    def domain(self) -> Domain:
        """Of the inputs and the target."""
        return self.ebnc.domain

    @property
    def inputs(self) -> tuple[str, ...]:
        """All inputs the model was offered."""
        return self.ebnc.structure.inputs

    @property
    def classes(self) -> tuple[State, ...]:
        """The labels of the target."""
        return tuple(self.predictor.classes.tolist())

    @property
    def state_weights(self) -> Mapping[str, FloatArray]:
        """What contributions are weighted by: shares of states in the training data, if known."""
        return weights_named("training", self.ebnc.background)

    @cached_property
    def best(self) -> TableSum:
        """Log odds of the best model; those of the extra state are the weighted mean."""
        return self.ebnc.tables.with_extra_state(self.state_weights)

    @property
    def best_predictor(self) -> Predictor:
        """The best model alone."""
        return replace(self.predictor, weighted=((1.0, self.best),))

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
        columns = {name: read_column(name, given) for name, given in model.columns(x).items()}
        classes = _class_codes(y, self.classes, len(rows))
        checked = check_weights(weights, len(rows))

        def predict(seen: IntArray, unseen: IntArray) -> FloatArray:
            weight = {} if checked is None else {"sample_weight": checked[seen]}
            p = np.zeros((len(unseen), len(self.classes)))
            with warnings.catch_warnings():  # what a fold lacks is no news
                warnings.simplefilter("ignore", DataWarning)
                again = clone(model).fit(take_rows(columns, seen), classes[seen], **weight)
                p[:, again.classes_] = again.predict_proba(take_rows(columns, unseen))
            return p

        return Labelled(rows, classes, len(self.classes), checked, predict)

    def _of_ebnc(self, x: Any, y: Any, weights: Any) -> Labelled:
        from ebnc.learn import fit

        ebnc, target, names = self.ebnc, self.ebnc.target, self.inputs
        wanted = [*names, target] if y is None else list(names)
        columns = FrameSource(x, wanted).read(wanted)
        labels = columns.pop(target) if y is None else y
        strict = encode(columns, ebnc.domain, names)  # says what is not a state
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

        return Labelled(rows, classes, len(self.classes), checked, predict)


def reported(model: Any, target: str | None = None) -> Reported:
    """A model's face for reports; refuses what is neither a fitted classifier nor an EBNC."""
    if isinstance(model, EBNC):
        return Reported(model, Predictor.of_ebnc(model), target or model.target, model)
    if isinstance(model, AveragingClassifier):
        ebnc = model.ebnc_
        return Reported(ebnc, model.predictor_, target or ebnc.target, model)
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
