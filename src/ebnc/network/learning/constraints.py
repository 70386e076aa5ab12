"""Constraints on the arcs of a network: required and forbidden arcs, tiers, number of parents."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ebnc.errors import NetworkError, SearchError
from ebnc.network.model.graph import topological_order

Arc = tuple[str, str]


@dataclass(frozen=True)
class Constraints:
    """Constraints on the arcs (parent, child) of a network.

    ``tier``: the tier number of each variable; no arc leads from a later tier to an earlier one.
    Variables without a tier are not constrained by tiers.
    """

    names: tuple[str, ...]
    required: frozenset[Arc]
    forbidden: frozenset[Arc]
    tier: Mapping[str, int]
    max_parents: int

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        *,
        required: Iterable[Arc] = (),
        forbidden: Iterable[Arc] = (),
        tiers: Sequence[Iterable[str]] = (),
        max_parents: int | None = None,
    ) -> "Constraints":
        """Build constraints from any iterables; check for unknown names and contradictions."""
        if max_parents is not None and max_parents < 0:
            raise SearchError(f"max_parents must be at least 0, got {max_parents}")
        tier: dict[str, int] = {}
        for number, members in enumerate(tiers):
            if isinstance(members, str):
                raise SearchError(f"tiers must be lists of names, got the string {members!r}")
            for name in members:
                if name in tier:
                    raise SearchError(f"{name!r} is in two tiers; list it once")
                tier[name] = number
        needed = frozenset(_arc(arc) for arc in required)
        excluded = frozenset(_arc(arc) for arc in forbidden)
        most = len(names) if max_parents is None else max_parents
        constraints = cls(tuple(names), needed, excluded, tier, most)
        constraints._check()
        return constraints

    def allows(self, tail: str, head: str) -> bool:
        """Return True if an arc from ``tail`` to ``head`` is allowed."""
        if (tail, head) in self.forbidden:
            return False
        ends = self.tier.get(tail), self.tier.get(head)
        return None in ends or ends[0] <= ends[1]  # type: ignore[operator]  # neither is None

    def required_parents(self, head: str) -> list[str]:
        """Return the parents that a node must have."""
        return sorted(tail for tail, other in self.required if other == head)

    def to_plain(self) -> list[object]:
        """Return the constraints as plain values in a fixed order."""
        tiers = sorted(self.tier.items())
        arcs = [sorted(self.required), sorted(self.forbidden)]
        return [self.names, *arcs, tiers, self.max_parents]

    def _check(self) -> None:
        known = set(self.names)
        named = {x for arc in self.required | self.forbidden for x in arc} | set(self.tier)
        if named - known:
            raise SearchError(
                f"{min(named - known)!r} is not a variable; variables are {list(self.names)[:8]}"
            )
        for tail, head in sorted(self.required):
            if not self.allows(tail, head):
                why = "forbidden" if (tail, head) in self.forbidden else "against the tiers"
                raise SearchError(f"arc {tail!r} → {head!r} is required and {why}")
        for name in self.names:
            parents = self.required_parents(name)
            if len(parents) > self.max_parents:
                raise SearchError(
                    f"{name!r} has {len(parents)} required parents; max_parents is "
                    f"{self.max_parents}"
                )
        try:
            topological_order({x: self.required_parents(x) for x in self.names})
        except NetworkError as error:
            raise SearchError(f"the required arcs contradict each other: {error}") from None


def _arc(value: object) -> Arc:
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
        raise SearchError(f"an arc must be a pair (parent, child), got {value!r}")
    tail, head = value
    if tail == head:
        raise SearchError(f"arc {tail!r} → {head!r} leads to itself")
    return tail, head
