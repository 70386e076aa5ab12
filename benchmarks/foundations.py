"""Dimension in closed form, log odds by gather, and the weight of ``import ebnc``."""

import random
import subprocess
import sys
from collections.abc import Iterator

import numpy as np

import ebnc
from benchmarks.measure import Comparison, best_of
from ebnc.data.rows import CodedRows


def comparisons() -> Iterator[Comparison]:
    yield from dimension_grows_linearly()
    yield from closed_form_against_elimination()
    yield from log_odds_against_fancy_indexing()
    yield import_against_numpy()


def random_tree(names: list[str]) -> ebnc.EmbeddedStructure:
    generator = random.Random(0)
    edges = [(names[generator.randrange(i)], names[i]) for i in range(1, len(names))]
    return ebnc.EmbeddedStructure.tree("Y", edges)


def three_parents(names: list[str]) -> ebnc.EmbeddedStructure:
    """Every input the child of Y and of three random inputs before it: far from decomposable."""
    generator = random.Random(0)
    families = [(x, (*generator.sample(names[:i], min(i, 3)), "Y")) for i, x in enumerate(names)]
    return ebnc.EmbeddedStructure("Y", (("Y", ()), *families))


def dimension_grows_linearly() -> Iterator[Comparison]:
    """From the arcs to the number: building the structure, its clusters and counting."""
    names = [f"X{i}" for i in range(4000)]
    n_states = dict.fromkeys([*names, "Y"], 3)
    for kind, build in (
        ("chain", lambda inputs: ebnc.EmbeddedStructure.chain("Y", inputs)),
        ("random tree", random_tree),
    ):
        small, large = best_of(
            lambda build=build: ebnc.dimension(build(names[:2000]), n_states),
            lambda build=build: ebnc.dimension(build(names), n_states),
        )
        yield Comparison(
            f"dimension, {kind}: 4 000 against 2 000 inputs",
            *("2 000 inputs", small, "4 000 inputs", large, "≤ 3"),
        )


def closed_form_against_elimination() -> Iterator[Comparison]:
    names = [f"X{i:02d}" for i in range(12)]
    n_states = dict.fromkeys([*names, "Y"], 2)
    for kind, structure in (
        ("naive", ebnc.EmbeddedStructure.naive("Y", names)),
        ("chain", ebnc.EmbeddedStructure.chain("Y", names)),
        ("random tree", random_tree(names)),
        ("three parents each", three_parents(names)),
        ("table", ebnc.EmbeddedStructure.table("Y", names)),
    ):

        def hundred_times(structure=structure):  # type: ignore[no-untyped-def]
            for _ in range(100):  # one call is too short for the clock
                ebnc.dimension(structure, n_states)

        hundred, eliminated = best_of(
            hundred_times,
            lambda structure=structure: ebnc.dimension_by_elimination(structure, n_states),
        )
        yield Comparison(
            f"dimension, {kind}, 12 binary inputs",
            *("closed form", hundred / 100, "elimination (§4)", eliminated, "≥ 1000"),
        )


def log_odds_against_fancy_indexing() -> Iterator[Comparison]:
    names = [f"X{i}" for i in range(11)]
    structure = ebnc.EmbeddedStructure.chain("Y", names)  # ten clusters of two inputs
    for n_classes in (2, 3, 5):
        domain = ebnc.Domain(dict.fromkeys(names, 4) | {"Y": n_classes})
        network = ebnc.EmbeddedNetwork.random(structure, domain)
        model = ebnc.EBNC.from_embedded_network(network)
        generator = np.random.default_rng(0)
        columns = {x: generator.integers(0, 4, 1_000_000) for x in names}
        rows = CodedRows.from_codes(domain, columns)

        def fancy(model=model, rows=rows):  # type: ignore[no-untyped-def]
            tables = model.tables
            return sum(
                table[tuple(rows.column(x) for x in scope)]
                for scope, table in zip(tables.scopes, tables.tables, strict=True)
            )

        np.testing.assert_allclose(model.log_odds(rows), fancy(), atol=1e-9)
        ours, numpy_time = best_of(lambda model=model, rows=rows: model.log_odds(rows), fancy)
        yield Comparison(
            f"log odds, 1 000 000 rows × 10 clusters, {n_classes} classes",
            *("gather kernel", ours, "NumPy fancy indexing", numpy_time, "≥ 3"),
        )


def import_against_numpy() -> Comparison:
    def run(statement: str) -> None:
        subprocess.run([sys.executable, "-c", statement], check=True)

    bare, numpy_time, ours = best_of(
        lambda: run("pass"), lambda: run("import numpy"), lambda: run("import ebnc"), repeat=10
    )
    return Comparison(
        "import ebnc against import numpy (interpreter start taken off)",
        *("import numpy", numpy_time - bare, "import ebnc", ours - bare, "≤ 3"),
    )
