"""``EBNCClassifier``: an embedded Bayesian network classifier in scikit-learn's manner."""

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    assert_all_finite,
    check_is_fitted,
    column_or_1d,
)

from ebnc.data.coder import Unknown, encode
from ebnc.data.columns import Labels
from ebnc.data.parts import Parts, varying_inputs
from ebnc.data.read import learn_cases
from ebnc.data.rows import CodedRows
from ebnc.errors import DataError, SearchError
from ebnc.estimator.display import facts_as_html, facts_as_text
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
from ebnc.fitting.fit import Fit
from ebnc.fitting.optimum import likelihood_of
from ebnc.learn import fit_likelihood, with_background
from ebnc.likelihood.posterior import Posterior
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.contributions import Contributions, Weights, contributions, weights_named
from ebnc.parameters.phi import Basis
from ebnc.predictor import Predictor, WeightedModel
from ebnc.score.bic import with_bic
from ebnc.score.fit_memory import refuse_large_fit
from ebnc.search.averaging import posterior_draws
from ebnc.search.families import FAMILIES
from ebnc.search.limits import Limits
from ebnc.search.trace import FeatureWorth, SearchTrace, Step
from ebnc.storage import provided
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.threads import limit_threads
from ebnc.typing import FloatArray

__all__ = ["EBNCClassifier"]


class EBNCClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """p(y|x) from an embedded Bayesian network whose structure evidence has chosen.

    Takes DataFrames with strings, categories, booleans, numbers and missing values as they are.
    Whole numbers of at most ten different values are states; other numbers are cut into intervals
    by MDLP; missing entries are a state of their own. Entries never seen in ``fit`` are not known:
    predictions are averaged over what they may be, weighted as in the training data.

    Parameters
    ----------
    structure : {"search", "naive", "tan", "forest", "kdb1", "kdb2", "table"} or EmbeddedStructure
        How p(y|x) is factored. "search" adds interactions to the naive structure, and leaves
        inputs out, as long as that raises the score.
    criterion : {"laplace", "bic"}
        What the search maximises: Laplace's evidence or BIC.
    prior_scale : {"loo", "evidence"} or float or list of float
        σ of the normal prior on the parameters, one for all or one for each order of interaction.
        "evidence" maximises Laplace evidence over them. "loo" searches like that, and before it
        predicts it multiplies them by the factor of least leave-one-out log-loss.
    average : bool
        Average the predictions over the models met in the search, weighted by their evidence
        (Occam's window); ``ebnc_`` is the best of them. False: that one alone predicts.
    predictive : {"map", "posterior"}
        Predict at the most probable parameters, or average over their posterior.
    class_weight : dict, "balanced" or None
        Weights of the classes, multiplied with ``sample_weight``.
    max_cluster_cells : int
        The search makes no cluster of more configurations than this.
    max_parents : int
        The search gives no input more parents than this.
    required_features : iterable of str
        Inputs that the search must use.
    forbidden_features : iterable of str
        Inputs that the search must not use.
    required_arcs : iterable of (str, str)
        Arcs (parent, child) between inputs that the search must use.
    forbidden_arcs : iterable of (str, str)
        Arcs (parent, child) between inputs that the search must not use.
    n_jobs : int or None
        Number of threads that learn; None is one for each core. Results do not depend on it.
    random_state : int or None
        For tools that set it; nothing here is random.
    verbose : int
        Print every step of the search: its score, dimension, seconds and move; 0 is silent.
    on_interrupt : {"raise", "best"}
        What Ctrl-C does during a search: end it with KeyboardInterrupt, or keep the best model so
        far (``trace_.interrupted`` is then True).

    Attributes
    ----------
    classes_ : ndarray
        The labels, in the order of the columns of ``predict_proba``.
    ebnc_ : EBNC
        The best model, with its parameters, standard errors and scales.
    models_ : list of WeightedModel
        The models that predictions are averaged over, with their weights.
    structure_ : EmbeddedStructure
        The structure of ``ebnc_``.
    dimension_ : int
        Its number of parameters.
    log_evidence_ : float or None
        log p(D | structure) as the search compared it: Laplace evidence at the scales that maximise
        it, their hyperprior included. The search adds the structure prior. None for maximum
        likelihood.
    bic_ : float or None
        BIC of ``ebnc_``, eq. 9: with the likelihood at its maximum, or at its supremum where the
        classes are separated and no maximum likelihood estimate exists.
    selected_features_ : list of str
        The inputs that ``ebnc_`` depends on.
    constant_features_ : list of str
        Inputs with one state: constants, and numbers that the labels gave no reason to cut. They
        are in no structure. ``ebnc_`` and ``ebnc predict`` do not need them; scikit-learn's check
        of names in ``predict`` does.
    feature_worths_ : tuple of FeatureWorth
        By how much the score falls without each selected input, and when it came in.
    feature_importances_ : ndarray of shape (n_features_in_,)
        ``feature_worths_`` in the order of the columns: by how many nats the score falls without
        an input; 0 where it would not fall, and for inputs that are not selected. It exists after
        ``structure="search"`` only.
    trace_ : SearchTrace or None
        Every accepted step of the search.
    predictor_ : Predictor
        The average of ``models_``; it predicts coded rows.
    n_features_in_ : int
        The number of columns of ``X`` in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where ``X`` had names.

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
        predictive: str = "map",
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
    ) -> None:
        self.structure = structure
        self.criterion = criterion
        self.prior_scale = prior_scale
        self.average = average
        self.predictive = predictive
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

    def __sklearn_tags__(self) -> Tags:
        return taking_labels(super().__sklearn_tags__())

    # -- fit --------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose a structure and fit its parameters.

        ``X`` may be a path to CSV or Parquet files, or a Dask DataFrame; ``y``, and
        ``sample_weight`` if given, are then names of columns, and all other columns are inputs.
        """
        check_parameters(self.get_params(deep=False))
        if is_by_name(X):
            return self.fit_cases(cases_by_name(self, X, y, sample_weight))
        return self._fit(self._cases(named_columns(self, X, reset=True), y, sample_weight), None)

    def fit_cases(self, cases: Parts, *, report: Callable[[Step], None] | None = None) -> Self:
        """``fit`` for data that are coded already: inputs are the rows' names, in their order.

        ``report`` is told every step of a search, instead of the terminal (``verbose``).
        ``class_weight`` is not used.
        """
        check_parameters(self.get_params(deep=False))
        names, labels = cases.inputs, cases.domain[cases.target]
        self.classes_ = np.array(labels)
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
        likelihood = likelihood_of(Basis(self._given_structure(cases), cases.domain), cases)
        fit = with_bic(fit_likelihood(likelihood, cases, self.prior_scale), likelihood)
        self._keep(with_background(fit, cases), [self._weighted(1.0, likelihood, fit)])

    def _keep(
        self,
        ebnc: FittedEBNC,
        models: list[WeightedModel],
        trace: SearchTrace | None = None,
        feature_worths: tuple[FeatureWorth, ...] = (),
    ) -> None:
        """Set what a fit, or a file, has to say."""
        self.ebnc_ = ebnc
        self.models_ = models
        self.trace_ = trace
        self.feature_worths_ = feature_worths
        self.structure_ = ebnc.structure
        self.dimension_ = ebnc.dimension
        self.bic_ = ebnc.bic
        self.log_evidence_ = ebnc.fit.log_evidence
        self.selected_features_ = list(ebnc.structure.markov_blanket)

    def _cases(self, columns: dict[str, Any], y: Any, sample_weight: Any) -> Parts:
        named = getattr(y, "name", None)
        target = named if isinstance(named, str) and named else "class"
        while target in columns:
            target += "_"
        if y is None:
            raise ValueError(
                f"requires y to be passed, but the target y is None: {type(self).__name__} "
                "learns from labelled data"
            )
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        first = next(iter(columns.values()))
        if len(labels) != len(first):
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: "
                f"{[len(first), len(labels)]}"
            )
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, labels, ensure_non_negative=True)
        if self.class_weight is not None:
            by_class = compute_sample_weight(self.class_weight, labels)
            weights = by_class if weights is None else weights * by_class
        present = labels if weights is None else labels[weights > 0]  # weight 0: not there
        if weights is not None and not weights.any():
            raise ValueError("all weights are zero; at least one must be positive")
        self.classes_ = np.unique(present)
        if len(self.classes_) < 2:
            raise ValueError(
                f"the target has one class only, {self.classes_[0]!r}; there is nothing to learn"
            )
        places = np.searchsorted(self.classes_, labels).clip(max=len(self.classes_) - 1)
        classes = Labels(places, tuple(self.classes_.tolist()), declared=True)
        data = {**columns, target: classes}
        return learn_cases(data, list(columns), target, weights=weights, leave_out=True)

    def _given_structure(self, cases: Parts) -> EmbeddedStructure:
        given = self.structure
        if isinstance(given, EmbeddedStructure):
            unknown = [x for x in given.inputs if x not in cases.inputs]
            if unknown:
                raise SearchError(
                    f"input {unknown[0]!r} of the structure is not a column of X; "
                    f"columns are {list(cases.inputs)[:8]}"
                )
            families = {
                (cases.target if x == given.target else x): tuple(
                    cases.target if p == given.target else p for p in parents
                )
                for x, parents in given.families
            }
            return EmbeddedStructure(cases.target, tuple(families.items()))
        return FAMILIES[given](cases)

    def _search(self, cases: Parts, report: Callable[[Step], None] | None) -> None:
        limits = Limits(
            self.max_cluster_cells,
            self.max_parents,
            frozenset(self.required_features),
            frozenset(self.forbidden_features),
            frozenset((tail, head) for tail, head in self.required_arcs),
            frozenset((tail, head) for tail, head in self.forbidden_arcs),
        )
        found = search_models(
            cases,
            limits,
            criterion=self.criterion,
            prior_scale=self.prior_scale,
            average=self.average,
            report=report or (print if self.verbose else None),
            on_interrupt=self.on_interrupt,
        )
        models = [self._weighted(*each) for each in found.weighted]
        bases = [found.best.design.basis, *(model.basis for model in models)]
        used = {x for basis in bases for x in basis.structure.markov_blanket}
        ebnc = with_background(found.best, cases, [x for x in cases.inputs if x in used])
        self._keep(ebnc, models, found.trace, found.feature_worths)

    def _weighted(self, weight: float, posterior: Posterior, fit: Fit) -> WeightedModel:
        draws = [fit.phi] if self.predictive == "map" else posterior_draws(posterior, fit)
        return WeightedModel(weight, fit.design.basis, tuple(draws))

    @property
    def feature_importances_(self) -> FloatArray:
        """What every input is worth, in nats; 0 for those that are not selected."""
        check_is_fitted(self)
        if self.trace_ is None:
            raise AttributeError(
                "feature_importances_ exists after a search (structure='search') only"
            )
        worths = {worth.feature: max(0.0, worth.worth) for worth in self.feature_worths_}
        return np.array([worths.get(name, 0.0) for name in self._names])

    # -- predict ----------------------------------------------------------------------------

    def encode(self, X: Any) -> CodedRows:
        """Rows of X as numbers of states; one beyond the states for entries never seen before."""
        unknown = Unknown()
        rows = encode(
            self.columns(X),
            self.ebnc_.domain,
            self._inputs(),
            unseen="extra",
            unknown=unknown,
        )
        warn_of_unknown(unknown)
        return rows

    def columns(self, X: Any) -> dict[str, Any]:
        """The columns of X by the names that they had in ``fit``."""
        check_is_fitted(self)
        return named_columns(self, X, reset=False)

    def _inputs(self) -> list[str]:
        return [x for x in self.ebnc_.domain if x != self.structure_.target]

    def _rows(self, X: Any) -> Iterator[CodedRows]:
        """Coded rows: all at once, or some at a time where ``X`` is a path."""
        check_is_fitted(self)
        if is_by_name(X):
            yield from rows_by_name(X, self.ebnc_.domain, self._inputs())
        else:
            yield self.encode(X)

    @property
    def predictor_(self) -> Predictor:
        """What predicts coded rows: the average of ``models_``."""
        check_is_fitted(self)
        return Predictor.of_models(self.models_, self.ebnc_, self.classes_)

    def predict_proba(self, X: Any) -> FloatArray:
        """p(y|x), shape (rows, classes); columns in the order of ``classes_``."""
        predictor = self.predictor_
        return np.concatenate([predictor.probabilities(rows) for rows in self._rows(X)])

    def predict_log_proba(self, X: Any) -> FloatArray:
        """log p(y|x); exact also where p(y|x) is too small for a float, if one model predicts."""
        predictor = self.predictor_
        return np.concatenate([predictor.log_probabilities(rows) for rows in self._rows(X)])

    def contributions(self, X: Any, *, weights: Weights = "training") -> Contributions:
        """What every term of ``ebnc_``, the best model, adds to the log odds of each class.

        Parameters
        ----------
        X : table
            Rows to take apart. Entries that are not known add nothing.
        weights : {"training", "uniform"}
            Terms average to zero over the states of each of their inputs, weighted by how often
            they occurred in ``fit``, or all counting the same.
        """
        by_state = weights_named(weights, self.ebnc_.background)
        phi = self.ebnc_.phi_in(ORTHONORMAL.name)
        return contributions(self.ebnc_.basis, phi, self.encode(X), by_state)

    def decision_function(self, X: Any) -> FloatArray:
        """Log odds of the second class, shape (rows,); for more classes log p(y|x)."""
        log_p = self.predict_log_proba(X)
        return log_p[:, 1] - log_p[:, 0] if len(self.classes_) == 2 else log_p

    def predict(self, X: Any) -> Any:
        """The most probable class of every row."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    # -- keep -------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write this classifier to a file, which ``ebnc.load`` reads: its predictions are the same.

        The file is JSON and holds no code; see ``ebnc.formats.native``.
        """
        check_is_fitted(self)
        provided("save")(self, path)

    # -- show -------------------------------------------------------------------------------

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return str(super().__repr__(N_CHAR_MAX)) + facts_as_text(self)

    def _html_repr(self) -> str:
        return str(super()._html_repr()) + facts_as_html(self)
