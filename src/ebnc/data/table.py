"""Types of data that callers may pass, and the options for reading them.

``entries`` and ``text`` have the rules that make numbers, labels or missing entries;
docs/guides/columns.md explains them to users.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

from ebnc.data.rows import CodedRows
from ebnc.domain import Kind as VariableKind
from ebnc.domain import State
from ebnc.errors import ParameterError

Frame: TypeAlias = Any
"""A DataFrame (pandas, polars, pyarrow, or any with the Arrow interface), a mapping from names to
columns, a two-dimensional array, a path to CSV or Parquet files, or a Dask DataFrame."""

TableLike: TypeAlias = CodedRows | Frame

Missing: TypeAlias = Literal["state", "refuse"]
MissingInNetworks: TypeAlias = Literal["state", "refuse", "em"]
Categories: TypeAlias = Mapping[str, int | Iterable[State]]
Kind: TypeAlias = Literal["number", "label", "date"]

Numbers: TypeAlias = Literal["smooth", "mdlp", "quantile"]
"""What numbers become. "smooth": fine bins that carry a curve. "mdlp": intervals by the classes of
the target, which have no order; at quantiles without a target. "quantile": five intervals."""

Kinds: TypeAlias = Mapping[str, VariableKind]
"""Kinds of variables by column: "nominal", "ordered" or "numeric"."""

NUMBERS = ("smooth", "mdlp", "quantile")
VARIABLE_KINDS: tuple[VariableKind, ...] = get_args(VariableKind)
KINDS = ("number", "label", "date")
MISSING_WORDS = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)
"""Words for a missing entry, the same as in ``pandas.read_csv``."""


@dataclass(frozen=True)
class Coding:
    """How columns become variables.

    ``kinds``: kinds of variables by column, "nominal", "ordered" or "numeric", instead of the kind
    that the entries show.
    """

    numbers: Numbers = "smooth"
    kinds: Kinds = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.numbers not in NUMBERS:
            raise ParameterError(
                f"numbers must be one of {', '.join(NUMBERS)}, got {self.numbers!r}"
            )
        for name, kind in self.kinds.items():
            if not isinstance(name, str):
                raise ParameterError(f"kinds must name columns by text, got {name!r}")
            if kind not in VARIABLE_KINDS:
                raise ParameterError(
                    f"the kind of column {name!r} must be one of {', '.join(VARIABLE_KINDS)}, "
                    f"got {kind!r}"
                )

    @classmethod
    def of(cls, numbers: Any, kinds: Any) -> "Coding":
        """Check the parameters ``numbers`` and ``kinds`` of functions that learn."""
        if kinds is not None and not isinstance(kinds, Mapping):
            raise ParameterError(
                "kinds must be a mapping from columns to 'nominal', 'ordered' or 'numeric', or "
                f"None, got {kinds!r}"
            )
        return cls(numbers, dict(kinds or {}))

    @property
    def nominal(self) -> list[str]:
        """Columns that are declared as nominal, whose numbers are labels."""
        return [name for name, kind in self.kinds.items() if kind == "nominal"]


@dataclass(frozen=True)
class Options:
    """Options for reading entries, as in ``DataFiles``."""

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
        """Whether a word for a missing entry, such as -999, looks like a number."""
        return any(
            word.lstrip("+-")[:1].isdigit() for word in self.missing_words if "#" not in word
        )
