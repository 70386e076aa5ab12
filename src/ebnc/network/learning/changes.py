"""Changes of a network that is being learned, and the trace of those that were accepted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ebnc.markup import html_table


@dataclass(frozen=True)
class Change:
    """One change of the network.

    ``verb``: "add", "remove" or "turn" the arc ``tail`` → ``head``, or "refine" the embedded
    structure of ``head`` to ``families``.
    """

    verb: str
    head: str
    tail: str = ""
    families: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @classmethod
    def from_json(cls, event: Mapping[str, Any]) -> "Change":
        """Return the change that a checkpoint recorded."""
        families = tuple((name, tuple(parents)) for name, parents in event["families"])
        return cls(event["verb"], event["head"], event["tail"], families)

    @cached_property
    def nodes(self) -> frozenset[str]:
        """Both nodes of an arc, or the node that is refined."""
        return frozenset([self.head] if self.verb == "refine" else [self.head, self.tail])

    def __str__(self) -> str:
        if self.verb == "refine":
            return f"refine {self.head}"
        return f"{self.verb} {self.tail} → {self.head}"


@dataclass(frozen=True)
class NetworkStep:
    """An accepted change, with the score of the network and the elapsed seconds after it."""

    change: str
    score: float
    seconds: float


@dataclass
class NetworkTrace:
    """Every accepted change, and the number of fits.

    ``interrupted``: whether Ctrl-C or the time limit ended the search.
    """

    steps: list[NetworkStep] = field(default_factory=list)
    n_fits: int = 0
    interrupted: bool = False

    def _repr_html_(self) -> str:
        rows = [(step.score, step.seconds, step.change) for step in self.steps]
        end = "interrupted; " if self.interrupted else ""
        note = f"{end}{self.n_fits} nodes fitted"
        return html_table(("score", "seconds", "change"), rows, note=note)

    def __str__(self) -> str:
        lines = [f"{'score':>14}  {'seconds':>8}  change"]
        lines += [f"{s.score:>14.3f}  {s.seconds:>8.2f}  {s.change}" for s in self.steps]
        end = "interrupted; " if self.interrupted else ""
        return "\n".join([*lines, f"({end}{self.n_fits} nodes fitted)"])
