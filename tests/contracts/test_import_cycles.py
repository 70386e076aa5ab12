"""Imports go in one direction, also where an import stands inside a function or is for types."""

import ast
from pathlib import Path

import networkx as nx

import ebnc

ROOT = Path(ebnc.__file__).parent


def module_name(path):
    parts = ("ebnc", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path, modules):
    """Modules of the package that a file imports anywhere, for types included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in modules else node.module for name in inside)


def import_graph():
    """Every module with those it imports, but for the list of public names."""
    files = {module_name(path): path for path in ROOT.rglob("*.py")}
    kept = set(files) - {"ebnc"}
    return {name: {x for x in imports_of(files[name], files) if x in kept} for name in kept}


def test_no_module_is_in_a_circle_of_imports():
    graph = nx.DiGraph({name: list(found) for name, found in import_graph().items()})
    assert graph.has_edge("ebnc.formats.network_json", "ebnc.network.local.kinds")
    circles = [sorted(part) for part in nx.strongly_connected_components(graph) if len(part) > 1]
    assert not circles


def test_no_model_imports_a_format():
    for name, found in import_graph().items():
        if not name.startswith(("ebnc.formats", "ebnc.cli")):
            assert not [x for x in found if x.startswith("ebnc.formats")], name
