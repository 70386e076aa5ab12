"""Search: seconds, what screening saves, and whether it costs anything in score."""

import time
from collections.abc import Iterator

import ebnc
from benchmarks.measure import Comparison
from benchmarks.problems import ADULT_STATES, coded_cases
from ebnc.search.greedy import greedy_search
from ebnc.search.limits import Limits
from ebnc.search.moves import moves
from ebnc.search.scorer import Scorer
from ebnc.search.screening import screen


def comparisons() -> Iterator[Comparison]:
    """Cost in rows of a whole search, and of one candidate screened against one refitted."""
    seconds = {}
    for n_rows in (10_000, 40_000):
        cases = coded_cases(n_rows, ADULT_STATES, 2)
        start = ebnc.EmbeddedStructure.naive("Y", cases.rows.names)
        began = time.perf_counter()
        trace = greedy_search(Scorer(cases), start, max_steps=5).trace
        seconds[n_rows] = (time.perf_counter() - began) / len(trace.steps)
    yield Comparison(
        "search, seconds a step: 40 000 against 10 000 rows × 14",
        *("10 000 rows", seconds[10_000], "40 000 rows", seconds[40_000], "≤ 5"),
    )
    scorer = Scorer(cases)
    here = scorer.tuned(start)
    n_states = dict(zip(cases.rows.names, cases.rows.n_states, strict=True))
    candidates = [m for m in moves(here.structure, n_states, Limits()) if m.grows]
    began = time.perf_counter()
    screen(scorer, here, candidates)
    screened = (time.perf_counter() - began) / len(candidates)
    began = time.perf_counter()
    for move in candidates[:10]:
        scorer.at_prior(move.structure, here.fit.prior, here)
    refitted = (time.perf_counter() - began) / 10
    yield Comparison(
        "search, 40 000 rows × 14: seconds a candidate",
        *("screened", screened, "fully fitted", refitted, "≥ 3"),
    )
