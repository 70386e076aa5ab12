"""The density of a number from the probabilities of its bins, with means and quantiles.

A regression is a classification into bins b = 0 … B − 1 in order, cut at c_1 < … < c_{B−1}:

    p(y|x) = p_b(x) / (c_{b+1} − c_b)                     inside of the cuts, y in bin b
    p(y|x) = p_0(x) exp(−(c_1 − y) / s_0) / s_0           below the first cut
    p(y|x) = p_{B−1}(x) exp(−(y − c_{B−1}) / s_1) / s_1   above the last cut

s is the mean distance of the training values in an outer bin from its cut, the maximum likelihood
estimate of an exponential tail. So the density integrates to 1. It is a step function: a value that
many rows share (a zero, or a limit of the scale) has a narrow bin of its own, and its density is
its probability, spread evenly over the bin; it is high, but finite.

The mean of y given x is Σ_b p_b(x) m_b, where m_b is the mean of the training values in the bin: a
midpoint would be wrong where values are skew.
"""

from dataclasses import dataclass

import numpy as np

from ebnc.errors import ParameterError
from ebnc.typing import FloatArray

TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, eq=False)
class BinDensity:
    """What turns probabilities of bins, shape (rows, B), into statements about the number.

    Attributes
    ----------
    cuts : array (B − 1,)
        The ascending cuts between bins; bin b has c_b < y ≤ c_{b+1}.
    means : array (B,)
        The mean of the training values in each bin.
    """

    cuts: FloatArray
    means: FloatArray

    @classmethod
    def of(cls, values: FloatArray, cuts: FloatArray, weights: FloatArray | None) -> "BinDensity":
        """Learn the means from training values; every bin must have one."""
        codes = np.searchsorted(cuts, values)
        total = np.bincount(codes, weights, minlength=len(cuts) + 1)
        weighted = values if weights is None else values * weights
        sums = np.bincount(codes, weighted, minlength=len(cuts) + 1)
        return cls(cuts, np.asarray(sums / total))

    @property
    def _tails(self) -> tuple[float, float]:
        """s of the lower and of the upper tail."""
        below, above = self.cuts[0] - self.means[0], self.means[-1] - self.cuts[-1]
        return max(float(below), TINY), max(float(above), TINY)

    def mean(self, p: FloatArray) -> FloatArray:
        """The mean of y, shape (rows,)."""
        return np.asarray(p @ self.means)

    def log_density(self, log_p: FloatArray, y: FloatArray) -> FloatArray:
        """log p(y|x) of one y for each row, in nats, shape (rows,)."""
        low, high = self._tails
        bins = np.searchsorted(self.cuts, y)
        widths = np.concatenate([[low], np.diff(self.cuts), [high]])
        beyond = np.maximum(self.cuts[0] - y, 0.0) / low
        beyond += np.maximum(y - self.cuts[-1], 0.0) / high
        own = log_p[np.arange(len(y)), bins]
        return np.asarray(own - np.log(widths[bins]) - beyond)

    def quantiles(self, p: FloatArray, q: FloatArray) -> FloatArray:
        """The numbers that y does not exceed with probability q, shape (rows, len(q))."""
        wrong = q[~((q > 0) & (q < 1))]
        if wrong.size:
            raise ParameterError(f"quantiles must lie between 0 and 1, got {wrong[0]}")
        low, high = self._tails
        # The cumulative probabilities at the cuts, from both ends, so that small ones are exact.
        below = np.cumsum(p, axis=1)[:, :-1]
        above = np.cumsum(p[:, ::-1], axis=1)[:, -2::-1]
        result = np.empty((len(p), len(q)))
        rows = np.arange(len(p))
        for column, level in enumerate(q):
            bins = (below < level).sum(axis=1)
            inner = np.clip(bins, 1, max(1, len(self.cuts) - 1))
            if len(self.cuts) > 1:
                start = below[rows, inner - 1]
                share = (level - start) / np.maximum(p[rows, inner], TINY)
                width = self.cuts[inner] - self.cuts[inner - 1]
                inside = self.cuts[inner - 1] + np.clip(share, 0.0, 1.0) * width
            else:
                inside = np.full(len(p), self.cuts[0])
            with np.errstate(divide="ignore"):
                lower = self.cuts[0] + low * np.log(level / below[:, 0])
                upper = self.cuts[-1] - high * np.log((1.0 - level) / above[:, -1])
            inside = np.where(bins == 0, lower, inside)
            result[:, column] = np.where(bins == len(self.cuts), upper, inside)
        return result
