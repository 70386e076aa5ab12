"""What a caller may give as data, and the options of reading it.

The rules that turn entries into numbers, labels or gaps are in ``columns`` and, for users, in
docs/guides/columns.md.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

from ebnc.data.rows import CodedRows
from ebnc.domain import State
from ebnc.errors import ParameterError

__all__ = ["MISSING_WORDS", "Categories", "Frame", "Kind", "Missing", "Options", "TableLike"]

Frame: TypeAlias = Any
"""A DataFrame (pandas, polars, pyarrow, or any with the Arrow interface), a mapping from names to
columns, a two-dimensional array, a path to CSV or Parquet files, or a Dask DataFrame."""

TableLike: TypeAlias = CodedRows | Frame

Missing: TypeAlias = Literal["state", "refuse"]
Categories: TypeAlias = Mapping[str, int | Iterable[State]]
Kind: TypeAlias = Literal["number", "label", "date"]

KINDS = ("number", "label", "date")
MISSING_WORDS = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)
"""Text that is a missing entry: the words of ``pandas.read_csv``."""


@dataclass(frozen=True)
class Options:
    """How entries are read.

    Parameters
    ----------
    types : mapping from column to {"number", "label", "date"}
        What these columns hold, instead of what their entries look like.
    missing_words : tuple of str
        Text that is a missing entry.
    decimal : {".", ","}
        The decimal point of numbers that are written as text.
    """

    types: Mapping[str, Kind] = field(default_factory=dict)
    missing_words: tuple[str, ...] = MISSING_WORDS
    decimal: str = "."

    def __post_init__(self) -> None:
        for name, kind in self.types.items():
            if kind not in KINDS:
                raise ParameterError(
                    f"the type of column {name!r} must be one of {', '.join(KINDS)}, got {kind!r}"
                )
        if self.decimal not in (".", ","):
            raise ParameterError(f"decimal must be '.' or ',', got {self.decimal!r}")

    @cached_property
    def has_numbers_for_missing(self) -> bool:
        """Whether a word for missing, such as -999, would be a number otherwise."""
        return any(
            word.lstrip("+-")[:1].isdigit() for word in self.missing_words if "#" not in word
        )
