"""A Bayesian network whose nodes carry local distributions of any kind (§2).

    p(z) = Π_i p(z_i | pa_i)

Each factor may be an ``EBNC``, a ``Table``, a ``Tree``, …: whatever is a ``network.local.Local``.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from ebnc.data.coder import encode
from ebnc.data.frames import to_frame
from ebnc.data.rows import CodedRows
from ebnc.data.table import Categories, Frame, Missing
from ebnc.data.table import TableLike as Rows
from ebnc.domain import Domain, State
from ebnc.errors import DataError, NetworkError
from ebnc.network.graph import topological_order
from ebnc.network.learning import Learned, learn_network
from ebnc.network.local import Local
from ebnc.network.marginal import log_marginals
from ebnc.network.nodes import DEFAULT_KINDS
from ebnc.network.pyagrum import from_pyagrum, to_pyagrum
from ebnc.network.query import Method, QueryResult, query
from ebnc.network.sampling import sample_codes
from ebnc.typing import FloatArray

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["LearnedNetwork", "Network"]


class Network(Mapping[str, Local]):
    """A joint distribution: a mapping from every node to its local distribution.

    Examples
    --------
    >>> from ebnc.network.table import Table
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

    def __init__(self, locals_: Iterable[Local]) -> None:
        self._locals: dict[str, Local] = {}
        states: dict[str, tuple[State, ...]] = {}
        for local in locals_:
            if local.target in self._locals:
                raise NetworkError(f"{local.target!r} has two local distributions; give one")
            self._locals[local.target] = local
            for name, given in local.domain.items():
                if states.setdefault(name, given) != given:
                    raise NetworkError(
                        f"the states of {name!r} differ between nodes: {list(states[name])} and, "
                        f"for {local.target!r}, {list(given)}"
                    )
        if not self._locals:
            raise NetworkError("a network needs at least one node")
        self.order = topological_order({x: local.parents for x, local in self._locals.items()})
        self.domain = Domain({name: states[name] for name in self._locals})

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

        ``score``: "laplace" (log evidence; exact for tables and trees) or "bic". ``local``: the
        kinds a node may be, of "ebnc", "naive" (an EBNC without interactions), "table", "tree",
        "graph" (a decision graph) and "noisy-max"; each node is what scores best. ``regime``:
        "sparse" searches arcs; "dense" (variables of two states) gives every node all variables
        before it, in the given ``order`` or in the best of several; "auto" is dense for wide binary
        data, otherwise sparse, and the better one where both are quick. ``required``,
        ``forbidden``: arcs (parent, child). ``tiers``: lists of variables; no arc leads back to an
        earlier one.
        ``equivalent_sample_size``: of the tables' Dirichlet prior (BDeu), by evidence unless given.
        ``structure_prior=False`` leaves −log C(n, k) for k of n parents out of the score.
        ``categories``, ``missing``, ``weights``: as for ``ebnc.fit``.
        ``n_jobs``: cores. 1 is one; more are processes, this one among them
        (``joblib.parallel_config`` chooses threads or a cluster); None is this process with a
        thread for every core. The network is the same whatever their number.
        ``checkpoint``: a file that records the run; learning that was killed goes on from there and
        ends at the same network.
        ``on_interrupt``: Ctrl-C raises KeyboardInterrupt ("raise"), or ends learning with the
        network so far ("best").
        """
        found = learn_network(
            data,
            score=score,
            local=local,
            regime=regime,
            order=order,
            max_parents=max_parents,
            required=required,
            forbidden=forbidden,
            tiers=tiers,
            structure_prior=structure_prior,
            equivalent_sample_size=equivalent_sample_size,
            categories=categories,
            missing=missing,
            weights=weights,
            checkpoint=checkpoint,
            n_jobs=n_jobs,
            verbose=verbose,
            on_interrupt=on_interrupt,
        )
        return LearnedNetwork(found)

    @classmethod
    def read_bif(cls, path: str | PathLike[str]) -> "Network":
        """The network in a BIF file, as full tables."""
        from ebnc.formats.bif import read_bif

        return read_bif(path)

    def write_bif(self, path: str | PathLike[str], *, overwrite: bool = True) -> list[str]:
        """Write BIF, every node a full table; returns what that loses, in sentences."""
        from ebnc.formats.bif import write_bif

        return write_bif(self, path, overwrite=overwrite)

    def save(self, path: str | PathLike[str], *, overwrite: bool = True) -> None:
        """Write the native file, which ``ebnc.load`` reads: structure and φ, no expanded tables."""
        from ebnc.formats.native import save

        save(self, path, overwrite=overwrite)

    @classmethod
    def from_pyagrum(cls, bn: Any) -> "Network":
        """From a ``pyagrum.BayesNet``, as full tables."""
        return from_pyagrum(bn)

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

    # -- what it is ---------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Local:
        try:
            return self._locals[name]
        except KeyError:
            shown = ", ".join(map(repr, list(self._locals)[:8]))
            raise NetworkError(f"the network has no node {name!r}; it has {shown}, …") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._locals)

    def __len__(self) -> int:
        return len(self._locals)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        n_arcs = len(self.arcs)
        return f"Network({len(self)} nodes, {n_arcs} arcs, dimension={self.dimension})"

    def local(self, name: str) -> Local:
        """The local distribution of one node."""
        return self[name]

    def parents(self, name: str) -> tuple[str, ...]:
        """The parents of one node."""
        return self[name].parents

    @property
    def variables(self) -> tuple[str, ...]:
        """All nodes, in the order given."""
        return tuple(self._locals)

    @cached_property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """Every arc (parent, child)."""
        return tuple((tail, head) for head in self for tail in self.parents(head))

    @cached_property
    def dimension(self) -> int:
        """The number of free parameters of all nodes together."""
        return sum(local.dimension for local in self._locals.values())

    # -- use ----------------------------------------------------------------------------------

    def log_likelihood(
        self, data: Rows, *, n_samples: int = 1000, random_state: int = 0
    ) -> FloatArray:
        """log p(z) of every row, shape (rows,).

        Missing entries of variables that have no state for them are summed out: exactly where
        their configurations can be listed, otherwise estimated from ``n_samples`` weighted samples.
        """
        rows = self._encode(data)
        hidden = [rows.codes[v] >= self.domain.n_states(x) for v, x in enumerate(rows.names)]
        if any(column.any() for column in hidden):
            return log_marginals(self, rows, np.array(hidden), n_samples, random_state)
        rows = CodedRows(rows.names, tuple(map(self.domain.n_states, rows.names)), rows.codes)
        total = np.zeros(len(rows))
        for local in self._locals.values():
            total += local.log_probability(rows)
        return total

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
        return to_frame(self.domain, dict(zip(self.variables, codes, strict=True)))

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

        ``method``: "exact" (listing configurations where they are few, otherwise through pyAgrum),
        "weighting" or "gibbs", both with standard errors, or "auto": exact where it fits.
        """
        return query(self, variables, evidence or {}, method, n_samples, random_state)

    def to_networkx(self) -> "nx.DiGraph[str]":
        """The outer DAG, with every node's local distribution as attribute ``local``."""
        import networkx

        graph: nx.DiGraph[str] = networkx.DiGraph()
        for name, local in self._locals.items():
            graph.add_node(name, local=local)
        graph.add_edges_from(self.arcs)
        return graph

    def _encode(self, data: Rows) -> CodedRows:
        if isinstance(data, CodedRows):
            return encode(data, self.domain, self.variables)
        return encode(data, self.domain, self.variables, missing_as_extra=True)


class LearnedNetwork(Network):
    """A network with the report of its learning.

    ``scores``: of every node; their sum is ``score``. ``trace``: every accepted change.
    """

    def __init__(self, learned: Learned) -> None:
        super().__init__(learned.locals_)
        self.scores = learned.scores
        self.trace = learned.trace
        self.n_cases = learned.n_cases
        self.regime = learned.regime

    @property
    def score(self) -> float:
        """The score that was maximised: log evidence or BIC, with the structure prior."""
        return math.fsum(self.scores.values())
