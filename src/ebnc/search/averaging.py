"""Averages over the models of a search, and over the posterior of φ.

Models whose score is within Occam's window of the best have weights exp(score). The posterior of φ
is approximated by the normal N(E φ, A⁻¹), represented by a few deterministic draws in antithetic
pairs; a prediction costs one look-up per draw.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ebnc.fitting.fit import Fit
from ebnc.likelihood.posterior import Posterior
from ebnc.parameters.coding import ORTHONORMAL
from ebnc.parameters.tables import first_bags
from ebnc.score.posterior_mean import posterior_mean
from ebnc.score.signatures import cell_signatures, class_signatures, name_signature, normals
from ebnc.search.scorer import Scored, Scorer
from ebnc.typing import FloatArray

__all__ = ["occams_window", "posterior_draws"]

WINDOW = math.log(100.0)
MOST_MODELS = 20
N_DRAWS = 16


def occams_window(scorer: Scorer, met: Sequence[Scored]) -> list[tuple[float, Scored]]:
    """Return weights and models, best first: at most 20 within a factor of 100 of the best.

    A search scores most models at the scales of the model before them. The scales of models inside
    the window are tuned here, so that all weights come from the same score.
    """
    near = [scorer.tuned(scored.structure, scored) for scored in _inside(met)]
    inside = _inside(near)
    weights = np.exp([scored.score - inside[0].score for scored in inside])
    weights /= weights.sum()
    return list(zip(weights.tolist(), inside, strict=True))


def _inside(models: Sequence[Scored]) -> list[Scored]:
    ranked = sorted(models, key=lambda scored: (-scored.score, str(scored.structure)))
    return [each for each in ranked[:MOST_MODELS] if each.score > ranked[0].score - WINDOW]


def posterior_draws(posterior: Posterior, fit: Fit) -> list[FloatArray]:
    """Return draws of φ from N(E φ, A⁻¹), in the order of the basis, to average predictions over.

    A draw is E φ + A^{−½} z with the symmetric root, which does not depend on the coordinates. z
    (``_standard_normal``) does not depend on the names of states and classes.
    """
    design, centre = fit.design, posterior_mean(posterior, fit)
    lower = np.tril(fit.curvature.lower)
    values, vectors = np.linalg.eigh(lower @ lower.T)
    draws = []
    for number in range(N_DRAWS // 2):
        z = design.from_basis(_standard_normal(posterior, number)).ravel()
        away = (vectors @ ((vectors.T @ z) / np.sqrt(values))).reshape(centre.shape)
        draws += [design.to_basis(centre + sign * away) for sign in (1.0, -1.0)]
    return draws


def _standard_normal(posterior: Posterior, number: int) -> FloatArray:
    """Return z ~ N(0, I) in the coordinates of φ, in the order of the basis.

    The signature of a cell of a term and a class determines a standard normal number ζ, and
    z = (⊗_i H_i)ᵀ ζ H_Y / √(K Π r_i). As HᵀH = r I, the entries of z are standard normal and
    uncorrelated, and renaming states transforms z like φ.
    """
    design = posterior.design
    basis = design.basis
    n_classes = basis.n_classes
    tables = {}
    for bag, (start, stop) in zip(design.bags, pairwise(design.offsets.tolist()), strict=True):
        sizes = [basis.domain.n_states(x) for x in bag.names]
        tables[bag.names] = posterior.data.class_counts[:, start:stop].reshape(n_classes, *sizes)
    homes = first_bags(list(tables), [term.inputs for term in basis.terms])
    z = np.empty(basis.dimension)
    for term, home in zip(basis.terms, homes, strict=True):
        names, counts = list(tables.items())[home]
        summed = counts.sum(axis=tuple(i + 1 for i, x in enumerate(names) if x not in term.inputs))
        kept = [x for x in names if x in term.inputs]
        ordered = summed.transpose(0, *(kept.index(x) + 1 for x in term.inputs))
        flat = ordered.reshape(n_classes, -1)
        own = class_signatures(flat) + cell_signatures(flat)
        drawn = normals(own + name_signature(term.inputs, number)).reshape(ordered.shape)
        for axis, size in enumerate(ordered.shape):
            root = ORTHONORMAL.matrix(size).T / math.sqrt(size)
            drawn = np.moveaxis(np.tensordot(root, drawn, axes=(1, axis)), 0, axis)
        z[term.start : term.stop] = np.moveaxis(drawn, 0, -1).ravel()
    return z
