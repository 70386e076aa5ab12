"""Parameters θ κ η ψ φ λ of an EBNC, the maps between them, codings, dimension.

This package exports the paper's chains of maps, θ → κ → λ (§4) and θ → ω → η → ψ → λ (§6); ω is κ.
``ebnc.EBNC`` holds φ and computes λ.
"""

from ebnc.parameters.eta import (
    Eta,
    Psi,
    eta_to_psi,
    kappa_to_eta,
    psi_to_log_odds,
    theta_to_eta,
)
from ebnc.parameters.kappa import Kappa, kappa_to_tables, theta_to_kappa

__all__ = [
    "Eta",
    "Kappa",
    "Psi",
    "eta_to_psi",
    "kappa_to_eta",
    "kappa_to_tables",
    "psi_to_log_odds",
    "theta_to_eta",
    "theta_to_kappa",
]
