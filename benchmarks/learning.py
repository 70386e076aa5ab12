"""Fit and prediction against scikit-learn, memory, and the pause of compiling."""

import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

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

SOLVERS = [
    (solver, tol)
    for solver in ("lbfgs", "newton-cg", "newton-cholesky")
    for tol in (1e-3, 1e-4, 1e-5, 1e-6)
]


def comparisons() -> Iterator[Comparison]:
    adult = coded_cases(50_000, ADULT_STATES, 2)
    yield fit_against_scikit_learn("adult-like, 50 000 × 14 with 10 pairs", adult, 10)
    states = tuple(2 + i % 5 for i in range(30))
    million = coded_cases(1_000_000, states, 2)
    yield fit_against_scikit_learn("1 000 000 × 30", million, 0)
    five = coded_cases(200_000, states[:20], 5)
    yield fit_against_scikit_learn("200 000 × 20, 5 classes", five, 0, needed="≥ 1")
    yield from prediction(million)
    yield from memory()
    yield compile_pause()


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


def fit_against_scikit_learn(
    name: str, cases: Cases, n_pairs: int, needed: str = "≥ 10"
) -> Comparison:
    """The same objective to the same optimum; the peer is its fastest solver within 1e-6 of it."""
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
    one_hot = OneHotEncoder(dtype=np.float64).fit_transform(
        np.column_stack([_cells(cases, block) for block in blocks])
    )
    best = (float("inf"), "none")
    for solver, tol in SOLVERS:
        if solver == "newton-cholesky" and one_hot.shape[0] > 500_000:
            continue  # makes the design dense
        model = LogisticRegression(solver=solver, tol=tol, max_iter=2_000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = time.perf_counter()
            model.fit(one_hot, cases.classes)
            seconds = time.perf_counter() - start
        log_p = model.predict_log_proba(one_hot)[np.arange(len(cases)), cases.classes].sum()
        value = log_p - 0.5 * float(np.sum(model.coef_**2))
        if value >= optimum - 1e-6 * abs(optimum) and seconds < best[0]:
            best = (seconds, f"{solver}, tol {tol:g}")
    assert optimum >= value - 1e-6 * abs(optimum), "our optimum is not the optimum"
    (seconds,) = best_of(ours, repeat=7)
    return Comparison(
        f"fit, {name} (d = {basis.dimension})",
        *("ebnc", seconds, f"scikit-learn LogisticRegression, {best[1]}", best[0], needed),
    )


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


def compile_pause() -> Comparison:
    """The first fit and prediction of a process: with an empty cache, and in the next process."""
    code = (
        "import time, ebnc; s = ebnc.EmbeddedStructure.naive('Y', ['A']); "
        "d = {'A': [0, 1] * 9, 'Y': [0, 1, 1] * 6}; t = time.perf_counter(); "
        "ebnc.fit(s, d).probabilities(d); print(time.perf_counter() - t)"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(Path(folder))}
        first, second = (
            float(
                subprocess.run(
                    [sys.executable, "-c", code],
                    check=True,
                    capture_output=True,
                    text=True,
                    env=environment,
                ).stdout
            )
            for _ in range(2)
        )
    return Comparison(
        "first fit and prediction of a process",
        *("next process (cached)", second, "empty cache (compiling)", first, "≥ 3"),
    )
