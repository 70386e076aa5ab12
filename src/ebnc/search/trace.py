"""The report of a search: its steps, their cost, and the importance of each selected input."""

from dataclasses import dataclass, field
from typing import NamedTuple

from ebnc.markup import html_table


@dataclass(frozen=True)
class Step:
    """One accepted move, with the score, the dimension and the elapsed seconds after it."""

    move: str
    score: float
    dimension: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.score:>12.3f}  {self.dimension:>5}  {self.seconds:>8.2f}  {self.move}"


@dataclass
class SearchTrace:
    """Every accepted move, and the numbers of screened candidates and fitted structures.

    ``interrupted``: whether Ctrl-C or the time limit ended the search.
    """

    steps: list[Step] = field(default_factory=list)
    n_screened: int = 0
    n_fits: int = 0
    interrupted: bool = False

    def _repr_html_(self) -> str:
        rows = [(step.score, step.dimension, step.seconds, step.move) for step in self.steps]
        end = "interrupted; " if self.interrupted else ""
        note = f"{end}{self.n_screened} screened, {self.n_fits} fitted"
        return html_table(("score", "d", "seconds", "move"), rows, note=note)

    def __str__(self) -> str:
        lines = [f"{'score':>12}  {'d':>5}  {'seconds':>8}  move", *map(str, self.steps)]
        end = "interrupted; " if self.interrupted else ""
        return "\n".join([*lines, f"({end}{self.n_screened} screened, {self.n_fits} fitted)"])


class FeatureWorth(NamedTuple):
    """A selected input, its importance, and when it was added.

    ``worth``: how much the score falls without the input. ``entered``: the step of the search that
    added it; 0 is the start.
    """

    feature: str
    worth: float
    entered: int = 0
