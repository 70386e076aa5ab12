"""Does screening cost anything? The search as it is, against one that fits every candidate.

``python -m study.classification.screening --data DIR [--sets a,b]``

The reference tunes the scales of every candidate at every step. Both break ties alike. A full fit
is one maximum of a posterior; a scale that is tried costs one. Printed for ten sets: both final
scores, the full fits of both, and their ratio.
"""

import argparse
from pathlib import Path

import ebnc
from ebnc.data.cases import read_cases
from ebnc.data.states import learn_domain
from ebnc.search.greedy import ENOUGH, TIED, greedy_search
from ebnc.search.limits import Limits
from ebnc.search.moves import moves
from ebnc.search.scorer import Scored, Scorer
from study.classification.data import TARGET, read_set

SETS = (
    *("breast-cancer", "cmc", "crx", "flare", "heart-statlog"),
    *("spect", "threeOf9", "tic-tac-toe", "voting", "xd6"),
)


def climb_without_screening(scorer: Scorer, start: ebnc.EmbeddedStructure) -> Scored:
    """Greedy search that fits every candidate, with its scales tuned, at every step."""
    n_states = {x: scorer.cases.domain.n_states(x) for x in start.inputs}
    here = scorer.tuned(start)
    while True:
        candidates = moves(here.structure, n_states, Limits())
        fitted = [(scorer.tuned(move.structure, here), move) for move in candidates]
        highest = max(scored.score for scored, _ in fitted)
        best, _ = min(
            (pair for pair in fitted if pair[0].score >= highest - TIED),
            key=lambda pair: pair[1].description,
        )
        if best.score <= here.score + ENOUGH:
            return here
        here = best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="directory with SCHEMA.json")
    parser.add_argument("--sets", default=",".join(SETS))
    options = parser.parse_args()
    for name in options.sets.split(","):
        frame = read_set(options.data, name)
        inputs = [column for column in frame.columns if column != TARGET]
        domain = learn_domain(frame, inputs, TARGET)
        cases = read_cases(frame, domain, inputs, TARGET).counted()
        start = ebnc.EmbeddedStructure.naive(TARGET, inputs)
        screened, full = Scorer(cases), Scorer(cases)
        score = greedy_search(screened, start).best.score
        full_score = climb_without_screening(full, start).score
        print(
            f"{name:16} screened {score:10.3f} ({screened.n_fits:4} fits), all fitted "
            f"{full_score:10.3f} ({full.n_fits:5} fits): {score - full_score:+.2f} nats, "
            f"saved × {full.n_fits / screened.n_fits:.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
