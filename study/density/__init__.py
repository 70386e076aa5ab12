"""Part B. Density estimation: whole networks on binary sets, against published figures.

``measure`` (one cell) → ``__main__`` (all of them) → ``report``.
"""
