"""Density estimation: whole networks on binary sets, against published figures."""
