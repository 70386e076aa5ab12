"""What a search reports: its steps, what they cost, and what each selected input is worth."""

from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["FeatureWorth", "SearchTrace", "Step"]


@dataclass(frozen=True)
class Step:
    """One accepted move, with the score, dimension and seconds after it."""

    move: str
    score: float
    dimension: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.score:>12.3f}  {self.dimension:>5}  {self.seconds:>8.2f}  {self.move}"


@dataclass
class SearchTrace:
    """Every accepted move, and what the search cost: candidates screened, structures fitted."""

    steps: list[Step] = field(default_factory=list)
    n_screened: int = 0
    n_fits: int = 0
    interrupted: bool = False

    def __str__(self) -> str:
        lines = [f"{'score':>12}  {'d':>5}  {'seconds':>8}  move", *map(str, self.steps)]
        end = "interrupted; " if self.interrupted else ""
        return "\n".join([*lines, f"({end}{self.n_screened} screened, {self.n_fits} fitted)"])


class FeatureWorth(NamedTuple):
    """An input that was selected, by how much the score falls without it, and the step of the
    search that took it in: 0 is the start."""

    feature: str
    worth: float
    entered: int = 0
