"""Reports: summarise a model as plain data, then render the data as one HTML page.

``summarise`` (a model, and optionally data) → ``Summary`` → ``render_html`` or ``write_report``;
for networks ``summarise_network`` → ``NetworkSummary``, for regressors ``summarise_regressor`` →
``RegressionSummary``. A model file stores a ``Summary``, ``NetworkFindings`` or
``RegressionFindings`` by their methods ``to_json`` and ``from_json``. ``report`` (a model) →
``Report``, which a notebook shows.
"""

from ebnc.report.inline import Report, report
from ebnc.report.network_summary import NetworkFindings, NetworkSummary, summarise_network
from ebnc.report.page import render_html, write_report
from ebnc.report.panel import with_panel
from ebnc.report.regression import RegressionFindings, RegressionSummary, summarise_regressor
from ebnc.report.summarise import summarise
from ebnc.report.summary import Summary

__all__ = [
    "NetworkFindings",
    "NetworkSummary",
    "RegressionFindings",
    "RegressionSummary",
    "Report",
    "Summary",
    "render_html",
    "report",
    "summarise",
    "summarise_network",
    "summarise_regressor",
    "with_panel",
    "write_report",
]
