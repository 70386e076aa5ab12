"""A known network: rows to learn from, and how far a learned network is from it.

    KL(p ‖ q) = Σ_families Σ_pa p(pa) Σ_z p(z | pa) log p(z | pa)/q(z | pa)

exactly where q has the truth's arcs or some of them, with p(pa) by pyAgrum; otherwise as the mean
of log p − log q over fresh rows, the same ones for all learned networks.
"""

import warnings
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import ebnc
from ebnc.data.rows import CodedRows, all_configurations
from ebnc.network.inference.sampling import sample_codes

__all__ = ["MOST_ROWS", "Divergence", "Truth", "network_names", "read_truth"]

MOST_ROWS = 32_000
"""Rows of a repeat; smaller samples are its first rows."""

FRESH = 100_000
FRESH_SEED = 1_000_000


class Divergence(NamedTuple):
    """KL(p ‖ q) in nats; ``standard_error`` is 0 where it is exact."""

    value: float
    standard_error: float


class Truth:
    """The network that rows are sampled from."""

    def __init__(self, network: ebnc.Network) -> None:
        self.network = network

    def rows(self, n: int, repeat: int) -> pd.DataFrame:
        """The first n rows of a repeat."""
        return self._sample(repeat)[:n]

    @cache  # noqa: B019
    def _sample(self, repeat: int) -> pd.DataFrame:
        return pd.DataFrame(self.network.sample(MOST_ROWS, random_state=repeat))

    def divergence(self, learned: ebnc.Network) -> Divergence:
        """Exact where the arcs of ``learned`` are among those of the truth."""
        if set(learned.arcs) <= set(self.network.arcs):
            return Divergence(self.exact_divergence(learned), 0.0)
        return self.sampled_divergence(learned)

    def exact_divergence(self, learned: ebnc.Network) -> float:
        """Family by family, over all configurations of the true parents."""
        total = 0.0
        for name, joint in self._families.items():
            parents = self.network.parents(name)
            rows = all_configurations(self.network.domain, parents)
            q = learned[name].probabilities(rows) if parents else _alone(learned, name)
            p = self.network[name].probabilities(rows) if parents else _alone(self.network, name)
            weights = joint.reshape(p.shape)
            met = weights > 0
            total += float(weights[met] @ np.log(p[met] / q[met]))
        return total

    def sampled_divergence(self, learned: ebnc.Network) -> Divergence:
        """Mean of log p − log q over fresh rows."""
        rows, log_p = self._fresh
        difference = log_p - learned.log_likelihood(rows)
        error = difference.std(ddof=1) / np.sqrt(len(difference))
        return Divergence(float(difference.mean()), float(error))

    @cached_property
    def _fresh(self) -> tuple[CodedRows, np.ndarray]:
        codes = sample_codes(self.network, FRESH, np.random.default_rng(FRESH_SEED))
        sizes = tuple(map(self.network.domain.n_states, self.network.variables))
        rows = CodedRows(self.network.variables, sizes, codes)
        return rows, self.network.log_likelihood(rows)

    @cached_property
    def _families(self) -> dict[str, np.ndarray]:
        """p(parents, z) of every node, the axes in that order."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pyagrum as gum
        engine = gum.LazyPropagation(self.network.to_pyagrum())
        families = {x: [*self.network.parents(x), x] for x in self.network}
        for name, family in families.items():
            if len(family) > 1:
                engine.addJointTarget(set(family))
            else:
                engine.addTarget(name)
        engine.makeInference()
        found = {}
        for name, family in families.items():
            if len(family) == 1:
                found[name] = engine.posterior(name).toarray()
                continue
            joint = engine.jointPosterior(set(family))
            order = list(reversed(joint.names))
            found[name] = np.transpose(joint.toarray(), [order.index(x) for x in family])
        return found


def _alone(network: ebnc.Network, name: str) -> np.ndarray:
    """p(z) of a node without parents."""
    return network[name].probabilities({name: [network.domain[name][0]]})


def network_names(folder: Path) -> list[str]:
    """Networks in a folder, the smallest file first."""
    paths = sorted(folder.glob("*.bif.gz"), key=lambda path: (path.stat().st_size, path.name))
    return [path.name.removesuffix(".bif.gz") for path in paths]


@cache
def read_truth(folder: Path, name: str) -> Truth:
    return Truth(ebnc.Network.read_bif(folder / f"{name}.bif.gz"))
