"""Mean test log-likelihood of learned networks beside the published figures.

    python -m study.density --data FOLDER [--sets nltcs,kdd] [--models network,sparse]

FOLDER holds NAME.train.csv.gz and NAME.test.csv.gz: 0/1, no header (the benchmark of Lowd & Davis
2010 and Van Haaren & Davis 2012). Published figures (``published.csv``): WM = WinMine, Bayesian
networks with tree nodes; SPN = LearnSPN; ID-SPN; ACMN; MT = mixtures of trees; HCLT; EiNet; CM =
continuous mixtures; MADE; MoAT = mixtures of all trees; how sure each is, is said there. AR = every
node a naive EBNC on all its predecessors in file order, one ridge per set. Sets that are on
file are not run again unless ``--again`` is given.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from study.cells import select_names
from study.density.measure import MODELS, RESULTS, cells, measure, set_names
from study.density.report import table


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", help="names with commas; all that are in the folder unless given")
    parser.add_argument("--models", default="network", help=f"of {', '.join(MODELS)}")
    parser.add_argument("--again", action="store_true", help="forget what is on file for these")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    store = cells(options.results)
    sets = select_names(options.sets, set_names(options.data), "set")
    models = select_names(options.models, list(MODELS), "model")
    if options.again:
        store.forget(lambda line: line["set"] in sets and line["model"] in models)
    done = store.done()
    for model in models:
        for name in sets:
            if (name, model) not in done:
                store.append([measure(options.data, name, model)])
                print(table(store.frame(), model, [name]), flush=True)
                print(f"--sets {name} --models {model} --again", flush=True)
    for model in models:
        print(f"\n{model}\n{table(store.frame(), model)}")


if __name__ == "__main__":
    main()
