"""Learn a network from rows with gaps: structural EM with drawn completions.

1. Fill every gap several times, each copy with its share of the row's weight.
2. Learn a network from the completed rows, as from complete ones.
3. Fit its parameters to the rows with gaps by EM, and fill the gaps again by draws from it.

Steps 2 and 3 repeat while the BIC of the observed entries rises:

    Σ_rows log p(observed) − (d/2) log N

    Friedman, The Bayesian structural EM algorithm, UAI 1998. He takes expected counts; draws stand
    for them here, because a search needs the counts of any variables together.
"""

import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ebnc.data.cases import Cases
from ebnc.network.learning.em import EMRecord, Prior, run_em
from ebnc.network.learning.gaps import Expectations, Gaps
from ebnc.network.learning.learn_network import LearningResult
from ebnc.network.model.joint import Joint
from ebnc.typing import CodeArray

N_DRAWS = 5  # completions of every row
MOST_ROUNDS = 10


def learn_with_gaps(
    gaps: Gaps,
    learn: Callable[..., LearningResult],
    sample_size: float | None,
    time_limit: float | None,
) -> tuple[LearningResult, EMRecord]:
    """Return the best network of all rounds, its parameters by EM, and the record of that EM.

    ``learn``: learns a network from complete cases, with a time limit. The scores of the result are
    those of completed rows.
    """
    end = math.inf if time_limit is None else time.monotonic() + time_limit
    generator = np.random.default_rng(0)
    draws = [gaps.drawn_from_shares(generator) for _ in range(N_DRAWS)]
    best: tuple[LearningResult, EMRecord] | None = None
    highest = -math.inf
    for _ in range(MOST_ROUNDS):
        left = None if time_limit is None else max(0.0, end - time.monotonic())
        learned = learn(_completed(gaps, draws), time_limit=left)
        nodes = {local.target: local for local in learned.locals_}
        expectations = Expectations(gaps, {x: nodes[x].parents for x in gaps.names})
        locals_, record = run_em(expectations, nodes, Prior("evidence", sample_size))
        network = Joint(locals_)
        price = 0.5 * network.dimension * math.log(max(gaps.total_weight, 1.0))
        bic = record.log_likelihood - price
        if bic > highest:
            best, highest = (replace(learned, locals_=locals_), record), bic
        elif best is not None:
            break
        if learned.trace.interrupted or time.monotonic() > end:
            break
        draws = [expectations.drawn(network, generator) for _ in range(N_DRAWS)]
    assert best is not None
    return best


def _completed(gaps: Gaps, draws: list[CodeArray]) -> Cases:
    weights = np.tile(gaps.weights / len(draws), len(draws))
    return gaps.filled(np.concatenate(draws, axis=1), weights)
