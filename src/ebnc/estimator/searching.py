"""What a classifier asks of a search: the models that predict, the best one, how it was found."""

from collections.abc import Callable
from dataclasses import dataclass

from ebnc.data.parts import Parts
from ebnc.errors import ParameterError
from ebnc.estimator.progress import SearchProgress
from ebnc.fitting.optimum import Optimum
from ebnc.learn import Fitted, largest_log_likelihood, maximise_posterior
from ebnc.likelihood.prior import as_prior
from ebnc.score.predictive_scale import best_factor, rescaled
from ebnc.search.averaging import occams_window
from ebnc.search.features import FeatureWorth, feature_worths
from ebnc.search.greedy import SearchResult, SearchTrace, Step, greedy_search
from ebnc.search.limits import Limits
from ebnc.search.scorer import Scored, Scorer
from ebnc.search.starts import least_structure, search_from_starts

__all__ = ["Searched", "search_models"]


@dataclass(frozen=True, eq=False)
class Searched:
    """``weighted``: the models that predict, with weights; ``best``: the one of the best score.

    ``log_evidence`` and ``largest_log_likelihood``: of the best. The one that the search compared
    is as it compared it.
    """

    best: Optimum
    weighted: list[tuple[float, Optimum]]
    log_evidence: float | None
    largest_log_likelihood: float | None
    trace: SearchTrace
    feature_worths: tuple[FeatureWorth, ...]


def search_models(
    cases: Parts,
    limits: Limits,
    *,
    score: str,
    prior_scale: object,
    average: bool,
    verbose: int = 0,
    report: Callable[[Step], None] | None = None,
    on_interrupt: str = "raise",
) -> Searched:
    """Search, weigh the models met, and give them the scales at which they predict.

    ``report`` is told every step instead of the terminal. ``on_interrupt``: Ctrl-C ends all with
    KeyboardInterrupt ("raise"), or the search with the best model so far ("best").
    """
    limits.check_names(cases.inputs)
    tunes = isinstance(prior_scale, str) and prior_scale in ("evidence", "loo")
    prior = None if tunes else as_prior(prior_scale)
    if prior is not None and not prior.is_proper and score == "laplace":
        raise ParameterError(
            "there is no evidence under a flat prior (infinite prior_scale); search with "
            "score='bic', or use a finite prior_scale"
        )
    scorer = Scorer(cases, score, prior)
    with SearchProgress(verbose) as progress:
        told = progress.step if report is None else report
        try:
            result = search_from_starts(scorer, limits, told, progress.screening)
        except KeyboardInterrupt:
            if on_interrupt == "raise":
                raise
            # Not even the start is fitted: the least model takes no time.
            least = least_structure(cases, limits)
            result = greedy_search(scorer, least, limits, max_steps=0)
            result.trace.interrupted = True
    if result.trace.interrupted and on_interrupt == "raise":
        raise KeyboardInterrupt
    if not result.trace.interrupted:
        try:
            return _searched(scorer, result, score, prior_scale, average=average)
        except KeyboardInterrupt:
            if on_interrupt == "raise":
                raise
            result.trace.interrupted = True
    return _searched(scorer, result, score, prior_scale, average=False)


def _searched(
    scorer: Scorer, result: SearchResult, score: str, prior_scale: object, *, average: bool
) -> Searched:
    """What follows a search; of one that was interrupted, without the worths of inputs."""
    best, met = result.best, result.met
    chosen = occams_window(scorer, met) if average else [(1.0, best)]

    def fitted(scored: Scored) -> Fitted:
        if score == "laplace":
            return Fitted(*scorer.optimum(scored), scored.fit_score)
        # BIC compares likelihoods; predictions need the prior.
        basis, own = scored.design.basis, scorer.cases_of(scored.structure)
        return maximise_posterior(basis, own, "evidence" if prior_scale == "loo" else prior_scale)

    first = fitted(best)
    optima = [_optimum(fitted(scored)) for _, scored in chosen]
    optimum = _optimum(first)
    if prior_scale == "loo":
        factor = best_factor(optimum)
        optimum, optima = rescaled(optimum, factor), [rescaled(each, factor) for each in optima]
    weighted = [(weight, each) for (weight, _), each in zip(chosen, optima, strict=True)]
    worths = () if result.trace.interrupted else feature_worths(scorer, best, result.entered)
    largest = largest_log_likelihood(first)
    return Searched(optimum, weighted, first.log_evidence, largest, result.trace, worths)


def _optimum(fitted: Fitted) -> Optimum:
    posterior, solution, factor, _ = fitted
    assert factor is not None  # a search fits nothing that is too large
    return Optimum(posterior, solution, factor)
