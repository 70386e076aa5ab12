"""Options that several verbs share."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeAlias

import typer

from ebnc.errors import ParameterError

__all__ = ["AsJson", "Data", "Decimal", "Delimiter", "Exclude", "Force", "Include", "MissingWords"]
__all__ += ["Model", "Quiet", "ScoreOption", "Types", "columns_from", "reading"]

Data: TypeAlias = Annotated[
    str, typer.Argument(metavar="DATA", help="CSV or Parquet; '-' reads standard input.")
]
Model: TypeAlias = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model file; '-' reads standard input.")
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Force: TypeAlias = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")]
ScoreOption: TypeAlias = Annotated[
    Literal["laplace", "bic"], typer.Option("--score", help="What the search maximises.")
]
Exclude: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN,…", help="Leave columns out, such as an identifier."),
]
Include: TypeAlias = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN,…", help="Learn from these columns only.")
]
Types: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="COLUMN=KIND", help="Read a column as number, label or date."),
]
MissingWords: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--missing", metavar="WORD", help="One more word for a missing entry."),
]
Delimiter: TypeAlias = Annotated[
    str | None, typer.Option(metavar="CHARACTER", help="Of CSV; found in the header unless given.")
]
Decimal: TypeAlias = Annotated[
    str, typer.Option(metavar="CHARACTER", help="The decimal mark of numbers: . or ,")
]


def columns_from(given: Sequence[str] | None, names: Sequence[str]) -> list[str]:
    """Columns from lists with commas; a column whose name has a comma is named by itself."""
    found = []
    for text in given or ():
        found += [text] if text in names else [part.strip() for part in text.split(",")]
    return found


def reading(
    types: Sequence[str] | None,
    missing: Sequence[str] | None,
    delimiter: str | None,
    decimal: str,
) -> dict[str, Any]:
    """Options of ``DataFiles`` from those of the command line."""
    from ebnc.data.table import MISSING_WORDS

    kinds = {}
    for text in types or ():
        name, sign, kind = text.rpartition("=")
        if not sign or kind not in ("number", "label", "date"):
            raise ParameterError(
                f"--type takes COLUMN=KIND, KIND being number, label or date, got {text!r}"
            )
        kinds[name] = kind
    return {
        "types": kinds,
        "missing_words": (*MISSING_WORDS, *(missing or ())),
        "delimiter": "\t" if delimiter == "\\t" else delimiter,
        "decimal": decimal,
    }
