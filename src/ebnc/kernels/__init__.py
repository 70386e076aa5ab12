"""Compiled loops over flat arrays: the only code that needs numba, loaded on first use.

Kernels know nothing of EBNCs. They trust their arguments: bounds are checked before, once.
"""
