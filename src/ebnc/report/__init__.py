"""Reports: summarise a model to plain data, then render it; HTML never computes.

``summarise`` (a model, and data if there are any) → ``Summary`` → ``render_html`` or
``write_report``; for networks ``summarise_network`` → ``NetworkSummary``. Their ``to_json`` and
``from_json`` keep them in a model file.
"""

from ebnc.report.network_summary import NetworkSummary, summarise_network
from ebnc.report.page import render_html, write_report
from ebnc.report.panel import with_panel
from ebnc.report.summarise import summarise
from ebnc.report.summary import Summary

__all__ = [
    "NetworkSummary",
    "Summary",
    "render_html",
    "summarise",
    "summarise_network",
    "with_panel",
    "write_report",
]
