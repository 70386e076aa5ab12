"""The EBNC: a local distribution p(y|x) in its non-redundant parameters φ (§6)."""

import os
from functools import cached_property
from itertools import product
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ebnc.data.coder import encode
from ebnc.data.one_row import RowCoder
from ebnc.data.rows import CodedRows
from ebnc.data.table import TableLike as Table
from ebnc.domain import Domain, DomainLike, as_domain
from ebnc.errors import ParameterError
from ebnc.markup import html_facts
from ebnc.parameters.background import Background
from ebnc.parameters.coding import INDICATOR, ORTHONORMAL, coding_named, column_labels
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

Unseen: TypeAlias = Literal["error", "average"]


class EBNC:
    """p(y|x) = softmax of λ(x), λ_k(x) = Σ_{S ∈ Δ} φ_k(S, x_S), in non-redundant parameters φ.

    Parameters
    ----------
    structure : EmbeddedStructure
        The factorisation of p(y|x). Inputs with one state are removed from ``structure`` and
        ``domain``, and data need not have them.
    domain : Domain or mapping
        The states of all variables of the structure.
    phi : array
        A vector of length ``dimension``, in the order of ``basis.terms``.
    coding : {"indicator", "orthonormal"}
        The coding of ``phi``; "indicator" is the paper's.
    background : Background, optional
        A summary of the training data, over which predictions with unknown entries are averaged,
        and which centres contributions. ``ebnc.fit`` and classifiers store one. Without it (models
        written by hand, nodes of networks, older files) all states have equal weights.

    Attributes
    ----------
    structure : EmbeddedStructure
        The structure without inputs of one state.
    domain : Domain
        The states of its variables.
    basis : Basis
        The terms of φ in order.
    phi : array
        The parameters.
    coding : Coding
        The coding of ``phi``.
    background : Background or None
        The summary of the training data.

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
        self.basis = Basis(structure, declared.only(structure.names))
        self.structure = self.basis.structure
        self.domain = declared.only(self.structure.names)
        self.phi = check_phi(self.basis, phi)
        self.background = background

    def __setattr__(self, name: str, value: object) -> None:
        if name in vars(self):
            raise AttributeError(f"{name} of an EBNC cannot be changed; make a new EBNC")
        super().__setattr__(name, value)

    def __eq__(self, other: object) -> bool:
        """Whether two EBNCs have the same terms, states, coding, φ and background."""
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
        """Convert (m′, θ) to an EBNC by θ → κ → φ, exact (definition in §2, errata E8).

        Parameters
        ----------
        network : EmbeddedNetwork
            The embedded network.
        coding : {"indicator", "orthonormal"}
            The coding of φ.
        """
        domain = Domain(dict(network.domain))  # θ has a number for every state, a curve has not
        basis = Basis(network.structure, domain)
        kappa = theta_to_kappa(network.structure, network.theta)
        tables = kappa_to_tables(network.structure, kappa)
        phi = tables_to_phi(basis, tables, coding_named(coding))
        return cls(network.structure, domain, phi, coding)

    def __repr__(self) -> str:
        return (
            f"EBNC({self.structure}, target={self.structure.target!r}, dimension={self.dimension})"
        )

    def _repr_html_(self) -> str:
        return f"<div>{html_facts(self._facts())}{provided('draw_html')(self.structure)}</div>"

    def _facts(self) -> list[tuple[str, object]]:
        """Names and values of what a notebook shows of the model."""
        return [
            ("target", f"{self.target} ({', '.join(map(str, self.domain[self.target]))})"),
            ("inputs", f"{len(self.parents)}: {', '.join(self.parents)}"),
            ("parameters", self.dimension),
        ]

    @property
    def target(self) -> str:
        """The name of Y."""
        return self.structure.target

    @property
    def parents(self) -> tuple[str, ...]:
        """The inputs that p(y|x) depends on; they are Y's parents in an outer network."""
        return self.structure.markov_blanket

    @property
    def dimension(self) -> int:
        """d, the number of parameters: the dimension of the span."""
        return self.basis.dimension

    @cached_property
    def tables(self) -> TableSum:
        """Log odds as a sum of tables, one per cluster, for inference."""
        return phi_to_tables(self.basis, self.phi, self.coding)

    def log_odds(self, data: Table, *, unseen: Unseen = "error") -> FloatArray:
        """Return λ_k = log p(y^k|x)/p(y^0|x), k = 1 … K − 1, shape (rows, K − 1).

        Parameters
        ----------
        data : table
            Columns are found by name.
        unseen : {"error", "average"}
            As in ``probabilities``; with "average", these are the log odds of its averages.
        """
        tables, rows = self._look_up(data, unseen)
        log_odds = tables.log_odds(rows)
        averages = average_over_unknown(tables.probabilities, rows, self.background)
        if averages is not None:
            log_p = np.log(averages.probabilities)
            log_odds[averages.places] = log_p[:, 1:] - log_p[:, :1]
        return log_odds

    def probabilities(self, data: Table, *, unseen: Unseen = "error") -> FloatArray:
        """Return p(y|x) by eq. 3, shape (rows, K); columns in the order of the target's states.

        Parameters
        ----------
        data : table
            Columns are found by name.
        unseen : {"error", "average"}
            "error": entries that are not states raise an error. "average": they are unknown, and
            p(y|x) is averaged over their possible states, weighted as in the training data
            (``ebnc.parameters.unknown``). An EBNC without a ``background`` averages log odds, with
            equal weights of the states.
        """
        tables, rows = self._look_up(data, unseen)
        return with_averages(tables.probabilities, rows, self.background)

    def contributions(
        self, data: Table, *, unseen: Unseen = "error", weights: Weights = "training"
    ) -> Contributions:
        """Return the contribution of every term to the log odds of each class.

        The log odds compare a class with the (geometric) mean of the others.

        Parameters
        ----------
        data : table
            Columns are found by name.
        unseen : {"error", "average"}
            "error": entries that are not states raise an error. "average": they are unknown and
            contribute 0.
        weights : {"training", "uniform"}
            Terms average to zero over the states of each of their inputs. The states are weighted
            by their frequency in the training data, or equally (also without a ``background``);
            see ``ebnc.parameters.contributions``.
        """
        _, rows = self._look_up(data, unseen)
        by_state = weights_named(weights, self.background)
        return contributions(self.basis, self.phi_in(ORTHONORMAL.name), rows, by_state)

    def log_probability(self, data: Table) -> FloatArray:
        """Return log p(y|x) for the class y of each row, shape (rows,).

        Parameters
        ----------
        data : table
            Columns are found by name; the target must be one of them.
        """
        names = (*self.structure.markov_blanket, self.target)
        rows = encode(data, self.domain, names, array_names=(*self.structure.inputs, self.target))
        return self.tables.log_probability(rows, rows.column(self.target))

    @cached_property
    def _row_coders(self) -> tuple[RowCoder, RowCoder]:
        """Coders of a single row: without and with one more state for unknown entries."""
        names = self.structure.markov_blanket
        return RowCoder(self.domain, names), RowCoder(self.domain, names, extra=True)

    def _look_up(self, data: Table, unseen: Unseen) -> tuple[TableSum, CodedRows]:
        if unseen not in ("error", "average"):
            raise ParameterError(f"unseen must be 'error' or 'average', got {unseen!r}")
        extra = unseen == "average" and not isinstance(data, CodedRows)
        rows = self._row_coders[extra].encode(data)
        if rows is None:
            rows = encode(
                data,
                self.domain,
                self.structure.markov_blanket,
                array_names=self.structure.inputs,
                unseen="extra" if extra else "error",
            )
        return (self.tables.with_extra_state() if extra else self.tables), rows

    def standard_errors(self) -> FloatArray | None:
        """Standard errors of φ in the indicator coding; None if φ was not fitted."""
        return None

    def phi_in(self, coding: str) -> FloatArray:
        """Return φ in the given coding.

        Parameters
        ----------
        coding : {"indicator", "orthonormal"}
            The coding.
        """
        return recode(self.basis, self.phi, self.coding, coding_named(coding))

    def phi_table(self) -> PhiTable:
        """Return φ in the indicator coding as a table: term, states, class, value, error."""
        values = self.phi_in(INDICATOR.name).tolist()
        fitted = self.standard_errors()
        errors = [None] * len(values) if fitted is None else fitted.tolist()
        classes = column_labels(self.domain, self.structure.target)
        rows = []
        for term in self.basis.terms:
            labels = [column_labels(self.domain, x) for x in term.inputs]
            blocks = product(term.columns.tolist(), classes)
            for i, (columns, of_class) in enumerate(blocks, start=term.start):
                states = tuple(own[c] for own, c in zip(labels, columns, strict=True))
                rows.append(PhiRow(term.inputs, states, of_class, values[i], errors[i]))
        return PhiTable(rows)

    def to_embedded_network(self) -> EmbeddedNetwork:
        """Convert φ to θ: return an embedded network with exactly this p(y|x), in closed form.

        Its structure is this one, or an equivalent one that fills its span. Raises
        ``NoEmbeddedNetworkError`` if no equivalent structure does, because the clusters are not
        decomposable.
        """
        return tables_to_theta(self.structure, self.domain, self.tables)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save this EBNC; ``ebnc.load`` reads the file, and its predictions are the same.

        Parameters
        ----------
        path : str or path
            The file to write: JSON without code; see ``ebnc.formats.native``.
        """
        provided("save")(self, path)
