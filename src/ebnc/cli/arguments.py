"""Command-line options that several verbs share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from ebnc.errors import DataError, ParameterError

if TYPE_CHECKING:
    from ebnc.data.files import DataFiles


Data: TypeAlias = Annotated[
    str, typer.Argument(metavar="DATA", help="A CSV or Parquet file; '-' reads standard input.")
]
Model: TypeAlias = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model file; '-' reads standard input.")
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Force: TypeAlias = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
Quiet: TypeAlias = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print no progress, no summary.")
]
TimeLimit: TypeAlias = Annotated[
    float | None,
    typer.Option(
        min=0.1,
        metavar="SECONDS",
        help="End a search after this time, with the best result so far.",
    ),
]
ScoreOption: TypeAlias = Annotated[
    str,
    typer.Option("--score", metavar="[laplace|bic]", help="The score that the search maximises."),
]
Exclude: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN,…", help="Do not use these columns, such as an identifier."),
]
Include: TypeAlias = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN,…", help="Use only these columns.")
]
Types: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="COLUMN=KIND", help="Read a column as number, label or date."),
]
NumbersOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--numbers",
        metavar="[smooth|mdlp|quantile]",
        help="Numbers become smooth curves, or intervals: by MDLP, or at quantiles.",
    ),
]
VariableKinds: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="COLUMN=KIND",
        help="Make a column a nominal, ordered or numeric variable.",
    ),
]
MissingWords: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--missing", metavar="WORD", help="Also treat this word as a missing entry."),
]
Delimiter: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="CHARACTER", help="CSV delimiter (default: detected in the header)."),
]
IdColumn: TypeAlias = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="Write this column before the predictions."),
]
Keep: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN,…|all", help="Write these columns before the predictions."),
]
Digits: TypeAlias = Annotated[
    int, typer.Option(min=1, max=17, help="Significant digits of numbers; 17 are exact.")
]
NJobs: TypeAlias = Annotated[
    int | None, typer.Option(metavar="COUNT", help="Number of threads (default: one per core).")
]
RequireArc: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="PARENT,CHILD", help="An arc between inputs that the search must use."),
]
ForbidArc: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="PARENT,CHILD", help="An arc that the search must not use."),
]
Decimal: TypeAlias = Annotated[
    str, typer.Option(metavar="CHARACTER", help="Decimal mark of numbers: . or ,")
]


def chosen_columns(
    files: "DataFiles",
    include: Sequence[str] | None,
    exclude: Sequence[str] | None,
    *,
    target: str | None = None,
    weights: str | None = None,
) -> list[str]:
    """Return the included columns (default: all) except excluded ones, target and weights."""
    from ebnc.data.batches import require
    from ebnc.data.sources import column_names

    names = column_names(files)
    left_out, chosen = columns_from(exclude, names), columns_from(include, names)
    reserved = [name for name in (target, weights) if name is not None]
    require([*reserved, *left_out, *chosen], names)
    if target is not None and (target in left_out or target == weights):
        used = "excluded" if target in left_out else "the column of weights"
        raise DataError(f"{target!r} is the target, so it cannot be {used}")
    return [name for name in (chosen or names) if name not in {*left_out, *reserved}]


def columns_from(lists: Sequence[str] | None, names: Sequence[str]) -> list[str]:
    """Split comma-separated lists of columns; an exact name of a column is not split."""
    columns = []
    for text in lists or ():
        columns += [text] if text in names else [part.strip() for part in text.split(",")]
    return columns


def arcs_from(
    option: str, texts: Sequence[str] | None, names: Sequence[str]
) -> list[tuple[str, str]]:
    """Split arcs PARENT,CHILD; names of columns may have commas."""
    from ebnc.data.batches import require

    arcs = []
    for text in texts or ():
        parts = text.split(",")
        pairs = [(",".join(parts[:i]), ",".join(parts[i:])) for i in range(1, len(parts))]
        if not pairs:
            raise ParameterError(f"{option} takes PARENT,CHILD, got {text!r}")
        known = [(a, b) for a, b in pairs if a in names and b in names]
        parent, child = known[0] if known else pairs[0]
        require([parent.strip(), child.strip()], names)
        arcs.append((parent.strip(), child.strip()))
    return arcs


def reading(
    types: Sequence[str] | None,
    missing: Sequence[str] | None,
    delimiter: str | None,
    decimal: str,
) -> dict[str, Any]:
    """Convert options of the command line to keyword arguments of ``DataFiles``."""
    from ebnc.data.table import KINDS, MISSING_WORDS

    return {
        "types": _by_column("--type", types, KINDS),
        "missing_words": (*MISSING_WORDS, *(missing or ())),
        "delimiter": "\t" if delimiter == "\\t" else delimiter,
        "decimal": decimal,
    }


def variable_kinds(kinds: Sequence[str] | None) -> dict[str, Any]:
    """Convert ``--kind`` to the parameter ``kinds`` of functions that learn."""
    from ebnc.data.table import VARIABLE_KINDS

    return _by_column("--kind", kinds, VARIABLE_KINDS)


def _by_column(option: str, texts: Sequence[str] | None, kinds: Sequence[str]) -> dict[str, Any]:
    """Split texts COLUMN=KIND; the name of a column may have equal signs."""
    by_column = {}
    for text in texts or ():
        name, sign, kind = text.rpartition("=")
        if not sign or kind not in kinds:
            options = f"{', '.join(kinds[:-1])} or {kinds[-1]}"
            raise ParameterError(
                f"{option} takes COLUMN=KIND, where KIND is {options}, got {text!r}"
            )
        by_column[name] = kind
    return by_column
