"""The prior of structures p(m′), the same for classifiers and for the nodes of networks.

Hundreds of candidates compete, and evidence alone would overfit small data. The prior corrects for
their number (Scott & Berger 2010). With probability ½ no input matters. Otherwise all numbers
k = 1 … n of inputs have equal probability, and so do all sets of k out of n; all numbers a of
interaction arcs have equal probability, and so do all sets of a out of the pairs of these inputs:

    log p(m′) = −log 2n − log C(n, k) − log C(k (k − 1)/2, a)        k > 0
    log p(m′) = −log 2                                               k = 0

(the number of arcs is not normalised). n counts inputs with more than one state.

If numeric inputs were cut into intervals with the labels in view (MDLP), that was already a search:
c of m numeric inputs were cut, at places between two of N rows. Then n in the first term becomes

    C(m, c) · (m (N − 1) + number of other inputs)

A full table and a tree with k parents pay for their inputs, not for arcs. A tree also pays for its
questions (see ``network.local.tree_growth``).
"""

import math
from collections.abc import Collection

from ebnc.data.parts import Parts
from ebnc.domain import Interval
from ebnc.structure.clusters import Cluster


def log_input_prior(n_inputs: int, n_chosen: int, log_effects: float | None = None) -> float:
    """Return the log prior of a set of k inputs out of n: −log 2n − log C(n, k), −log 2 if k = 0.

    ``log_effects``: replaces log n in the first term; see ``log_number_of_effects``.
    """
    if n_chosen == 0:
        return -math.log(2)
    first = math.log(n_inputs) if log_effects is None else log_effects
    return -math.log(2) - first - _log_choices(n_inputs, n_chosen)


def log_number_of_effects(cases: Parts) -> float:
    """Return the log of the number of single effects that were tried, including cuts."""
    states = [cases.domain[x] for x in cases.inputs]
    cuts = [
        -1
        if x in cases.domain.ordered
        else sum(isinstance(s, Interval) for s in cases.domain[x]) - 1
        for x in cases.inputs
    ]
    n_numbers, n_cut = sum(n >= 0 for n in cuts), sum(n > 0 for n in cuts)
    others = sum(n < 0 and len(each) > 1 for n, each in zip(cuts, states, strict=True))
    places = n_numbers * max(1.0, cases.total_weight - 1.0) + others
    return math.log(max(1.0, places)) + _log_choices(n_numbers, n_cut)


def log_cluster_prior(
    n_inputs: int, clusters: Collection[Cluster], log_effects: float | None = None
) -> float:
    """Return log p(m′) of a structure with these clusters, whose inputs were chosen out of n.

    Each input of a cluster after the first counts as one arc.
    """
    n_chosen = len(frozenset().union(*clusters))
    n_arcs = sum(len(cluster) - 1 for cluster in clusters if cluster)
    n_pairs = n_chosen * (n_chosen - 1) // 2
    return log_input_prior(n_inputs, n_chosen, log_effects) - _log_choices(n_pairs, n_arcs)


def _log_choices(n: int, k: int) -> float:
    """log C(n, k)."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
