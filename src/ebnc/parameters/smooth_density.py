"""The density of a number to predict, from the probabilities of its bins, without steps.

It corrects two faults of a density that is flat inside its bins (``bin_density``).

**Widths are noisy**, because every bin begins and ends at a training value. A smooth curve f_b
takes the place of the bins' log densities without x, u_b (``smooth_widths``):

    p_b ∝ p(b | x) exp(o_b + f_b − u_b)

Then bins say how the density changes with x, and the curve what it is without x. The outer bins and
atoms remain as they are. o_b makes up for what a classifier of few columns cannot fit
(``estimator.base_measure``).

**Bins are wide.** The logarithm of the density is linear between the midpoints of bins, and
between a tail and the midpoint next to it. So every piece is exponential. An atom is flat, and so
is the half beside it of the next bin. At last, the sum over all pieces is divided out.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ebnc.errors import ParameterError
from ebnc.parameters.bin_density import TINY, BinDensity, check_levels
from ebnc.parameters.smooth_widths import inner_bins, smooth_corrections
from ebnc.typing import FloatArray, IntArray

LEAST_SLOPE = 1e-8  # below it, a piece counts as flat
ROWS_AT_ONCE = 20_000


@dataclass(frozen=True, eq=False)
class SmoothDensity:
    """What turns probabilities of bins into a density without steps.

    Attributes
    ----------
    bins : BinDensity
        The cuts between bins, the mean of the training values in each, and the atoms.
    corrections : array (B,)
        f_b − u_b, which is added to the log probability of each bin.
    offsets : array (B,)
        o_b, which is added to the log probability that a classifier gives to each bin.
    """

    bins: BinDensity
    corrections: FloatArray
    offsets: FloatArray

    def __post_init__(self) -> None:
        for name in ("corrections", "offsets"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
            if array.shape != (self.bins.n_bins,) or not np.isfinite(array).all():
                raise ParameterError(
                    f"{self.bins.n_bins} bins need as many finite {name}, got {array}"
                )

    @classmethod
    def of(
        cls,
        values: FloatArray,
        cuts: FloatArray,
        weights: FloatArray | None = None,
        offsets: FloatArray | None = None,
    ) -> "SmoothDensity":
        """Learn it from training values, none NaN; every bin must have one."""
        bins = BinDensity.of(values, cuts, weights)
        zeros = np.zeros(bins.n_bins)
        corrections = smooth_corrections(bins, values, weights)
        return cls(bins, corrections, zeros if offsets is None else offsets)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SmoothDensity):
            return NotImplemented
        return (
            self.bins == other.bins
            and np.array_equal(self.corrections, other.corrections)
            and np.array_equal(self.offsets, other.offsets)
        )

    def __hash__(self) -> int:
        return hash((self.bins, self.corrections.tobytes()))

    def log_density(self, log_p: FloatArray, y: FloatArray) -> FloatArray:
        """Return log p(y) of one y, not NaN, for each row of log p_b (rows, B), shape (rows,)."""
        result = np.empty(len(y))
        for some in _chunks(len(y)):
            result[some] = self._log_density(_Pieces.of(self, log_p[some]), y[some])
        return result

    def _log_density(self, pieces: "_Pieces", y: FloatArray) -> FloatArray:
        rows = np.arange(len(y))
        own = np.searchsorted(self.layout.ends, y)
        share = (y - self.layout.starts[own]) / self.layout.widths[own]
        inside = pieces.left[rows, own] + share * pieces.slope[rows, own]
        code = self.layout.bins[own]
        plain = pieces.log_p[rows, code] + self.bins.log_density_in_bin(y)
        return np.where(self.layout.is_plain[own], plain, inside) - pieces.log_total

    def mean(self, p: FloatArray) -> FloatArray:
        """Return the mean of y for each row of p_b (rows, B): Σ_b p_b m_b, p_b with the offsets.

        Corrections are for densities; without them, the mean over the training data is right.
        """
        weighted = p * np.exp(self.offsets)
        return self.bins.mean(weighted / weighted.sum(axis=1, keepdims=True))

    def quantiles(self, p: FloatArray, q: ArrayLike) -> FloatArray:
        """Return the numbers that y does not exceed with probability q, shape (rows, len(q)).

        ``p``: p_b, shape (rows, B).
        """
        levels = check_levels(q)
        result = np.empty((len(p), len(levels)))
        for some in _chunks(len(p)):
            result[some] = self._quantiles(_Pieces.of(self, _log(p[some])), levels)
        return result

    def _quantiles(self, pieces: "_Pieces", levels: FloatArray) -> FloatArray:
        upper, rows = np.cumsum(pieces.shares, axis=1), np.arange(len(pieces.shares))
        result = np.empty((len(rows), len(levels)))
        for column, level in enumerate(levels):
            own = (upper[:, :-1] < level).sum(axis=1)
            share = 1.0 - (upper[rows, own] - level) / np.maximum(pieces.shares[rows, own], TINY)
            share = share.clip(0.0, 1.0)
            place = _place(share, pieces.slope[rows, own])
            inside = self.layout.starts[own] + place * self.layout.widths[own]
            plain = self.bins.number_at(self.layout.bins[own], share)
            result[:, column] = np.where(self.layout.is_plain[own], plain, inside)
        return result

    @cached_property
    def layout(self) -> "_Layout":
        """The pieces of the density."""
        return _Layout.of(self.bins)


@dataclass(frozen=True, eq=False)
class _Layout:
    """The pieces, from low to high: the halves of inner bins, and whole atoms and outer bins.

    ``bins``: the bin of each. ``is_plain``: whether it is an atom or an outer bin, which are as in
    ``BinDensity``. ``left``, ``right``: log densities at the ends of the pieces are those of bins
    (rows, B) times these matrices (B, pieces). ``ends``: upper ends, without the last.
    """

    bins: IntArray
    is_plain: NDArray[np.bool_]
    starts: FloatArray
    ends: FloatArray
    widths: FloatArray
    left: FloatArray
    right: FloatArray

    @classmethod
    def of(cls, density: BinDensity) -> "_Layout":
        n_bins, cuts = density.n_bins, density.cuts
        is_inner = np.isin(np.arange(n_bins), inner_bins(density))
        half = np.where(is_inner, density.widths / 2, 0.0)
        unit = np.eye(n_bins)

        def edge(own: int, beside: int) -> FloatArray:
            """Weights of the log densities of bins at the cut between two of them."""
            if beside in density.atoms:
                return np.asarray(unit[own])
            ratio = half[own] / (half[own] + half[beside])
            return np.asarray(unit[own] + ratio * (unit[beside] - unit[own]))

        bins, starts, left, right = [], [], [], []
        for b in range(n_bins):
            bins += [b, b] if is_inner[b] else [b]
            starts.append(cuts[b - 1] if b else cuts[0])
            if is_inner[b]:
                starts.append(cuts[b - 1] / 2 + cuts[b] / 2)
                left += [edge(b, b - 1), unit[b]]
                right += [unit[b], edge(b, b + 1)]
            else:
                left.append(unit[b])
                right.append(unit[b])
        numbers = np.array(bins)
        widths = density.widths[numbers] / np.where(is_inner[numbers], 2.0, 1.0)
        return cls(
            numbers,
            ~is_inner[numbers],
            np.array(starts),
            np.array(starts[1:]),
            widths,
            np.array(left).T,
            np.array(right).T,
        )


@dataclass(frozen=True, eq=False)
class _Pieces:
    """The pieces' densities for some rows: log density at the left end, and its rise to the right.

    ``log_p``: corrected log probabilities of bins. ``shares``: probabilities of the pieces.
    """

    log_p: FloatArray
    left: FloatArray
    slope: FloatArray
    shares: FloatArray
    log_total: FloatArray

    @classmethod
    def of(cls, density: SmoothDensity, log_p: FloatArray) -> "_Pieces":
        layout = density.layout
        corrected = np.maximum(log_p, np.log(TINY)) + density.offsets + density.corrections
        heights = corrected - np.log(density.bins.widths)
        left, right = heights @ layout.left, heights @ layout.right
        slope = right - left
        # ∫₀¹ exp(L + δt) dt = exp(max(L, R)) (1 − exp(−|δ|)) / |δ|
        steep = np.maximum(np.abs(slope), LEAST_SLOPE)
        log_mass = np.maximum(left, right) + np.log(-np.expm1(-steep) / steep)
        log_mass += np.log(layout.widths)
        top = log_mass.max(axis=1, keepdims=True)
        mass = np.exp(log_mass - top)
        total = mass.sum(axis=1, keepdims=True)
        return cls(corrected, left, slope, mass / total, (top + np.log(total))[:, 0])


def _place(share: FloatArray, slope: FloatArray) -> FloatArray:
    """Return t with ∫₀ᵗ exp(δs) ds = share · ∫₀¹ exp(δs) ds, for slopes δ."""
    steep = np.maximum(np.abs(slope), LEAST_SLOPE)
    falling = np.where(slope < 0.0, share, 1.0 - share)
    place = -np.log1p(np.expm1(-steep) * falling) / steep
    return np.asarray(np.where(slope < 0.0, place, 1.0 - place))


def _log(p: FloatArray) -> FloatArray:
    return np.asarray(np.log(np.maximum(p, TINY)))


def _chunks(n_rows: int) -> list[slice]:
    return [slice(i, i + ROWS_AT_ONCE) for i in range(0, n_rows, ROWS_AT_ONCE)]
