"""Reports: summarise a model to plain data, then render it; HTML never computes.

``summarise`` (a model, and data if there are any) → ``Summary`` → ``render_html`` or
``write_report``. ``Summary.to_json`` and ``Summary.from_json`` keep it in a model file.
"""

from ebnc.report.page import render_html, write_report
from ebnc.report.panel import with_panel
from ebnc.report.summarise import summarise
from ebnc.report.summary import Summary

__all__ = ["Summary", "render_html", "summarise", "with_panel", "write_report"]
