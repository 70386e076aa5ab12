"""Structures by name: the fixed families a classifier can be asked for."""

from collections.abc import Callable

from ebnc.data.parts import Parts
from ebnc.search.families import forest, kdb, tan
from ebnc.structure.embedded import EmbeddedStructure

__all__ = ["FAMILIES"]

FAMILIES: dict[str, Callable[[Parts], EmbeddedStructure]] = {
    "naive": lambda cases: EmbeddedStructure.naive(cases.target, cases.inputs),
    "tan": tan,
    "forest": forest,
    "kdb1": lambda cases: kdb(cases, 1),
    "kdb2": lambda cases: kdb(cases, 2),
    "table": lambda cases: EmbeddedStructure.table(cases.target, cases.inputs),
}
