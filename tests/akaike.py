"""A toy score, for tests that register it in the table of scores."""

from ebnc.score.bic import likelihood_supremum
from ebnc.score.criterion import BIC


class AIC(BIC):
    """L(φ̂) − d, Akaike's criterion divided by −2."""

    def fit(self, likelihood, _prior, start):
        return likelihood_supremum(likelihood, start)

    def value(self, fit):
        return fit.log_likelihood - fit.design.dimension

    def of_local(self, local, _n_cases):
        return local.log_likelihood - local.dimension

    def price(self, precision, _log_determinant, _n_cases):
        return -float(len(precision))
