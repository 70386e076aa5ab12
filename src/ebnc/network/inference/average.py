"""The average of several networks of the same variables, with equal weights.

    p(z) = (1/k) Σ_j p_j(z)

A dense network depends on its order, and so do its errors. The average over orders therefore
predicts better than the network of the best order. It is a mixture, without a graph of its own.
"""

import math
from collections.abc import Iterable
from os import PathLike
from typing import Any

import numpy as np

from ebnc.data.coder import encode
from ebnc.data.frames import codes_to_frame
from ebnc.data.rows import CodedRows
from ebnc.data.table import TableLike as Rows
from ebnc.errors import DataError, NetworkError
from ebnc.markup import html_table
from ebnc.network.inference.distribution import Distribution
from ebnc.network.inference.sampling import sample_codes, sample_numbers
from ebnc.storage import provided
from ebnc.typing import FloatArray


class NetworkAverage:
    """The average of networks with the same variables and states, with equal weights.

    Parameters
    ----------
    networks : iterable of Network
        One network or more.

    Attributes
    ----------
    networks : tuple of Network
        As above.
    variables : tuple of str
        The variables of the first network, in its order.
    domain : Domain
        Their states.

    Examples
    --------
    >>> import ebnc
    >>> coin = [ebnc.Network([ebnc.Table("coin", [], {"coin": 2}, [1 - p, p])]) for p in (0.2, 0.6)]
    >>> average = ebnc.NetworkAverage(coin)
    >>> np.exp(average.log_likelihood({"coin": [0, 1]})).round(3)
    array([0.6, 0.4])
    """

    def __init__(self, networks: Iterable[Distribution]) -> None:
        self.networks = tuple(networks)
        if not self.networks:
            raise NetworkError("an average needs at least one network")
        first = self.networks[0]
        self.variables, self.domain = first.variables, first.domain
        for network in self.networks:
            if network.domain != self.domain or network.densities != first.densities:
                raise NetworkError("the networks of an average must have the same states")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NetworkAverage) and self.networks == other.networks

    def __hash__(self) -> int:
        return hash(self.networks)

    def __repr__(self) -> str:
        return f"NetworkAverage({len(self.networks)} networks of {len(self.variables)} nodes)"

    def _repr_html_(self) -> str:
        rows = [(len(each.arcs), each.dimension) for each in self.networks]
        title = f"The average of {len(rows)} networks of {len(self.variables)} variables"
        return html_table(("arcs", "parameters"), rows, title=title)

    def log_likelihood(self, data: Rows) -> FloatArray:
        """Return log p(z) of every row, shape (rows,).

        Parameters
        ----------
        data : table
            Rows with all variables, as for ``Network.log_likelihood``.
        """
        each = [network.log_likelihood(data) for network in self.networks]
        return np.asarray(np.logaddexp.reduce(each, axis=0) - math.log(len(each)))

    def sample(self, n: int, random_state: int | None = None) -> Any:
        """Draw rows, each from a network that is drawn first, as a table like ``Network.sample``.

        Parameters
        ----------
        n : int
            Number of rows.
        random_state : int, optional
            Seed; None draws different rows each time.
        """
        if n < 0:
            raise DataError(f"the number of rows must be at least 0, got {n}")
        generator = np.random.default_rng(random_state)
        drawn = generator.integers(len(self.networks), size=n)
        parts = [
            sample_codes(network, size, generator)[
                [network.variables.index(x) for x in self.variables]
            ]
            for network, size in zip(
                self.networks, np.bincount(drawn, minlength=len(self.networks)), strict=True
            )
        ]
        by_network = np.concatenate(parts, axis=1)
        codes = np.empty_like(by_network)
        codes[:, np.argsort(drawn, kind="stable")] = by_network
        numbers = sample_numbers(self.networks[0], codes, generator)
        return codes_to_frame(self.domain, dict(zip(self.variables, codes, strict=True)), numbers)

    def predict_proba(self, target: str, data: Rows) -> FloatArray:
        """Return p(target | all other variables) of every row, shape (rows, states of the target).

        Parameters
        ----------
        target : str
            The variable to predict; its column is not used.
        data : table
            Rows with all other variables.
        """
        n_states = self.networks[0].local(target).domain.n_states(target)
        others = [x for x in self.variables if x != target]
        rows = encode(data, self.domain, others, array_names=self.variables)
        sizes = (*(self.domain.n_states(x) for x in others), n_states)
        joint = np.empty((len(rows), n_states))
        for state in range(n_states):
            codes = np.vstack([rows.codes, np.full(len(rows), state, dtype=rows.codes.dtype)])
            joint[:, state] = self.log_likelihood(CodedRows((*others, target), sizes, codes))
        joint -= np.logaddexp.reduce(joint, axis=1, keepdims=True)
        return np.asarray(np.exp(joint))

    def predict(self, target: str, data: Rows) -> Any:
        """Return the most probable state of a variable for every row; the mean of a number.

        Parameters
        ----------
        target : str
            The variable to predict; its column is not used.
        data : table
            Rows with all other variables.
        """
        p = self.predict_proba(target, data)
        return self.networks[0].predictor(target).predict(p)

    def save(self, path: str | PathLike[str], *, overwrite: bool = True) -> None:
        """Save all networks to one file that ``ebnc.load`` reads.

        Parameters
        ----------
        path : str or path
            The file to write.
        overwrite : bool
            Whether an existing file may be replaced.
        """
        provided("save")(self, path, overwrite=overwrite)
