"""η and ψ: changes of the log odds when one input is "turned on" (eq. 11–16), any states and order.

    η_i^F(s, 𝐚) = κ_F(x_i^s, 𝐚) − κ_F(x_i^0, 𝐚)     inputs of F after X_i at their baselines
    ψ_i(s, 𝐚)   = Σ_{F ∋ X_i} η_i^F(s, 𝐚_F)
    λ(x)        = ψ_0 + Σ_{i: x_i ≠ 0} ψ_i(x_i, 𝐚)    𝐚: the states in x of the inputs before X_i

Eq. 14, 15 and 16 are the cases F = Y, F = X_i and F = X_j, a child of X_i.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ebnc.data.rows import CodedRows
from ebnc.parameters.decomposition import Turn, turns
from ebnc.parameters.kappa import Kappa, theta_to_kappa
from ebnc.parameters.tables import refuse_large_table
from ebnc.parameters.theta import Theta
from ebnc.structure.embedded import EmbeddedStructure, Factor
from ebnc.typing import FloatArray


@dataclass(frozen=True, eq=False)
class Eta:
    """η of eq. 13–16.

    Attributes
    ----------
    turns : tuple of Turn
        The inputs in their order, each with the factors that contain it.
    baseline : array (K − 1,)
        η_0, eq. 13.
    changes : mapping
        ``changes[i][F]``: η_i^F by input and by the factor's head, of shape (states of the factor's
        inputs before X_i …, r_i − 1, K − 1).
    """

    turns: tuple[Turn, ...]
    baseline: FloatArray
    changes: Mapping[str, Mapping[str, FloatArray]]


@dataclass(frozen=True, eq=False)
class Psi:
    """ψ of eq. 12.

    Attributes
    ----------
    turns : tuple of Turn
        The inputs in their order, each with its context, the earlier inputs that ψ_i depends on.
    baseline : array (K − 1,)
        ψ_0 = η_0.
    changes : mapping
        ``changes[i]``: ψ_i, shape (states of the context …, r_i − 1, K − 1).
    """

    turns: tuple[Turn, ...]
    baseline: FloatArray
    changes: Mapping[str, FloatArray]


def theta_to_eta(
    structure: EmbeddedStructure, theta: Theta, order: Sequence[str] | None = None
) -> Eta:
    """Return η of eq. 13–16, generalised to any numbers of states and any order of the inputs.

    Parameters
    ----------
    structure : EmbeddedStructure
        The embedded structure m′.
    theta : mapping from str to array
        θ by variable, as in ``EmbeddedNetwork.theta``.
    order : sequence of str, optional
        All inputs, in the order in which they are turned on. Default: the structure's total order.
    """
    return kappa_to_eta(structure, theta_to_kappa(structure, theta), order)


def kappa_to_eta(
    structure: EmbeddedStructure, kappa: Kappa, order: Sequence[str] | None = None
) -> Eta:
    """Apply the linear map ω → η of §6 (κ is the paper's ω, eq. 20–23).

    Parameters
    ----------
    structure : EmbeddedStructure
        The embedded structure m′.
    kappa : mapping from str to array
        κ by factor, from ``theta_to_kappa``.
    order : sequence of str, optional
        All inputs, in the order in which they are turned on. Default: the structure's total order.
    """
    sequence = turns(structure, order)
    baseline = np.sum([table[(0,) * (table.ndim - 1)] for table in kappa.values()], axis=0)
    changes = {
        turn.variable: {
            factor.head: _change(factor, kappa[factor.head], turn.variable, earlier)
            for factor, earlier in turn.factors
        }
        for turn in sequence
    }
    return Eta(sequence, baseline, changes)


def _change(factor: Factor, kappa: FloatArray, variable: str, earlier: Sequence[str]) -> FloatArray:
    """κ_F at x_i^s minus κ_F at x_i^0, axes (earlier …, s, k)."""
    kept = [name for name in factor.inputs if name == variable or name in earlier]
    at_baseline = kappa[tuple(slice(None) if name in kept else 0 for name in factor.inputs)]
    axes = [kept.index(name) for name in (*earlier, variable)]
    ordered = np.transpose(at_baseline, (*axes, len(kept)))
    return ordered[..., 1:, :] - ordered[..., :1, :]


def eta_to_psi(eta: Eta) -> Psi:
    """Return ψ_i(𝐚) as sums of η_i, eq. 12, for every context 𝐚.

    Parameters
    ----------
    eta : Eta
        From ``theta_to_eta`` or ``kappa_to_eta``.
    """
    changes = {}
    for turn in eta.turns:
        parts = eta.changes[turn.variable]
        sizes: dict[str, int] = {}
        for factor, earlier in turn.factors:
            sizes.update(zip(earlier, parts[factor.head].shape, strict=False))
        shape = (*(sizes[name] for name in turn.context), *next(iter(parts.values())).shape[-2:])
        refuse_large_table(
            shape, f"ψ of {turn.variable!r} with {len(turn.context)} inputs in context"
        )
        total = np.zeros(shape)
        for factor, earlier in turn.factors:
            part = parts[factor.head]
            spread = tuple(sizes[name] if name in earlier else 1 for name in turn.context)
            total += part.reshape(spread + part.shape[-2:])
        changes[turn.variable] = total
    return Psi(eta.turns, eta.baseline, changes)


def psi_to_log_odds(psi: Psi, rows: CodedRows) -> FloatArray:
    """Return λ by eq. 12, shape (rows, K − 1).

    Parameters
    ----------
    psi : Psi
        From ``eta_to_psi``.
    rows : CodedRows
        Coded rows: ``CodedRows.from_codes(domain, columns)``.
    """
    log_odds = np.tile(psi.baseline, (len(rows), 1))
    for turn in psi.turns:
        state = rows.column(turn.variable)
        (on,) = np.nonzero(state)
        context = tuple(rows.column(name)[on] for name in turn.context)
        log_odds[on] += psi.changes[turn.variable][(*context, state[on] - 1)]
    return log_odds
