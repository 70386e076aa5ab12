"""The starts of a search: the naive structure, or the smallest allowed one.

With few inputs, the search starts at the naive structure and drops inputs. If the smallest
structure scores higher than the result, a second search starts there. With more than
``EVERY_PAIR``, the search starts at the smallest structure and adds inputs; at the end its result
is compared with the naive structure, which may be better if many inputs are weak. If the naive
structure is larger than ``LARGEST_RIVAL``, a step of a search takes minutes, and the
naive structure is the result.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

from ebnc.data.parts import Parts, varying_inputs
from ebnc.likelihood.class_form import factor_size
from ebnc.parameters.dimension import dimension
from ebnc.search.greedy import SearchResult, greedy_search
from ebnc.search.limits import Limits
from ebnc.search.moves import EVERY_PAIR
from ebnc.search.scorer import Scorer
from ebnc.search.trace import Step
from ebnc.structure.embedded import EmbeddedStructure

LARGEST_RIVAL = 3000  # ``factor_size`` of the naive structure


def search_from_starts(
    scorer: Scorer,
    limits: Limits,
    report: Callable[[Step], None] | None = None,
    most_work: float = math.inf,
) -> SearchResult:
    """Return the better search from these starts, with the traces and models of all searches.

    ``most_work``: a limit on their work together (``greedy_search``).
    """
    cases = scorer.cases

    def search(start: EmbeddedStructure, max_steps: int = 1000) -> SearchResult:
        return greedy_search(
            scorer, start, limits, max_steps=max_steps, most_work=most_work, report=report
        )

    naive, least = naive_structure(cases, limits), least_structure(cases, limits)
    size = dimension(naive, cases.domain)
    is_large = factor_size(cases.domain.levels(cases.target), size) > LARGEST_RIVAL
    if is_large and len(naive.markov_blanket) <= EVERY_PAIR:
        return search(naive, max_steps=0)
    if len(naive.markov_blanket) <= EVERY_PAIR:
        from_naive = search(naive)
        if from_naive.trace.interrupted:
            return from_naive
        if scorer.tuned(least).score <= from_naive.best.score:
            return replace(from_naive, met=(*from_naive.met, scorer.tuned(least)))
        return _joined(from_naive, search(least))
    from_least = search(least)
    if is_large or from_least.trace.interrupted:
        return from_least
    return _joined(from_least, search(naive, max_steps=0))


def naive_structure(cases: Parts, limits: Limits) -> EmbeddedStructure:
    """Return the naive structure without forbidden inputs and with required arcs."""
    return _structure(cases, limits, set(varying_inputs(cases)) - limits.forbidden_features)


def with_all_inputs(
    structure: EmbeddedStructure, names: Iterable[str], limits: Limits
) -> EmbeddedStructure:
    """Return the structure with the main effects of the inputs ``names`` that it does not use."""
    families = dict(structure.families)
    used = {*structure.markov_blanket, *limits.forbidden_features}
    families |= {x: (structure.target,) for x in names if x not in used}
    return EmbeddedStructure(structure.target, tuple(families.items()))


def least_structure(cases: Parts, limits: Limits) -> EmbeddedStructure:
    """Return the structure of required inputs and arcs only, which is often empty."""
    heads = {head for _, head in limits.required_arcs}
    return _structure(cases, limits, limits.required_features | heads)


def _structure(
    cases: Parts, limits: Limits, children: set[str] | frozenset[str]
) -> EmbeddedStructure:
    target = cases.target
    families: dict[str, tuple[str, ...]] = {target: ()}
    for x in varying_inputs(cases):
        families[x] = (target,) if x in children else ()
    for tail, head in sorted(limits.required_arcs):
        families[head] = (tail, *families[head])
    return EmbeddedStructure(target, tuple(families.items()))


def _joined(first: SearchResult, second: SearchResult) -> SearchResult:
    trace = replace(
        second.trace,
        steps=[*first.trace.steps, *second.trace.steps],
        n_screened=first.trace.n_screened + second.trace.n_screened,
        interrupted=first.trace.interrupted or second.trace.interrupted,
    )
    met = {scored.structure.cluster_key: scored for scored in (*second.met, *first.met)}
    better = max(first, second, key=lambda result: result.best.score)
    shift = len(first.trace.steps) if better is second else 0
    entered = {x: step + shift for x, step in better.entered.items()}
    return SearchResult(better.best, trace, tuple(met.values()), entered)
