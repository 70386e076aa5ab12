"""The tables that the what-if panel of a page computes with: exactly those that predict."""

import base64
from dataclasses import replace
from typing import Any

import numpy as np

from ebnc.errors import DataError
from ebnc.report.models import Reported, reported
from ebnc.report.summary import Summary

__all__ = ["panel_of", "with_panel"]

MOST_NUMBERS = 1_500_000  # 16 MB in the page


def with_panel(summary: Summary, model: Any) -> Summary:
    """The summary of a model with the panel that is not kept in files."""
    face = reported(model)
    names = tuple(x.name for x in summary.inputs)
    sizes = tuple(len(x.states) for x in summary.inputs)
    if names != face.inputs or sizes != tuple(face.domain.n_states(x) for x in names):
        raise DataError("the findings are those of another model: their inputs differ")
    if len(summary.classes) != len(face.classes):
        raise DataError("the findings are those of another model: their classes differ")
    return replace(summary, panel=panel_of(face))


def panel_of(face: Reported) -> dict[str, Any] | None:
    """Plain data that the page's script computes p(y|x) from; None where they are too many.

    ``models``: of every averaged model the weight and the inputs, by number, of its tables; the
    last one is the best alone, the sum that is taken apart, with weight 0. ``numbers``: all tables
    behind each other, little-endian doubles in base 64; every input has one state more, for
    entries not known. ``background``: what unknown inputs are averaged over.
    """
    place = {x: i for i, x in enumerate(face.inputs)}
    known = face.ebnc.background
    weighted = (*face.predictor.weighted, (0.0, face.best))
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
