"""Compiled loops over flat arrays: the only code that needs numba, loaded on first use.

Kernels do not depend on EBNCs. They do not check their arguments; callers check bounds once.
"""
