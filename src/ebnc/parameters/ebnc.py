"""The EBNC: a local distribution p(y|x) in its non-redundant parameters φ (§6)."""

import os
from functools import cached_property
from itertools import product
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ebnc.data.coder import encode
from ebnc.data.rows import CodedRows
from ebnc.data.table import TableLike as Table
from ebnc.domain import Domain, DomainLike, as_domain
from ebnc.errors import ParameterError
from ebnc.parameters.background import Background
from ebnc.parameters.coding import INDICATOR, ORTHONORMAL, coding_named
from ebnc.parameters.contributions import Contributions, Weights, contributions, weights_named
from ebnc.parameters.embedded_network import EmbeddedNetwork
from ebnc.parameters.kappa import kappa_to_tables, theta_to_kappa
from ebnc.parameters.phi import Basis, check_phi, phi_to_tables, recode, tables_to_phi
from ebnc.parameters.phi_table import PhiRow, PhiTable
from ebnc.parameters.phi_to_theta import tables_to_theta
from ebnc.parameters.tables import TableSum
from ebnc.parameters.unknown import average_over_unknown, with_averages
from ebnc.storage import provided
from ebnc.structure.embedded import EmbeddedStructure, check_structure
from ebnc.typing import FloatArray

__all__ = ["EBNC", "Unseen"]

Unseen: TypeAlias = Literal["error", "average"]


class EBNC:
    """p(y|x) = softmax of λ(x), λ_k(x) = Σ_{S ∈ Δ} φ_k(S, x_S): concave to fit, nothing redundant.

    Parameters
    ----------
    structure : EmbeddedStructure
        How p(y|x) is factored. Inputs with one state do not exist: ``structure`` and ``domain`` of
        the EBNC are without them, and data need not hold them.
    domain : Domain or mapping
        The states of all variables of the structure.
    phi : array
        A vector of length ``dimension``, in the order of ``basis.terms``.
    coding : {"indicator", "orthonormal"}
        What the numbers of ``phi`` mean; "indicator" is the paper's.
    background : Background, optional
        The training data in short: what unknown entries are averaged over, and what contributions
        are measured against. ``ebnc.fit`` and classifiers keep one; without (made by hand, nodes of
        networks, older files) all states count the same.

    Examples
    --------
    >>> structure = EmbeddedStructure.naive("Y", ["X"])
    >>> ebnc = EBNC(structure, {"X": ["no", "yes"], "Y": 2}, [0.0, 1.0])
    >>> print(ebnc.phi_table())
    term         states  class    value
    (intercept)          1      +0.0000
    X            yes     1      +1.0000
    """

    kind = "ebnc"

    def __init__(
        self,
        structure: EmbeddedStructure,
        domain: DomainLike,
        phi: ArrayLike,
        coding: str = "indicator",
        *,
        background: Background | None = None,
    ) -> None:
        check_structure(structure)
        declared = as_domain(domain)
        self.coding = coding_named(coding)
        self.basis = Basis(structure, Domain({name: declared[name] for name in structure.names}))
        self.structure = self.basis.structure
        self.domain = Domain({name: declared[name] for name in self.structure.names})
        self.phi = check_phi(self.basis, phi)
        self.background = background

    def __setattr__(self, name: str, value: object) -> None:
        if name in vars(self):
            raise AttributeError(f"{name} of an EBNC cannot be changed; make a new EBNC")
        super().__setattr__(name, value)

    def __eq__(self, other: object) -> bool:
        """Whether two EBNCs have the same terms, states, φ in the same coding, and background."""
        if not isinstance(other, EBNC):
            return NotImplemented
        return (
            self.structure == other.structure
            and self.domain == other.domain
            and self.coding == other.coding
            and self.basis.terms == other.basis.terms
            and np.array_equal(self.phi, other.phi)
            and self.background == other.background
        )

    def __hash__(self) -> int:
        return hash(self.structure)

    @classmethod
    def from_embedded_network(cls, network: EmbeddedNetwork, coding: str = "indicator") -> "EBNC":
        """The EBNC obtained from (m′, θ), the definition of §2 (errata E8): θ → κ → φ, exact."""
        basis = Basis(network.structure, network.domain)
        kappa = theta_to_kappa(network.structure, network.theta)
        tables = kappa_to_tables(network.structure, kappa)
        phi = tables_to_phi(basis, tables, coding_named(coding))
        return cls(network.structure, network.domain, phi, coding)

    def __repr__(self) -> str:
        return (
            f"EBNC({self.structure}, target={self.structure.target!r}, dimension={self.dimension})"
        )

    @property
    def target(self) -> str:
        """Y, whose distribution this is."""
        return self.structure.target

    @property
    def parents(self) -> tuple[str, ...]:
        """The inputs that p(y|x) depends on: Y's parents in an outer network."""
        return self.structure.markov_blanket

    @property
    def dimension(self) -> int:
        """d, the number of parameters: the dimension of the span."""
        return self.basis.dimension

    @cached_property
    def tables(self) -> TableSum:
        """Log odds as a sum of tables, one per cluster: all that inference needs."""
        return phi_to_tables(self.basis, self.phi, self.coding)

    def log_odds(self, data: Table, *, unseen: Unseen = "error") -> FloatArray:
        """λ_k = log p(y^k|x)/p(y^0|x), k = 1 … K − 1, shape (rows, K − 1).

        ``unseen``: as in ``probabilities``, of whose averages these are the log odds.
        """
        tables, rows = self._look_up(data, unseen)
        log_odds = tables.log_odds(rows)
        averages = average_over_unknown(tables.probabilities, rows, self.background)
        if averages is not None:
            log_p = np.log(averages.probabilities)
            log_odds[averages.places] = log_p[:, 1:] - log_p[:, :1]
        return log_odds

    def probabilities(self, data: Table, *, unseen: Unseen = "error") -> FloatArray:
        """p(y|x) by eq. 3, shape (rows, K); columns in the order of the target's states.

        Parameters
        ----------
        data : table
            Columns are found by name.
        unseen : {"error", "average"}
            Entries that are not a state are an error, or not known: p(y|x) is then averaged over
            what they may be, weighted as in the training data (``ebnc.parameters.unknown``). An
            EBNC without a ``background`` averages log odds, each state counting the same.
        """
        tables, rows = self._look_up(data, unseen)
        return with_averages(tables.probabilities, rows, self.background)

    def contributions(
        self, data: Table, *, unseen: Unseen = "error", weights: Weights = "training"
    ) -> Contributions:
        """What every term adds to the log odds of each class against the mean of the others.

        Parameters
        ----------
        data : table
            Columns are found by name.
        unseen : {"error", "average"}
            Entries that are not a state are an error, or not known: they add nothing.
        weights : {"training", "uniform"}
            Terms average to zero over the states of each of their inputs, weighted by how often
            they occurred in the training data, or all counting the same (also where there is no
            ``background``); see ``ebnc.parameters.contributions``.
        """
        _, rows = self._look_up(data, unseen)
        by_state = weights_named(weights, self.background)
        return contributions(self.basis, self.phi_in(ORTHONORMAL.name), rows, by_state)

    def log_probability(self, data: Table) -> FloatArray:
        """log p(y|x) of every row's own y, shape (rows,); the data must hold the target too."""
        names = (*self.structure.markov_blanket, self.target)
        rows = encode(data, self.domain, names, array_names=(*self.structure.inputs, self.target))
        return self.tables.log_probability(rows, rows.column(self.target))

    def _look_up(self, data: Table, unseen: Unseen) -> tuple[TableSum, CodedRows]:
        if unseen not in ("error", "average"):
            raise ParameterError(f"unseen must be 'error' or 'average', got {unseen!r}")
        extra = unseen == "average" and not isinstance(data, CodedRows)
        rows = encode(
            data,
            self.domain,
            self.structure.markov_blanket,
            array_names=self.structure.inputs,
            unseen="extra" if extra else "error",
        )
        return (self.tables.with_extra_state() if extra else self.tables), rows

    def standard_errors(self) -> FloatArray | None:
        """Standard errors of φ in the indicator coding; None where φ was not fitted."""
        return None

    def phi_in(self, coding: str) -> FloatArray:
        """φ in another coding: the same function."""
        return recode(self.basis, self.phi, self.coding, coding_named(coding))

    def phi_table(self) -> PhiTable:
        """φ in the indicator coding as a readable table: term, states, class, value, error."""
        values = self.phi_in(INDICATOR.name).tolist()
        fitted = self.standard_errors()
        errors = [None] * len(values) if fitted is None else fitted.tolist()
        classes = self.domain[self.structure.target][1:]
        rows = []
        for term in self.basis.terms:
            labels = [self.domain[x][1:] for x in term.inputs]
            for i, (*states, of_class) in enumerate(product(*labels, classes), start=term.start):
                rows.append(PhiRow(term.inputs, tuple(states), of_class, values[i], errors[i]))
        return PhiTable(rows)

    def to_embedded_network(self) -> EmbeddedNetwork:
        """φ → θ: an embedded network with exactly this p(y|x), in closed form.

        Its structure is this one, or an equivalent one that fills its span. Raises
        ``NoEmbeddedNetworkError`` where there is none (clusters that are not decomposable).
        """
        return tables_to_theta(self.structure, self.domain, self.tables)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write this EBNC to a file, which ``ebnc.load`` reads: its predictions are the same.

        The file is JSON and holds no code; see ``ebnc.formats.native``.
        """
        provided("save")(self, path)
