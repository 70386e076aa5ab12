"""Dimension of an EBNC in closed form: the number of parameters of its span.

    d = t_Y · Σ_{S ∈ Δ} Π_{i ∈ S} t_i

Δ: all subsets of clusters, including ∅. t: the dimension of a variable's statistic; r − 1 for a
nominal variable with r states, and the number of columns of its curve for an ordered or numeric one
(``Levels.n_columns``). t + 1 counts like a number of states, so r below means t + 1. A fit leaves
products of fast waves out (``parameters.phi``): its ``Basis.dimension`` may be smaller.

The paper computes d by Gaussian elimination (§4, §6; see ``elimination`` and ``blocks``); the
closed form needs no elimination and rarely lists Δ. Acyclic clusters take linear time; others may
take exponential time, because counting the faces of a simplicial complex is #P-hard.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from math import prod

from ebnc.domain import DomainLike
from ebnc.errors import TooLargeError
from ebnc.parameters.constants import sizes_of
from ebnc.structure.clusters import Cluster, peel
from ebnc.structure.embedded import EmbeddedStructure

FEW_CLUSTERS = 32  # up to this number, sweeps over all clusters are faster than an index
LISTED_AT_ONCE = 256  # up to this number of subsets, listing is the fastest method
FEW_SUBSETS = 2**21  # of all clusters: more than 32 clusters are listed up to this number, in 2 s
MOST_WORK = 8_000_000  # of ``_CoreCount``, in steps of about a microsecond


def dimension(structure: EmbeddedStructure, n_states: DomainLike) -> int:
    """Return the number of free parameters of the span of an EBNC, exact (Theorem 1, errata E6).

    A fitted model may have fewer: if ordered or numeric variables interact, it leaves the products
    of fast waves out.

    Parameters
    ----------
    structure : EmbeddedStructure
        The structure.
    n_states : Domain or mapping
        The states of all variables including the target, as counts, labels or a ``Domain``. Only a
        ``Domain`` has ordered and numeric variables, which count with the columns of their curves.

    Examples
    --------
    >>> naive = EmbeddedStructure.naive("Y", ["X1", "X2", "X3"])
    >>> dimension(naive, {"X1": 2, "X2": 2, "X3": 2, "Y": 2})  # n + 1
    4
    >>> from ebnc import Domain
    >>> ordered = Domain({"X1": 5, "X2": 30, "X3": 2, "Y": 2}, ordered=["X1", "X2"])
    >>> dimension(naive, ordered)  # 1 + 4 + 12 + 1: a curve has at most 12 columns
    18
    """
    structure, n_classes, counts = sizes_of(structure, n_states)
    if len(structure.clusters) == 1:  # a table: f({C}) = Π r
        return (n_classes - 1) * prod(counts.values())
    return (n_classes - 1) * count_terms(structure.clusters, counts)


def count_terms(clusters: Iterable[Iterable[str]], n_states: Mapping[str, int]) -> int:
    """f(𝒞) = Σ_{S ∈ Δ} Π_{i ∈ S} (r_i − 1), without enumerating Δ.

    Variables private to one cluster are removed together (Graham reduction): with P private and R
    the rest of the cluster, f(𝒞) = f(𝒞 with R for the cluster) + (Π_P r − 1) · Π_R r. Naive, chain,
    tree and table leave no core; ``_CoreCount`` counts any core that remains.
    """
    core = [frozenset(cluster) for cluster in clusters]
    total = 0
    if len(core) <= FEW_CLUSTERS:
        if sum([2 ** len(cluster) for cluster in core]) <= LISTED_AT_ONCE:
            return _enumerate(core, n_states)
    else:
        steps, core = peel(core)
        for private, rest in steps:
            total += (prod([n_states[v] for v in private]) - 1) * prod([n_states[v] for v in rest])
        if sum(2 ** len(cluster) for cluster in core) <= FEW_SUBSETS:
            return total + _enumerate(core, n_states)
    bits: dict[str, int] = {}
    for cluster in core:
        for variable in cluster:
            if variable not in bits:
                bits[variable] = 1 << len(bits)
    masks = [sum([bits[v] for v in cluster]) for cluster in core]
    try:
        return total + _CoreCount([n_states[v] for v in bits]).of(masks)
    except (RecursionError, TooLargeError):
        largest = max(map(len, core))
        raise TooLargeError(
            f"the dimension of {len(core)} clusters with up to {largest} inputs each cannot be "
            "counted in seconds, because they overlap in many different sets; take fewer or "
            "smaller clusters, for example with a limit on parents"
        ) from None


def _enumerate(clusters: Sequence[Cluster], n_states: Mapping[str, int]) -> int:
    """f by listing Δ: linear in the number of clusters if these are small."""
    subsets: set[tuple[str, ...]] = set()
    for cluster in clusters:
        ordered = sorted(cluster)
        for size in range(len(ordered) + 1):
            subsets.update(combinations(ordered, size))
    others = {v: n_states[v] - 1 for cluster in clusters for v in cluster}
    return sum([prod([others[v] for v in subset]) for subset in subsets])


class _CoreCount:
    """f of cyclic clusters; a cluster is an int whose bits are its variables.

    Private variables are removed as before. The remaining clusters form connected parts that share
    only ∅; each part is split on a variable v, and results are remembered by part:

        f(𝒞) = f({C \\ v : C ∈ 𝒞}) + (r_v − 1) · f({C \\ v : v ∈ C ∈ 𝒞})

    The number of parts may grow exponentially with the number of clusters; ``MOST_WORK`` ends it.
    """

    def __init__(self, n_states: list[int]) -> None:
        self.n_states = n_states
        self._memory: dict[frozenset[int], int] = {}
        self._work = 0.0

    def of(self, clusters: Collection[int]) -> int:
        self._work += len(clusters) + len(clusters) ** 2 / 16  # measured
        if self._work > MOST_WORK:
            raise TooLargeError
        reduced, total = _take_off_private(_maximal(clusters), self.n_states)
        for part in _connected_parts(reduced):
            key = frozenset(part)
            if key not in self._memory:
                v = _rarest(part)
                without = self.of([cluster & ~v for cluster in part])
                link = self.of([cluster & ~v for cluster in part if cluster & v])
                self._memory[key] = without + (self.n_states[v.bit_length() - 1] - 1) * link
            total += self._memory[key] - 1
        return total + 1


def _take_off_private(clusters: list[int], n_states: list[int]) -> tuple[list[int], int]:
    """Complete Graham reduction: the remaining clusters, and Σ (Π_P r − 1) · Π_R r of the steps."""
    total = 0
    while True:
        once = twice = 0
        for cluster in clusters:
            twice |= once & cluster
            once |= cluster
        if once == twice:
            return [cluster for cluster in clusters if cluster], total
        for cluster in clusters:
            private = cluster & ~twice
            if private:
                total += (_product(private, n_states) - 1) * _product(cluster & twice, n_states)
        clusters = _maximal(cluster & twice for cluster in clusters)


def _maximal(clusters: Iterable[int]) -> list[int]:
    """The sets that no other set contains; larger sets come first, so one pass is enough."""
    kept: list[int] = []
    for cluster in sorted(set(clusters), key=int.bit_count, reverse=True):
        for other in kept:
            if cluster & other == cluster:
                break
        else:
            kept.append(cluster)
    return kept


def _connected_parts(clusters: list[int]) -> list[list[int]]:
    """Clusters grouped so that different groups share no variable."""
    parts: list[tuple[int, list[int]]] = []
    for cluster in clusters:
        joined, members, apart = cluster, [cluster], []
        for variables, others in parts:
            if variables & cluster:
                joined |= variables
                members += others
            else:
                apart.append((variables, others))
        parts = [*apart, (joined, members)]
    return [members for _, members in parts]


def _rarest(clusters: list[int]) -> int:
    """The variable, as a bit, in the fewest clusters."""
    at_least = [0]  # at_least[j]: the variables in more than j clusters
    for cluster in clusters:
        again = cluster
        for j, seen in enumerate(at_least):
            at_least[j] = seen | again
            again &= seen
        if again:
            at_least.append(again)
    for more, most in zip(at_least[1:], at_least, strict=False):
        if most & ~more:
            rarest = most & ~more
            return rarest & -rarest
    return at_least[-1] & -at_least[-1]


def _product(variables: int, n_states: list[int]) -> int:
    result = 1
    while variables:
        lowest = variables & -variables
        result *= n_states[lowest.bit_length() - 1]
        variables ^= lowest
    return result
