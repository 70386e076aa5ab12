"""Render a summary as one self-contained HTML file.

Templates escape every text. The page's content security policy allows its own script by hash, and
no requests, so a script hidden in a name can neither run nor send anything.
"""

import base64
import hashlib
import os
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ebnc.report.network_summary import NetworkSummary
from ebnc.report.network_view import NetworkView, network_data
from ebnc.report.regression import RegressionSummary
from ebnc.report.regression_view import RegressionView, regression_data
from ebnc.report.summary import Summary
from ebnc.report.view import View, page_data
from ebnc.report.words import count_text, number, percent, shortened, signed
from ebnc.writing import write_whole

if TYPE_CHECKING:
    import jinja2


AnySummary: TypeAlias = Summary | NetworkSummary | RegressionSummary


def render_html(summary: AnySummary) -> str:
    """Return the page as HTML; it needs ``summary.panel`` for its what-if panel."""
    if isinstance(summary, NetworkSummary):
        view: Any = NetworkView(summary)
        data, template = network_data(summary), "network.html"
        own_scripts = ["elimination.js", "network.js"]
    elif isinstance(summary, RegressionSummary):
        view = RegressionView(summary)
        data, template = regression_data(summary, view), "regression.html"
        own_scripts = ["fields.js", "number.js"]
    else:
        view = View(summary)
        data, template = page_data(summary), "page.html"
        own_scripts = ["fields.js", "panel.js"]
    script = "\n".join(map(_asset, ["sum.js", *own_scripts, "common.js"]))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return (
        environment()
        .get_template(template)
        .render(
            view=view,
            summary=summary,
            style=_asset("page.css"),
            script=script,
            script_hash=digest,
            data=data,
        )
    )


def write_report(
    path: str | os.PathLike[str], summary: AnySummary, *, overwrite: bool = True
) -> Path:
    """Write the page to ``path`` and return the path.

    The file is written under another name and then renamed, so it is never incomplete.
    """
    write_whole(path, render_html(summary).encode(), overwrite=overwrite)
    return Path(path)


@cache
def _asset(name: str) -> str:
    return files("ebnc.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def environment() -> "jinja2.Environment":
    """Return what renders the templates; it escapes every text."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        count=count_text,
        number=number,
        signed=signed,
        percent=percent,
        shortened=shortened,
        exact=repr,
    )
    return environment
