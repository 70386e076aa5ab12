"""exp, log and log(1 + x) without branches, so that loops over them are vectorised.

numba calls the mathematics library once per element; these are polynomials, accurate to an ulp or
two, and several times as fast in a loop (measured on AVX2). They are unrolled, because a loop over
coefficients prevents vectorisation of the loop over rows (3.5 times as slow). Products and sums are
not fused, so that results are the same on every processor and in ``numpy_lookup``.
"""

from numba import njit, types
from numba.extending import intrinsic

from ebnc.kernels.series import (
    ARTANH,
    EXP,
    LN2_HIGH,
    LN2_LOW,
    LOG2_E,
    MAGIC,
    ROOT_HALF_BITS,
    SMALLEST,
)


@intrinsic
def _bits(typing_context, x):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """The 64 bits of a double, as an integer."""

    def generate(context, builder, _signature, args):  # type: ignore[no-untyped-def]
        return builder.bitcast(args[0], context.get_value_type(types.int64))

    return types.int64(types.float64), generate


@intrinsic
def _double(typing_context, x):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """The double with these 64 bits."""

    def generate(context, builder, _signature, args):  # type: ignore[no-untyped-def]
        return builder.bitcast(args[0], context.get_value_type(types.float64))

    return types.float64(types.int64), generate


@njit(inline="always", error_model="numpy")
def exp_of_negative(x):  # type: ignore[no-untyped-def]
    """exp(x) for x ≤ 0; exactly 0 below −708, where the result would not be a normal number.

    exp x = 2ⁿ exp r,   n = round(x / ln 2),   |r| ≤ ½ ln 2
    """
    shifted = max(x, SMALLEST) * LOG2_E + MAGIC
    n = shifted - MAGIC
    r = (max(x, SMALLEST) - n * LN2_HIGH) - n * LN2_LOW
    p = EXP[13]
    p = p * r + EXP[12]
    p = p * r + EXP[11]
    p = p * r + EXP[10]
    p = p * r + EXP[9]
    p = p * r + EXP[8]
    p = p * r + EXP[7]
    p = p * r + EXP[6]
    p = p * r + EXP[5]
    p = p * r + EXP[4]
    p = p * r + EXP[3]
    p = p * r + EXP[2]
    p = p * r + 1.0
    p = p * r + 1.0
    power = _double(_bits(p) + (_bits(shifted) << 52))  # type: ignore[call-arg, var-annotated]
    return power if x >= SMALLEST else 0.0


@njit(inline="always", error_model="numpy")
def _artanh_series(p, t):  # type: ignore[no-untyped-def]
    """(artanh(u)/u − 1)/u² for t = u²; ``p``: the sum of its terms from the eleventh on."""
    p = p * t + ARTANH[9]
    p = p * t + ARTANH[8]
    p = p * t + ARTANH[7]
    p = p * t + ARTANH[6]
    p = p * t + ARTANH[5]
    p = p * t + ARTANH[4]
    p = p * t + ARTANH[3]
    p = p * t + ARTANH[2]
    return p * t + ARTANH[1]


@njit(inline="always", error_model="numpy")
def log1p_of_fraction(x):  # type: ignore[no-untyped-def]
    """log(1 + x) for 0 ≤ x ≤ 1:  2 artanh(u),  u = x / (2 + x) ≤ ⅓."""
    u = x / (2.0 + x)
    t = u * u
    p = ARTANH[15]
    p = p * t + ARTANH[14]
    p = p * t + ARTANH[13]
    p = p * t + ARTANH[12]
    p = p * t + ARTANH[11]
    p = p * t + ARTANH[10]
    p = _artanh_series(p, t) * t + 1.0
    return 2.0 * u * p


@njit(inline="always", error_model="numpy")
def log_of_positive(x):  # type: ignore[no-untyped-def]
    """log x for normal x > 0:  n log 2 + 2 artanh(u),  x = 2ⁿ m,  ½ ≤ m² < 2,
    u = (m − 1)/(m + 1),  |u| < 0.172."""
    bits = _bits(x)  # type: ignore[call-arg, var-annotated]
    power = (bits - ROOT_HALF_BITS) >> 52
    m = _double(bits - (power << 52))
    n = float(power)
    u = (m - 1.0) / (m + 1.0)
    t = u * u
    p = _artanh_series(ARTANH[10], t)
    return n * LN2_HIGH + (2.0 * u + (2.0 * u * (t * p) + n * LN2_LOW))
