"""The tables that the what-if panel of a page computes with: exactly those that predict."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ebnc.errors import DataError
from ebnc.parameters.background import Background
from ebnc.report.models import Reported, reported
from ebnc.report.summary import Panel, PanelBackground, PanelModel, Summary

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


def panel_of(face: Reported) -> Panel | None:
    """Tables of all averaged models, then of the best one alone; None where they are too many."""
    place = {x: i for i, x in enumerate(face.inputs)}
    models, numbers = [], []
    known = face.ebnc.background
    count = 0 if known is None else known.rows.codes.size
    for weight, tables in (*face.predictor.weighted, (0.0, face.best)):
        models.append(
            PanelModel(weight, tuple(tuple(place[x] for x in scope) for scope in tables.scopes))
        )
        numbers += [table.ravel() for table in tables.tables]
        count += sum(table.size for table in tables.tables)
        if count > MOST_NUMBERS:
            return None
    background = _background(known, place)
    return Panel(tuple(models), np.concatenate(numbers).astype("<f8").tobytes(), background)


def _background(known: Background | None, place: Mapping[str, int]) -> PanelBackground | None:
    if known is None:
        return None
    return PanelBackground(
        inputs=tuple(place[x] for x in known.names),
        state_weights=tuple(tuple(known.state_weights[x].tolist()) for x in known.names),
        rows=tuple(map(tuple, known.rows.codes.T.tolist())),
        row_weights=tuple(known.row_weights.tolist()),
    )
