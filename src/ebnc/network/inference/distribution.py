"""A joint distribution of rows: their probabilities, and samples."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebnc.data.coder import encode, numbers_of
from ebnc.data.frames import codes_to_frame
from ebnc.data.rows import CodedRows
from ebnc.data.table import TableLike as Rows
from ebnc.errors import DataError
from ebnc.network.inference.askable import Askable
from ebnc.network.inference.marginal import log_marginals
from ebnc.network.inference.sampling import sample_codes, sample_numbers
from ebnc.typing import FloatArray


class Distribution(Askable):
    """A joint distribution with probabilities of rows and samples, which answers questions."""

    def log_likelihood(
        self, data: Rows, *, n_samples: int | None = None, random_state: int = 0
    ) -> FloatArray:
        """Return log p(z) of every row, shape (rows,).

        Missing entries are summed out exactly, unless the variable has a state for them. A number
        of a node with a density contributes the log density, which is the log probability of its
        interval minus the log width of the interval (the outer ones are exponential tails); it
        depends on the unit of the data. An ``Interval`` contributes its log probability.

        Parameters
        ----------
        data : table
            Rows with all variables; entries may be missing. ``CodedRows`` hold intervals.
        n_samples : int, optional
            Number of samples that estimate log p of a row whose exact sum needs too large tables.
            A warning then reports the largest standard error. By default, such a row raises a
            ``TooLargeError``.
        random_state : int
            Seed of these samples.
        """
        inside = self._log_density_in_bins(data, self.variables)
        total = np.asarray(sum(inside.values()))
        rows = self._encode(data)
        hidden = [rows.codes[v] >= self.domain.n_states(x) for v, x in enumerate(rows.names)]
        if any(column.any() for column in hidden):
            return total + log_marginals(
                self._eliminator, rows, np.array(hidden), n_samples, random_state
            )
        rows = CodedRows(rows.names, tuple(map(self.domain.n_states, rows.names)), rows.codes)
        if len(rows) == 1:
            return total + self._eliminator.log_probability(rows)
        for local in self.values():
            total = total + local.log_probability(rows)
        return total

    def conditional_log_likelihood(self, name: str, data: Rows) -> FloatArray:
        """Return log p(z_i | all other variables) of every row, shape (rows,).

        Parameters
        ----------
        name : str
            The node z_i.
        data : table
            Rows with all variables.
        """
        rows = encode(data, self.domain, self.variables)
        place, n_states = rows.place(name), self.domain.n_states(name)
        involved = [x for x in self if x == name or name in self.parents(x)]
        joint = np.empty((len(rows), n_states))
        for state in range(n_states):
            codes = rows.codes.copy()
            codes[place] = state
            changed = CodedRows(rows.names, rows.n_states, codes)
            joint[:, state] = sum(self[x].log_probability(changed) for x in involved)
        own = joint[np.arange(len(rows)), rows.column(name)]
        inside = self._log_density_in_bins(data, [name])
        return np.asarray(own - np.logaddexp.reduce(joint, axis=1) + sum(inside.values()))

    def sample(self, n: int, random_state: int | None = None) -> Any:
        """Draw rows from p(z), as a pandas, polars or pyarrow table (the first installed).

        Nodes with a density have numbers, and NaN for missing entries.

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
        codes = sample_codes(self, n, generator)
        numbers = sample_numbers(self, codes, generator)
        return codes_to_frame(self.domain, dict(zip(self.variables, codes, strict=True)), numbers)

    def _log_density_in_bins(self, data: Rows, names: Sequence[str]) -> dict[str, FloatArray]:
        """Return log p(z | interval of z) of every row, for each of ``names`` with a density."""
        if isinstance(data, CodedRows):
            return {}
        dense = [name for name in names if name in self.densities]
        values = numbers_of(data, self.domain, dense, self.variables)
        return {name: self.densities[name].log_density_in_bin(values[name]) for name in dense}

    def _encode(self, data: Rows) -> CodedRows:
        if isinstance(data, CodedRows):
            return encode(data, self.domain, self.variables)
        row = self._row_coder.encode(data)
        return encode(data, self.domain, self.variables, unseen="missing") if row is None else row
