"""Search for the models of a classifier: the best one, and all that its predictions average."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from ebnc.data.parts import Parts, varying_inputs
from ebnc.errors import ParameterError
from ebnc.fitting.fit import Fit
from ebnc.learn import fit_likelihood
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import NormalPrior, as_prior
from ebnc.score.bic import with_bic
from ebnc.score.criterion import CRITERIA
from ebnc.score.predictive_scale import best_factor, rescaled
from ebnc.score.scales import HYPER_MEAN
from ebnc.score.stacking import weight_of_second
from ebnc.search.averaging import occams_window
from ebnc.search.features import feature_worths
from ebnc.search.greedy import SearchResult, greedy_search
from ebnc.search.limits import Limits
from ebnc.search.scorer import Scored, Scorer
from ebnc.search.starts import (
    least_structure,
    naive_structure,
    search_from_starts,
    with_all_inputs,
)
from ebnc.search.trace import FeatureWorth, SearchTrace, Step
from ebnc.threads import OutOfTimeError, is_time_up, limit_time

SEARCH_SHARE = 0.5  # of a time limit; the rest is for scales, averages and importances
MOST_WORK = 1.2e10
"""Approximate nanoseconds of the fits of a search without a time limit. The count is of operations,
so the result does not depend on the speed of the machine."""
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
    time_limit: float | None = None,
) -> Searched:
    """Search, weight the visited models, and set their scales for prediction.

    ``report`` is called with every step. After Ctrl-C, ``on_interrupt="raise"`` raises
    KeyboardInterrupt, and "best" returns the best model so far. After ``time_limit`` seconds the
    result is the best so far; before that, a first model is fitted however long it takes. Without
    it the search ends after ``MOST_WORK``.
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
    began, result, is_late = time.monotonic(), None, False
    try:
        if time_limit is not None:
            result = _first_result(scorer, limits)
        with limit_time(None if time_limit is None else time_limit * SEARCH_SHARE):
            try:
                most_work = MOST_WORK if time_limit is None else math.inf
                result = search_from_starts(scorer, limits, report, most_work)
            except OutOfTimeError:
                assert result is not None
                result.trace.interrupted = True
            is_late = is_time_up()
        if not result.trace.interrupted or is_late:
            left = None if time_limit is None else time_limit - (time.monotonic() - began)
            with limit_time(left):
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
    return _searched(scorer, result, prior_scale, limits, average=False, worths=False)


def _first_result(scorer: Scorer, limits: Limits) -> SearchResult:
    """Return the naive structure at the mode of the hyperprior, which is one fit."""
    prior = scorer.criterion.prior
    if scorer.criterion.tunes_scales:
        prior = NormalPrior((math.exp(HYPER_MEAN),))
    first = scorer.at_prior(naive_structure(scorer.cases, limits), prior)
    entered = dict.fromkeys(first.structure.markov_blanket, 0)
    trace = SearchTrace([Step("start", first.score, first.fit.design.dimension, 0.0)])
    return SearchResult(first, trace, (first,), entered)


def _searched(
    scorer: Scorer,
    result: SearchResult,
    prior_scale: object,
    limits: Limits,
    *,
    average: bool,
    worths: bool = True,
) -> Searched:
    """Fit the models of a search for prediction, step by step, as long as there is time.

    ``worths``: whether to compute the importance of the inputs.
    """

    def with_prior(scored: Scored) -> tuple[Posterior, Fit]:
        posterior = scorer.posterior(scored)
        if scored.fit.log_evidence is not None:
            return posterior, scored.fit
        # BIC compares likelihoods; predictions need a prior.
        own = scorer.cases_of(scored.structure)
        scale = "evidence" if prior_scale == "loo" else prior_scale
        return posterior, fit_likelihood(posterior, own, scale)

    done = Searched(result.best.fit, [(1.0, result.best.fit)], result.trace, ())
    try:
        posterior, best = with_prior(result.best)
        done = replace(done, best=best, weighted=[(1.0, best)])
        factor = best_factor(posterior, best) if prior_scale == "loo" else None

        def for_prediction(posterior: Posterior, fit: Fit) -> Fit:
            return fit if factor is None else rescaled(posterior, fit, factor)

        final = for_prediction(posterior, best)
        done = replace(done, best=final, weighted=[(1.0, final)])
        final = replace(final, bic=with_bic(best, posterior).bic)
        done = replace(done, best=final)
        if average:
            chosen = occams_window(scorer, result.met)
            weighted = [(weight, for_prediction(*with_prior(scored))) for weight, scored in chosen]
            done = replace(done, weighted=weighted)
            if factor is not None:
                weighted = _with_weak_pairs(scorer, result.best, final, weighted, limits, factor)
            done = replace(done, weighted=weighted)
        if worths:
            of_inputs = feature_worths(scorer, result.best, result.entered)
            done = replace(done, feature_worths=of_inputs)
    except OutOfTimeError:
        done.trace.interrupted = True
    return done


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
