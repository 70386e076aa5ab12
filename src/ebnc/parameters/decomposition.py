"""The decomposition of log odds that "turns on" one input after the other (§6, eq. 11–12).

Take the inputs in some order. λ(x) is its value at the baseline configuration plus, for each input,
the change when X_i goes from its baseline to x_i while the inputs before it are at their states in
x and the inputs after it at their baselines. Only the factors that contain X_i change, and they
depend only on the inputs before X_i. This module lists these factors and inputs; ``blocks`` counts
parameters with them, ``eta`` computes them.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ebnc.errors import StructureError
from ebnc.structure.embedded import EmbeddedStructure, Factor


@dataclass(frozen=True, slots=True)
class Turn:
    """Turning on ``variable``: the index sets of η_i and ψ_i.

    ``factors``: the factors that contain it, each with its earlier inputs, the contexts of η_i.
    ``context``: the union of these inputs, the contexts 𝐚 of ψ_i(𝐚).
    """

    variable: str
    factors: tuple[tuple[Factor, tuple[str, ...]], ...]
    context: tuple[str, ...]


def turns(structure: EmbeddedStructure, order: Sequence[str] | None = None) -> tuple[Turn, ...]:
    """One ``Turn`` per input of the Markov blanket, in ``order``.

    ``order``: any order of the inputs; by default the structure's own total order, which keeps
    contexts small. Inputs outside the blanket are skipped because λ does not depend on them.
    """
    blanket = set(structure.markov_blanket)
    if order is None:
        order = [name for name in structure.total_order if name != structure.target]
    elif Counter(order) != Counter(structure.inputs):
        raise StructureError(
            f"order must name each input once: {list(structure.inputs)}, got {list(order)}"
        )
    holding: dict[str, list[Factor]] = {}
    for factor in structure.factors:
        for name in factor.inputs:
            holding.setdefault(name, []).append(factor)
    position = {name: place for place, name in enumerate(order)}
    sequence = []
    for name in order:
        if name not in blanket:
            continue
        earlier = [
            (factor, _sorted_earlier(factor.inputs, position, position[name]))
            for factor in holding[name]
        ]
        context = {other for _, given in earlier for other in given}
        ordered = tuple(sorted(context, key=position.__getitem__))
        sequence.append(Turn(name, tuple(earlier), ordered))
    return tuple(sequence)


def _sorted_earlier(names: Sequence[str], position: dict[str, int], limit: int) -> tuple[str, ...]:
    return tuple(sorted((n for n in names if position[n] < limit), key=position.__getitem__))
