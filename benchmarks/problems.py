"""Data made on the spot, the same in every run: nothing is downloaded, nothing is kept."""

import numpy as np

import ebnc
from ebnc.data.cases import Cases
from ebnc.data.rows import CodedRows

ADULT_STATES = (8, 8, 5, 16, 8, 7, 14, 6, 5, 2, 4, 3, 6, 10)
"""About the numbers of states of the census data `adult` after discretising."""


def coded_cases(n_rows: int, states: tuple[int, ...], n_classes: int, seed: int = 0) -> Cases:
    """Correlated columns with uneven states; the class depends on them and on a few pairs."""
    generator = np.random.default_rng(seed)
    names = tuple(f"X{i:02d}" for i in range(len(states)))
    domain = ebnc.Domain(dict(zip(names, states, strict=True)) | {"Y": n_classes})
    hidden = generator.random(n_rows, dtype=np.float32)
    code: type = np.uint8 if max(states) <= 256 else np.uint16
    codes = np.empty((len(states), n_rows), dtype=code)
    scores = np.zeros((n_rows, n_classes), dtype=np.float32)
    for v, r in enumerate(states):
        level = 0.5 * generator.random(n_rows, dtype=np.float32) + 0.5 * hidden
        codes[v] = np.minimum((level**2 * r).astype(code), r - 1)
        scores += generator.normal(scale=0.5, size=(r, n_classes)).astype(np.float32)[codes[v]]
    for v in range(0, len(states) - 1, 5):
        table = generator.normal(scale=0.5, size=(states[v], states[v + 1], n_classes))
        scores += table.astype(np.float32)[codes[v], codes[v + 1]]
    scores += generator.gumbel(size=scores.shape).astype(np.float32)
    classes = scores.argmax(axis=1).astype(np.uint8)
    return Cases(domain, "Y", CodedRows(names, states, codes), classes, None)


def naive_with_pairs(names: tuple[str, ...], n_pairs: int) -> ebnc.EmbeddedStructure:
    """All inputs, the first ones in pairs: X01 has parents Y and X00, X02 has Y and X01, …"""
    parents = dict.fromkeys(names, ("Y",))
    for v in range(n_pairs):
        parents[names[v + 1]] = (names[v], "Y")
    return ebnc.EmbeddedStructure("Y", (("Y", ()), *parents.items()))


def random_tables(n_variables: int, seed: int = 0) -> ebnc.Network:
    """A network of tables: one to three parents among the six variables before, 2–4 states."""
    generator = np.random.default_rng(seed)
    names = [f"V{i:03d}" for i in range(n_variables)]
    domain = {x: [f"s{j}" for j in range(2 + i % 3)] for i, x in enumerate(names)}
    locals_ = []
    for i, name in enumerate(names):
        near = names[max(0, i - 6) : i]
        count = min(len(near), int(generator.integers(1, 4)))
        parents = sorted(generator.choice(near, count, replace=False).tolist()) if near else []
        shape = [len(domain[x]) for x in parents]
        theta = generator.dirichlet(np.full(len(domain[name]), 0.5), size=shape)
        locals_.append(ebnc.Table(name, parents, domain, theta))
    return ebnc.Network(locals_)
