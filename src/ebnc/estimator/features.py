"""``EBNCFeatures``: the non-redundant interaction design of a structure as a transformer."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ebnc.data.coder import encode
from ebnc.data.read import learn_states
from ebnc.data.table import Coding
from ebnc.domain import Domain
from ebnc.errors import ParameterError, SearchError
from ebnc.estimator.tables import name_of_target, named_columns, taking_labels
from ebnc.parameters.coding import column_labels
from ebnc.parameters.design_matrix import indicator_design
from ebnc.parameters.phi import Basis
from ebnc.structure.embedded import EmbeddedStructure


class EBNCFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Transform inputs to columns, one per parameter of an EBNC except the intercept.

    Columns of labels are products of indicators, Π I(x_i = s). Numbers and ordered categories have
    a column for each wave of their curve, and products of these. A linear classifier on the columns
    is the EBNC's softmax polynomial regression. Labels not seen in ``fit`` are an error.

    Parameters
    ----------
    structure : EmbeddedStructure or None
        The structure whose clusters define the interactions; None is naive: main effects only.
    numbers : {"smooth", "mdlp", "quantile"}
        What numbers become: fine bins with waves, intervals that are cut by the classes (MDLP; at
        quantiles if ``fit`` gets no ``y``), or five intervals of equal weight.
    kinds : dict or None
        "nominal", "ordered" or "numeric" by column name, as for ``EBNCClassifier``.

    Attributes
    ----------
    basis_ : Basis
        The terms of the structure, and the states of its inputs.
    """

    def __init__(
        self,
        structure: EmbeddedStructure | None = None,
        *,
        numbers: str = "smooth",
        kinds: Any = None,
    ) -> None:
        self.structure = structure
        self.numbers = numbers
        self.kinds = kinds

    def __sklearn_tags__(self) -> Tags:
        return taking_labels(super().__sklearn_tags__())

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the states of the columns.

        Parameters
        ----------
        X : DataFrame, mapping or array
            The inputs.
        y : array of shape (rows,) or None
            Classes, which only ``numbers="mdlp"`` needs.

        Returns
        -------
        EBNCFeatures
            This transformer, fitted.
        """
        coding = Coding.of(self.numbers, self.kinds)
        columns = named_columns(self, X, reset=True)
        structure = self.structure or EmbeddedStructure.naive("y", list(columns))
        if not isinstance(structure, EmbeddedStructure):
            raise ParameterError(
                f"structure must be an EmbeddedStructure or None (naive), got {structure!r}"
            )
        unknown = [x for x in structure.inputs if x not in columns]
        if unknown:
            raise SearchError(f"input {unknown[0]!r} of the structure is not a column of X")
        data, target = dict(columns), None
        if y is not None:
            target = name_of_target(None, data, "y")
            data[target] = np.asarray(y)
        domain = learn_states(data, structure.inputs, target, coding)
        inputs = domain.only(structure.inputs)
        own = Domain({**inputs, structure.target: (0, 1)}, inputs.ordered)
        self.basis_ = Basis(structure, own)
        return self

    def transform(self, X: Any) -> Any:
        """Return the columns of the design, shape (rows, d − 1) for two classes.

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
