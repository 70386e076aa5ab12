"""Search for the models of a classifier: the best one, and all that its predictions average."""

from collections.abc import Callable
from dataclasses import dataclass

from ebnc.data.parts import Parts, varying_inputs
from ebnc.errors import ParameterError
from ebnc.fitting.fit import Fit
from ebnc.learn import fit_likelihood
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import as_prior
from ebnc.score.bic import with_bic
from ebnc.score.criterion import CRITERIA
from ebnc.score.predictive_scale import best_factor, rescaled
from ebnc.score.stacking import weight_of_second
from ebnc.search.averaging import occams_window
from ebnc.search.features import feature_worths
from ebnc.search.greedy import SearchResult, greedy_search
from ebnc.search.limits import Limits
from ebnc.search.scorer import Scored, Scorer
from ebnc.search.starts import least_structure, search_from_starts, with_all_inputs
from ebnc.search.trace import FeatureWorth, SearchTrace, Step

LEAST_WEIGHT = 0.01  # a model with less weight in an average is left out


@dataclass(frozen=True, eq=False)
class Searched:
    """The outcome of a search.

    ``best``: the fit with the best score, at the scales for prediction; its scores are those that
    the search compared. ``weighted``: the models for prediction, with their weights.
    """

    best: Fit
    weighted: list[tuple[float, Fit]]
    trace: SearchTrace
    feature_worths: tuple[FeatureWorth, ...]


def search_models(
    cases: Parts,
    limits: Limits,
    *,
    criterion: str,
    prior_scale: object,
    average: bool,
    report: Callable[[Step], None] | None = None,
    on_interrupt: str = "raise",
) -> Searched:
    """Search, weight the visited models, and set their scales for prediction.

    ``report`` is called with every step. After Ctrl-C, ``on_interrupt="raise"`` raises
    KeyboardInterrupt, and "best" returns the best model so far.
    """
    limits.check_names(cases.inputs)
    tunes = isinstance(prior_scale, str) and prior_scale in ("evidence", "loo")
    maximised = CRITERIA[criterion](None if tunes else as_prior(prior_scale))
    if maximised.prior is not None and not maximised.prior.is_proper:
        raise ParameterError(
            "there is no evidence under a flat prior (infinite prior_scale); search with "
            "criterion='bic', or use a finite prior_scale"
        )
    scorer = Scorer(cases, maximised)
    result = None
    try:
        result = search_from_starts(scorer, limits, report)
        if not result.trace.interrupted:
            return _searched(scorer, result, prior_scale, limits, average=average)
        if on_interrupt == "raise":
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        if on_interrupt == "raise":
            raise
        if result is None:
            # Not even the first model is fitted: fit the smallest one, which takes no time.
            result = greedy_search(scorer, least_structure(cases, limits), limits, max_steps=0)
        result.trace.interrupted = True
    return _searched(scorer, result, prior_scale, limits, average=False)


def _searched(
    scorer: Scorer, result: SearchResult, prior_scale: object, limits: Limits, *, average: bool
) -> Searched:
    """Fit the models of a search for prediction; skip importances if it was interrupted."""
    chosen = occams_window(scorer, result.met) if average else [(1.0, result.best)]

    def with_prior(scored: Scored) -> tuple[Posterior, Fit]:
        posterior = scorer.posterior(scored)
        if scored.fit.log_evidence is not None:
            return posterior, scored.fit
        # BIC compares likelihoods; predictions need a prior.
        own = scorer.cases_of(scored.structure)
        scale = "evidence" if prior_scale == "loo" else prior_scale
        return posterior, fit_likelihood(posterior, own, scale)

    posterior, best = with_prior(result.best)
    best = with_bic(best, posterior)
    factor = best_factor(posterior, best) if prior_scale == "loo" else None

    def for_prediction(posterior: Posterior, fit: Fit) -> Fit:
        return fit if factor is None else rescaled(posterior, fit, factor)

    weighted = [(weight, for_prediction(*with_prior(scored))) for weight, scored in chosen]
    final = for_prediction(posterior, best)
    if average and factor is not None:
        weighted = _with_weak_pairs(scorer, result.best, final, weighted, limits, factor)
    worths: tuple[FeatureWorth, ...] = ()
    if not result.trace.interrupted:
        worths = feature_worths(scorer, result.best, result.entered)
    return Searched(final, weighted, result.trace, worths)


def _with_weak_pairs(
    scorer: Scorer,
    best: Scored,
    final: Fit,
    weighted: list[tuple[float, Fit]],
    limits: Limits,
    factor: float,
) -> list[tuple[float, Fit]]:
    """Add a model with all inputs and weak pairs to an average, with the weight that predicts best.

    If the weak pairs are too many, the model has only the inputs. Beside the best structure it has
    the main effects of the inputs that the search left out. If the search selected no input, the
    average remains: leave-one-out alone would follow noise.
    ``final``: the fit of the best structure at the scales for prediction, ``factor`` times its own.
    """
    if not best.structure.markov_blanket:
        return weighted
    structure = with_all_inputs(best.structure, varying_inputs(scorer.cases), limits)
    with_pairs = scorer.with_weak_pairs(structure, best)
    if with_pairs is None:
        return weighted
    posterior = scorer.posterior(with_pairs)
    fit = rescaled(posterior, with_pairs.fit, best_factor(posterior, with_pairs.fit, factor))
    weight = weight_of_second(final, fit, posterior)
    if weight < LEAST_WEIGHT:
        return weighted
    return [*((w * (1.0 - weight), one) for w, one in weighted if weight < 1.0), (weight, fit)]
