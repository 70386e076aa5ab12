"""Axes to draw on, the report's colours, and text that matplotlib does not take for a formula."""

from typing import Any

__all__ = ["ACCENT", "INK", "LINE", "MUTED", "NEGATIVE", "POSITIVE", "axes_or_new", "plain_text"]

ACCENT, INK, MUTED, LINE = "#0b5cad", "#1a1e24", "#555e69", "#d5dae1"
POSITIVE, NEGATIVE = "#2a78bd", "#c2561a"


def axes_or_new(ax: Any, size: tuple[float, float]) -> Any:
    """The axes given, or those of a new figure of this size in inches."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            "pictures need matplotlib; install it with: pip install ebnc[plot]"
        ) from None
    _, new = plt.subplots(figsize=size, layout="constrained")
    return new


def plain_text(text: str) -> str:
    """Names are names: dollar signs do not start mathematics."""
    return text.replace("$", r"\$")
