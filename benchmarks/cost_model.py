"""The cost model of docs/design/scale.md against measurements: CPU seconds of one pass over rows.

``python -m benchmarks.cost_model`` prints a table; one thread, so CPU seconds are wall seconds.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before anything is loaded that reads it

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.problems import coded_cases
from ebnc.data.cases import Cases
from ebnc.data.parts import StoredParts
from ebnc.data.rows import CodedRows
from ebnc.likelihood.counts import count_cells
from ebnc.likelihood.design import Design
from ebnc.likelihood.posterior import Posterior
from ebnc.likelihood.prior import NormalPrior
from ebnc.parameters.phi import Basis
from ebnc.structure.embedded import EmbeddedStructure

SIZES = [(100_000, 10, 2), (400_000, 10, 2), (1_600_000, 10, 2), (400_000, 40, 2), (400_000, 10, 4)]


def cpu_seconds(call: Callable[[], Any], repeat: int = 3) -> float:
    best = float("inf")
    for _ in range(repeat):
        began = time.process_time()
        call()
        best = min(best, time.process_time() - began)
    return best


def stored(cases: Cases, rows_each: int) -> StoredParts:
    def part(start: int) -> Cases:
        chosen = slice(start, start + rows_each)
        rows = CodedRows(cases.inputs, cases.n_states, cases.rows.codes[:, chosen])
        return Cases(cases.domain, cases.target, rows, cases.classes[chosen], None)

    return StoredParts.write(part(start) for start in range(0, len(cases), rows_each))


def main() -> None:
    print("       N  inputs  K    d  bags  gradient ms (model)  Hessian ms (model)  from disk ms")
    for n_rows, n_inputs, n_classes in SIZES:
        cases = coded_cases(n_rows, [4] * n_inputs, n_classes)
        structure = EmbeddedStructure.chain("Y", cases.inputs)
        design = Design.of(Basis(structure, cases.domain))
        posterior = Posterior(design, count_cells(design, cases), NormalPrior((1.0,)))
        parts = stored(cases, 2**18)
        streamed = Posterior(design, count_cells(design, parts), NormalPrior((1.0,)))
        phi = np.random.default_rng(0).normal(scale=0.1, size=(design.n_columns, design.n_others))
        posterior.value_and_gradient(phi)
        gradient = cpu_seconds(lambda: posterior.value_and_gradient(phi))  # noqa: B023
        hessian = cpu_seconds(lambda: posterior.upper_neg_hessian(phi), 1)  # noqa: B023
        from_disk = cpu_seconds(lambda: streamed.value_and_gradient(phi))  # noqa: B023
        hessian_price = posterior.hessian_price - design.dimension**3 / 90
        print(
            f"{n_rows:>8} {n_inputs:>7} {n_classes:>2} {design.dimension:>4} {len(design.bags):>5} "
            f"{1e3 * gradient:>12.1f} ({posterior.gradient_price / 1e6:.1f}) "
            f"{1e3 * hessian:>12.1f} ({hessian_price / 1e6:.1f}) {1e3 * from_disk:>13.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
