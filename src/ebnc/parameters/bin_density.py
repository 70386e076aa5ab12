"""The density of a number whose states are intervals: flat inside of the data, tails outside.

With bin b between the edges c_b and c_{b+1}, where c_0 and c_B are the least and greatest training
value, and p_b the probability of bin b,

    p(x) = p_b (1 − τ_b) / (c_{b+1} − c_b)                 c_b < x ≤ c_{b+1}
    p(x) = p_0 τ_0 exp(−(c_0 − x)/m_0) / m_0               x < c_0,   and likewise above c_B

Only the first and last bin have τ > 0: with n training values in a bin, the next one lies beyond
all of them with probability τ = 1/(n + 1). The mean length m of a tail is the mean distance of the
bin's values from its inner edge; for an exponential tail, this is the estimate of its mean, and it
does not depend on where the tail begins.

Models know the p_b; this record knows everything else. Bins have a density, and the other states
of a variable (a missing entry) do not: their probabilities are as they are.
"""

from dataclasses import dataclass

import numpy as np

from ebnc.errors import ParameterError
from ebnc.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class BinDensity:
    """How a number is distributed inside its B bins.

    Attributes
    ----------
    edges
        c_0 … c_B, finite and ascending, shape (B + 1,).
    means
        The mean training value of every bin, shape (B,).
    tail_shares
        τ of the first and of the last bin.
    tail_means
        m of the lower and of the upper tail.
    """

    edges: FloatArray
    means: FloatArray
    tail_shares: FloatArray
    tail_means: FloatArray

    def __post_init__(self) -> None:
        for name in ("edges", "means", "tail_shares", "tail_means"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        n = len(self.means)
        shapes = self.edges.shape, self.tail_shares.shape, self.tail_means.shape
        if n < 2 or shapes != ((n + 1,), (2,), (2,)):
            raise ParameterError(f"{n} bins cannot have edges and tails of the shapes {shapes}")
        if not (np.isfinite(self.edges).all() and (np.diff(self.edges) > 0).all()):
            raise ParameterError(f"edges must be finite and ascend, got {self.edges}")
        if ((self.means < self.edges[:-1]) | (self.means > self.edges[1:])).any():
            raise ParameterError(f"the mean of a bin lies outside of it: {self.means}")
        if ((self.tail_shares <= 0) | (self.tail_shares >= 1)).any():
            raise ParameterError(f"shares of tails must be in (0, 1), got {self.tail_shares}")
        if not (np.isfinite(self.tail_means) & (self.tail_means > 0)).all():
            raise ParameterError(f"means of tails must be positive, got {self.tail_means}")

    @classmethod
    def learn(
        cls, values: FloatArray, cuts: FloatArray, weights: FloatArray | None = None
    ) -> "BinDensity":
        """Learn the edges and tails of bins from training values; ignore NaN.

        ``cuts``: the inner edges, at least one, with values on both sides.
        """
        present = ~np.isnan(values)
        values = np.asarray(values[present], dtype=np.float64)
        weight = np.ones(len(values)) if weights is None else weights[present]
        code = np.searchsorted(cuts, values, side="left")
        count = np.bincount(code, weight, len(cuts) + 1)
        edges = np.concatenate([[values.min(initial=np.inf)], cuts, [values.max(initial=-np.inf)]])
        middle = (edges[:-1] + edges[1:]) / 2
        sums = np.bincount(code, weight * (values - middle[code]), len(cuts) + 1)
        means = middle + np.divide(sums, count, out=np.zeros_like(sums), where=count > 0)
        means = means.clip(edges[:-1], edges[1:])  # rounding
        tail_means = np.array([edges[1] - means[0], means[-1] - edges[-2]])
        tail_shares = np.asarray(1.0 / (count[[0, -1]] + 1.0), dtype=np.float64)
        return cls(edges, means, tail_shares, tail_means)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BinDensity):
            return NotImplemented
        return all(np.array_equal(a, b) for a, b in zip(self._arrays, other._arrays, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(array.tobytes() for array in self._arrays))

    @property
    def n_bins(self) -> int:
        """B."""
        return len(self.means)

    def codes(self, values: FloatArray) -> IntArray:
        """Return the bin of every value; a value on an edge belongs to the lower bin."""
        return np.searchsorted(self.edges[1:-1], values, side="left")

    def log_density_in_bin(self, values: FloatArray) -> FloatArray:
        """Return log p(x | bin of x), shape of ``values``; 0 for NaN, which has no density."""
        values = np.asarray(values, dtype=np.float64)
        flat = np.log(self._inside / np.diff(self.edges))[self.codes(np.nan_to_num(values))]
        beyond = np.stack([self.edges[0] - values, values - self.edges[-1]])
        height = np.log(self.tail_shares / self.tail_means)
        for excess, mean, log_height in zip(beyond, self.tail_means, height, strict=True):
            flat = np.where(excess > 0, log_height - np.maximum(excess, 0.0) / mean, flat)
        return np.where(np.isnan(values), 0.0, flat)

    def log_density(self, probabilities: FloatArray, values: FloatArray) -> FloatArray:
        """Return log p(x) of every row.

        ``probabilities``: of the bins, shape (rows, B). ``values``: shape (rows,), none NaN.
        """
        with np.errstate(divide="ignore"):
            of_bin = np.log(probabilities[np.arange(len(values)), self.codes(values)])
        return np.asarray(of_bin + self.log_density_in_bin(values))

    def cumulative(self, probabilities: FloatArray, values: FloatArray) -> FloatArray:
        """Return p(X ≤ x) of every row; shapes as in ``log_density``."""
        code = self.codes(values)
        row = np.arange(len(values))
        below = np.cumsum(probabilities, axis=1)[row, code] - probabilities[row, code]
        return np.asarray(below + probabilities[row, code] * self._share_below(code, values))

    def quantile(self, probabilities: FloatArray, levels: FloatArray) -> FloatArray:
        """Return x with p(X ≤ x) = level for every row and level, shape (rows, levels).

        ``probabilities``: of the bins, shape (rows, B). ``levels``: shape (levels,), in (0, 1).
        """
        upper = np.cumsum(probabilities, axis=1)
        upper /= upper[:, -1:]
        result = np.empty((len(upper), len(levels)))
        for i, level in enumerate(levels):
            code = (upper[:, :-1] < level).sum(axis=1)
            lower = np.take_along_axis(np.pad(upper, ((0, 0), (1, 0))), code[:, None], 1)[:, 0]
            width = np.take_along_axis(upper, code[:, None], 1)[:, 0] - lower
            share = np.divide(level - lower, width, out=np.full(len(upper), 0.5), where=width > 0)
            result[:, i] = self.place_in_bin(code, share)
        return result

    def mean(self, probabilities: FloatArray) -> FloatArray:
        """Return Σ_b p_b · mean training value of bin b, shape (rows,).

        Where tails are long, the means of the density inside of bins are poor estimates.
        """
        return np.asarray(probabilities @ self.means / probabilities.sum(axis=1))

    def sample(self, codes: IntArray, generator: np.random.Generator) -> FloatArray:
        """Draw a number from every one of these bins."""
        return self.place_in_bin(codes, generator.random(len(codes)))

    def place_in_bin(self, codes: IntArray, shares: FloatArray) -> FloatArray:
        """Return x with p(X ≤ x | bin) = share for every row; it inverts the distribution."""
        low, high = self.edges[codes], self.edges[codes + 1]
        below, above = self._tails[:, codes]
        inside = (shares - below) / (1.0 - below - above)
        x = low + inside.clip(0.0, 1.0) * (high - low)
        least = 1e-300  # a share of exactly 0 or 1 gives a finite number
        with np.errstate(divide="ignore", invalid="ignore"):
            down = low + self.tail_means[0] * np.log(np.maximum(shares, least) / below)
            up = high - self.tail_means[1] * np.log(np.maximum(1.0 - shares, least) / above)
        x = np.where(shares < below, down, x)
        return np.asarray(np.where(shares > 1.0 - above, up, x))

    def _share_below(self, codes: IntArray, values: FloatArray) -> FloatArray:
        """p(X ≤ x | bin) of values in these bins."""
        low, high = self.edges[codes], self.edges[codes + 1]
        below, above = self._tails[:, codes]
        share = below + (1.0 - below - above) * ((values - low) / (high - low)).clip(0.0, 1.0)
        down = below * np.exp(np.minimum(values - low, 0.0) / self.tail_means[0])
        up = 1.0 - above * np.exp(np.minimum(high - values, 0.0) / self.tail_means[1])
        share = np.where(values < low, down, share)
        return np.asarray(np.where(values > high, up, share))

    @property
    def _tails(self) -> FloatArray:
        """The shares of the lower and upper tail of every bin, shape (2, B)."""
        tails = np.zeros((2, self.n_bins))
        tails[0, 0], tails[1, -1] = self.tail_shares
        return tails

    @property
    def _inside(self) -> FloatArray:
        """1 − τ of every bin."""
        return np.asarray(1.0 - self._tails.sum(axis=0))

    @property
    def _arrays(self) -> tuple[FloatArray, ...]:
        return self.edges, self.means, self.tail_shares, self.tail_means
