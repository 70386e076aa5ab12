"""Learn a noisy-MAX: the maximum of its posterior, and its Laplace evidence.

Given the normal states and the order of the levels, a noisy-MAX consists of K − 1 independent
noisy-ORs; number k predicts whether the level is k, for the rows whose level is at most k. In
δ_k = −log h_k (``local.noisy_max``)

    log p(z | x) = Σ_k  [z = k] log(1 − exp(−Δ_k)) − [z < k] Δ_k,       Δ_k = Σ of the causes' δ_k,

which is concave. So is the log prior: the distribution of every cause is Dirichlet(α, …, α), that
is h_k ~ Beta(kα, α), as if the cause alone had been observed α times at every level. Newton's
method therefore finds the only maximum for each k. The choice of the normal states and of the order
is not concave. Both orders are tried with two sets of states, those with the lowest mean level and
the most frequent ones. From the best, normal states are exchanged one at a time while that raises
the evidence. Each choice costs the logarithm of the number of possibilities.

Laplace's approximation uses the logits of h_k, in which a Beta is nearly normal. Causes without
rows keep their prior and contribute nothing.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import betaln

from ebnc.data.cases import Cases
from ebnc.domain import Domain
from ebnc.errors import ParameterError
from ebnc.network.local.configurations import count_configurations
from ebnc.network.local.local import LearnedLocal
from ebnc.network.local.node import FromScratchLearner, Kind, LocalFit, Node, NodeState
from ebnc.network.local.noisy_max import NoisyMax
from ebnc.network.local.plain import FieldType, shaped
from ebnc.network.local.tree_growth import ALPHAS, JEFFREYS
from ebnc.typing import FloatArray

MOST_STEPS = 100
ENOUGH = 1e-9  # nats: a fit ends once half the squared Newton decrement is below this
NEARLY_FLAT = 1e-10  # α for which the maxima of posterior and likelihood coincide
BOUNDARY = 0.95  # maximum fraction of the distance to δ = 0 that a step may go


@dataclass(frozen=True, eq=False)
class _Counts:
    """Distinct configurations of the parents: ``codes`` (parents, q), ``counts`` (q, K)."""

    codes: NDArray[np.integer[Any]]
    n_states: tuple[int, ...]
    counts: FloatArray

    @classmethod
    def of(cls, cases: Cases, parents: Sequence[str]) -> "_Counts":
        codes, counts = count_configurations(cases, parents)
        return cls(codes, tuple(map(cases.domain.n_states, parents)), counts)

    def oriented(self, descending: bool) -> "_Counts":
        """Return the counts with the levels reversed if ``descending``."""
        if not descending:
            return self
        return _Counts(self.codes, self.n_states, self.counts[:, ::-1])

    def lowest(self) -> tuple[int, ...]:
        """Return, for every parent, the state with the lowest mean level."""
        levels = self.counts @ np.arange(self.counts.shape[1])
        totals = self.counts.sum(axis=1)
        states = []
        for column, size in zip(self.codes, self.n_states, strict=True):
            frequency = np.bincount(column, totals, size)
            with np.errstate(invalid="ignore", divide="ignore"):
                mean = np.bincount(column, levels, size) / frequency
            states.append(int(np.argmin(np.where(frequency > 0, mean, np.inf))))
        return tuple(states)

    def most_frequent(self) -> tuple[int, ...]:
        """Return the most frequent state of every parent."""
        totals = self.counts.sum(axis=1)
        return tuple(
            int(np.argmax(np.bincount(column, totals, size)))
            for column, size in zip(self.codes, self.n_states, strict=True)
        )


@dataclass(frozen=True, eq=False)
class _Fit:
    """The maximum for given normal states and α.

    ``delta``: (causes, K − 1); the leak, then the states of each parent except its normal one.
    """

    normal: tuple[int, ...]
    alpha: float
    delta: FloatArray
    log_evidence: float
    log_likelihood: float


def learn_noisy_max(cases: Cases, parents: Sequence[str]) -> LearnedLocal:
    """Learn the noisy-MAX of these parents; evidence chooses normal states, order and α."""
    data = _Counts.of(cases, parents)
    tried = []
    for descending in (False, True):
        seen = data.oriented(descending)
        for normal in dict.fromkeys([seen.lowest(), seen.most_frequent()]):
            tried.append((_fit(seen, normal, JEFFREYS), descending))
    start, descending = max(tried, key=lambda one: one[0].log_evidence)
    seen = data.oriented(descending)
    best = _with_best_alpha(seen, _exchanged(seen, start))
    local = _to_noisy_max(cases, parents, best, descending)
    flat = _fit(seen, best.normal, NEARLY_FLAT, best.delta)
    return LearnedLocal(local, best.log_evidence, _log_choices(cases, parents), flat.log_likelihood)


def cause_gains(cases: Cases, local: NoisyMax | None, names: Sequence[str]) -> dict[str, float]:
    """Return the gain of each of ``names`` as an extra cause, for α = ½ and other choices fixed."""
    parents = () if local is None else local.parents
    descending = False if local is None else local.descending
    normal = () if local is None else tuple(local.normal[x] for x in parents)
    gains: dict[str, float] = {}
    for turned in {descending} if parents else (False, True):
        here = _Counts.of(cases, parents).oriented(turned)
        now = _fit(here, normal, JEFFREYS)
        for name in names:
            data = _Counts.of(cases, (*parents, name)).oriented(turned)
            start = np.full((data.n_states[-1] - 1, now.delta.shape[1]), 0.1)
            lowest = (*normal, data.lowest()[-1])
            extended = _fit(data, lowest, JEFFREYS, np.concatenate([now.delta, start]))
            gain = extended.log_evidence - now.log_evidence - math.log(data.n_states[-1])
            gain -= math.log(2) if not parents else 0.0
            gains[name] = max(gain, gains.get(name, -math.inf))
    return gains


def _log_choices(cases: Cases, parents: Sequence[str]) -> float:
    """Return −log of the number of orders (if any parent exists) and of normal states."""
    return -sum(math.log(cases.domain.n_states(x)) for x in parents) - bool(parents) * math.log(2)


def _with_best_alpha(data: _Counts, fit: _Fit) -> _Fit:
    """Decrease or increase α while that raises the evidence."""
    for values in (ALPHAS[::-1], ALPHAS):
        for alpha in values[values.index(fit.alpha) + 1 :]:
            other = _fit(data, fit.normal, alpha, fit.delta)
            if other.log_evidence <= fit.log_evidence:
                break
            fit = other
    return fit


def _exchanged(data: _Counts, fit: _Fit) -> _Fit:
    """Exchange normal states while that raises the evidence.

    The new normal state of a parent is the one with the smallest effect: a state that should lower
    the level has none, because effects cannot be negative.
    """
    for _ in range(4):
        before = fit
        first = 1
        for i, size in enumerate(data.n_states):
            others = [s for s in range(size) if s != fit.normal[i]]
            least = others[int(np.argmin(fit.delta[first : first + size - 1].sum(axis=1)))]
            first += size - 1
            normal = (*fit.normal[:i], least, *fit.normal[i + 1 :])
            other = _fit(data, normal, fit.alpha)
            if other.log_evidence > fit.log_evidence:
                fit = other
        if fit is before:
            break
    return fit


def _fit(
    data: _Counts,
    normal: tuple[int, ...],
    alpha: float,
    start: FloatArray | None = None,
) -> _Fit:
    """Fit all levels, given the normal states; ``start``: the first δ."""
    active = _active(data, normal)
    present = active.any(axis=0)
    n_levels = data.counts.shape[1]
    below = np.cumsum(data.counts, axis=1)
    delta = np.empty((active.shape[1], n_levels - 1))
    evidence = likelihood = 0.0
    for k in range(1, n_levels):
        delta[:, k - 1] = math.log((k + 1) / k)  # the prior's mode, for causes without rows
        begin = delta[:, k - 1] if start is None else start[:, k - 1]
        problem = _Level(active[:, present], data.counts[:, k], below[:, k - 1], alpha, k * alpha)
        optimum, value = problem.maximise(begin[present])
        delta[present, k - 1] = optimum
        evidence += value
        likelihood += problem.log_likelihood(optimum)
    return _Fit(normal, alpha, delta, evidence, likelihood)


def _active(data: _Counts, normal: Sequence[int]) -> FloatArray:
    """Return 1 where a cause is active in a configuration, else 0, shape (q, causes)."""
    columns = [np.ones(len(data.counts))]
    for column, size, usual in zip(data.codes, data.n_states, normal, strict=True):
        columns += [(column == s).astype(np.float64) for s in range(size) if s != usual]
    return np.column_stack(columns)


@dataclass(frozen=True, eq=False)
class _Level:
    """One noisy-OR: counts of level k (``hits``) and lower (``misses``), h ~ Beta(``b``, ``a``).

    f(δ) = Σ hits·log(1 − e^{−Δ}) − misses·Δ  +  Σ_causes a·log(1 − e^{−δ}) − b·δ,   Δ = active·δ
    """

    active: FloatArray
    hits: FloatArray
    misses: FloatArray
    a: float
    b: float

    def value(self, delta: FloatArray) -> float:
        """Return f: log likelihood plus log prior in logits of h, without its constant."""
        prior = self.a * np.log(-np.expm1(-delta)).sum() - self.b * delta.sum()
        return self.log_likelihood(delta) + float(prior)

    def log_likelihood(self, delta: FloatArray) -> float:
        """Σ hits·log(1 − e^{−Δ}) − misses·Δ."""
        total = self.active @ delta
        hit = self.hits > 0
        return float(self.hits[hit] @ np.log(-np.expm1(-total[hit])) - self.misses @ total)

    def derivatives(self, delta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ∇f and −∇²f, which is positive definite."""
        odds, own = 1 / np.expm1(self.active @ delta), 1 / np.expm1(delta)
        gradient = self.active.T @ (self.hits * odds - self.misses) + self.a * own - self.b
        weights = self.hits * odds * (1 + odds)
        curvature = (self.active * weights[:, None]).T @ self.active
        curvature[np.diag_indices_from(curvature)] += self.a * own * (1 + own)
        return gradient, curvature

    def maximise(self, delta: FloatArray) -> tuple[FloatArray, float]:
        """Return δ at the maximum (Newton's method), and Laplace's log evidence of this level.

        f is concave with a barrier at δ = 0: steps stop before it and are halved until f rises.
        """
        value = self.value(delta)
        for _ in range(MOST_STEPS):
            gradient, curvature = self.derivatives(delta)
            factor = cho_factor(curvature, lower=True)
            step = cho_solve(factor, gradient)
            decrement = 0.5 * float(gradient @ step)
            if decrement < ENOUGH:
                break
            shrinking = step < 0
            length = min(1.0, BOUNDARY * np.min(-delta[shrinking] / step[shrinking], initial=2.0))
            while length > 1e-12:
                there = self.value(delta + length * step)
                if there >= value + 1e-4 * length * decrement:
                    break
                length *= 0.5
            else:  # any gain is below rounding error
                break
            delta, value = delta + length * step, there
        # log |A| in logits of h: δ = −log h, dδ/dlogit h = −(1 − h), and the gradient is 0.
        jacobian = np.log(-np.expm1(-delta)).sum()
        log_determinant = 2.0 * (np.log(np.diagonal(factor[0])).sum() + jacobian)
        n = len(delta)
        constant = 0.5 * n * math.log(2 * math.pi) - n * float(betaln(self.a, self.b))
        return delta, value + constant - 0.5 * log_determinant


def _to_noisy_max(cases: Cases, parents: Sequence[str], fit: _Fit, descending: bool) -> NoisyMax:
    """Convert δ to the distribution of every cause."""
    ratios = np.exp(-fit.delta)  # F_{k−1}/F_k
    n_causes, n_levels = ratios.shape[0], ratios.shape[1] + 1
    theta = np.empty((n_causes, n_levels))
    below = np.ones(n_causes)
    for k in range(n_levels - 1, 0, -1):
        theta[:, k] = -np.expm1(-fit.delta[:, k - 1]) * below
        below *= ratios[:, k - 1]
    theta[:, 0] = below
    if descending:
        theta = theta[:, ::-1]
    nothing = np.zeros(n_levels)
    nothing[-1 if descending else 0] = 1.0
    effects: dict[str, FloatArray] = {}
    first = 1
    for name, usual in zip(parents, fit.normal, strict=True):
        size = cases.domain.n_states(name)
        effects[name] = np.insert(theta[first : first + size - 1], usual, nothing, axis=0)
        first += size - 1
    return NoisyMax(cases.target, cases.domain, theta[0], effects, descending=descending)


def _from_plain(target: str, domain: Domain, plain: Mapping[str, Any]) -> NoisyMax:
    parents, tables = plain["parents"], plain["effects"]
    if len(tables) != len(parents) or len(set(parents)) != len(parents):
        raise ParameterError(
            f"effects must have one table for each of {len(parents)} different parents"
        )
    n_levels = domain.n_states(target)
    effects = {
        name: shaped("effects", table, (domain.n_states(name), n_levels))
        for name, table in zip(parents, tables, strict=True)
    }
    leak = shaped("leak", plain["leak"], (n_levels,))
    return NoisyMax(target, domain, leak, effects, descending=plain["descending"])


class NoisyMaxLearner(FromScratchLearner):
    """Fits noisy-MAX nodes, but not where states are many and in order, which would take long."""

    def __init__(self, node: Node) -> None:
        super().__init__(NOISY_MAX.name, learn_noisy_max, cause_gains, node)

    def learn(self, parents: tuple[str, ...], near: LocalFit | None = None) -> LocalFit | None:
        """Fit the kind to these parents; None if a variable has more states than columns."""
        if all(map(self.node.has_every_function, (self.node.target, *parents))):
            return super().learn(parents, near)
        return None

    def gains(self, state: NodeState, names: Sequence[str]) -> dict[str, float]:
        """Estimate the gain of each of ``names`` as an extra parent."""
        if not self.node.has_every_function(self.node.target):
            return {}
        return super().gains(state, list(filter(self.node.has_every_function, names)))


NOISY_MAX = Kind(
    name="noisy-max",
    words="noisy-MAX",
    fields={
        "parents": FieldType.VARIABLES,
        "descending": FieldType.FLAG,
        "leak": FieldType.PROBABILITIES,
        "effects": FieldType.SEVERAL_PROBABILITIES,
    },
    to_plain=NoisyMax.to_plain,
    from_plain=_from_plain,
    learner=NoisyMaxLearner,
    is_readable=True,
)
