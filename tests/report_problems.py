"""Models to report on: ordinary ones, and one with scripts and markup for names."""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from ebnc import EBNCClassifier

HOSTILE = [
    "<script>window.harm = 1</script>",
    "</script><script>window.harm = 2</script>",
    '"><img src=x onerror="window.harm = 3">',
    "' onmouseover='window.harm = 4",
    "{{ 7 * 7 }}",
    "<!--",
    "\u2028line",
    "年齢 🦉 größe",
    "long " * 400,
]


@dataclass
class Problem:
    """A fitted classifier with its data."""

    model: EBNCClassifier
    x: object
    y: object
    target: str


@cache
def two_classes(seed=0, n_rows=400, **options):
    """Strings, a number in intervals, gaps, an interaction; two classes."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    sky, wind = rng.choice(["clear", "grey", "dark"], n_rows), rng.choice(["calm", "windy"], n_rows)
    warmth = rng.normal(15, 8, n_rows)
    warmth[rng.random(n_rows) < 0.1] = np.nan
    score = 1.5 * (sky == "dark") - 1.0 * (np.nan_to_num(warmth, nan=15) > 18)
    score += 1.6 * ((sky == "clear") == (wind == "windy")) - 0.8
    y = np.where(rng.random(n_rows) < 1 / (1 + np.exp(-score)), "rain", "dry")
    x = pd.DataFrame(
        {"sky": sky, "wind": wind, "warmth": warmth, "noise": rng.integers(0, 3, n_rows)}
    )
    return Problem(EBNCClassifier(**options).fit(x, y), x, y, "weather")


@cache
def many_classes(**options):
    """Iris: numbers in intervals, three classes."""
    from sklearn.datasets import load_iris

    x, y = load_iris(return_X_y=True, as_frame=True)
    return Problem(EBNCClassifier(**options).fit(x, y), x, y, "species")


@cache
def hostile():
    """Scripts, quotes and markup in every name: of inputs, states, classes and the target."""
    import pandas as pd

    rng = np.random.default_rng(1)
    n_rows = 300
    x = pd.DataFrame({name: rng.choice(HOSTILE[:6], n_rows) for name in HOSTILE[:5]})
    x[HOSTILE[8]] = rng.choice(HOSTILE, n_rows)
    x["\n"] = rng.normal(size=n_rows)
    first = x.iloc[:, 0] == HOSTILE[0]
    y = np.where(first ^ (rng.random(n_rows) < 0.1) ^ (x["\n"] > 0), HOSTILE[1], HOSTILE[0])
    return Problem(EBNCClassifier().fit(x, y), x, y, HOSTILE[2])


def network(n_nodes=8, most_parents=4, seed=0, names=None):
    """A network of EBNCs with arcs among the parents, a table and a tree."""
    from ebnc import EBNC, Domain, EmbeddedStructure, Network
    from ebnc.network.local.table import Table
    from ebnc.parameters.phi import Basis

    rng = np.random.default_rng(seed)
    names = names or [f"node {i}" for i in range(n_nodes)]
    locals_ = [Table(names[0], [], {names[0]: 2}, [0.3, 0.7])]
    for i, name in enumerate(names[1:], start=1):
        earlier = names[max(0, i - 10) : i]
        n_parents = min(len(earlier), int(rng.integers(1, most_parents + 1)))
        chosen = [str(x) for x in rng.choice(earlier, n_parents, replace=False)]
        families = [(name, ()), (chosen[0], (name,))]
        families += [(x, (name, before)) for before, x in pairwise(chosen)]
        structure = EmbeddedStructure(name, tuple(families))
        domain = Domain(dict.fromkeys((name, *chosen), 2))
        phi = rng.normal(size=Basis(structure, domain).dimension)
        locals_.append(EBNC(structure, domain, phi, "orthonormal"))
    return Network(locals_)
