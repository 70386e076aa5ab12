"""A joint distribution that answers questions about variables, given what is known of others."""

import warnings
from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

from numpy.typing import ArrayLike

from ebnc.data.coder import Unknown, encode
from ebnc.data.one_row import RowCoder
from ebnc.data.rows import CodedRows
from ebnc.data.sources import source_of
from ebnc.data.table import TableLike as Rows
from ebnc.domain import State
from ebnc.errors import DataError, DataWarning, QueryError
from ebnc.network.inference.elimination import Eliminator
from ebnc.network.inference.evidence import Evidence
from ebnc.network.inference.marginals import Marginals, marginals
from ebnc.network.inference.most_probable import MostProbable, most_probable
from ebnc.network.inference.prediction import NodePredictor
from ebnc.network.inference.query import Method, query
from ebnc.network.inference.query_result import QueryResult
from ebnc.network.inference.question import Question
from ebnc.network.model.joint import Joint
from ebnc.parameters.bin_density import check_levels
from ebnc.typing import FloatArray


class Askable(Joint):
    """A joint distribution with queries, marginals, most probable states and predictions."""

    def query(
        self,
        variables: str | Iterable[str],
        evidence: Mapping[str, State] | None = None,
        *,
        method: Method = "auto",
        n_samples: int = 20_000,
        random_state: int = 0,
    ) -> QueryResult:
        """Return p(variables | evidence): a joint table if ``variables`` are several.

        The result of a sampling method has standard errors. If they cannot be trusted, the result
        has a ``warning``, which is also issued as a ``UserWarning``: the weights are too uneven, or
        Gibbs chains disagree because they do not mix. No sampler can warn about states that it
        never reached.

        Parameters
        ----------
        variables : str or iterable of str
            Variables to query.
        evidence : mapping, optional
            Observed states, by variable. If the states are intervals: a number, or an
            ``ebnc.Interval`` that contains the number. A variable without a density takes only
            intervals that begin and end where its states do.
        method : {"auto", "exact", "weighting", "gibbs"}
            "exact" eliminates variables (with pyAgrum if that needs large tables), "weighting"
            draws weighted samples, "gibbs" runs chains that start at weighted samples. "auto" tries
            exact, then weighting, then Gibbs.
        n_samples : int
            Number of samples, all chains together.
        random_state : int
            Seed of the samples.
        """
        return query(
            self._eliminator,
            self._row_coder,
            variables,
            _checked(evidence),
            method,
            n_samples,
            random_state,
        )

    def marginals(
        self,
        evidence: Mapping[str, State] | None = None,
        *,
        method: Method = "auto",
        n_samples: int = 20_000,
        random_state: int = 0,
    ) -> Marginals:
        """Return p(x | evidence) of every variable x that has no evidence.

        Each answer equals ``query(x, evidence)``. All of them take twice the time of one, while the
        network is small enough for an exact sum over all its variables. Otherwise "auto" queries
        each variable exactly; those that need too large tables are sampled, all from the same
        weighted samples.

        Parameters
        ----------
        evidence : mapping, optional
            Observed states, by variable, as for ``query``.
        method : {"auto", "exact", "weighting", "gibbs"}
            As for ``query``.
        n_samples : int
            Number of samples, if the answers are sampled.
        random_state : int
            Seed of the samples.
        """
        known = self._evidence(evidence)
        asked = tuple(x for x in self.variables if x not in known.names)
        given = _checked(evidence)
        return marginals(
            Question(self._eliminator, asked, given, known, n_samples, random_state), method
        )

    def most_probable(self, evidence: Mapping[str, State] | None = None) -> MostProbable:
        """Return the most probable states of all variables together, given evidence.

        The answer is exact. Of several that are equally probable it is one, always the same for
        the same network. The state of a numeric variable is an interval, whose probability counts,
        not its density. Raises ``TooLargeError`` if the maximum needs too large tables.

        Parameters
        ----------
        evidence : mapping, optional
            Observed states, by variable, as for ``query``.

        Examples
        --------
        >>> from ebnc import Network, Table
        >>> two = {"rain": ["no", "yes"], "wet": ["no", "yes"]}
        >>> rain = Table("rain", [], two, [0.8, 0.2])
        >>> wet = Table("wet", ["rain"], two, [[0.9, 0.1], [0.2, 0.8]])
        >>> print(Network([rain, wet]).most_probable({"wet": "yes"}))
        rain  yes
        probability 0.6667
        """
        known = self._evidence(evidence)
        asked = tuple(x for x in self.variables if x not in known.codes)
        return most_probable(Question(self._eliminator, asked, _checked(evidence), known, 0, 0))

    def predict_proba(
        self, target: str, data: Rows, *, n_samples: int | None = None, random_state: int = 0
    ) -> FloatArray:
        """Return p(target | the other columns) of every row, shape (rows, states of the target).

        Each row equals a ``query`` with its entries as evidence. Variables without a column,
        missing entries, and entries that are not states are summed out. (If a variable has a state
        for missing entries, they are that state.)

        Parameters
        ----------
        target : str
            The variable to predict; its column is not used.
        data : table
            Rows with some of the variables. An array has a column for each variable of the network.
        n_samples : int, optional
            Number of samples that estimate the probabilities of a row whose exact sum needs too
            large tables. A warning then reports the largest standard error. By default, such a row
            raises a ``TooLargeError``.
        random_state : int
            Seed of these samples.
        """
        predictor = self.predictor(target, n_samples=n_samples, random_state=random_state)
        return predictor.probabilities(self._inputs(target, data))

    def predict(
        self, target: str, data: Rows, *, n_samples: int | None = None, random_state: int = 0
    ) -> Any:
        """Return the most probable state of a variable for every row; the mean of a number.

        Both are given that the entry is not missing. A numeric variable without a density has
        intervals as states.

        Parameters
        ----------
        target : str
            The variable to predict; its column is not used.
        data : table
            Rows with some of the variables, as for ``predict_proba``.
        n_samples, random_state
            As for ``predict_proba``.
        """
        predictor = self.predictor(target, n_samples=n_samples, random_state=random_state)
        return predictor.predict(predictor.probabilities(self._inputs(target, data)))

    def predict_quantiles(
        self,
        target: str,
        data: Rows,
        q: ArrayLike = (0.05, 0.5, 0.95),
        *,
        n_samples: int | None = None,
        random_state: int = 0,
    ) -> FloatArray:
        """Return quantiles of a numeric variable for every row, shape (rows, len(q)).

        They are those of the number, given that it is not missing.

        Parameters
        ----------
        target : str
            The variable to predict, which must have a density; its column is not used.
        data : table
            Rows with some of the variables, as for ``predict_proba``.
        q : array of floats
            Probabilities between 0 and 1: the number does not exceed the quantile with
            probability q.
        n_samples, random_state
            As for ``predict_proba``.
        """
        levels = check_levels(q)
        predictor = self.predictor(target, n_samples=n_samples, random_state=random_state)
        density = predictor.density
        if density is None:
            raise QueryError(
                f"{target!r} has no density, so it has no quantiles; variables with one are "
                f"{list(self.densities)}"
            )
        p = predictor.probabilities(self._inputs(target, data))
        return density.quantiles(density.given_known(p), levels)

    def predictor(
        self, target: str, *, n_samples: int | None = None, random_state: int = 0
    ) -> NodePredictor:
        """Return what predicts one variable for coded rows; ``predict_proba`` codes them first.

        Parameters
        ----------
        target : str
            The variable to predict.
        n_samples, random_state
            As for ``predict_proba``.
        """
        return NodePredictor(self._eliminator, target, n_samples, random_state)

    def inputs_among(self, columns: Iterable[str], target: str) -> list[str]:
        """Return the variables besides a target that have a column; raise if there is none.

        Parameters
        ----------
        columns : iterable of str
            The names of the columns of some data.
        target : str
            The variable to predict.
        """
        present = set(columns)
        names = [x for x in self.variables if x in present and x != target]
        if not names:
            raise DataError(
                f"the data have no variable of the network besides {target!r}; their columns are "
                f"{sorted(present)[:8]}, the variables are {list(self.variables)[:8]}"
            )
        return names

    def _inputs(self, target: str, data: Rows) -> CodedRows:
        """The columns of data that predict a variable; each has one more state, for unknown."""
        columns = data if isinstance(data, CodedRows) else source_of(data, self.variables)
        names, found = self.inputs_among(columns.names, target), Unknown()
        rows = encode(
            data, self.domain, names, array_names=self.variables, unseen="extra", unknown=found
        )
        if found.others:  # missing entries are nothing unusual
            warnings.warn(str(Unknown(others=found.others)), DataWarning, stacklevel=3)
        return rows

    def _evidence(self, evidence: Mapping[str, State] | None) -> Evidence:
        given = _checked(evidence)
        for name in given:
            self[name]  # raises an error if the network has no such node
        return Evidence.of(self, given, self._row_coder)

    @cached_property
    def _row_coder(self) -> RowCoder:
        return RowCoder(self.domain, self.variables, extra=True)

    @cached_property
    def _eliminator(self) -> Eliminator:
        return Eliminator(self)

    def __getstate__(self) -> dict[str, Any]:
        """The state without what queries and single rows made the network remember."""
        remembered = ("_eliminator", "_row_coder")
        state = {name: value for name, value in vars(self).items() if name not in remembered}
        return state | {"densities": dict(self.densities)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, densities=MappingProxyType(state["densities"]))


def _checked(evidence: Mapping[str, State] | None) -> Mapping[str, State]:
    """Return evidence, which None leaves empty; raise if it is no mapping."""
    if evidence is None:
        return {}
    if not isinstance(evidence, Mapping):
        raise QueryError(
            "evidence is a mapping from variables to observed states, such as {'rain': 'yes'}, not "
            f"a {type(evidence).__name__}; for the rows of a table use predict_proba(target, table)"
        )
    return evidence
