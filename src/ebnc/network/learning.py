"""Learn a network from data: cases → nodes → search → local distributions. Arranges only."""

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from ebnc.data.cases import Cases, check_weights, distinct_rows
from ebnc.data.columns import Frame, column_names
from ebnc.data.encoding import encode
from ebnc.data.rows import CodedRows
from ebnc.data.states import Categories, Missing, learn_domain
from ebnc.domain import Domain
from ebnc.errors import DataError, ParameterError
from ebnc.network.changes import Change, NetworkStep, NetworkTrace
from ebnc.network.checkpoint import Checkpoint, fingerprint
from ebnc.network.constraints import Constraints
from ebnc.network.local import Local
from ebnc.network.nodes import KINDS, NodeLearner, Settings
from ebnc.network.sparse import SparseSearch
from ebnc.typing import FloatArray

__all__ = ["Learned", "learn_network", "read_joint_cases"]

SCORES = ("laplace", "bic")


@dataclass(frozen=True, eq=False)
class Learned:
    """Local distributions with their scores, and the trace of the search."""

    locals_: list[Local]
    scores: Mapping[str, float]
    trace: NetworkTrace
    n_cases: float


def learn_network(
    data: Frame,
    *,
    score: str,
    local: str | Iterable[str],
    max_parents: int | None,
    required: Iterable[tuple[str, str]],
    forbidden: Iterable[tuple[str, str]],
    tiers: Sequence[Iterable[str]],
    structure_prior: bool,
    equivalent_sample_size: float | None,
    categories: Categories | None,
    missing: Missing,
    weights: object,
    checkpoint: str | os.PathLike[str] | None,
    n_jobs: int | None,
    verbose: int,
) -> Learned:
    """See ``Network.learn``."""
    settings = _settings(score, local, structure_prior, equivalent_sample_size)
    cases = read_joint_cases(data, categories, missing, weights)
    names = cases.rows.names
    constraints = Constraints.of(
        names, required=required, forbidden=forbidden, tiers=tiers, max_parents=max_parents
    )
    mark = fingerprint(cases, [settings, *_plain(constraints)])
    learners = {
        x: NodeLearner(
            Cases(cases.domain, x, cases.rows, cases.rows.column(x), cases.weights),
            settings,
            constraints.required_parents(x),
        )
        for x in names
    }
    with nullcontext() if checkpoint is None else Checkpoint(checkpoint, mark) as record:
        search = SparseSearch(
            learners,
            constraints,
            n_jobs=n_jobs,
            report=_printer() if verbose else None,
            record=None if record is None else lambda change: record.append(_to_json(change)),
        )
        for event in [] if record is None else list(record.events):
            search.apply(_from_json(event))
        search.run()
    locals_ = [learners[x].local(search.nodes[x].state) for x in names]
    scores = {x: node.state.score for x, node in search.nodes.items()}
    return Learned(locals_, scores, search.trace, cases.total_weight)


def read_joint_cases(
    data: Frame, categories: Categories | None, missing: Missing, weights: object
) -> Cases:
    """All columns as rows, the distinct ones counted; the first column stands in as target."""
    names = column_names(data)
    if not names:
        raise DataError("the data have no columns")
    domain = learn_domain(data, names, categories=categories, missing=missing)
    rows = encode(data, domain, names)
    if len(rows) == 0:
        raise DataError("the data have no rows")
    checked = check_weights(weights, len(rows))
    return _counted(domain, rows, checked)


def _counted(domain: Domain, rows: CodedRows, weights: FloatArray | None) -> Cases:
    codes = rows.codes
    if weights is not None and (weights == 0).any():
        codes, weights = codes[:, weights > 0], weights[weights > 0]
    first, inverse = distinct_rows(list(codes), rows.n_states)
    if 2 * len(first) <= codes.shape[1]:
        weights = np.bincount(inverse, weights, len(first)).astype(np.float64)
        codes = np.ascontiguousarray(codes[:, first])
    kept = CodedRows(rows.names, rows.n_states, codes)
    return Cases(domain, rows.names[0], kept, codes[0], weights)


def _settings(
    score: str, local: str | Iterable[str], structure_prior: bool, sample_size: float | None
) -> Settings:
    kinds = (local,) if isinstance(local, str) else tuple(local)
    if score not in SCORES:
        raise ParameterError(f"score must be one of {', '.join(SCORES)}, got {score!r}")
    if not kinds or not set(kinds) <= set(KINDS):
        raise ParameterError(f"local must name some of {', '.join(KINDS)}, got {list(kinds)}")
    if sample_size is not None and not 0 < sample_size < 1e9:
        raise ParameterError(f"equivalent_sample_size must be positive, got {sample_size}")
    return Settings(score, kinds, structure_prior, sample_size)


def _plain(constraints: Constraints) -> list[object]:
    return [
        constraints.names,
        sorted(constraints.required),
        sorted(constraints.forbidden),
        sorted(constraints.tier.items()),
        constraints.max_parents,
    ]


def _to_json(change: Change) -> dict[str, object]:
    return {
        "verb": change.verb,
        "head": change.head,
        "tail": change.tail,
        "families": [[name, list(parents)] for name, parents in change.families],
    }


def _from_json(event: Mapping[str, object]) -> Change:
    families = event["families"]
    assert isinstance(families, list)
    return Change(
        str(event["verb"]),
        str(event["head"]),
        str(event["tail"]),
        tuple((name, tuple(parents)) for name, parents in families),
    )


def _printer() -> Callable[[NetworkStep], None]:
    def show(step: NetworkStep) -> None:
        print(f"{step.score:14.3f}  {step.seconds:8.2f} s  {step.change}", file=sys.stderr)

    return show
