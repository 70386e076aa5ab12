"""What a new process does before its first job: a search so small that only loading takes time."""

import numpy as np

from ebnc.data.cases import Cases
from ebnc.data.rows import CodedRows
from ebnc.domain import Domain
from ebnc.search.greedy import greedy_search
from ebnc.search.scorer import Scorer
from ebnc.structure.embedded import EmbeddedStructure

__all__ = ["few_cases", "rehearse"]

N_ROWS = 60


def few_cases(n_states: int, *, weighted: bool) -> Cases:
    """Four variables; the last two depend on the others, so that there is something to find."""
    names = ("A", "B", "C", "Y")
    codes = np.random.default_rng(0).integers(0, n_states, (4, N_ROWS)).astype(np.uint8)
    codes[2:] = np.where(codes[2:] == 0, codes[0] * codes[1] % n_states, codes[1])
    domain = Domain(dict.fromkeys(names, n_states))
    rows = CodedRows(names, (n_states,) * 4, codes)
    return Cases(domain, "Y", rows, codes[3], np.ones(N_ROWS) if weighted else None)


def rehearse() -> None:
    """Screen and fit, with weights and without: compiled code is loaded by types of arguments."""
    for weighted in (False, True):
        cases = few_cases(3, weighted=weighted)
        rows = cases.rows
        inputs = CodedRows(rows.names[:3], rows.n_states[:3], np.ascontiguousarray(rows.codes[:3]))
        mine = Cases(cases.domain, "Y", inputs, cases.classes, cases.weights)
        naive = EmbeddedStructure.naive("Y", inputs.names)
        greedy_search(Scorer(mine, n_jobs=1), naive, max_steps=2)
