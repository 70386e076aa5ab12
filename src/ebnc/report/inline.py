"""Reports and drawings inside notebooks."""

import hashlib
import os
from html import escape
from pathlib import Path
from typing import Any

from ebnc.network.network import Network
from ebnc.report.drawing import draw_structure
from ebnc.report.network_drawing import draw_network, is_tangled
from ebnc.report.network_summary import summarise_network
from ebnc.report.page import AnySummary, environment, render_html, write_report
from ebnc.report.regression import DensityRegressor, summarise_regressor
from ebnc.report.summarise import summarise
from ebnc.structure.embedded import EmbeddedStructure


class Report:
    """A report that a notebook shows as the page itself.

    Parameters
    ----------
    summary : Summary, NetworkSummary or RegressionSummary
        The content of the page.
    height : int
        The height in a notebook, in pixels.
    """

    def __init__(self, summary: AnySummary, height: int = 720) -> None:
        self.summary, self.height = summary, height

    def __repr__(self) -> str:
        return f"Report({self.summary.title!r})"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file and return its path.

        Parameters
        ----------
        path : str or path
            The file to write.
        """
        return write_report(path, self.summary)

    def _repr_html_(self) -> str:
        """The page in a frame of its own, whose styles and scripts cannot touch the notebook."""
        return (
            f'<iframe title="{escape(repr(self))}" srcdoc="{escape(render_html(self.summary))}" '
            f'style="width:100%;height:{self.height}px;border:1px solid #8886;border-radius:6px">'
            "</iframe>"
        )


def report(model: Any, *data: Any, height: int = 720, **options: Any) -> Report:
    """Return the report of a model, for a notebook or a file.

    Parameters
    ----------
    model : EBNCClassifier, EBNCRegressor, EBNC or Network
        The fitted model.
    *data
        X and y of an estimator, for cross-validation; rows of a network, to measure its fit.
    height : int
        The height in a notebook, in pixels.
    **options
        As for ``summarise``, ``summarise_regressor`` or ``summarise_network``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ebnc import EBNCClassifier
    >>> x, y = load_iris(return_X_y=True, as_frame=True)
    >>> report(EBNCClassifier("naive").fit(x, y), target="species")
    Report('What predicts species')
    """
    if isinstance(model, Network):
        return Report(summarise_network(model, *data, **options), height)
    if isinstance(model, DensityRegressor):
        return Report(summarise_regressor(model, *data, **options), height)
    return Report(summarise(model, *data, **options), height)


def draw_html(drawn: Any) -> str:
    """Draw a network or an embedded structure as SVG; nothing if it has too many arcs to follow."""
    if isinstance(drawn, EmbeddedStructure):
        drawing, label = draw_structure(drawn), f"The embedded structure of {drawn.target}"
    else:
        parents = {x: drawn.parents(x) for x in drawn}
        if is_tangled(parents):
            return ""
        drawing = draw_network(parents, {x: drawn.local(x).kind for x in drawn})
        label = f"A network of {len(drawn)} variables"
    key = "ebnc" + hashlib.sha256(repr(drawing).encode()).hexdigest()[:12]
    template = environment().get_template("inline.svg")
    return template.render(drawing=drawing, label=label, key=key)
