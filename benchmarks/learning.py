"""Fits and predictions against scikit-learn and glum, and the memory of a fit.

The default call chooses σ by evidence, which takes several fits; peers are given their ridge.
"""

import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import product

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import ebnc
from benchmarks.measure import Comparison, best_of
from benchmarks.problems import ADULT_STATES, coded_cases, naive_with_pairs
from ebnc.data.cases import Cases
from ebnc.fitting.newton import maximise
from ebnc.likelihood.counts import count_cells
from ebnc.likelihood.design import Design
from ebnc.likelihood.posterior import Posterior
from ebnc.parameters.phi import Basis
from ebnc.parameters.tables import recipe

SOLVERS = ("lbfgs", "newton-cg", "newton-cholesky")
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6)

SEVERAL_FITS = "σ by evidence takes several fits and their curvature; the peer is given its ridge"
COUPLED_CLASSES = (
    "fits of a given structure have one matrix of 2 825 parameters for all classes, and σ by "
    "evidence inverts it several times; searches have a block for each class"
)
DENSE_CODING = "the block of one input is a full matrix, although it is nearly diagonal"


def comparisons() -> Iterator[Comparison]:
    adult = coded_cases(20_000, ADULT_STATES, 2)
    yield fit_at_one_ridge("adult-like, 20 000 × 14 with 10 pairs", adult, 10)
    states = tuple(2 + i % 5 for i in range(30))
    five = coded_cases(20_000, states[:20], 5)
    yield fit_at_one_ridge("20 000 × 20, 5 classes", five, 0)
    yield from default_fit("20 000 × 14, adult-like", adult)
    letter_like = coded_cases(5_000, (8,) * 16, 26)
    yield from default_fit(
        "5 000 × 16 of 8 states, 26 classes", letter_like, reason=COUPLED_CLASSES
    )
    many_states = coded_cases(50_000, (3000, *ADULT_STATES[:5]), 2)
    yield from default_fit("50 000 × 6, one input of 3 000 states", many_states, 0.3, DENSE_CODING)
    wide = coded_cases(5_000, (4,) * 540, 2)
    yield from default_fit("5 000 × 540 of 4 states", wide, 3.0, SEVERAL_FITS)
    yield from prediction(coded_cases(1_000_000, states, 2))
    yield from memory()


class OneHotRidge:
    """The prior that a ridge (C) on one-hot columns is: each block of n cells puts variance C/n on
    every orthonormal coefficient it contains, and blocks add; the intercept is free."""

    is_proper = False

    def __init__(self, blocks: list[tuple[str, ...]], c: float) -> None:
        self.blocks, self.c = blocks, c

    def precision(self, design: Design) -> np.ndarray:
        basis = design.basis
        k = basis.n_classes
        flat = np.zeros(basis.dimension)
        for term in basis.terms:
            variance = sum(
                self.c / np.prod([basis.domain.n_states(x) for x in block])
                for block in self.blocks
                if set(term.inputs) <= set(block)
            )
            share = 4 if k == 2 else k  # one vector of coefficients for two classes, else K
            flat[term.start : term.stop] = share / variance if term.inputs else 0.0
        return design.from_basis(flat)[:, 0]


def fit_at_one_ridge(name: str, cases: Cases, n_pairs: int) -> Comparison:
    """The same objective to the same optimum; the peer is the fastest within 1e-6 of it."""
    structure = naive_with_pairs(cases.rows.names, n_pairs)
    basis = Basis(structure, cases.domain)
    blocks = [(x,) for x in cases.rows.names]
    blocks += [pair for pair in structure.clusters if len(pair) == 2]
    prior = OneHotRidge(blocks, c=1.0)

    def ours() -> float:
        design = Design.of(basis)
        posterior = Posterior(design, count_cells(design, cases), prior)
        return maximise(posterior, tolerance=1e-4).value  # nats: under 1e-8 of the value

    optimum = ours()
    cells = np.column_stack([_cells(cases, block) for block in blocks])
    peers = {
        f"{solver}, tol {tol:g}": fit
        for (solver, tol), fit in _peers(cells, cases.classes, optimum).items()
    }
    once = best_of(*peers.values(), repeat=1)
    fastest = min(zip(once, peers, strict=True))[1]
    seconds, theirs = best_of(ours, peers[fastest], repeat=3)
    return Comparison(
        f"fit at a given ridge, {name} (d = {basis.dimension})",
        *("ebnc", seconds, f"{fastest}", theirs, "≥ 1"),
    )


def _peers(
    cells: np.ndarray, classes: np.ndarray, optimum: float
) -> dict[tuple[str, float], Callable[[], object]]:
    """Every solver at its loosest tolerance that is within 1e-6 of the optimum."""
    one_hot = OneHotEncoder(dtype=np.float64).fit_transform(cells)
    names = [f"X{i}" for i in range(cells.shape[1])]
    frame = pd.DataFrame(cells, columns=names).astype("category")

    def scikit_learn(solver: str, tol: float) -> tuple[np.ndarray, np.ndarray]:
        model = LogisticRegression(solver=solver, tol=tol, max_iter=2_000).fit(one_hot, classes)
        return model.predict_proba(one_hot), model.coef_

    def glum(_: str, tol: float) -> tuple[np.ndarray, np.ndarray]:
        from glum import GeneralizedLinearRegressor  # noqa: PLC0415

        model = GeneralizedLinearRegressor(
            family="binomial", alpha=1 / len(cells), l1_ratio=0, gradient_tol=tol
        ).fit(frame, classes)
        p = model.predict(frame)
        return np.column_stack([1 - p, p]), model.coef_

    fits = dict.fromkeys(SOLVERS, scikit_learn)
    if find_spec("glum") and classes.max() == 1:
        fits["glum"] = glum
    found: dict[tuple[str, float], Callable[[], object]] = {}
    rows = np.arange(len(cells))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for (solver, fit), tol in product(fits.items(), TOLERANCES):
            if any(solver == reached for reached, _ in found):
                continue
            p, coefficients = fit(solver, tol)
            value = np.log(p[rows, classes]).sum() - 0.5 * float(np.sum(coefficients**2))
            assert value <= optimum + 1e-6 * abs(optimum), "our optimum is not the optimum"
            if value >= optimum - 1e-6 * abs(optimum):
                found[solver, tol] = lambda fit=fit, solver=solver, tol=tol: fit(solver, tol)
    return found


def default_fit(
    name: str, cases: Cases, limit: float | None = None, reason: str = ""
) -> Iterator[Comparison]:
    """``ebnc.fit`` of main effects from a data frame of categories, scales by evidence.

    States are declared, because 3 000 labels would be taken for an identifier.
    """
    names = cases.rows.names
    frame = pd.DataFrame({x: pd.Categorical(cases.rows.column(x)) for x in names})
    with_class, states = frame.assign(Y=cases.classes), dict(cases.domain)
    structure = ebnc.EmbeddedStructure.naive("Y", names)

    def scikit_learn(solver: str) -> Callable[[], object]:
        model = LogisticRegression(solver=solver, max_iter=500)
        return lambda: make_pipeline(OneHotEncoder(), model).fit(frame, cases.classes)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, *theirs = best_of(
            lambda: ebnc.fit(structure, with_class, categories=states),
            *map(scikit_learn, ("lbfgs", "newton-cholesky")),
            repeat=1,
        )
    what = f"default fit of main effects, {name}"
    yield Comparison(
        *(what, "ebnc, σ by evidence", ours, "LogisticRegression at C=1", min(theirs), "≥ 0.25"),
        reason=reason or SEVERAL_FITS,
    )
    if limit is not None:
        yield Comparison(f"{what}: CPU seconds", "ebnc", ours, "limit", limit, "≥ 1", reason)


def _cells(cases: Cases, block: tuple[str, ...]) -> np.ndarray:
    how = recipe([block], cases.rows)
    codes = cases.rows.codes.astype(np.int64)
    return sum(codes[c] * s for c, s in zip(how.columns, how.strides, strict=True))


def prediction(cases: Cases) -> Iterator[Comparison]:
    """A million rows: from a data frame of categories, and from codes."""
    names = cases.rows.names[:14]
    labels = {x: list("abcdef")[: cases.domain.n_states(x)] for x in names}
    frame = pd.DataFrame(
        {x: pd.Categorical.from_codes(cases.rows.column(x), labels[x]) for x in names}
    )
    y = np.array(["no", "yes"])[cases.classes]
    head = frame.head(20_000)
    fitted = ebnc.fit(
        ebnc.EmbeddedStructure.naive("y", names), head.assign(y=y[:20_000]), prior_scale=1.0
    )
    peer = make_pipeline(OneHotEncoder(), LogisticRegression(max_iter=500)).fit(head, y[:20_000])
    ours, theirs = best_of(
        lambda: fitted.probabilities(frame), lambda: peer.predict_proba(frame), repeat=3
    )
    yield Comparison(
        "predict_proba, 1 000 000 rows × 14 categorical columns (pandas)",
        *("ebnc", ours, "scikit-learn one-hot pipeline", theirs, "≥ 5"),
    )
    as_words = frame.astype(str)
    ours, theirs = best_of(
        lambda: fitted.probabilities(as_words), lambda: peer.predict_proba(as_words), repeat=2
    )
    yield Comparison(
        "predict_proba, 1 000 000 rows × 14 columns of strings (pandas)",
        *("ebnc", ours, "scikit-learn one-hot pipeline", theirs, "≥ 5"),
    )
    for n_classes in (2, 5):
        structure = ebnc.EmbeddedStructure.naive("Y", cases.rows.names)
        domain = ebnc.Domain({**{x: cases.domain[x] for x in cases.rows.names}, "Y": n_classes})
        model = ebnc.EBNC.from_embedded_network(ebnc.EmbeddedNetwork.random(structure, domain))
        numbers = np.random.default_rng(0).normal(size=(len(cases), n_classes))

        def yardstick(numbers=numbers):  # type: ignore[no-untyped-def]
            cases.rows.codes.copy()
            np.exp(numbers)

        ours, pass_and_exp = best_of(lambda model=model: model.probabilities(cases.rows), yardstick)
        yield Comparison(
            f"probabilities from codes, 1 000 000 × 30, {n_classes} classes",
            *("one copy of the codes + np.exp per class", pass_and_exp, "ebnc", ours, "≤ 3"),
        )


MEMORY_SCRIPT = """
import numpy as np, re, sys
from pathlib import Path
import ebnc
from ebnc.data.cases import Cases
from ebnc.data.rows import CodedRows
from ebnc.likelihood.design import Design
from ebnc.likelihood.counts import count_cells
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import as_prior
from ebnc.fitting.newton import maximise
from ebnc.parameters.phi import Basis
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024
def now():
    return int(re.search(r"VmRSS:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024
def fit(n_rows):
    generator = np.random.default_rng(0)
    names = tuple(f"X{i:02d}" for i in range(20))
    domain = ebnc.Domain(dict.fromkeys(names, 4) | {"Y": 2})
    codes = np.empty((20, n_rows), dtype=np.uint8)
    for v in range(20):
        codes[v] = generator.integers(0, 4, n_rows, dtype=np.uint8)
    classes = (codes[0] + generator.integers(0, 3, n_rows, dtype=np.uint8) > 2).astype(np.uint8)
    cases = Cases(domain, "Y", CodedRows(names, (4,) * 20, codes), classes, None)
    Path("/proc/self/clear_refs").write_text("5")
    before = now()
    design = Design.of(Basis(ebnc.EmbeddedStructure.naive("Y", names), domain))
    solution = maximise(Posterior(design, count_cells(design, cases), as_prior(1.0)))
    assert solution.converged
    return peak() - before
fit(10_000)
print(fit(10_000_000), peak())
"""


def memory() -> Iterator[Comparison]:
    """10 000 000 × 20: peak beyond the coded data against 4 bytes a row and cluster, and in all."""
    run = [sys.executable, "-c", MEMORY_SCRIPT]
    printed = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    beyond, total = (float(x) / 2**30 for x in re.findall(r"\d+", printed))
    allowed = 4 * 10_000_000 * 20 / 2**30
    yield Comparison(
        "memory of a fit, 10 000 000 × 20, beyond the coded data (GiB)",
        *("4 bytes a row and cluster", allowed, "peak", beyond, "≤ 1"),
    )
    yield Comparison(
        "memory of a fit, 10 000 000 × 20, whole process (GiB)",
        *("limit", 2.0, "peak", total, "≤ 1"),
    )
