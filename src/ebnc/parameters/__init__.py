"""Parameters θ κ η ψ φ λ of an EBNC, the maps between them, codings, dimension."""
