"""Measure: ``python -m study.local --data DIR [--networks a,b] [--kinds k,l] [--sizes 250,1000]``

DIR holds NAME.bif.gz. Kinds of local distributions are learned from the same samples of known
networks, with the truth's arcs given or searched; one thread for each job. The order is balanced:
small samples of all networks with all kinds first, then repeats of these, larger samples last. What
is on file is not measured again unless ``--again`` is given. Every line that is printed ends with
the options that make it again.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from joblib import Parallel, delayed

from study.cells import select_names
from study.local.learners import KINDS, PEERS, STRUCTURES
from study.local.measure import RESULTS, Cell, balanced, cells, measure
from study.local.truth import MOST_ROWS, network_names

NETWORKS = "child,alarm,insurance,win95pts,hepar2,hailfinder,andes"
SIZES = "250,1000,4000,16000,32000"
REPEATS = 10


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Local distributions head to head.")
    parser.add_argument("--data", type=Path, required=True, help="folder with NAME.bif.gz")
    parser.add_argument("--networks", default=NETWORKS, help="names with commas")
    parser.add_argument("--structures", help=f"of {', '.join(STRUCTURES)}; both unless given")
    parser.add_argument("--kinds", help=f"of {', '.join([*KINDS, *PEERS])}; all unless given")
    parser.add_argument("--sizes", default=SIZES, help=f"rows to learn from, at most {MOST_ROWS}")
    parser.add_argument("--repeats", help=f"numbers with commas; 0 to {REPEATS - 1} unless given")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--again", action="store_true", help="forget what is on file for these")
    options = parser.parse_args(arguments)
    store = cells(options.results)
    networks = select_names(options.networks, network_names(options.data), "network")
    structures = select_names(options.structures, STRUCTURES, "structure")
    kinds = select_names(options.kinds, [*KINDS, *PEERS], "kind")
    sizes = [int(size) for size in options.sizes.split(",")]
    if not 0 < min(sizes) <= max(sizes) <= MOST_ROWS:
        raise SystemExit(f"sizes must be from 1 to {MOST_ROWS}, got {options.sizes}")
    repeats = select_names(options.repeats, [str(i) for i in range(REPEATS)], "repeat")
    wanted = list(balanced(networks, structures, kinds, sizes, [int(x) for x in repeats]))
    if options.again:
        keys = {store.key(cell._asdict()) for cell in wanted}
        store.forget(lambda line: store.key(line) in keys)
    done = store.done()
    missing = [cell for cell in wanted if store.key(cell._asdict()) not in done]
    run = Parallel(options.jobs, return_as="generator_unordered", batch_size=1)
    for found in run(delayed(measure)(options.data, cell) for cell in missing):
        store.append([found])
        cell = Cell(*(found[key] for key in Cell._fields))
        print(
            f"KL {found['divergence']:.4f} ± {found['standard_error']:.4f}  "
            f"d {found['dimension']:5}  arcs {found['arcs']:3}  {found['seconds']:7.2f} s  "
            f"{cell.options()}",
            flush=True,
        )


if __name__ == "__main__":
    main()
