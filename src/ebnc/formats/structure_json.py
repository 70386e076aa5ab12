"""Embedded structures as JSON: the target and every variable's parents, whatever their names."""

from typing import Any

from ebnc.field import Field
from ebnc.structure.embedded import EmbeddedStructure

__all__ = ["structure_from_json", "structure_to_json"]


def structure_to_json(structure: EmbeddedStructure) -> dict[str, Any]:
    """The target and the families, in the structure's order."""
    families = [{"name": name, "parents": list(given)} for name, given in structure.families]
    return {"target": structure.target, "families": families}


def structure_from_json(field: Field) -> EmbeddedStructure:
    """The inverse of ``structure_to_json``; a cycle or an unknown parent is an error."""
    parts = field.object(["target", "families"])
    target = parts["target"].text()
    families = []
    for item in parts["families"].items():
        family = item.object(["name", "parents"])
        families.append((family["name"].text(), family["parents"].texts()))
    return field.built(lambda: EmbeddedStructure(target, tuple(families)))
