"""``EBNCRegressor``: the distribution of a number given inputs, by an EBNC of its bins."""

import os
from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import Tags, check_consistent_length
from sklearn.utils.validation import _check_y, check_is_fitted

from ebnc.data.discretise import intervals, target_cuts
from ebnc.data.read import learn_cases, read_numbers
from ebnc.data.table import Coding
from ebnc.errors import DataError, ParameterError
from ebnc.estimator.base_measure import base_offsets
from ebnc.estimator.classifier import EBNCClassifier
from ebnc.estimator.display import facts_as_html, facts_as_text
from ebnc.estimator.labels import counts_of_rows
from ebnc.estimator.parameters import check_parameters
from ebnc.estimator.tables import (
    columns_by_name,
    is_by_name,
    name_of_target,
    named_columns,
    taking_labels,
)
from ebnc.parameters.bin_density import check_levels
from ebnc.parameters.ebnc import EBNC
from ebnc.parameters.smooth_density import SmoothDensity
from ebnc.search.trace import Step
from ebnc.storage import provided
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.typing import FloatArray

STATISTICS = ("mean", "median")


class EBNCRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predict p(y|x) of a number with an embedded Bayesian network of its bins.

    The target is cut into bins in order, whose number does not depend on the inputs. A classifier
    with smooth effects on the bins predicts their probabilities, and these are a density with
    exponential tails (``ebnc.parameters.smooth_density``). Inputs may be of every type that
    ``EBNCClassifier`` accepts.

    Parameters
    ----------
    structure : {"search", "naive", "tan", "forest", "kdb1", "kdb2", "table"} or EmbeddedStructure
        The factorisation of p(y|x), as for ``EBNCClassifier``. The default has an effect of each
        input and no interactions; a search takes many times longer.
    criterion : {"laplace", "bic"}
        The score that the search maximises.
    prior_scale : {"loo", "evidence"} or float or list of float
        σ of the normal prior on the parameters, as for ``EBNCClassifier``.
    numbers : {"smooth", "quantile"}
        What numbers among the inputs become, as for ``EBNCClassifier``.
    kinds : dict or None
        Kinds of the inputs by column, as for ``EBNCClassifier``.
    average : bool
        Average the predictions over the models visited in the search.
    max_cluster_cells : int
        Maximum number of configurations of a cluster in the search.
    max_parents : int
        Maximum number of parents of an input in the search.
    required_features, forbidden_features : iterables of str
        Inputs that the search must use, and inputs that it must not use.
    required_arcs, forbidden_arcs : iterables of (str, str)
        Arcs (parent, child) between inputs that the search must use, and arcs that it must not use.
    n_jobs : int or None
        Number of threads; None is one per core. Results do not depend on it.
    random_state : int or None
        Ignored: fitting is deterministic. Present for compatibility with scikit-learn.
    verbose : int
        If not 0, print every step of the search.
    on_interrupt : {"raise", "best"}
        Effect of Ctrl-C during a search: raise KeyboardInterrupt, or stop with the best model.
    time_limit : float or None
        Seconds after which a search ends with the best model so far, as in ``EBNCClassifier``.

    Attributes
    ----------
    classifier_ : EBNCClassifier
        The classifier of the bins; it has the structure, the scores and the trace.
    density_ : SmoothDensity
        What makes a density of the probabilities of bins; ``density_.bins`` has their cuts, and the
        mean of the training values in each of them.
    ebnc_ : EBNC
        The best model of the classifier.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : ndarray of str
        Names of the columns of ``X``, if they have names.

    See Also
    --------
    EBNCClassifier : Predict classes.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 200)[:, None]
    >>> y = x[:, 0] ** 2
    >>> model = EBNCRegressor().fit(x, y)
    >>> bool(abs(model.predict([[0.5]])[0] - 0.25) < 0.05)
    True
    """

    def __init__(
        self,
        structure: str | EmbeddedStructure = "naive",
        *,
        criterion: str = "laplace",
        prior_scale: Any = "loo",
        numbers: str = "smooth",
        kinds: Any = None,
        average: bool = True,
        max_cluster_cells: int = 1024,
        max_parents: int = 8,
        required_features: Iterable[str] = (),
        forbidden_features: Iterable[str] = (),
        required_arcs: Iterable[tuple[str, str]] = (),
        forbidden_arcs: Iterable[tuple[str, str]] = (),
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: int = 0,
        on_interrupt: str = "raise",
        time_limit: float | None = None,
    ) -> None:
        self.structure = structure
        self.criterion = criterion
        self.prior_scale = prior_scale
        self.numbers = numbers
        self.kinds = kinds
        self.average = average
        self.max_cluster_cells = max_cluster_cells
        self.max_parents = max_parents
        self.required_features = required_features
        self.forbidden_features = forbidden_features
        self.required_arcs = required_arcs
        self.forbidden_arcs = forbidden_arcs
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.on_interrupt = on_interrupt
        self.time_limit = time_limit

    def __sklearn_tags__(self) -> Tags:
        return taking_labels(super().__sklearn_tags__())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Cut the target into bins, choose a structure and fit its parameters.

        Parameters
        ----------
        X : DataFrame, mapping, array, path or Dask DataFrame
            The inputs. A path to CSV or Parquet files or a Dask DataFrame also holds the target.
        y : array of shape (rows,) or str
            The numbers; with a path or a Dask DataFrame the name of their column.
        sample_weight : array of shape (rows,), str or None
            Weights of the rows; with a path or a Dask DataFrame the name of a column.

        Returns
        -------
        EBNCRegressor
            This regressor, fitted.
        """
        check_parameters(self.get_params(deep=False))
        if is_by_name(X):
            target, inputs = columns_by_name(X, y, sample_weight)
            return self.fit_table(X, inputs, target, sample_weight)
        columns = named_columns(self, X, reset=True)
        if y is None:
            raise ValueError(
                f"requires y to be passed, but the target y is None: {type(self).__name__} "
                "learns from numbers"
            )
        numbers = self._numbers(y)
        check_consistent_length(next(iter(columns.values())), numbers)
        if sample_weight is not None:
            sample_weight = counts_of_rows(sample_weight, numbers)
        target = name_of_target(y, columns, "y")
        return self._fit({**columns, target: numbers}, list(columns), target, sample_weight, None)

    def fit_table(
        self,
        data: Any,
        inputs: list[str],
        target: str,
        weights: Any = None,
        *,
        report: Callable[[Step], None] | None = None,
    ) -> Self:
        """Fit to a table that also holds the target.

        Parameters
        ----------
        data : DataFrame, mapping, path or Dask DataFrame
            The table.
        inputs : list of str
            The columns to predict from.
        target : str
            The column of the number to predict.
        weights : array of shape (rows,), str or None
            Weights of the rows, or the name of their column.
        report : callable or None
            Called with every step of a search; None: ``verbose`` decides what is printed.

        Returns
        -------
        EBNCRegressor
            This regressor, fitted.
        """
        check_parameters(self.get_params(deep=False))
        self.n_features_in_ = len(inputs)
        self.feature_names_in_ = np.array(inputs, dtype=object)
        self._names = tuple(inputs)
        return self._fit(data, inputs, target, weights, report)

    def _fit(
        self,
        data: Any,
        inputs: list[str],
        target: str,
        weights: Any,
        report: Callable[[Step], None] | None,
    ) -> Self:
        if self.numbers == "mdlp":
            raise ParameterError(
                "numbers='mdlp' cuts where classes change, and a number has none; use 'smooth' or "
                "'quantile'"
            )
        kinds = {target: "numeric", **(self.kinds or {})}
        if kinds[target] != "numeric":
            raise ParameterError(
                f"kinds calls the target {target!r} {kinds[target]!r}, but a regressor predicts a "
                "number; leave it out, or use EBNCClassifier"
            )
        values, of_rows = read_numbers(data, target, weights)
        cuts = target_cuts(values, of_rows)
        if not len(cuts):
            raise DataError(
                f"target {target!r} has only one value in n_samples = {len(values)} rows; "
                "at least two are needed"
            )
        cases = learn_cases(
            data,
            inputs,
            target,
            categories={target: intervals(cuts)},
            weights=weights,
            leave_out=True,
            coding=Coding.of(self.numbers, kinds),
        )
        classifier = EBNCClassifier(**self.get_params(deep=False)).fit_cases(cases, report=report)
        offsets = base_offsets(classifier.predictor_, cases)
        self._keep(classifier, SmoothDensity.of(values, cuts, of_rows, offsets))
        return self

    def _keep(self, classifier: EBNCClassifier, density: SmoothDensity) -> None:
        """Set the attributes that result from a fit or from a file."""
        self.classifier_ = classifier
        self.density_ = density

    @property
    def ebnc_(self) -> EBNC:
        """The best model of the bins."""
        check_is_fitted(self)
        return self.classifier_.ebnc_

    # -- predict ----------------------------------------------------------------------------

    def _numbers(self, y: Any) -> FloatArray:
        """Check and return the target as numbers."""
        if np.asarray(y).dtype.kind in "mM":
            raise DataError("the target holds dates or times; convert them to numbers of days")
        return np.asarray(_check_y(y, y_numeric=True, estimator=self), dtype=np.float64)

    def _bins(self, X: Any) -> FloatArray:
        """Probabilities of the bins, shape (rows, B)."""
        table = self._table(X)
        return self.classifier_.predict_proba(table)

    def _table(self, X: Any) -> Any:
        check_is_fitted(self)
        return X if is_by_name(X) else named_columns(self, X, reset=False)

    def predict(self, X: Any, *, statistic: str = "mean") -> FloatArray:
        """Return the mean of y, or its median, for every row.

        Parameters
        ----------
        X : DataFrame, mapping, array or path
            The inputs.
        statistic : {"mean", "median"}
            The mean has the least squared error, the median the least absolute error.
        """
        if statistic not in STATISTICS:
            raise ParameterError(f"statistic must be 'mean' or 'median', got {statistic!r}")
        p = self._bins(X)
        if statistic == "mean":
            return self.density_.mean(p)
        return self.density_.quantiles(p, np.array([0.5]))[:, 0]

    def predict_quantiles(self, X: Any, q: ArrayLike = (0.05, 0.5, 0.95)) -> FloatArray:
        """Return quantiles of y, shape (rows, len(q)).

        Parameters
        ----------
        X : DataFrame, mapping, array or path
            The inputs.
        q : array of floats
            Probabilities between 0 and 1: y does not exceed the quantile with probability q.
        """
        levels = check_levels(q)
        return self.density_.quantiles(self._bins(X), levels)

    def predict_interval(self, X: Any, level: float = 0.9) -> FloatArray:
        """Return central intervals of y, shape (rows, 2).

        Parameters
        ----------
        X : DataFrame, mapping, array or path
            The inputs.
        level : float
            Probability that y lies inside, between 0 and 1; both sides have equal probability.
        """
        levels = check_levels(level, "level")
        if len(levels) != 1:
            raise ParameterError(f"level must be one number between 0 and 1, got {level!r}")
        share = float(levels[0])
        return self.predict_quantiles(X, [(1 - share) / 2, (1 + share) / 2])

    def log_density(self, X: Any, y: Any) -> FloatArray:
        """Return log p(y|x) in nats for every row.

        Parameters
        ----------
        X : DataFrame, mapping, array or path
            The inputs.
        y : array of shape (rows,)
            One number for each row.
        """
        table = self._table(X)
        log_p = self.classifier_.predict_log_proba(table)
        numbers = self._numbers(y)
        if len(numbers) != len(log_p):
            raise DataError(f"y has {len(numbers)} rows, but X has {len(log_p)}")
        return self.density_.log_density(log_p, numbers)

    def predict_density(self, X: Any, y: Any) -> FloatArray:
        """Return p(y|x) for every row; the unit is one over the unit of y.

        Parameters
        ----------
        X : DataFrame, mapping, array or path
            The inputs.
        y : array of shape (rows,)
            One number for each row.
        """
        return np.exp(self.log_density(X, y))

    # -- save and show ------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save this regressor as JSON; ``ebnc.load`` restores it with identical predictions.

        Parameters
        ----------
        path : str or path
            The file to write; an existing file is overwritten. It contains no code.
        """
        check_is_fitted(self)
        provided("save")(self, path)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        facts = facts_as_text(self.classifier_) if hasattr(self, "classifier_") else ""
        return str(super().__repr__(N_CHAR_MAX)) + facts

    def _html_repr(self) -> str:
        facts = facts_as_html(self.classifier_) if hasattr(self, "classifier_") else ""
        return str(super()._html_repr()) + facts
