"""``EBNCClassifier``: an embedded Bayesian network classifier with scikit-learn's interface."""

import os
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import (
    check_is_fitted,
)

from ebnc.data.coder import Unknown, encode
from ebnc.data.parts import Parts, varying_inputs
from ebnc.data.rows import CodedRows
from ebnc.errors import DataError
from ebnc.estimator.display import facts_as_html, facts_as_text
from ebnc.estimator.labels import array_of_labels, labelled_cases
from ebnc.estimator.parameters import check_parameters
from ebnc.estimator.searching import search_models
from ebnc.estimator.tables import (
    cases_by_name,
    is_by_name,
    named_columns,
    rows_by_name,
    taking_labels,
    warn_of_unknown,
)
from ebnc.fitted import FittedEBNC
from ebnc.fitting.optimum import likelihood_of
from ebnc.learn import fit_likelihood, with_background
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.contributions import Contributions, Weights, contributions, weights_named
from ebnc.parameters.phi import Basis
from ebnc.predictor import Predictor, WeightedModel
from ebnc.score.bic import with_bic
from ebnc.score.fit_memory import refuse_large_fit
from ebnc.search.families import given_structure
from ebnc.search.limits import Limits
from ebnc.search.trace import FeatureWorth, SearchTrace, Step
from ebnc.storage import provided
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.threads import limit_threads
from ebnc.typing import FloatArray


class EBNCClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predict p(y|x) with an embedded Bayesian network; evidence selects its structure.

    Accepts DataFrames with strings, categories, booleans, numbers and missing values. Effects of
    numbers and of ordered categories are smooth curves; ``numbers`` and ``kinds`` change that. A
    missing entry is a separate state. For values not seen in ``fit``, predictions are averaged over
    the training data.

    Parameters
    ----------
    structure : {"search", "naive", "tan", "forest", "kdb1", "kdb2", "table"} or EmbeddedStructure
        The factorisation of p(y|x). "search" starts from the naive structure, and adds interactions
        and drops inputs while the score improves.
    criterion : {"laplace", "bic"}
        The score that the search maximises: Laplace evidence or BIC.
    prior_scale : {"loo", "evidence"} or float or list of float
        σ of the normal prior on the parameters, one for all or one for each order of interaction.
        "evidence" chooses the scales that maximise Laplace evidence. "loo" does the same in the
        search, and then multiplies the scales by the factor that minimises leave-one-out log-loss.
    average : bool
        Average the predictions over the models visited in the search, weighted by their evidence
        (Occam's window), and over a model of all inputs and weak pairs, whose weight minimises
        leave-one-out log-loss (with ``prior_scale="loo"``). False: predict with the best model,
        ``ebnc_``, alone.
    numbers : {"smooth", "mdlp", "quantile"}
        What numbers become: fine bins over which effects are smooth curves, intervals that are cut
        by the classes (MDLP), or five intervals of equal weight.
    kinds : dict or None
        "nominal", "ordered" or "numeric" by column name, for columns whose entries do not show what
        they are: codes written as numbers, grades written as text. Columns of an array are named
        x0, x1, …. The target has the name of ``y``, or "class" if ``y`` has none.
    class_weight : dict, "balanced" or None
        Weights of the classes, multiplied with ``sample_weight``.
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
        If not 0, print every step of the search: its score, dimension, seconds and move.
    on_interrupt : {"raise", "best"}
        Effect of Ctrl-C during a search: raise KeyboardInterrupt, or stop with the best model so
        far and set ``trace_.interrupted``.
    time_limit : float or None
        Seconds after which a search ends with the best model so far (``trace_.interrupted``). One
        first model is always fitted, however long that takes. With a limit, results depend on the
        speed of the machine. None ends searches after about half a minute of work, counted in
        operations, so that results do not; a longer limit lets large searches go on.

    Attributes
    ----------
    classes_ : ndarray
        The labels, in the order of the columns of ``predict_proba``: that of an ordered
        categorical type, whose classes then have smooth effects, else ascending.
    ebnc_ : EBNC
        The best model, with its parameters, standard errors and scales.
    models_ : list of WeightedModel
        The models whose predictions are averaged, with their weights.
    structure_ : EmbeddedStructure
        The structure of ``ebnc_``.
    dimension_ : int
        Number of parameters of ``ebnc_``.
    log_evidence_ : float or None
        log p(D | structure) as the search compares it: Laplace evidence at the scales that maximise
        it, including their hyperprior. The search adds the structure prior. None for maximum
        likelihood.
    bic_ : float or None
        BIC of ``ebnc_``, eq. 9: with the likelihood at its maximum, or at its supremum if the
        classes are separated and no maximum likelihood estimate exists. None above 3 000
        parameters.
    selected_features_ : list of str
        The inputs that ``ebnc_`` depends on.
    constant_features_ : list of str
        Inputs with one state: constants, and numbers that are not cut. No structure contains them.
        ``predict`` still expects these columns, as scikit-learn requires; ``ebnc_`` and
        ``ebnc predict`` do not.
    feature_worths_ : tuple of FeatureWorth
        Importance of each selected input, the drop of the score without it; and the step of the
        search that added it.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Importances in the order of the columns, in nats; 0 for inputs that are not selected, and
        for negative importances. Available only after a search.
    trace_ : SearchTrace or None
        Every accepted step of the search.
    predictor_ : Predictor
        The average of ``models_``; it predicts coded rows.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : ndarray of str
        Names of the columns of ``X``, if they have names.

    See Also
    --------
    ebnc.fit : Fit a structure that is known, with standard errors and intervals.
    EBNCFeatures : The design matrix of a structure, as a transformer.
    ebnc.Network : The joint distribution of all variables.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([["dry", "calm"], ["dry", "windy"], ["wet", "calm"], ["wet", "windy"]] * 10)
    >>> y = np.array(["yes", "no", "no", "no"] * 10)
    >>> EBNCClassifier().fit(x, y).predict([["dry", "calm"]])
    array(['yes'], dtype='<U3')
    """

    def __init__(
        self,
        structure: str | EmbeddedStructure = "search",
        *,
        criterion: str = "laplace",
        prior_scale: Any = "loo",
        average: bool = True,
        numbers: str = "smooth",
        kinds: Any = None,
        class_weight: Any = None,
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
        self.average = average
        self.numbers = numbers
        self.kinds = kinds
        self.class_weight = class_weight
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

    # -- fit --------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose a structure and fit its parameters.

        Parameters
        ----------
        X : DataFrame, mapping, array, path or Dask DataFrame
            The inputs. A path to CSV or Parquet files or a Dask DataFrame also holds the target.
        y : array of shape (rows,) or str
            The classes; with a path or a Dask DataFrame the name of the column of classes.
        sample_weight : array of shape (rows,), str or None
            Weights of the rows; with a path or a Dask DataFrame the name of a column.

        Returns
        -------
        EBNCClassifier
            This classifier, fitted.
        """
        check_parameters(self.get_params(deep=False))
        if is_by_name(X):
            return self.fit_cases(cases_by_name(self, X, y, sample_weight))
        columns = named_columns(self, X, reset=True)
        self.classes_, cases = labelled_cases(self, columns, y, sample_weight)
        return self._fit(cases, None)

    def fit_cases(self, cases: Parts, *, report: Callable[[Step], None] | None = None) -> Self:
        """Fit to data that are already coded; ``class_weight``, ``numbers``, ``kinds`` do nothing.

        Parameters
        ----------
        cases : Parts
            Coded inputs, classes and weights.
        report : callable or None
            Called with every step of a search; None: ``verbose`` decides what is printed.

        Returns
        -------
        EBNCClassifier
            This classifier, fitted.
        """
        check_parameters(self.get_params(deep=False))
        names, labels = cases.inputs, cases.domain[cases.target]
        self.classes_ = array_of_labels(labels)
        if len(labels) < 2 or self.classes_.tolist() != list(labels):
            raise DataError(f"classes must be two or more labels of one type, got {labels[:8]}")
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)
        self._names = names
        return self._fit(cases, report)

    def _fit(self, cases: Parts, report: Callable[[Step], None] | None) -> Self:
        refuse_large_fit(cases.domain, cases.inputs, cases.target, cases.n_rows)
        with limit_threads(self.n_jobs):
            if isinstance(self.structure, str) and self.structure == "search":
                self._search(cases, report)
            else:
                self._fit_structure(cases)
        solution = self.ebnc_.solution
        if not solution.converged:
            warnings.warn(solution.status.value, ConvergenceWarning, stacklevel=2)
        varying = set(varying_inputs(cases))
        self.constant_features_ = [x for x in cases.inputs if x not in varying]
        return self

    def _fit_structure(self, cases: Parts) -> None:
        structure = given_structure(self.structure, cases)
        likelihood = likelihood_of(Basis(structure, cases.domain), cases)
        fit = with_bic(fit_likelihood(likelihood, cases, self.prior_scale), likelihood)
        self._keep(with_background(fit, cases), [WeightedModel.of(1.0, fit)])

    def _keep(
        self,
        ebnc: FittedEBNC,
        models: list[WeightedModel],
        trace: SearchTrace | None = None,
        feature_worths: tuple[FeatureWorth, ...] = (),
    ) -> None:
        """Set the attributes that result from a fit or from a file."""
        self.ebnc_ = ebnc
        self.models_ = models
        self._predictor = Predictor.of_models(models, ebnc, self.classes_)
        self.trace_ = trace
        self.feature_worths_ = feature_worths
        self.structure_ = ebnc.structure
        self.dimension_ = ebnc.dimension
        self.bic_ = ebnc.bic
        self.log_evidence_ = ebnc.fit.log_evidence
        self.selected_features_ = list(ebnc.structure.markov_blanket)

    def _search(self, cases: Parts, report: Callable[[Step], None] | None) -> None:
        limits = Limits(
            self.max_cluster_cells,
            self.max_parents,
            frozenset(self.required_features),
            frozenset(self.forbidden_features),
            frozenset((tail, head) for tail, head in self.required_arcs),
            frozenset((tail, head) for tail, head in self.forbidden_arcs),
        )
        searched = search_models(
            cases,
            limits,
            criterion=self.criterion,
            prior_scale=self.prior_scale,
            average=self.average,
            report=report or (print if self.verbose else None),
            on_interrupt=self.on_interrupt,
            time_limit=self.time_limit,
        )
        models = [WeightedModel.of(*each) for each in searched.weighted]
        bases = [searched.best.design.basis, *(model.basis for model in models)]
        used = {x for basis in bases for x in basis.structure.markov_blanket}
        ebnc = with_background(searched.best, cases, [x for x in cases.inputs if x in used])
        self._keep(ebnc, models, searched.trace, searched.feature_worths)

    @property
    def feature_importances_(self) -> FloatArray:
        """Importance of every input, in nats; 0 for inputs that are not selected."""
        check_is_fitted(self)
        if self.trace_ is None:
            raise AttributeError(
                "feature_importances_ is available only after a search (structure='search')"
            )
        worths = {worth.feature: max(0.0, worth.worth) for worth in self.feature_worths_}
        return np.array([worths.get(name, 0.0) for name in self._names])

    # -- predict ----------------------------------------------------------------------------

    def encode(self, X: Any) -> CodedRows:
        """Convert X to codes of states; r, one beyond the states, for values not seen in ``fit``.

        Parameters
        ----------
        X : DataFrame, mapping or array
            The inputs.

        Returns
        -------
        CodedRows
            Codes of all inputs of ``ebnc_``.
        """
        columns, names = self.columns(X), self._inputs()
        row = self.predictor_.row_coder(names).encode(columns)
        return self._encoded(columns, names) if row is None else row

    def _encoded(self, columns: Mapping[str, Any], names: Sequence[str]) -> CodedRows:
        unknown = Unknown()
        rows = encode(columns, self.ebnc_.domain, names, unseen="extra", unknown=unknown)
        warn_of_unknown(unknown)
        return rows

    def columns(self, X: Any) -> dict[str, Any]:
        """Return the columns of X by their names in ``fit``.

        Parameters
        ----------
        X : DataFrame, mapping or array
            The inputs.
        """
        check_is_fitted(self)
        return named_columns(self, X, reset=False)

    def _inputs(self) -> list[str]:
        return [x for x in self.ebnc_.domain if x != self.structure_.target]

    def _rows(self, X: Any) -> Iterator[CodedRows]:
        """Coded rows: all at once, or in batches if ``X`` is a path."""
        check_is_fitted(self)
        if is_by_name(X):
            yield from rows_by_name(X, self.ebnc_.domain, self._inputs())
        else:
            yield self.encode(X)

    @property
    def predictor_(self) -> Predictor:
        """The predictor for coded rows: the average of ``models_``."""
        check_is_fitted(self)
        return self._predictor

    def predict_proba(self, X: Any) -> FloatArray:
        """Return p(y|x), shape (rows, classes); columns are in the order of ``classes_``.

        Parameters
        ----------
        X : DataFrame, mapping, array or path
            The inputs.
        """
        predictor = self.predictor_
        return np.concatenate([predictor.probabilities(rows) for rows in self._rows(X)])

    def predict_proba_one(self, row: Mapping[str, Any]) -> dict[Hashable, float]:
        """Return p(y|x) of one row, by class: the numbers of ``predict_proba``, much sooner.

        Parameters
        ----------
        row : mapping
            Entries by name: one for every input that predictions depend on
            (``predictor_.used``); others are ignored. Columns of an array are named x0, x1, ….

        Examples
        --------
        >>> x = {"sky": ["dry", "dry", "wet", "wet"] * 10, "wind": ["calm", "strong"] * 20}
        >>> model = EBNCClassifier().fit(x, ["yes", "no", "no", "no"] * 10)
        >>> p = model.predict_proba_one({"sky": "dry", "wind": "calm"})
        >>> max(p, key=p.get)
        'yes'
        """
        predictor = self.predictor_
        rows = predictor.row_coder(predictor.used).encode_entries(row)
        if rows is None:
            columns = {name: np.empty(1, dtype=object) for name in predictor.used if name in row}
            for name, column in columns.items():
                column[0] = row[name]
            rows = self._encoded(columns, predictor.used)
        p = predictor.probabilities(rows)[0]
        return dict(zip(self.classes_.tolist(), p.tolist(), strict=True))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return log p(y|x), shape (rows, classes); for a single model exact under underflow.

        Parameters
        ----------
        X : DataFrame, mapping, array or path
            The inputs.
        """
        predictor = self.predictor_
        return np.concatenate([predictor.log_probabilities(rows) for rows in self._rows(X)])

    def contributions(self, X: Any, *, weights: Weights = "training") -> Contributions:
        """Decompose the log odds of each class into the terms of ``ebnc_``, the best model.

        Parameters
        ----------
        X : DataFrame, mapping or array
            Rows to decompose. Unknown entries contribute nothing.
        weights : {"training", "uniform"}
            Each term averages to zero over the states of each of its inputs. The average weights
            states by their frequency in ``fit``, or equally.

        Returns
        -------
        Contributions
            The contribution of every term in every row.
        """
        by_state = weights_named(weights, self.ebnc_.background)
        phi = self.ebnc_.phi_in(ORTHONORMAL.name)
        return contributions(self.ebnc_.basis, phi, self.encode(X), by_state)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the log odds of the second class, shape (rows,); log p(y|x) for more classes.

        Parameters
        ----------
        X : DataFrame, mapping, array or path
            The inputs.
        """
        log_p = self.predict_log_proba(X)
        return log_p[:, 1] - log_p[:, 0] if len(self.classes_) == 2 else log_p

    def predict(self, X: Any) -> Any:
        """Return the most probable class of every row.

        Parameters
        ----------
        X : DataFrame, mapping, array or path
            The inputs.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    # -- save -------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save this classifier as JSON; ``ebnc.load`` restores it with identical predictions.

        Parameters
        ----------
        path : str or path
            The file to write; an existing file is overwritten. It contains no code.
        """
        check_is_fitted(self)
        provided("save")(self, path)

    # -- show -------------------------------------------------------------------------------

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return str(super().__repr__(N_CHAR_MAX)) + facts_as_text(self)

    def _html_repr(self) -> str:
        return str(super()._html_repr()) + facts_as_html(self)
