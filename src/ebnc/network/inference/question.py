"""A question to a network: which variables, given what evidence, with how many samples."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ebnc.data.coder import numbers_of
from ebnc.data.rows import CodedRows
from ebnc.domain import State
from ebnc.errors import QueryError
from ebnc.network.inference.elimination import Eliminator
from ebnc.network.inference.evidence import Evidence
from ebnc.network.inference.query_result import QueryResult
from ebnc.network.inference.sampling import blank_rows
from ebnc.network.model.joint import Joint
from ebnc.typing import FloatArray


@dataclass(frozen=True, eq=False)
class Question:
    """``given``: the evidence as the user wrote it, for messages; ``evidence``: the same, coded."""

    eliminator: Eliminator
    variables: tuple[str, ...]
    given: Mapping[str, State]
    evidence: Evidence
    n_samples: int
    random_state: int

    @property
    def network(self) -> Joint:
        """The network that answers."""
        return self.eliminator.network

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of states of each variable."""
        return tuple(map(self.network.domain.n_states, self.variables))

    def known_row(self) -> CodedRows:
        """Return one row with the observed states; all other codes are 0."""
        rows = blank_rows(self.network, 1)
        for name, code in self.evidence.codes.items():
            rows.codes[rows.place(name)] = code
        return rows

    def answer(
        self,
        probabilities: FloatArray,
        errors: FloatArray | None,
        log_evidence: float | None,
        method: str,
        warning: str | None = None,
    ) -> QueryResult:
        """Return the result; ``log_evidence`` is without the densities of numbers."""
        if log_evidence is not None:
            log_evidence += self._log_density_in_bins()
        return QueryResult(
            self.variables,
            tuple(self.network.domain[x] for x in self.variables),
            probabilities.reshape(self.shape),
            None if errors is None else errors.reshape(self.shape),
            log_evidence,
            method,
            warning,
            {x: d for x, d in self.network.densities.items() if x in self.variables},
        )

    def about(self, name: str) -> "Question":
        """Return the same question about one variable."""
        return replace(self, variables=(name,))

    def impossible(self) -> QueryError:
        """Return the error for evidence of probability 0."""
        given = dict(self.given)
        return QueryError(f"the evidence {given} has probability 0; change or drop a state")

    def _log_density_in_bins(self) -> float:
        """Return Σ log p(z | interval of z) of the numbers in the evidence."""
        densities = self.network.densities
        dense = [name for name in self.evidence.codes if name in densities]
        columns = {name: np.empty(1, dtype=object) for name in dense}
        for name, column in columns.items():
            column[0] = self.given[name]
        values = numbers_of(columns, self.network.domain, dense, dense)
        return sum(float(densities[x].log_density_in_bin(values[x])[0]) for x in dense)
