"""Options that several verbs share."""

from typing import Annotated, Literal, TypeAlias

import typer

__all__ = ["AsJson", "Data", "Force", "Model", "Quiet", "ScoreOption"]

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
