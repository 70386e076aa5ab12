"""Greedy search over embedded structures by score (§5: select models and input features).

Each step screens all moves, refits the most promising ones, and takes the best if it raises the
score. Moves grow and shrink the structure, so a later step can remove features and arcs that are no
longer useful. At the end the structure is refitted without each input, and inputs whose removal
raises the score are dropped. The search is deterministic: the description of a move breaks ties.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ebnc.search.averaging import WINDOW
from ebnc.search.features import NEAR, without_each, without_inputs
from ebnc.search.limits import Limits
from ebnc.search.moves import Move, moves
from ebnc.search.scorer import Scored, Scorer
from ebnc.search.screening import Screened, screen
from ebnc.search.trace import SearchTrace, Step
from ebnc.structure.clusters import Cluster
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.threads import OutOfTimeError, one_blas_thread

ENOUGH = 1e-6  # minimum rise of the score, in nats, for a move
ADDITIVE = 0.9  # drop inputs together if that gains this share of the sum of their single gains
TIED = 0.02  # scores that differ by less, in nats, are tied (scales are tuned to half of this)
REFITS, REFITS_BACK = 4, 2  # growing and shrinking moves to refit at each step
TUNED = 3  # maximum number of refitted moves whose scales are tuned
HOPELESS = -10.0  # moves with a lower estimated gain are not refitted
OUT_OF_WORK = "end of the work for one search"  # the last step of a search that ended there


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The best structure with its fit, the trace, and all models that the search scored (``met``).

    ``entered``: the step that added each input of the best structure; 0 is the start.
    """

    best: Scored
    trace: SearchTrace
    met: tuple[Scored, ...]
    entered: dict[str, int]


@one_blas_thread()
def greedy_search(
    scorer: Scorer,
    start: EmbeddedStructure,
    limits: Limits | None = None,
    *,
    max_steps: int = 1000,
    most_work: float = math.inf,
    report: Callable[[Step], None] | None = None,
) -> SearchResult:
    """Climb from ``start`` until no refitted move raises the score.

    ``report`` is called with every step. Ctrl-C and the end of the time of ``limit_time`` end the
    search with the best structure so far. So does ``most_work``, a limit on the work of the scorer
    at the beginning of a step: approximate nanoseconds, from counts of operations.
    """
    limits = limits or Limits()
    limits.check_names(start.inputs)
    n_states = {x: scorer.cases.domain.n_states(x) for x in start.inputs}
    trace = SearchTrace()
    began = time.perf_counter()
    here = scorer.tuned(start)
    met = {here.structure.cluster_key: here}
    entered: dict[str, int] = {}
    droppable: list[str] = []  # inputs each of whose removal raises the score
    all_dropped: Scored | None = None  # the fit without all of them
    estimates: dict[Cluster, Screened] = {}

    def note(description: str, scored: Scored) -> None:
        seconds = time.perf_counter() - began
        step = Step(description, scored.score, scored.fit.design.dimension, seconds)
        now = scored.structure.markov_blanket
        for x in set(entered).difference(now):
            del entered[x]
        for x in now:
            entered.setdefault(x, len(trace.steps))
        trace.steps.append(step)
        if report is not None:
            report(step)

    note("start", here)
    try:
        while len(trace.steps) <= max_steps:
            if scorer.work > most_work:
                note(OUT_OF_WORK, here)
                break
            candidates = moves(here.structure, n_states, limits)
            trace.n_screened += len(candidates)
            screened = screen(scorer, here, candidates, estimates)
            estimates |= {s.move.new_cluster: s for s in screened if s.move.new_cluster}
            taken = _best_move(scorer, here, screened, met)
            if (
                taken is None
                and all_dropped is not None
                and all_dropped.score > here.score + ENOUGH
            ):
                # Dropping inputs one by one ended at a lower score than dropping all at once.
                here, all_dropped = all_dropped, None
                note(f"drop {', '.join(droppable)}", here)
                continue
            gains = _gains_of_dropping(here, screened)
            if taken is None:
                taken, gains = _worthless(scorer, here, candidates)
            if taken is None:
                break
            move, there = taken
            described = move.description
            if move.dropped is not None and all_dropped is None:
                less = without_inputs(here.structure, gains)
                if len(gains) > 1 and limits.allow(less, n_states):
                    at_once = scorer.tuned(less, here)
                    met[at_once.structure.cluster_key] = at_once
                    if at_once.score - here.score > ADDITIVE * sum(gains.values()):
                        described, there = f"drop {', '.join(gains)}", at_once
                    else:
                        all_dropped, droppable = at_once, list(gains)
            met[there.structure.cluster_key] = there
            here = there
            note(described, here)
            # Only models near the best are tuned again (``averaging``).
            below = here.score - WINDOW - NEAR
            scorer.lighten(below)
            met = {key: scored.lighter(below) for key, scored in met.items()}
    except (KeyboardInterrupt, OutOfTimeError):
        trace.interrupted = True
    trace.n_fits = scorer.n_fits
    return SearchResult(here, trace, tuple(met.values()), entered)


def _gains_of_dropping(here: Scored, screened: Sequence[Screened]) -> dict[str, float]:
    """Return the inputs whose single removal raises the score, with their estimated gains."""
    gains = {s.move.dropped: s.gain for s in screened if s.gain > ENOUGH}
    return {x: gains[x] for x in here.structure.markov_blanket if x in gains}


def _worthless(
    scorer: Scorer, here: Scored, candidates: Sequence[Move]
) -> tuple[tuple[Move, Scored] | None, dict[str, float]]:
    """Return the move that drops the input with the largest gain, by refits instead of estimates.

    Also return the gains of all inputs whose removal raises the score.
    """
    allowed = {move.dropped: move for move in candidates if move.dropped is not None}
    less = {x: there for x, there in without_each(scorer, here).items() if x in allowed}
    gains = {x: there.score - here.score for x, there in less.items()}
    gains = {x: gain for x, gain in gains.items() if gain > ENOUGH}
    worst = max(gains, key=lambda x: (gains[x], x), default=None)
    return None if worst is None else (allowed[worst], less[worst]), gains


def _best_move(
    scorer: Scorer,
    here: Scored,
    screened: Sequence[Screened],
    met: dict[frozenset[frozenset[str]], Scored],
) -> tuple[Move, Scored] | None:
    """Return the best refitted move, with tuned scales; None if no move raises the score."""
    ranked = [s for s in screened if s.gain > HOPELESS]
    growing = [s for s in ranked if s.move.grows][:REFITS]
    chosen = growing + [s for s in ranked if not s.move.grows][:REFITS_BACK]
    asked = [(s.move.structure, s.prior) for s in chosen]
    fits = scorer.all_at_priors(asked, here)
    refitted = list(zip(fits, [s.move for s in chosen], strict=True))
    for scored, _ in refitted:
        met.setdefault(scored.structure.cluster_key, scored)
    refitted.sort(key=lambda pair: (-pair[0].score, pair[1].description))
    tuned: list[tuple[Scored, Move]] = []
    rise = 0.0  # largest gain from tuning the scales at this step
    for scored, move in refitted[:TUNED]:
        goal = max([here.score, *(best.score - TIED for best, _ in tuned)])
        if scored.score + rise + NEAR < goal:
            break  # the remaining moves have lower scores
        best = scorer.tuned(move.structure, scored)
        met[best.structure.cluster_key] = best
        tuned.append((best, move))
        rise = max(rise, best.score - scored.score)
    if not tuned:
        return None
    highest = max(best.score for best, _ in tuned)
    best, move = min(
        (pair for pair in tuned if pair[0].score >= highest - TIED),
        key=lambda pair: pair[1].description,
    )
    return (move, best) if best.score > here.score + ENOUGH else None
