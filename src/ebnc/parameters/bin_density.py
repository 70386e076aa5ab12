"""The density of a number whose states are intervals, from the probabilities of these bins.

With cuts c_1 < … < c_{B−1} between the bins b = 0 … B − 1, and p_b the probability of bin b,

    p(y) = p_b / (c_{b+1} − c_b)                         y in bin b, c_b < y ≤ c_{b+1}
    p(y) = p_0 exp(−(c_1 − y) / s_0) / s_0               y ≤ c_1
    p(y) = p_{B−1} exp(−(y − c_{B−1}) / s_1) / s_1       y > c_{B−1}

s is the mean distance of the training values in an outer bin from its cut, the maximum likelihood
estimate of an exponential tail. So the density integrates to 1.

A bin whose training values are all equal, and at least two, is an *atom*: a zero, or a limit of the
scale. Its density is its probability, spread over the bin; it is high, but finite. Quantiles and
samples in it are the value itself. An outer atom has no tail, because no number was seen beyond it:
it ends as far beyond the value as its cut is before it.

A single bin has no cut and no width, so its density is left out: it counts as 1. Quantiles and
samples in it are its mean.

The mean of y is Σ_b p_b m_b, where m_b is the mean of the training values in the bin: a midpoint
would be wrong where values are skew.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ebnc.errors import ParameterError
from ebnc.parameters.numbers import as_numbers
from ebnc.typing import FloatArray, IntArray

LEAST_ATOM = 2.0  # rows that share the value of an atom
TINY = float(np.finfo(np.float64).tiny)


def check_levels(q: ArrayLike, name: str = "q") -> FloatArray:
    """Return probabilities of quantiles as an array (n,); raise unless 0 < q < 1."""
    levels = np.atleast_1d(as_numbers(q, name))
    if levels.ndim > 1:
        raise ParameterError(f"{name} must be a number or a list of numbers, got {q!r}")
    wrong = levels[~((levels > 0) & (levels < 1))]
    if wrong.size:
        raise ParameterError(f"{name} must lie between 0 and 1, got {wrong[0]}")
    return levels


@dataclass(frozen=True, eq=False)
class BinDensity:
    """What turns probabilities of bins into statements about the number.

    Attributes
    ----------
    cuts : array (B − 1,)
        The ascending cuts between bins; bin b has c_b < y ≤ c_{b+1}.
    means : array (B,)
        The mean of the training values in each bin.
    atoms : tuple of int
        The bins whose training values are all equal, and a single bin.
    whole : bool
        Whether samples are whole numbers, because all training values are. The density does not
        depend on it.
    """

    cuts: FloatArray
    means: FloatArray
    atoms: tuple[int, ...] = ()
    whole: bool = False

    def __post_init__(self) -> None:
        for name in ("cuts", "means"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        cuts, means = self.cuts, self.means
        if cuts.ndim != 1 or means.shape != (cuts.size + 1,):
            raise ParameterError(
                f"bins need one mean more than cuts; got {cuts.size} cuts and {means.size} means"
            )
        if not np.isfinite([*cuts, *means]).all() or (np.diff(cuts) <= 0).any():
            raise ParameterError("cuts and means of bins must be finite, and cuts must ascend")
        if (means[:-1] > cuts).any() or (means[1:] < cuts).any():
            raise ParameterError(f"a mean of a bin lies outside of it: {means}, cuts {cuts}")
        if not all(0 <= atom < len(means) for atom in self.atoms):
            raise ParameterError(f"atoms must be bins 0 … {len(means) - 1}, got {self.atoms}")
        if not cuts.size:
            object.__setattr__(self, "atoms", (0,))

    @classmethod
    def of(
        cls, values: FloatArray, cuts: FloatArray, weights: FloatArray | None = None
    ) -> "BinDensity":
        """Learn the means from training values, none NaN; every bin must have one."""
        codes = np.searchsorted(cuts, values, side="left")
        total = np.bincount(codes, weights, minlength=len(cuts) + 1)
        shares = (1.0 if weights is None else weights) / total[codes]  # sums cannot overflow
        sums = np.bincount(codes, values * shares, minlength=len(cuts) + 1)
        low, high = np.append(-np.inf, cuts), np.append(cuts, np.inf)
        means: FloatArray = np.asarray(sums, dtype=np.float64).clip(low, high)  # rounding
        first = np.full(len(means), np.nan)
        first[codes] = values
        n_others = np.bincount(codes, values != first[codes], minlength=len(means))
        atoms = (n_others == 0) & (total >= LEAST_ATOM)
        means[atoms] = first[atoms]
        return cls(cuts, means, tuple(np.flatnonzero(atoms).tolist()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BinDensity):
            return NotImplemented
        same = np.array_equal(self.cuts, other.cuts) and np.array_equal(self.means, other.means)
        return same and (self.atoms, self.whole) == (other.atoms, other.whole)

    def __hash__(self) -> int:
        return hash((self.cuts.tobytes(), self.means.tobytes()))

    @property
    def n_bins(self) -> int:
        """B."""
        return len(self.means)

    @property
    def widths(self) -> FloatArray:
        """The width of every bin, and s of the outer ones that have a tail, shape (B,)."""
        if self.n_bins == 1:
            return np.ones(1)
        tails = [self.cuts[0] - self.means[0], self.means[-1] - self.cuts[-1]]
        for side, outer in enumerate((0, self.n_bins - 1)):
            tails[side] *= 2.0 if outer in self.atoms else 1.0
        low, high = (max(float(tail), TINY) for tail in tails)
        return np.concatenate([[low], np.diff(self.cuts), [high]])

    def log_density_in_bin(self, y: FloatArray) -> FloatArray:
        """Return log p(y | bin of y), shape of y; 0 for NaN, which has no density."""
        if self.n_bins == 1:
            return np.zeros_like(y, dtype=np.float64)
        widths = self.widths
        below = np.maximum(self.cuts[0] - y, 0.0) / widths[0]
        above = np.maximum(y - self.cuts[-1], 0.0) / widths[-1]
        if 0 in self.atoms:
            below = np.where(below > 1.0, np.inf, 0.0)
        if self.n_bins - 1 in self.atoms:
            above = np.where(above > 1.0, np.inf, 0.0)
        beyond = below + above
        inside = -np.log(widths[np.searchsorted(self.cuts, np.nan_to_num(y))]) - beyond
        return np.where(np.isnan(y), 0.0, inside)

    def log_density(self, log_p: FloatArray, y: FloatArray) -> FloatArray:
        """Return log p(y) of one y, not NaN, for each row of log p_b (rows, B), shape (rows,)."""
        own = log_p[np.arange(len(y)), np.searchsorted(self.cuts, y)]
        return np.asarray(own + self.log_density_in_bin(y))

    def given_known(self, p: FloatArray) -> FloatArray:
        """Return p(bin | not missing) from p(state), shape (rows, B); NaN if p(missing) is 1.

        ``p``: shape (rows, B), or (rows, B + 1) where the last state is a missing entry.
        """
        bins = p[:, : self.n_bins]
        total = bins.sum(axis=1, keepdims=True)
        return np.asarray(bins / np.where(total > 0.0, total, np.nan))

    def mean(self, p: FloatArray) -> FloatArray:
        """Return the mean of y for each row of p_b (rows, B), shape (rows,)."""
        return np.asarray(p @ self.means)

    def quantiles(self, p: FloatArray, q: ArrayLike) -> FloatArray:
        """Return the numbers that y does not exceed with probability q, shape (rows, len(q)).

        ``p``: p_b, shape (rows, B).
        """
        levels = check_levels(q)
        upper = np.cumsum(p, axis=1)
        rows = np.arange(len(p))
        result = np.empty((len(p), len(levels)))
        for column, level in enumerate(levels):
            bins = (upper[:, :-1] < level).sum(axis=1)
            own = np.maximum(p[rows, bins], TINY)
            result[:, column] = self.number_at(bins, 1.0 - (upper[rows, bins] - level) / own)
        return result

    def shares_inside(self, low: float, high: float) -> FloatArray:
        """Return p(low < Y ≤ high | bin) of every bin, shape (B,)."""
        return self._shares_up_to(high) - self._shares_up_to(low)

    def _shares_up_to(self, y: float) -> FloatArray:
        """Return p(Y ≤ y | bin) of every bin, shape (B,)."""
        if self.n_bins == 1:
            return np.asarray(self.means <= y, dtype=np.float64)
        widths = self.widths
        starts = np.append(self.cuts[:1], self.cuts)
        shares = ((y - starts) / widths).clip(0.0, 1.0)
        shares[0] = np.exp(min(y - self.cuts[0], 0.0) / widths[0])
        shares[-1] = -np.expm1(-max(y - self.cuts[-1], 0.0) / widths[-1])
        atoms = list(self.atoms)
        shares[atoms] = self.means[atoms] <= y
        return np.asarray(shares)

    def sample(self, bins: IntArray, generator: np.random.Generator) -> FloatArray:
        """Draw a number from each of these bins."""
        numbers = self.number_at(bins, generator.random(len(bins)))
        if not self.whole:
            return numbers
        low, high = np.append(-np.inf, self.cuts), np.append(self.cuts, np.inf)
        return np.round(numbers).clip(np.floor(low[bins]) + 1.0, np.floor(high[bins]))

    def number_at(self, bins: IntArray, share: FloatArray) -> FloatArray:
        """Return y with p(Y ≤ y | bin) = share, and the value of an atom."""
        if self.n_bins == 1:
            return self.means[bins]
        inner_ends = np.append(self.cuts[:1], self.cuts)
        share = share.clip(TINY, 1.0 - 2.0**-53)
        step = np.where(bins == 0, np.log(share), share)
        step = np.where(bins == self.n_bins - 1, -np.log1p(-share), step)
        numbers = inner_ends[bins] + step * self.widths[bins]
        return np.where(np.isin(bins, self.atoms), self.means[bins], numbers)
