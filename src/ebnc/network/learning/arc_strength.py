"""How sure the arcs of a learned network are: learn again from resampled rows (the bootstrap).

    share(x → y) = (number of networks that have the arc x → y) / n

Friedman, Goldszmidt & Wyner, Data analysis with Bayesian networks: a bootstrap approach, UAI 1999.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ebnc.data.frames import columns_to_frame, labels_to_column
from ebnc.data.plan import Plan
from ebnc.data.read import row_weights
from ebnc.data.sources import source_of
from ebnc.data.table import Frame
from ebnc.errors import DataError, ParameterError
from ebnc.markup import Bar, html_table
from ebnc.network.model.joint import Joint
from ebnc.typing import FloatArray


@dataclass(frozen=True)
class ArcStrengths:
    """The shares of networks, each learned from resampled rows, that have an arc.

    Attributes
    ----------
    n : int
        The number of networks.
    shares : mapping of (str, str) to float
        The share of networks with the arc (parent, child), the largest first; arcs that no network
        has are absent.
    """

    n: int
    shares: dict[tuple[str, str], float]

    def __getitem__(self, arc: tuple[str, str]) -> float:
        """Return the share of networks that have an arc (parent, child)."""
        return self.shares.get(arc, 0.0)

    def connected(self, x: str, y: str) -> float:
        """Return the share of networks with an arc between two variables, in either direction.

        Parameters
        ----------
        x, y : str
            The variables.
        """
        return self[x, y] + self[y, x]

    def _repr_html_(self) -> str:
        rows = [(*arc, Bar(f"{share:.2f}", share)) for arc, share in self.shares.items()]
        return html_table(("parent", "child", "share"), rows, note=f"{self.n} networks")

    def to_frame(self) -> Any:
        """A DataFrame of the first of pandas, polars, pyarrow that is installed.

        It has one row for each arc: ``parent``, ``child``, ``share``, and ``connected``, the share
        of networks with an arc in either direction.
        """
        return columns_to_frame(
            {
                "parent": labels_to_column([tail for tail, _ in self.shares]),
                "child": labels_to_column([head for _, head in self.shares]),
                "share": np.array(list(self.shares.values())),
                "connected": np.array([self.connected(*arc) for arc in self.shares]),
            }.items()
        )


def arc_strengths(
    data: Frame,
    learn: Callable[[FloatArray], Joint],
    n: int,
    weights: object,
    random_state: int | None,
) -> ArcStrengths:
    """Learn n networks from resampled rows. ``learn``: learns a network from rows with weights."""
    if n < 1:
        raise ParameterError(f"n must be at least 1, got {n}")
    if isinstance(weights, str):
        raise ParameterError(
            f"weights must be an array with one number for each row, got {weights!r}; pass that "
            "column, and leave it out of the data"
        )
    counts: Counter[tuple[str, str]] = Counter()
    for resampled in _resampled_weights(data, weights, n, np.random.default_rng(random_state)):
        counts.update(learn(resampled).arcs)
    ordered = sorted(counts, key=lambda arc: (-counts[arc], arc))
    return ArcStrengths(n, {arc: counts[arc] / n for arc in ordered})


def _resampled_weights(
    data: Frame, weights: object, n: int, generator: np.random.Generator
) -> Iterator[FloatArray]:
    """Yield n times how often each row is drawn, of as many draws as there are rows."""
    source = source_of(data)
    n_rows = sum(batch.n_rows for batch in source.batches(Plan(())))
    if n_rows == 0:
        raise DataError("the data have no rows")
    given = row_weights(data, weights, n_rows)
    shares = np.full(n_rows, 1.0) if given is None else given
    total = round(float(shares.sum()))
    for _ in range(n):
        yield generator.multinomial(total, shares / shares.sum()).astype(np.float64)
