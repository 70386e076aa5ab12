"""A Bayesian network whose nodes carry local distributions of any kind (§2).

    p(z) = Π_i p(z_i | pa_i)

Each factor may be an ``EBNC``, a ``Table``, a ``Tree``, …: whatever is a ``local.local.Local``.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from ebnc.data.cases import Cases
from ebnc.data.coder import encode
from ebnc.data.frames import codes_to_frame
from ebnc.data.read import learn_joint_cases, row_weights
from ebnc.data.rows import CodedRows
from ebnc.data.table import Categories, Frame, Missing
from ebnc.data.table import TableLike as Rows
from ebnc.domain import State
from ebnc.errors import DataError, NetworkError, ParameterError
from ebnc.network.inference.marginal import log_marginals
from ebnc.network.inference.pyagrum import tables_from_pyagrum, to_pyagrum
from ebnc.network.inference.query import Method, query
from ebnc.network.inference.query_result import QueryResult
from ebnc.network.inference.sampling import sample_codes
from ebnc.network.learning.constraints import Constraints
from ebnc.network.learning.fit_network import Given, fit_network
from ebnc.network.learning.learn_network import (
    REGIMES,
    Learned,
    check_sample_size,
    learn_network,
    learn_settings,
    print_step,
    refuse_many_variables,
)
from ebnc.network.learning.node_scores import NetworkScore, NodeScore, score_nodes
from ebnc.network.local.kinds import DEFAULT_KINDS
from ebnc.network.local.local import Local
from ebnc.network.model.joint import Joint
from ebnc.score.fit_memory import refuse_large_nodes
from ebnc.storage import provided
from ebnc.threads import limit_threads
from ebnc.typing import FloatArray

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["FittedNetwork", "LearnedNetwork", "Network"]


class Network(Joint):
    """A joint distribution: a mapping from every node to its local distribution.

    Examples
    --------
    >>> from ebnc.network.local.table import Table
    >>> two = {"Rain": ["no", "yes"], "Wet": ["no", "yes"]}
    >>> network = Network([
    ...     Table("Rain", [], two, [0.8, 0.2]),
    ...     Table("Wet", ["Rain"], two, [[0.9, 0.1], [0.2, 0.8]]),
    ... ])
    >>> print(network.query("Rain", {"Wet": "yes"}))
    Rain  p
    no    0.3333
    yes   0.6667
    """

    # -- ways in and out ------------------------------------------------------------------------

    @classmethod
    def learn(
        cls,
        data: Frame,
        *,
        score: str = "laplace",
        local: str | Iterable[str] = DEFAULT_KINDS,
        regime: str = "auto",
        order: Sequence[str] | None = None,
        max_parents: int | None = None,
        required: Iterable[tuple[str, str]] = (),
        forbidden: Iterable[tuple[str, str]] = (),
        tiers: Sequence[Iterable[str]] = (),
        structure_prior: bool = True,
        equivalent_sample_size: float | None = None,
        categories: Categories | None = None,
        missing: Missing = "state",
        weights: object = None,
        checkpoint: str | PathLike[str] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        on_interrupt: str = "raise",
    ) -> "LearnedNetwork":
        """Learn structure, kinds of nodes and parameters from a table of all variables.

        Parameters
        ----------
        data
            All variables as columns: a frame, a mapping, or a path; see ``ebnc.fit``.
        score
            "laplace" (log evidence; exact for tables and trees) or "bic".
        local
            The kinds a node may be, one or several of "ebnc", "naive" (an EBNC without
            interactions), "table", "tree", "graph" (a decision graph) and "noisy-max"; the best by
            score represents the node.
        regime
            "sparse" searches arcs. "dense" (variables of two states) gives every node all variables
            before it in an order. "auto" is dense for wide binary data, otherwise sparse, and the
            better one where both are quick.
        order
            The order of a dense network; the best of several unless given.
        max_parents
            The largest number of parents of a node.
        required, forbidden
            Arcs (parent, child) that must be, or must not be, in the network.
        tiers
            Lists of variables; no arc leads from a later list to an earlier one.
        structure_prior
            False leaves the prior of structures out of the score.
        equivalent_sample_size
            Of the tables' Dirichlet prior (BDeu); by evidence unless given.
        categories, missing, weights
            As for ``ebnc.fit``.
        checkpoint
            A file that records the run; learning that was killed goes on from there and ends at the
            same network.
        n_jobs
            Number of threads; None is one for each core. The network does not depend on it.
        verbose
            1 prints every accepted step on standard error.
        on_interrupt
            Ctrl-C raises KeyboardInterrupt ("raise"), or ends learning with the network so far
            ("best").

        Returns
        -------
        LearnedNetwork
            The network, with the score of every node and the trace of the search.
        """
        settings = learn_settings(score, local, structure_prior, equivalent_sample_size)
        if regime not in REGIMES:
            raise ParameterError(f"regime must be one of {', '.join(REGIMES)}, got {regime!r}")
        if on_interrupt not in ("raise", "best"):
            raise ParameterError(f"on_interrupt must be 'raise' or 'best', got {on_interrupt!r}")
        with limit_threads(n_jobs):
            cases = learn_joint_cases(data, categories, missing, weights)
            names = cases.rows.names
            refuse_many_variables(len(names))
            if {"ebnc", "naive"} & set(settings.kinds):
                refuse_large_nodes(cases.domain, names)
            constraints = Constraints.of(
                names, required=required, forbidden=forbidden, tiers=tiers, max_parents=max_parents
            )
            learned = learn_network(
                cases,
                settings,
                constraints,
                regime=regime,
                order=order,
                checkpoint=checkpoint,
                report=print_step if verbose else None,
                on_interrupt=on_interrupt,
            )
        return LearnedNetwork(learned)

    @classmethod
    def fit(
        cls,
        given: Given,
        data: Frame,
        *,
        local: str | Mapping[str, str] = "ebnc",
        prior_scale: object = "evidence",
        equivalent_sample_size: float | None = None,
        categories: Categories | None = None,
        missing: Missing = "state",
        weights: object = None,
    ) -> "FittedNetwork":
        """Fit the parameters of a network whose arcs are known; nothing is searched for.

        Parameters
        ----------
        given
            The graph: arcs (parent, child), a model string such as ``"[A][B|A]"``, a network, or a
            mapping from each node to its ``EmbeddedStructure`` or to a list of its parents. Columns
            of the data without arcs are roots.
        data
            All variables as columns, as for ``Network.learn``.
        local
            What a node is: "ebnc" (with the embedded structure given for it, otherwise the naive
            one), "table", or "auto": the best of EBNC, table and tree with exactly these parents.
            One for all, or a mapping from nodes to kinds ("ebnc" for those left out).
        prior_scale
            σ of the EBNCs' prior, as for ``ebnc.fit``; infinite for maximum likelihood.
        equivalent_sample_size
            Of the tables' Dirichlet prior (BDeu); by evidence unless given.
        categories, missing, weights
            As for ``ebnc.fit``.

        Returns
        -------
        FittedNetwork
            The network, with log-likelihood, dimension, BIC and log evidence of every node.

        Examples
        --------
        >>> rain = {"rain": [0, 0, 0, 1, 1, 0, 1, 0], "wet": [0, 0, 1, 1, 1, 0, 1, 0]}
        >>> network = Network.fit("[rain][wet|rain]", rain, local="table")
        >>> network.node_scores["wet"].dimension, round(network.bic, 3)
        (2, -10.914)
        """
        check_sample_size(equivalent_sample_size)
        cases = learn_joint_cases(data, categories, missing, weights)
        locals_, scores = fit_network(given, cases, local, prior_scale, equivalent_sample_size)
        return FittedNetwork(locals_, scores, cases.total_weight)

    @classmethod
    def read_bif(cls, path: str | PathLike[str]) -> "Network":
        """The network in a BIF file, as full tables; the same as ``ebnc.read_bif``."""
        network: Network = provided("read_bif")(path)
        return network

    def write_bif(self, path: str | PathLike[str], *, overwrite: bool = True) -> list[str]:
        """Write BIF, every node a full table; returns what that loses, in sentences."""
        lost: list[str] = provided("write_bif")(self, path, overwrite=overwrite)
        return lost

    def save(self, path: str | PathLike[str], *, overwrite: bool = True) -> None:
        """Write the native file, which ``ebnc.load`` reads: structure and φ, no expanded tables."""
        provided("save")(self, path, overwrite=overwrite)

    @classmethod
    def from_pyagrum(cls, bn: Any) -> "Network":
        """From a ``pyagrum.BayesNet``, as full tables."""
        return cls(tables_from_pyagrum(bn))

    def to_pyagrum(self) -> Any:
        """A ``pyagrum.BayesNet``, every node a full table; refused where that is too large."""
        return to_pyagrum(self)

    @classmethod
    def from_networkx(cls, graph: "nx.DiGraph[str]") -> "Network":
        """From a graph whose nodes have a local distribution as attribute ``local``."""
        locals_ = []
        for name, attributes in graph.nodes(data=True):
            if "local" not in attributes:
                raise NetworkError(f"node {name!r} has no attribute 'local', a local distribution")
            locals_.append(attributes["local"])
        found = Network(locals_)
        if set(found.arcs) != set(graph.edges):
            odd = min(set(found.arcs) ^ set(graph.edges))
            raise NetworkError(f"arc {odd} is not both in the graph and in its nodes")
        return found

    # -- use ----------------------------------------------------------------------------------

    def log_likelihood(
        self, data: Rows, *, n_samples: int | None = None, random_state: int = 0
    ) -> FloatArray:
        """log p(z) of every row, shape (rows,).

        Missing entries of variables that have no state for them are summed out, exactly.

        Parameters
        ----------
        data
            Rows with all variables; entries may be missing.
        n_samples
            Where the tables of an exact sum would be too large the row is refused
            (``TooLargeError``), unless a number of samples is given to estimate log p from: then a
            warning names the largest standard error.
        random_state
            Seed of these samples.
        """
        rows = self._encode(data)
        hidden = [rows.codes[v] >= self.domain.n_states(x) for v, x in enumerate(rows.names)]
        if any(column.any() for column in hidden):
            return log_marginals(self, rows, np.array(hidden), n_samples, random_state)
        rows = CodedRows(rows.names, tuple(map(self.domain.n_states, rows.names)), rows.codes)
        total = np.zeros(len(rows))
        for local in self.values():
            total += local.log_probability(rows)
        return total

    def score(
        self,
        data: Rows,
        criterion: str = "bic",
        *,
        weights: object = None,
        prior_scale: object = "evidence",
        equivalent_sample_size: float | None = None,
    ) -> NetworkScore:
        """The score of this network on complete data, with the summand of every node (Theorem 2).

        Parameters
        ----------
        data
            Rows with all variables; an entry that is missing must be a state of its variable.
        criterion
            "bic" (eq. 9) and "laplace" (eq. 8) judge the structure: the nodes keep their kinds,
            parents and embedded structures, and their parameters are fitted to ``data``.
            "log_likelihood" judges the network as it is, with the parameters that it has.
        weights
            One number ≥ 0 for each row, or the name of a column.
        prior_scale, equivalent_sample_size
            The priors of EBNCs and of tables, for "laplace"; as for ``Network.fit``.

        Returns
        -------
        NetworkScore
            ``.total`` and ``.by_node``, in nats; higher is better.
        """
        rows = encode(data, self.domain, self.variables)
        if len(rows) == 0:
            raise DataError("the data have no rows")
        checked = row_weights(data, weights, len(rows))

        def cases_of(name: str) -> Cases:
            return Cases(self.domain, name, rows, rows.column(name), checked)

        return score_nodes(self, cases_of, criterion, prior_scale, equivalent_sample_size)

    def conditional_log_likelihood(self, name: str, data: Rows) -> FloatArray:
        """log p(z_i | all other variables) of every row: how well one node is predicted."""
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
        return np.asarray(own - np.logaddexp.reduce(joint, axis=1))

    def sample(self, n: int, random_state: int | None = None) -> Any:
        """n rows drawn from p(z): a DataFrame of pandas, polars or pyarrow, whichever is there."""
        if n < 0:
            raise DataError(f"the number of rows must be at least 0, got {n}")
        codes = sample_codes(self, n, np.random.default_rng(random_state))
        return codes_to_frame(self.domain, dict(zip(self.variables, codes, strict=True)))

    def query(
        self,
        variables: str | Iterable[str],
        evidence: Mapping[str, State] | None = None,
        *,
        method: Method = "auto",
        n_samples: int = 20_000,
        random_state: int = 0,
    ) -> QueryResult:
        """p(variables | evidence), a joint table where several are asked for.

        The answer of a sampling method has standard errors, and where these cannot be trusted a
        ``warning``, which is also raised as a ``UserWarning``: weights that are too uneven, or
        Gibbs chains that disagree because they do not get from one group of states to another. No
        sampler sees a group of states that it never met.

        Parameters
        ----------
        variables
            What is asked for: one or several names.
        evidence
            What is known: names and their states.
        method
            "exact" (summing out one variable after another, through pyAgrum where that needs large
            tables), "weighting" (weighted samples), "gibbs" (chains that start at weighted
            samples), or "auto": exact where it fits, then weighting, then Gibbs.
        n_samples
            Samples to draw, of all chains together.
        random_state
            Seed of the samples.
        """
        return query(self, variables, evidence or {}, method, n_samples, random_state)

    def to_networkx(self) -> "nx.DiGraph[str]":
        """The outer DAG, with every node's local distribution as attribute ``local``."""
        import networkx

        graph: nx.DiGraph[str] = networkx.DiGraph()
        for name, local in self.items():
            graph.add_node(name, local=local)
        graph.add_edges_from(self.arcs)
        return graph

    def _encode(self, data: Rows) -> CodedRows:
        if isinstance(data, CodedRows):
            return encode(data, self.domain, self.variables)
        return encode(data, self.domain, self.variables, unseen="missing")


class LearnedNetwork(Network):
    """A network with the report of its learning.

    ``scores``: of every node; their sum is ``learned_score``. ``trace``: every accepted change.
    """

    def __init__(self, learned: Learned) -> None:
        super().__init__(learned.locals_)
        self.scores = learned.scores
        self.trace = learned.trace
        self.n_cases = learned.n_cases
        self.regime = learned.regime

    @property
    def learned_score(self) -> float:
        """The score that was maximised: log evidence or BIC, with the structure prior."""
        return math.fsum(self.scores.values())


class FittedNetwork(Network):
    """A network with given arcs, and the scores of the data that it was fitted to.

    ``node_scores``: a ``NodeScore`` of every node. ``n_cases``: N, the sum of the weights.
    """

    def __init__(
        self, locals_: Iterable[Local], node_scores: Mapping[str, NodeScore], n_cases: float
    ) -> None:
        super().__init__(locals_)
        self.node_scores = node_scores
        self.n_cases = n_cases

    @property
    def bic(self) -> float:
        """Σ_i L_i(φ̂_i) − (d_i/2) log N, eq. 9."""
        return math.fsum(node.bic for node in self.node_scores.values())

    @property
    def log_evidence(self) -> float:
        """log p(D | m), eq. 8; the summands of tables and trees are exact."""
        found = [node.log_evidence for node in self.node_scores.values()]
        known = [value for value in found if value is not None]
        if len(known) < len(found):
            raise ParameterError(
                "there is no evidence under a flat prior (prior_scale=inf); use .bic, or fit with "
                "a finite prior_scale"
            )
        return math.fsum(known)
