"""``Plan``: the columns to read from a table."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ebnc.data.table import Kind, Options


@dataclass(frozen=True)
class Plan:
    """The columns to read (inputs, then the target, if any), and how.

    ``weights``: the column of weights. ``kinds``: kinds of columns that are known before reading.
    """

    names: tuple[str, ...]
    options: Options = field(default_factory=Options)
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    target: str | None = None
    weights: str | None = None

    @property
    def read(self) -> list[str]:
        """All columns to read."""
        return list(dict.fromkeys([*self.names, *([self.weights] if self.weights else [])]))

    @property
    def as_labels(self) -> list[str]:
        """Columns whose numbers are read as labels."""
        return [x for x, kind in self.kinds.items() if kind == "label"]
