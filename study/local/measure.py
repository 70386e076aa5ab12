"""One cell of Part C: learn from a sample, compare with the network that made it."""

import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from threadpoolctl import threadpool_limits

import ebnc
from study.cells import Cells, Value
from study.local.learners import PEERS, learn
from study.local.truth import read_truth

RESULTS = Path(__file__).with_name("results.csv")
KEYS = ("network", "structure", "kind", "rows", "repeat")
VALUES = (
    *("divergence", "standard_error", "dimension", "arcs"),
    *("missing", "extra", "kinds", "seconds"),
)
SMALL = 1000
"""Rows up to which all sizes are measured before any of them is repeated."""


class Cell(NamedTuple):
    """What is measured; the columns ``KEYS``."""

    network: str
    structure: str
    kind: str
    rows: int
    repeat: int

    def options(self) -> str:
        """The options of the command that makes this line alone again."""
        return (
            f"--networks {self.network} --structures {self.structure} --kinds {self.kind} "
            f"--sizes {self.rows} --repeats {self.repeat} --again"
        )


def cells(path: Path = RESULTS) -> Cells:
    """``divergence``: from the truth, nats, exact where its standard error is 0. ``missing``,
    ``extra``: pairs of variables joined by an arc only in the truth, or only in what was learned.
    ``seconds``: of the processor, to learn."""
    return Cells(path, KEYS, VALUES)


def balanced(
    networks: Sequence[str],
    structures: Sequence[str],
    kinds: Sequence[str],
    sizes: Collection[int],
    repeats: Collection[int],
) -> Iterator[Cell]:
    """In an order that is balanced wherever it is stopped: small sizes first, all networks and
    kinds before any repeat, the largest sizes last."""
    small = [size for size in sorted(sizes) if size <= SMALL]
    groups = [small, *([size] for size in sorted(sizes) if size > SMALL)]
    for group in groups:
        for repeat in sorted(repeats):
            for size in group:
                for structure in structures:
                    for network in networks:
                        for kind in kinds:
                            if structure == "searched" or kind not in PEERS:
                                yield Cell(network, structure, kind, size, repeat)


def measure(folder: Path, cell: Cell) -> dict[str, Value]:
    truth = read_truth(folder, cell.network)
    data = truth.rows(cell.rows, cell.repeat)
    with threadpool_limits(1):
        began = time.process_time()
        learned = learn(data, truth.network, cell.structure, cell.kind)
        seconds = time.process_time() - began
    found = truth.divergence(learned)
    mine, true = _joined(learned), _joined(truth.network)
    kinds = Counter(local.kind for local in learned.values())
    return {
        **cell._asdict(),
        "divergence": found.value,
        "standard_error": found.standard_error,
        "dimension": learned.dimension,
        "arcs": len(learned.arcs),
        "missing": len(true - mine),
        "extra": len(mine - true),
        "kinds": " ".join(f"{kind}:{n}" for kind, n in sorted(kinds.items())),
        "seconds": seconds,
    }


def _joined(network: ebnc.Network) -> set[frozenset[str]]:
    return {frozenset(arc) for arc in network.arcs}
