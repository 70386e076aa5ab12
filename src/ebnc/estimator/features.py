"""``EBNCFeatures``: the non-redundant interaction design of a structure as a transformer."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ebnc.data.coder import encode
from ebnc.data.read import learn_states
from ebnc.domain import Domain
from ebnc.errors import SearchError
from ebnc.estimator.tables import named_columns, taking_labels
from ebnc.parameters.coding import column_labels
from ebnc.parameters.design_matrix import indicator_design
from ebnc.parameters.phi import Basis
from ebnc.structure.embedded import EmbeddedStructure


class EBNCFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Transform inputs to columns Π I(x_i = s), one per parameter of an EBNC except the intercept.

    A linear classifier on these columns is the EBNC's softmax polynomial regression. Numbers are
    cut into intervals, by MDLP if ``y`` is given. Labels not seen in ``fit`` are an error.

    Parameters
    ----------
    structure : EmbeddedStructure or None
        The structure whose clusters define the interactions; None is naive: main effects only.

    Attributes
    ----------
    basis_ : Basis
        The terms of the structure, and the states of its inputs.
    """

    def __init__(self, structure: EmbeddedStructure | None = None) -> None:
        self.structure = structure

    def __sklearn_tags__(self) -> Tags:
        return taking_labels(super().__sklearn_tags__())

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the states of the columns.

        Parameters
        ----------
        X : DataFrame, mapping or array
            The inputs.
        y : array of shape (rows,) or None
            Classes, for cutting numbers into intervals by MDLP.

        Returns
        -------
        EBNCFeatures
            This transformer, fitted.
        """
        columns = named_columns(self, X, reset=True)
        structure = self.structure or EmbeddedStructure.naive("y", list(columns))
        unknown = [x for x in structure.inputs if x not in columns]
        if unknown:
            raise SearchError(f"input {unknown[0]!r} of the structure is not a column of X")
        data, target = dict(columns), None
        if y is not None:
            target = "y"
            while target in data:
                target += "_"
            data[target] = np.asarray(y)
        domain = learn_states(data, structure.inputs, target)
        inputs = domain.only(structure.inputs)
        own = Domain({**inputs, structure.target: (0, 1)}, inputs.ordered)
        self.basis_ = Basis(structure, own)
        return self

    def transform(self, X: Any) -> Any:
        """Return the indicator columns, shape (rows, d − 1) for two classes.

        Parameters
        ----------
        X : DataFrame, mapping or array
            The inputs.
        """
        check_is_fitted(self)
        columns = named_columns(self, X, reset=False)
        rows = encode(columns, self.basis_.domain, self.basis_.structure.markov_blanket)
        return indicator_design(self.basis_, rows).toarray()[:, 1:]

    def get_feature_names_out(self, input_features: Any = None) -> Any:  # noqa: ARG002
        """Return names of the columns, such as ``outlook=rainy · windy=yes``.

        Parameters
        ----------
        input_features : None
            Ignored; present for compatibility with scikit-learn.
        """
        check_is_fitted(self)
        domain = self.basis_.domain
        names = []
        for term in self.basis_.terms[1:]:
            labels = [column_labels(domain, x) for x in term.inputs]
            for columns in term.columns:
                parts = zip(term.inputs, labels, columns, strict=True)
                names.append(" · ".join(f"{x}={own[c]}" for x, own, c in parts))
        return np.array(names, dtype=object)
