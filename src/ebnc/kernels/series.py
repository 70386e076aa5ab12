"""Constants of exp, log and log(1 + x), shared by compiled code and NumPy."""

import math

MAGIC = 1.5 * 2.0**52  # adding it leaves the nearest integer in the low bits of a double
LOG2_E = 1.0 / math.log(2.0)
LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")  # ln 2 in two parts: n · high is exact
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
SMALLEST = -708.0  # exp(−708) is the last normal double
EXP = tuple(1.0 / math.factorial(k) for k in range(14))  # Taylor: 0.35¹⁴/14! < 2⁻⁵⁷
ARTANH = tuple(1.0 / (2 * k + 1) for k in range(16))  # artanh(u)/u in u²: 3⁻³²/33 < 2⁻⁵⁵
ROOT_HALF_BITS = 0x3FE6A09E667F3BCD  # of the double √½
