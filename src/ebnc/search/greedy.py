"""Greedy search over embedded structures by score (§5: select models and input features).

At every step all moves are screened, the most promising ones refitted, and the best one taken if
it raises the score. Moves grow and shrink the structure, so features and arcs that lost their
worth go again. In the end the structure is refitted without each of its inputs: none that the score
would rise without stays. Deterministic: ties are broken by the words of the move.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ebnc.data.memory import reuse_memory
from ebnc.search.features import NEAR, without_each, without_inputs
from ebnc.search.limits import Limits
from ebnc.search.moves import Move, moves
from ebnc.search.scorer import Scored, Scorer
from ebnc.search.screening import Screened, screen
from ebnc.search.trace import SearchTrace, Step
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.threads import one_blas_thread

__all__ = ["SearchResult", "greedy_search"]

ENOUGH = 1e-6  # nats by which a move must raise the score
ADDITIVE = 0.9  # of the gains of dropping inputs one by one, for dropping them all at once
TIED = 0.02  # scales are tuned to half of this; among scores as near as that the name decides
REFITS, REFITS_BACK = 4, 2  # moves refitted at every step: that grow, that shrink the structure
TUNED = 3  # of them, the most whose scales are tuned
HOPELESS = -10.0  # estimated gains below this are not refitted


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The best structure found, with its fit, the trace, and all models met on the way.

    ``entered``: for every input of the best structure the step that took it in; 0 is the start.
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
    report: Callable[[Step], None] | None = None,
) -> SearchResult:
    """Climb from ``start`` until no move that is refitted raises the score.

    ``report`` is told every step. Ctrl-C ends the search with the best structure so far.
    """
    reuse_memory()
    limits = limits or Limits()
    limits.check_names(start.inputs)
    n_states = {x: scorer.cases.domain.n_states(x) for x in start.inputs}
    trace = SearchTrace()
    began = time.perf_counter()
    here = scorer.tuned(start)
    met = {here.structure.cluster_key: here}
    entered: dict[str, int] = {}
    together: list[str] = []  # what the score would rise without, each by itself
    rival: Scored | None = None  # without all of these, which may be worth something together

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
            candidates = moves(here.structure, n_states, limits)
            trace.n_screened += len(candidates)
            screened = screen(scorer, here, candidates)
            taken = _best_move(scorer, here, screened, met)
            if taken is None and rival is not None and rival.score > here.score + ENOUGH:
                # Dropping one by one ended lower than dropping all at once had been.
                here, rival = rival, None
                note(f"drop {', '.join(together)}", here)
                continue
            gains = _gains_of_dropping(here, screened)
            if taken is None:
                taken, gains = _worthless(scorer, here, candidates)
            if taken is None:
                break
            move, there = taken
            described = move.description
            if move.dropped is not None and rival is None:
                less = without_inputs(here.structure, gains)
                if len(gains) > 1 and limits.allow(less, n_states):
                    at_once = scorer.tuned(less, here)
                    met[at_once.structure.cluster_key] = at_once
                    if at_once.score - here.score > ADDITIVE * sum(gains.values()):
                        described, there = f"drop {', '.join(gains)}", at_once
                    else:
                        rival, together = at_once, list(gains)
            met[there.structure.cluster_key] = there
            here = there
            note(described, here)
    except KeyboardInterrupt:
        trace.interrupted = True
    trace.n_fits = scorer.n_fits
    return SearchResult(here, trace, tuple(met.values()), entered)


def _gains_of_dropping(here: Scored, screened: Sequence[Screened]) -> dict[str, float]:
    """Inputs that the score would rise without, each by itself, and by how much, estimated."""
    gains = {s.move.dropped: s.gain for s in screened if s.gain > ENOUGH}
    return {x: gains[x] for x in here.structure.markov_blanket if x in gains}


def _worthless(
    scorer: Scorer, here: Scored, candidates: Sequence[Move]
) -> tuple[tuple[Move, Scored] | None, dict[str, float]]:
    """Dropping the input that the score rises most without, whatever the estimates said.

    Also the gains of dropping each of those that the score rises without, by refits.
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
    """The best of the moves that were refitted, with its scales tuned; None if none is better."""
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
    rise = 0.0  # what tuning the scales has brought at this step
    for scored, move in refitted[:TUNED]:
        goal = max([here.score, *(best.score - TIED for best, _ in tuned)])
        if scored.score + rise + NEAR < goal:
            break  # the others are no better
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
