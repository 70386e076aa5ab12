"""``ebnc.export``: write a model as code for other programs."""

import os
from pathlib import Path
from typing import Any

from ebnc.errors import ParameterError
from ebnc.formats.code.scorecard import Scorecard
from ebnc.formats.code.to_javascript import to_javascript
from ebnc.formats.code.to_onnx import to_onnx
from ebnc.formats.code.to_python import to_python
from ebnc.formats.code.to_sql import to_sql
from ebnc.formats.native import own_version, predictor_of
from ebnc.predictor import Predictor
from ebnc.writing import write_whole

LANGUAGES = {"sql": ".sql", "python": ".py", "js": ".js", "onnx": ".onnx"}
"""The languages of exported code, and the ends of their files' names."""


def export(
    model: Any,
    path: str | os.PathLike[str],
    *,
    to: str | None = None,
    table: str = "data",
    overwrite: bool = True,
) -> None:
    """Write a model as code that predicts without this package, equal to it but for rounding.

    Missing entries, and entries that the model has never seen, are treated as in ``predict_proba``.
    Dates are numbers of days since 1970.

    Parameters
    ----------
    model : EBNCClassifier, EBNCRegressor or EBNC
        The fitted model. Of a regressor, the code computes the mean.
    path : str or path
        The file to write.
    to : {"sql", "python", "js", "onnx"} or None
        The language; None: by the end of the file's name (.sql, .py, .js, .onnx). "sql" is a SELECT
        (tested in DuckDB and SQLite), "python" and "js" are modules with ``predict_proba`` and
        ``predict`` of one row that need no library, and "onnx" is a graph in double precision
        (``pip install 'ebnc[onnx]'``).
    table : str
        In SQL, the name of the table of data.
    overwrite : bool
        Whether to replace an existing file.
    """
    write_whole(path, code_of(predictor_of(model), language(to, path), table), overwrite=overwrite)


def language(to: str | None, path: str | os.PathLike[str] | None) -> str:
    """Return the language of exported code: ``to``, else by the end of a file's name."""
    if to is None and path is not None:
        end = Path(path).suffix.lower()
        to = next((name for name, suffix in LANGUAGES.items() if suffix == end), None)
        if to is None:
            raise ParameterError(
                f"the name of the file, {os.fspath(path)!r}, does not tell the language; end it in "
                f"{', '.join(LANGUAGES.values())}, or name the language: {', '.join(LANGUAGES)}"
            )
    if to not in LANGUAGES:
        raise ParameterError(f"the language must be one of {', '.join(LANGUAGES)}, got {to!r}")
    return to


def code_of(predictor: Predictor, to: str, table: str = "data") -> bytes:
    """Return a model's predictor as code in a language."""
    card = Scorecard.of(predictor)
    note = f"Exported by ebnc {own_version()}."
    if to == "onnx":
        return to_onnx(card, note)
    if to == "sql":
        return to_sql(card, note, table).encode()
    return {"python": to_python, "js": to_javascript}[to](card, note).encode()
