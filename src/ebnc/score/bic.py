"""The Bayesian information criterion of one local model, one summand of eq. 9."""

import math

__all__ = ["bic"]


def bic(log_likelihood: float, dimension: int, n_cases: float) -> float:
    """L(φ̂) − (d/2) log N: a log number, higher is better (not the −2 L convention).

    ``log_likelihood``: a sum of *log* p (errata E2). ``dimension``: that of the span.
    """
    return log_likelihood - 0.5 * dimension * math.log(n_cases)
