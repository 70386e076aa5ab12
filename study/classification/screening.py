"""Does screening cost anything? The search as it is, against one that fits every candidate.

``python -m study.classification.screening --data DIR [--sets a,b]``

The reference tunes the scales of every candidate at every step. Both break ties alike. A full fit
is one maximum of a posterior; a scale that is tried costs one. For ten sets: both final scores, the
full fits of both, and their ratio.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import ebnc
from ebnc.data.read import learn_cases
from ebnc.search.greedy import ENOUGH, TIED, greedy_search
from ebnc.search.limits import Limits
from ebnc.search.moves import moves
from ebnc.search.scorer import Scored, Scorer
from study.cells import Cells, Value
from study.classification.data import TARGET, read_set

RESULTS = Path(__file__).with_name("screening.csv")
SETS = (
    *("breast-cancer", "cmc", "crx", "flare", "heart-statlog"),
    *("spect", "threeOf9", "tic-tac-toe", "voting", "xd6"),
)


def cells(path: Path = RESULTS) -> Cells:
    values = ("score", "all_score", "fits", "all_fits", "seconds", "all_seconds")
    return Cells(path, ("set",), values)


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


def measure(directory: Path, name: str) -> dict[str, Value]:
    frame = read_set(directory, name)
    inputs = [column for column in frame.columns if column != TARGET]
    cases = learn_cases(frame, inputs, TARGET)
    start = ebnc.EmbeddedStructure.naive(TARGET, inputs)
    screened, full = Scorer(cases), Scorer(cases)
    began = time.process_time()
    score = greedy_search(screened, start).best.score
    middle = time.process_time()
    full_score = climb_without_screening(full, start).score
    end = time.process_time()
    return {
        **{"set": name, "score": score, "all_score": full_score},
        **{"fits": screened.n_fits, "all_fits": full.n_fits},
        **{"seconds": middle - began, "all_seconds": end - middle},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="directory with SCHEMA.json")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--again", action="store_true", help="forget what is on file for these")
    options = parser.parse_args(arguments)
    store = cells(options.results)
    names = options.sets.split(",")
    if options.again:
        store.forget(lambda line: line["set"] in names)
    for name in names:
        if (name,) not in store.done():
            store.append([measure(options.data, name)])
    for line in store.frame().itertuples():
        print(
            f"{line.set:16} screened {line.score:10.3f} ({line.fits:4} fits), all fitted "
            f"{line.all_score:10.3f} ({line.all_fits:5} fits): "
            f"{line.score - line.all_score:+.2f} nats, saved × {line.all_fits / line.fits:.1f}"
        )


if __name__ == "__main__":
    main()
