"""``StructureDisplay``: a drawing of an embedded structure."""

from typing import Any, Self

from ebnc.errors import DataError
from ebnc.report.displays.canvas import ACCENT, INK, LINE, MUTED, NEGATIVE, Display, plain_text
from ebnc.report.drawing import Arc, Drawing, Node, draw_structure
from ebnc.structure.embedded import EmbeddedStructure

PIXELS = 96.0  # per inch, in the drawing
POINTS = 72.0  # per inch


class StructureDisplay(Display):
    """The embedded structure m′: Y, its parents, its children, and the arcs among them.

    If Y has many children, a frame holds them and one arc leads from Y to the frame. Arcs that
    cancel in p(y|x) are left out.

    Parameters
    ----------
    drawing : Drawing
        Coordinates of nodes and arcs; see ``ebnc.report.drawing``.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where the last plot is.

    Examples
    --------
    >>> import ebnc
    >>> tree = ebnc.EmbeddedStructure.tree("Y", [("A", "B"), ("A", "C")])
    >>> display = ebnc.StructureDisplay.from_estimator(tree)
    >>> sorted(text.get_text() for text in display.ax_.texts)
    ['A', 'B', 'C', 'Y']
    """

    def __init__(self, *, drawing: Drawing) -> None:
        self.drawing = drawing

    @classmethod
    def from_estimator(cls, estimator: Any, *, target: str | None = None, ax: Any = None) -> Self:
        """Draw the structure of a model.

        Parameters
        ----------
        estimator : EBNCClassifier, EBNC or EmbeddedStructure
            The fitted model, or the structure itself.
        target : str, optional
            The label of the target; useful for a classifier, which does not store its name.
        ax : matplotlib Axes, optional
            The axes to draw on. Default: those of a new figure.
        """
        structure = getattr(estimator, "structure_", getattr(estimator, "structure", estimator))
        if not isinstance(structure, EmbeddedStructure):
            raise DataError(
                "a drawing needs a fitted EBNCClassifier, an EBNC or an EmbeddedStructure, got "
                f"{type(estimator).__name__}"
            )
        worths = {w.feature: w.worth for w in getattr(estimator, "feature_worths_", ())}
        return cls(drawing=draw_structure(structure, worths, target)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the structure.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. Default: those of a new figure.
        """
        drawing = self.drawing
        inches = (drawing.width / PIXELS, drawing.height / PIXELS)
        ax = self._open(ax, inches)
        ax.set(xlim=(0, drawing.width), ylim=(drawing.height, 0), aspect="equal")
        ax.axis("off")
        # Text scales with the drawing.
        box = ax.get_position()
        width, height = self.figure_.get_size_inches()
        scale = min(1.6, box.width * width / inches[0], box.height * height / inches[1])
        size = 13.0 * POINTS / PIXELS * scale
        for plate in drawing.plates:
            self._box(
                plate.x, plate.y, plate.width, plate.height, 12, facecolor="#f6f7f9", edgecolor=LINE
            )
            words = plain_text(plate.label)
            ax.text(plate.x + 16, plate.y + 18, words, color=MUTED, size=size, va="center")
        for arc in drawing.arcs:
            self._arc(arc, scale)
        for node in drawing.nodes:
            self._node(node, size)
        return self

    def _box(
        self, x: float, y: float, width: float, height: float, radius: int, **style: Any
    ) -> None:
        from matplotlib.patches import FancyBboxPatch

        round_corners = f"round,pad=0,rounding_size={radius}"
        self.ax_.add_patch(FancyBboxPatch((x, y), width, height, boxstyle=round_corners, **style))

    def _arc(self, arc: Arc, scale: float) -> None:
        from matplotlib.patches import FancyArrowPatch
        from matplotlib.path import Path

        points = list(zip(arc.curve[::2], arc.curve[1::2], strict=True))
        target = next(node.name for node in self.drawing.nodes if node.kind == "target")
        joint = target not in (arc.tail, arc.head)
        self.ax_.add_patch(
            FancyArrowPatch(
                path=Path(points, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]),
                arrowstyle="-|>",
                mutation_scale=9 * scale,
                shrinkA=0,
                shrinkB=0,
                color=NEGATIVE if joint else MUTED,
                alpha=0.5 if arc.is_far else 1.0,
                linewidth=1.2 * scale,
            )
        )

    def _node(self, node: Node, size: float) -> None:
        is_target, is_other = node.kind == "target", node.kind == "other"
        self._box(
            node.x - node.width / 2,
            node.y - node.height / 2,
            node.width,
            node.height,
            15 if is_target else 7,
            facecolor=ACCENT if is_target else "white",
            edgecolor=MUTED if is_other else ACCENT,
            linestyle="--" if is_other else "-",
        )
        self.ax_.text(
            node.x,
            node.y,
            plain_text(node.label),
            ha="center",
            va="center_baseline",
            size=size,
            color="white" if is_target else INK,
            weight="bold" if is_target else "normal",
        )
