"""What a classifier asks of a search: the models that predict, the best one, how it was found."""

from collections.abc import Callable
from dataclasses import dataclass

from ebnc.data.parts import Parts
from ebnc.estimator.progress import SearchProgress
from ebnc.fitting.optimum import Optimum
from ebnc.likelihood.prior import as_prior
from ebnc.score.predictive_scale import best_factor, rescaled
from ebnc.score.scales import maximise_evidence
from ebnc.search.averaging import occams_window
from ebnc.search.features import FeatureWorth, feature_worths
from ebnc.search.greedy import SearchTrace, Step, greedy_search
from ebnc.search.limits import Limits
from ebnc.search.scorer import Scorer
from ebnc.search.starts import least_structure, search_from_starts

__all__ = ["Searched", "search_models"]


@dataclass(frozen=True, eq=False)
class Searched:
    """``weighted``: the models that predict, with weights; ``best``: the one of the best score."""

    best: Optimum
    weighted: list[tuple[float, Optimum]]
    trace: SearchTrace
    feature_worths: tuple[FeatureWorth, ...]


def search_models(
    cases: Parts,
    limits: Limits,
    *,
    score: str,
    prior_scale: object,
    average: bool,
    n_jobs: int | None = None,
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
    scales = None if tunes else as_prior(prior_scale).scales
    scorer = Scorer(cases, score, scales, n_jobs=n_jobs)
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
    best, met = result.best, result.met
    chosen = occams_window(met) if average else [(1.0, best)]
    optimum, optima = best.optimum, [scorer.with_rows(scored).optimum for _, scored in chosen]
    if tunes and score == "bic":  # which compares likelihoods; predictions need a prior
        optimum, optima = _by_evidence(optimum), [_by_evidence(each) for each in optima]
    if prior_scale == "loo":
        factor = best_factor(optimum)
        optimum, optima = rescaled(optimum, factor), [rescaled(each, factor) for each in optima]
    weighted = [(weight, each) for (weight, _), each in zip(chosen, optima, strict=True)]
    return Searched(optimum, weighted, result.trace, feature_worths(scorer, best, result.entered))


def _by_evidence(optimum: Optimum) -> Optimum:
    found = maximise_evidence(optimum.posterior, start=optimum.solution.phi)
    return Optimum(found.posterior, found.solution, found.factor)
