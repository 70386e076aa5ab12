"""Embedded structures as JSON: the target, and the parents of every variable."""

from typing import Any

from ebnc.field import Field
from ebnc.structure.embedded import EmbeddedStructure


def structure_to_json(structure: EmbeddedStructure) -> dict[str, Any]:
    """Convert a structure to plain data; families are in the structure's order."""
    families = [{"name": name, "parents": list(parents)} for name, parents in structure.families]
    return {"target": structure.target, "families": families}


def structure_from_json(field: Field) -> EmbeddedStructure:
    """Invert ``structure_to_json``; a cycle or an unknown parent is an error."""
    parts = field.object(["target", "families"])
    target = parts["target"].text()
    families = []
    for item in parts["families"].items():
        family = item.object(["name", "parents"])
        families.append((family["name"].text(), family["parents"].texts()))
    return field.built(lambda: EmbeddedStructure(target, tuple(families)))
