"""Log-likelihood of rows with missing entries, which are summed out.

    log p(observed) = log Σ_hidden Π_i p(z_i | pa_i)

Only ancestors of observed variables matter. Rows with the same missing entries are computed
together.
"""

import warnings

import numpy as np
from numpy.typing import NDArray

from ebnc.data.rows import CodedRows
from ebnc.errors import ParameterError, TooLargeError
from ebnc.network.inference.elimination import Eliminator
from ebnc.network.inference.evidence import Evidence
from ebnc.network.inference.sampling import FEW_EFFECTIVE, weighted_samples
from ebnc.typing import FloatArray


def log_marginals(
    eliminator: Eliminator,
    rows: CodedRows,
    hidden: NDArray[np.bool_],
    n_samples: int | None,
    random_state: int,
) -> FloatArray:
    """Return log p of the observed entries of every row.

    ``hidden``: (variables, rows), True if missing. The result is exact if the intermediate tables
    are small enough. Otherwise it is the logarithm of the mean of ``n_samples`` likelihood weights,
    and a warning reports its standard error; without ``n_samples`` a ``TooLargeError`` is raised.
    """
    if n_samples is not None and n_samples < 1:
        raise ParameterError(f"n_samples must be at least 1, got {n_samples}")
    network = eliminator.network
    result = np.empty(len(rows))
    effective: list[float] = []  # effective sample sizes of the estimated rows
    patterns, member = np.unique(hidden, axis=1, return_inverse=True)
    n_states = tuple(map(network.domain.n_states, rows.names))
    for p, pattern in enumerate(patterns.T):
        chosen = np.flatnonzero(member.reshape(-1) == p)
        codes = np.where(pattern[:, None], 0, rows.codes[:, chosen]).astype(rows.codes.dtype)
        observed = {x for x, lacking in zip(rows.names, pattern, strict=True) if not lacking}
        known = CodedRows(rows.names, n_states, codes)
        try:
            result[chosen] = eliminator.log_sums(known, (), observed)
            continue
        except TooLargeError as error:
            if n_samples is None:
                raise TooLargeError(
                    f"{error} for row {chosen[0]}, where {pattern.sum()} entries are missing; give "
                    "n_samples (--samples) to estimate its probability from that many samples"
                ) from None
        generator = np.random.default_rng([random_state, p])
        for column, place in zip(codes.T, chosen.tolist(), strict=True):
            evidence = {x: int(c) for x, c in zip(rows.names, column, strict=True) if x in observed}
            samples = weighted_samples(network, Evidence(evidence), (), n_samples, generator)
            result[place] = samples.log_mean
            effective.append(samples.effective)
    if effective and n_samples is not None:
        _warn(len(rows), n_samples, np.array(effective))
    return result


def _warn(n_rows: int, n_samples: int, effective: FloatArray) -> None:
    """Warn how precise the estimates are: log p̂ has variance 1/effective − 1/n, to first order."""
    few = int((effective < FEW_EFFECTIVE).sum())
    with np.errstate(divide="ignore"):
        errors = np.sqrt(np.maximum(1 / effective - 1 / n_samples, 0.0))
    message = (
        f"log p of {len(effective)} of {n_rows} rows is estimated from {n_samples} samples each, "
        f"with standard errors up to {errors.max():.2g}"
    )
    if few:
        message += (
            f"; {few} of them rest on fewer than {FEW_EFFECTIVE} effective samples and may be far "
            "too low: give more samples"
        )
    warnings.warn(message, UserWarning, stacklevel=4)
