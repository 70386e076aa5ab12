"""The comparison of two graphs over the same variables: which arcs differ, and how many."""

from dataclasses import dataclass
from itertools import combinations

from ebnc.errors import NetworkError
from ebnc.markup import html_table
from ebnc.network.model.equivalence import compelled_arcs
from ebnc.network.model.graph import Parents

Arc = tuple[str, str]


@dataclass(frozen=True)
class Comparison:
    """How a second network differs from a first one.

    Attributes
    ----------
    shared : tuple of (str, str)
        Arcs (parent, child) that both networks have.
    missing : tuple of (str, str)
        Arcs of the first network that the second lacks, in either direction.
    extra : tuple of (str, str)
        Arcs of the second network that the first lacks, in either direction.
    reversed : tuple of (str, str)
        Arcs of the first network that point the other way in the second.
    class_distance : int
        The number of pairs of variables whose connection differs between the equivalence classes
        of the two graphs (structural Hamming distance of their CPDAGs). Data alone cannot tell
        equivalent graphs apart, so this is the fair distance of a learned network from the truth.
    scores : (float, float) or None
        The scores of both networks on data, in nats, if data were given; higher is better.
    """

    shared: tuple[Arc, ...]
    missing: tuple[Arc, ...]
    extra: tuple[Arc, ...]
    reversed: tuple[Arc, ...]
    class_distance: int
    scores: tuple[float, float] | None = None

    @property
    def distance(self) -> int:
        """The structural Hamming distance: arcs to add, remove or reverse."""
        return len(self.missing) + len(self.extra) + len(self.reversed)

    def _repr_html_(self) -> str:
        rows: list[tuple[str, int, str]] = []
        for title in ("shared", "missing", "extra", "reversed"):
            arcs = [f"{tail} → {head}" for tail, head in getattr(self, title)]
            rows.append((title, len(arcs), ", ".join(arcs)))
        note = f"distance {self.distance} (of equivalence classes: {self.class_distance})"
        if self.scores is not None:
            note += "; scores: {:.2f} and {:.2f}".format(*self.scores)
        return html_table(("arcs", "number", ""), rows, note=note)

    def __str__(self) -> str:
        lines = [
            f"distance {self.distance} (of equivalence classes: {self.class_distance}), "
            f"{len(self.shared)} arcs shared"
        ]
        for title in ("missing", "extra", "reversed"):
            arcs = [f"{tail} → {head}" for tail, head in getattr(self, title)]
            if arcs:
                lines.append(f"{title}: {', '.join(arcs)}")
        if self.scores is not None:
            lines.append("scores: {:.2f} and {:.2f}".format(*self.scores))
        return "\n".join(lines)


def compare_graphs(first: Parents, second: Parents) -> Comparison:
    """Compare two graphs; raise ``NetworkError`` if their variables differ."""
    odd = sorted(set(first) ^ set(second))
    if odd:
        raise NetworkError(
            f"only one of the networks has the variables {odd[:8]}; compare equal ones"
        )
    ours, theirs = _arcs(first), _arcs(second)
    turned = {(head, tail) for tail, head in theirs}
    classes = [(_arcs(graph), compelled_arcs(graph)) for graph in (first, second)]
    return Comparison(
        shared=tuple(arc for arc in ours if arc in theirs),
        missing=tuple(arc for arc in ours if arc not in theirs and arc not in turned),
        extra=tuple(arc for arc in theirs if arc not in ours and arc[::-1] not in ours),
        reversed=tuple(arc for arc in ours if arc in turned),
        class_distance=sum(
            _connection(*classes[0], *pair) != _connection(*classes[1], *pair)
            for pair in combinations(first, 2)
        ),
    )


def _arcs(parents: Parents) -> dict[Arc, None]:
    """All arcs, in order; a dict because it is ordered and has a quick ``in``."""
    return {(tail, head): None for head, tails in parents.items() for tail in tails}


def _connection(arcs: dict[Arc, None], compelled: set[Arc], x: str, y: str) -> str:
    """How two nodes are connected in the equivalence class of a graph."""
    if (x, y) in compelled:
        return "→"
    if (y, x) in compelled:
        return "←"
    return "–" if (x, y) in arcs or (y, x) in arcs else ""
