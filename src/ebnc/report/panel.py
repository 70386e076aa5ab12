"""Data of the what-if panel: the tables that the model itself predicts with."""

import base64
from dataclasses import replace
from typing import Any

import numpy as np

from ebnc.errors import DataError
from ebnc.report.models import ReportedModel, reported
from ebnc.report.summary import Summary

MOST_NUMBERS = 1_500_000  # 16 MB in the page


def with_panel(summary: Summary, model: Any) -> Summary:
    """Add the what-if panel, which model files do not store, to a model's summary."""
    adapter = reported(model)
    names = tuple(x.name for x in summary.inputs)
    sizes = tuple(len(x.states) for x in summary.inputs)
    if names != adapter.inputs or sizes != tuple(adapter.domain.n_states(x) for x in names):
        raise DataError("the summary is that of another model: its inputs differ")
    if len(summary.classes) != len(adapter.classes):
        raise DataError("the summary is that of another model: its classes differ")
    return replace(summary, panel=panel_of(adapter))


def panel_of(adapter: ReportedModel) -> dict[str, Any] | None:
    """Plain data from which the page's script computes p(y|x); None if they are too large.

    ``models``: weight of every averaged model and the inputs of its tables, by number; the last
    one, of weight 0, is the best model, whose terms the page shows. ``numbers``: all tables,
    concatenated, as little-endian doubles in base 64; every input has an extra state for unknown
    entries. ``background``: states and rows that predictions with unknown inputs average over.
    """
    place = {x: i for i, x in enumerate(adapter.inputs)}
    known = adapter.ebnc.background
    weighted = (*adapter.predictor.weighted, (0.0, adapter.best))
    count = 0 if known is None else known.rows.codes.size
    count += sum(table.size for _, tables in weighted for table in tables.tables)
    if count > MOST_NUMBERS:
        return None
    numbers = np.concatenate([table.ravel() for _, tables in weighted for table in tables.tables])
    return {
        "models": [
            {"weight": weight, "scopes": [[place[x] for x in scope] for scope in tables.scopes]}
            for weight, tables in weighted
        ],
        "numbers": base64.b64encode(numbers.astype("<f8").tobytes()).decode("ascii"),
        "background": None
        if known is None
        else {
            "inputs": [place[x] for x in known.names],
            "stateWeights": [known.state_weights[x].tolist() for x in known.names],
            "rows": known.rows.codes.T.tolist(),
            "rowWeights": known.row_weights.tolist(),
        },
    }
