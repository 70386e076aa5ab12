"""Does screening cost anything? The search with all moves refitted, against the search as it is.

Prints, for ten small sets: both final scores, the full fits of both, and their ratio.
"""

import argparse
import math
from pathlib import Path

import ebnc
from benchmarks.quality.data import read_set
from ebnc.data.cases import read_cases
from ebnc.data.states import learn_domain
from ebnc.search import greedy
from ebnc.search.greedy import greedy_search
from ebnc.search.scorer import Scorer

SETS = (
    *("balance-scale", "breast-cancer", "car", "hayes-roth", "heart-statlog"),
    *("tae", "threeOf9", "tic-tac-toe", "titanic", "voting"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="directory with SCHEMA.json")
    folder = parser.parse_args().data
    as_it_is = (greedy.REFITS, greedy.REFITS_BACK, greedy.HOPELESS)
    for name in SETS:
        frame = read_set(folder, name)
        inputs = [column for column in frame.columns if column != "class"]
        domain = learn_domain(frame, inputs, "class")
        cases = read_cases(frame, domain, inputs, "class").counted()
        start = ebnc.EmbeddedStructure.naive("class", inputs)
        found = []
        for refits, back, hopeless in (as_it_is, (10**9, 10**9, -math.inf)):
            greedy.REFITS, greedy.REFITS_BACK, greedy.HOPELESS = refits, back, hopeless
            scorer = Scorer(cases)
            found.append((greedy_search(scorer, start).best.score, scorer.n_fits))
        (score, fits), (full_score, full_fits) = found
        print(
            f"{name:16} screened {score:10.3f} ({fits:4} fits), all refitted {full_score:10.3f} "
            f"({full_fits:5} fits), saved × {full_fits / fits:.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
