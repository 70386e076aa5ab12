"""An embedded network: m′ with θ, and inference in it by log odds (§3)."""

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ebnc.data.coder import encode
from ebnc.data.rows import CodedRows
from ebnc.data.table import TableLike as Table
from ebnc.domain import DomainLike, as_domain
from ebnc.parameters.kappa import kappa_to_tables, theta_to_kappa
from ebnc.parameters.tables import TableSum
from ebnc.parameters.theta import Theta, check_theta, random_theta
from ebnc.structure.embedded import EmbeddedStructure, check_structure
from ebnc.typing import FloatArray


class EmbeddedNetwork:
    """(m′, θ): an ordinary Bayesian network over Y and X, used only for p(y|x).

    Parameters
    ----------
    structure : EmbeddedStructure
        The structure m′.
    domain : Domain or mapping
        The states of all variables, as counts, labels or a ``Domain``.
    theta : mapping from str to array
        ``theta[name]`` has one axis per parent, in the order of ``structure.parents(name)``, and a
        last axis for the variable itself, over which it sums to 1. All entries are positive.

    Attributes
    ----------
    structure : EmbeddedStructure
        The structure m′.
    domain : Domain
        The states of all variables.
    theta : mapping from str to array
        The conditional probability tables.

    Examples
    --------
    >>> structure = EmbeddedStructure.naive("Y", ["X"])
    >>> theta = {"Y": [0.5, 0.5], "X": [[0.75, 0.25], [0.25, 0.75]]}
    >>> network = EmbeddedNetwork(structure, {"X": ["no", "yes"], "Y": 2}, theta)
    >>> network.probabilities({"X": ["no", "yes"]})
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """

    def __init__(
        self, structure: EmbeddedStructure, domain: DomainLike, theta: Mapping[str, ArrayLike]
    ) -> None:
        check_structure(structure)
        declared = as_domain(domain)
        self.structure = structure
        self.domain = declared.only(structure.names)
        self.theta: Theta = check_theta(structure, self.domain, theta)

    @classmethod
    def random(
        cls, structure: EmbeddedStructure, domain: DomainLike, random_state: int = 0
    ) -> "EmbeddedNetwork":
        """Return a network with θ drawn uniformly from the simplices.

        Parameters
        ----------
        structure : EmbeddedStructure
            The structure m′.
        domain : Domain or mapping
            The states of all variables, as counts, labels or a ``Domain``.
        random_state : int
            The seed.
        """
        declared = as_domain(domain)
        generator = np.random.default_rng(random_state)
        return cls(structure, declared, random_theta(structure, declared, generator))

    def __repr__(self) -> str:
        return f"EmbeddedNetwork({self.structure}, target={self.structure.target!r})"

    @cached_property
    def _tables(self) -> TableSum:
        return kappa_to_tables(self.structure, theta_to_kappa(self.structure, self.theta))

    def log_odds(self, data: Table) -> FloatArray:
        """Return λ_k = log p(y^k|x)/p(y^0|x) for k = 1 … K − 1, eq. 4, shape (rows, K − 1).

        Only Y's own term and those of its children are computed; all others cancel.

        Parameters
        ----------
        data : table
            Columns are found by name.
        """
        return self._tables.log_odds(self._encode(data))

    def probabilities(self, data: Table) -> FloatArray:
        """Return p(y|x) by eq. 3, shape (rows, K); columns in the order of the target's states.

        Parameters
        ----------
        data : table
            Columns are found by name.
        """
        return self._tables.probabilities(self._encode(data))

    def _encode(self, data: Table) -> CodedRows:
        structure = self.structure
        return encode(data, self.domain, structure.markov_blanket, array_names=structure.inputs)
