"""Base class of displays, the report's colours, and escaped text."""

from typing import Any

from ebnc.errors import DataError
from ebnc.report.models import ReportedModel

ACCENT, INK, MUTED, LINE = "#0b5cad", "#1a1e24", "#555e69", "#d5dae1"
POSITIVE, NEGATIVE = "#2a78bd", "#c2561a"


class Display:
    """A plot. ``ax_`` and ``figure_``: the axes and the figure of the last call of ``plot``."""

    ax_: Any
    figure_: Any

    def _open(self, ax: Any, size: tuple[float, float]) -> Any:
        """Return ``ax``, or the axes of a new figure of ``size`` in inches."""
        if ax is None:
            try:
                import matplotlib.pyplot as plt
            except ImportError:
                raise ImportError(
                    "pictures need matplotlib; install it with: pip install ebnc[plot]"
                ) from None
            _, ax = plt.subplots(figsize=size, layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def plain_text(text: str) -> str:
    """Escape dollar signs, which start a formula in matplotlib."""
    return text.replace("$", r"\$")


def class_number(adapter: ReportedModel, of_class: Any, otherwise: int) -> int:
    """The number of a class; without a label the second of two, else ``otherwise``."""
    if of_class is None:
        return 1 if len(adapter.classes) == 2 else otherwise
    if of_class not in adapter.classes:
        raise DataError(
            f"{of_class!r} is not a class of the model; its classes are {adapter.classes[:8]}"
        )
    return adapter.classes.index(of_class)
