"""A Bayesian network whose nodes carry local distributions of any kind (§2).

    p(z) = Π_i p(z_i | pa_i)

Each factor is an ``EBNC``, a ``Table``, a ``Tree``, …: any ``local.local.Local``.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from ebnc.data.cases import Cases
from ebnc.data.coder import encode
from ebnc.data.read import learn_joint_cases, row_weights
from ebnc.data.table import Categories, Coding, Frame, Kinds, MissingInNetworks, Numbers
from ebnc.data.table import TableLike as Rows
from ebnc.errors import DataError, NetworkError, ParameterError
from ebnc.network.conversion import Convertible
from ebnc.network.inference.average import NetworkAverage
from ebnc.network.learning.arc_strength import ArcStrengths, arc_strengths
from ebnc.network.learning.constraints import Constraints
from ebnc.network.learning.editing import refitted, with_fewer, with_more
from ebnc.network.learning.em import EMRecord, Plan, Prior, fit_by_em
from ebnc.network.learning.fit_network import GivenGraph, fit_network, kinds_of, read_graph
from ebnc.network.learning.gap_search import learn_with_gaps
from ebnc.network.learning.gaps import read_gaps
from ebnc.network.learning.learn_network import (
    REGIMES,
    LearningResult,
    check_missing,
    check_n_orders,
    check_sample_size,
    learn_network,
    learn_settings,
    print_step,
    refuse_many_variables,
)
from ebnc.network.learning.node_scores import NetworkScore, NodeScore, score_nodes
from ebnc.network.local.kinds import DEFAULT_KINDS
from ebnc.network.local.local import Local
from ebnc.network.model.comparison import Comparison, compare_graphs
from ebnc.network.model.joint import bin_densities
from ebnc.parameters.bin_density import BinDensity
from ebnc.score.fit_memory import refuse_large_nodes
from ebnc.structure.model_string import parse_model_string
from ebnc.threads import check_time_limit, limit_threads
from ebnc.typing import FloatArray


class Network(Convertible):
    """A joint distribution: a mapping from every node to its local distribution.

    Parameters
    ----------
    locals_ : iterable of Local
        The local distribution of every node: ``EBNC``, ``Table``, ``Tree``, ….
    densities : mapping of str to BinDensity, optional
        How numbers are distributed inside the intervals of numeric nodes, by node. Without it, the
        states of a numeric node are intervals and nothing else.

    Attributes
    ----------
    densities : mapping of str to BinDensity
        As above.
    domain : Domain
        The states of all nodes.
    order : tuple of str
        All nodes, each after its parents.
    variables : tuple of str
        All nodes, in the order of ``locals_``.
    arcs : tuple of (str, str)
        Every arc (parent, child).
    dimension : int
        The number of free parameters of all nodes.

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

    @classmethod
    def learn(
        cls,
        data: Frame,
        *,
        score: str = "laplace",
        local: str | Iterable[str] = DEFAULT_KINDS,
        regime: str = "auto",
        order: Sequence[str] | None = None,
        n_orders: int | None = None,
        max_parents: int | None = None,
        required: Iterable[tuple[str, str]] = (),
        forbidden: Iterable[tuple[str, str]] = (),
        tiers: Sequence[Iterable[str]] = (),
        structure_prior: bool = True,
        equivalent_sample_size: float | None = None,
        numbers: Numbers = "quantile",
        kinds: Kinds | None = None,
        categories: Categories | None = None,
        missing: MissingInNetworks = "state",
        weights: object = None,
        checkpoint: str | PathLike[str] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        on_interrupt: str = "raise",
        time_limit: float | None = None,
    ) -> "LearnedNetwork":
        """Learn structure, kinds of nodes and parameters from a table of all variables.

        Parameters
        ----------
        data : DataFrame, table, mapping, array or path
            A column for each variable; see ``ebnc.fit``.
        score : {"laplace", "bic"}
            The score to maximise. "laplace" is log evidence, exact for tables and trees.
        local : str or iterable of str
            The kinds of local distribution to consider: "ebnc", "naive" (an EBNC without
            interactions), "counting" (a naive EBNC with the number of parents in an unusual state
            as one more input; in dense networks "ebnc" may count too), "table", "tree", "graph" (a
            decision graph) and "noisy-max". Each node gets the kind with the best score.
        regime : {"auto", "sparse", "dense"}
            "sparse" searches arcs. "dense" makes all variables that precede a node in an order its
            parents, as far as ``forbidden`` and ``max_parents`` allow. "auto" chooses dense for
            wide binary data without such limits and sparse otherwise; if both are quick, it takes
            the better network.
        order : sequence of str, optional
            The order of a dense network. By default, the best of several orders; with more than 40
            variables, those that vary most come first.
        n_orders : int, optional
            The number of orders to learn dense networks for, and no sparse one. The result is the
            network with the best score; its ``average`` is the average over all orders, which
            predicts better. By default, one for more than 40 variables and up to five for fewer.
        max_parents : int, optional
            Maximum number of parents per node.
        required : iterable of (str, str)
            Arcs (parent, child) that the network must contain.
        forbidden : iterable of (str, str)
            Arcs (parent, child) that the network must not contain.
        tiers : sequence of iterables of str
            Lists of variables; no arc leads from a later list to an earlier one.
        structure_prior : bool
            Whether the score includes the prior of structures.
        equivalent_sample_size : float, optional
            Parameter of the tables' Dirichlet prior (BDeu). By default, evidence chooses it.
        numbers : {"quantile", "smooth", "mdlp"}
            What numbers become: five intervals of equal weight, without an order ("mdlp" needs one
            target, and does the same here), or fine bins, over which effects are smooth curves.
        kinds : mapping, optional
            "nominal", "ordered" or "numeric" by column name, as for ``ebnc.fit``.
        categories : mapping, optional
            Declared states of columns, by column name.
        missing : {"state", "refuse", "em"}
            Whether a missing entry is a state of its own, an error, or unknown: rows are then
            completed by the network so far, which is learned again from them (structural EM). It
            learns sparse networks.
        weights : array or str, optional
            One number ≥ 0 for each row, or the name of a column of ``data``.
        checkpoint : path, optional
            A file that records the run. A run that was killed continues from it and ends at the
            same network.
        n_jobs : int, optional
            Number of threads; None uses one per core. The network does not depend on it.
        verbose : int
            1 prints every accepted step to standard error.
        on_interrupt : {"raise", "best"}
            On Ctrl-C, raise KeyboardInterrupt or return the best network so far.
        time_limit : float, optional
            Seconds after which learning ends with the best network so far
            (``trace.interrupted``). A first network is always learned, however long that takes.
            With a limit, results depend on the speed of the machine.

        Returns
        -------
        LearnedNetwork
            The network with the score of every node and the trace of the search.
        """
        settings = learn_settings(score, local, structure_prior, equivalent_sample_size)
        if regime not in REGIMES:
            raise ParameterError(f"regime must be one of {', '.join(REGIMES)}, got {regime!r}")
        if on_interrupt not in ("raise", "best"):
            raise ParameterError(f"on_interrupt must be 'raise' or 'best', got {on_interrupt!r}")
        check_n_orders(n_orders, order, regime)
        check_time_limit(time_limit)
        check_missing(missing)
        if missing == "em":
            if checkpoint is not None:
                raise ParameterError("there are no checkpoints with missing='em'")
            if regime == "dense" or order is not None or n_orders is not None:
                raise ParameterError(
                    "missing='em' learns sparse networks only: a dense one connects all missing "
                    "entries of a row, so that they must be summed out together"
                )
            regime = "sparse"
        with limit_threads(n_jobs):
            coding = Coding.of(numbers, kinds)
            gaps = None
            if missing == "em":
                gaps, values = read_gaps(data, categories, weights, coding)
                names, domain = gaps.names, gaps.domain
            else:
                cases, values = learn_joint_cases(data, categories, missing, weights, coding)
                names, domain = cases.rows.names, cases.domain
            refuse_many_variables(len(names))
            if {"ebnc", "naive"} & set(settings.kinds):
                refuse_large_nodes(domain, names)
            constraints = Constraints.of(
                names, required=required, forbidden=forbidden, tiers=tiers, max_parents=max_parents
            )
            search = partial(
                learn_network,
                settings=settings,
                constraints=constraints,
                regime=regime,
                order=order,
                n_orders=n_orders,
                checkpoint=checkpoint,
                report=print_step if verbose else None,
                on_interrupt=on_interrupt,
            )
            record = None
            if gaps is None:
                learned = search(cases, time_limit=time_limit)
            else:
                learned, record = learn_with_gaps(gaps, search, equivalent_sample_size, time_limit)
        return LearnedNetwork(learned, bin_densities(domain, values), record)

    @classmethod
    def fit(
        cls,
        given: GivenGraph,
        data: Frame,
        *,
        local: str | Mapping[str, str] = "ebnc",
        prior_scale: object = "evidence",
        equivalent_sample_size: float | None = None,
        numbers: Numbers = "quantile",
        kinds: Kinds | None = None,
        categories: Categories | None = None,
        missing: MissingInNetworks = "state",
        weights: object = None,
        random_state: int = 0,
    ) -> "FittedNetwork":
        """Fit the parameters of a network whose arcs are known.

        Parameters
        ----------
        given : arcs, str, Network or mapping
            The graph: arcs (parent, child), a model string such as ``"[A][B|A]"``, a network, or a
            mapping from each node to its ``EmbeddedStructure`` or to a list of its parents. Columns
            of the data without arcs become roots.
        data : DataFrame, table, mapping, array or path
            A column for each variable; see ``ebnc.fit``.
        local : str or mapping
            The kind of local distribution: "ebnc" (with the embedded structure from ``given``,
            otherwise the naive one), "table", or "auto" (the best of EBNC, table and tree with
            exactly these parents). A mapping gives kinds by node; its default is "ebnc".
        prior_scale : float, list of float, "evidence" or "loo"
            σ of the EBNCs' prior, as for ``ebnc.fit``; infinity for maximum likelihood.
        equivalent_sample_size : float, optional
            Parameter of the tables' Dirichlet prior (BDeu). By default, evidence chooses it.
        numbers : {"quantile", "smooth", "mdlp"}
            What numbers become: five intervals of equal weight, without an order ("mdlp" needs one
            target, and does the same here), or fine bins, over which effects are smooth curves.
        kinds : mapping, optional
            "nominal", "ordered" or "numeric" by column name, as for ``ebnc.fit``.
        categories : mapping, optional
            Declared states of columns, by column name.
        missing : {"state", "refuse", "em"}
            Whether a missing entry is a state of its own, an error, or unknown: EM then fits the
            parameters to what is observed, and its steps are in ``em`` of the result. A variable
            without any entry is hidden; ``categories`` declares its states.
        weights : array or str, optional
            One number ≥ 0 for each row, or the name of a column of ``data``.
        random_state : int
            Seed of the start of EM for nodes that are never observed with their parents.

        Returns
        -------
        FittedNetwork
            The network with log-likelihood, dimension, BIC and log evidence of every node.

        Examples
        --------
        >>> rain = {"rain": [0, 0, 0, 1, 1, 0, 1, 0], "wet": [0, 0, 1, 1, 1, 0, 1, 0]}
        >>> network = Network.fit("[rain][wet|rain]", rain, local="table")
        >>> network.node_scores["wet"].dimension, round(network.bic, 3)
        (2, -10.914)
        """
        check_sample_size(equivalent_sample_size)
        check_missing(missing)
        coding = Coding.of(numbers, kinds)
        if missing == "em":
            gaps, values = read_gaps(data, categories, weights, coding)
            parents, structures = read_graph(given, gaps.names)
            nodes = Plan(parents, structures, kinds_of(local, gaps.names))
            prior = Prior(prior_scale, equivalent_sample_size)
            locals_, record = fit_by_em(gaps, nodes, prior, random_state)
            densities = bin_densities(gaps.domain, values)
            return FittedNetwork(locals_, {}, gaps.total_weight, densities, record)
        cases, values = learn_joint_cases(data, categories, missing, weights, coding)
        locals_, scores = fit_network(given, cases, local, prior_scale, equivalent_sample_size)
        densities = bin_densities(cases.domain, values)
        return FittedNetwork(locals_, scores, cases.total_weight, densities)

    @classmethod
    def from_string(cls, text: str, data: Frame, **options: Any) -> "FittedNetwork":
        """Fit the network of a model string, such as ``model_string`` of another network.

        Parameters
        ----------
        text : str
            bnlearn's notation, ``"[A][B|A][C|A:B]"``.
        data : DataFrame, table, mapping, array or path
            A column for each variable; see ``ebnc.fit``.
        **options
            As for ``Network.fit``.

        Examples
        --------
        >>> rain = {"rain": [0, 0, 0, 1, 1, 0, 1, 0], "wet": [0, 0, 1, 1, 1, 0, 1, 0]}
        >>> Network.from_string("[rain][wet|rain]", rain, local="table").arcs
        (('rain', 'wet'),)
        """
        parse_model_string(text)  # raises an error if it is none
        return cls.fit(text, data, **options)

    @classmethod
    def arc_strength(
        cls,
        data: Frame,
        n: int = 50,
        *,
        weights: object = None,
        random_state: int | None = 0,
        **options: Any,
    ) -> ArcStrengths:
        """Learn n networks from resampled rows, and count how many of them have each arc.

        Parameters
        ----------
        data : DataFrame, table, mapping or array
            A column for each variable, in memory.
        n : int
            The number of networks to learn.
        weights : array, optional
            One number ≥ 0 for each row. As many rows are drawn as the weights add up to, in
            proportion to them.
        random_state : int, optional
            Seed of the resampling; None draws other rows each time.
        **options
            As for ``Network.learn``.
        """

        def learn(resampled: FloatArray) -> Network:
            return cls.learn(data, weights=resampled, **options)

        return arc_strengths(data, learn, n, weights, random_state)

    def score(
        self,
        data: Rows,
        criterion: str = "bic",
        *,
        weights: object = None,
        prior_scale: object = "evidence",
        equivalent_sample_size: float | None = None,
    ) -> NetworkScore:
        """Score this network on complete data, as a sum over its nodes (Theorem 2).

        Parameters
        ----------
        data : table
            Rows with all variables. Entries may be missing only if "missing" is a state.
        criterion : {"bic", "laplace", "log_likelihood"}
            "bic" (eq. 9) and "laplace" (eq. 8) score the structure: the nodes keep their kinds,
            parents and embedded structures, and their parameters are fitted to ``data``.
            "log_likelihood" scores the network with its present parameters, as
            ``log_likelihood`` does; the others score the states of numeric nodes, without a
            density in them.
        weights : array or str, optional
            One number ≥ 0 for each row, or the name of a column of ``data``.
        prior_scale : float, list of float, "evidence" or "loo"
            The prior of EBNCs for "laplace", as for ``Network.fit``.
        equivalent_sample_size : float, optional
            The prior of tables for "laplace", as for ``Network.fit``.

        Returns
        -------
        NetworkScore
            ``.total`` and ``.by_node``, in nats; higher is better.
        """
        cases = self._cases(data, weights)
        scores = score_nodes(self, cases, criterion, prior_scale, equivalent_sample_size)
        if criterion != "log_likelihood":
            return scores
        inside = self._log_density_in_bins(data, self.variables)
        weight = np.ones(len(cases)) if cases.weights is None else cases.weights
        totals = {
            x: score + float(inside[x] @ weight) if x in inside else score
            for x, score in scores.by_node.items()
        }
        return NetworkScore(criterion, totals)

    def compare(
        self,
        other: "Network",
        data: Rows | None = None,
        criterion: str = "bic",
        *,
        weights: object = None,
    ) -> Comparison:
        """Compare the arcs of this network with those of another one, and their scores on data.

        Parameters
        ----------
        other : Network
            A network of the same variables.
        data : table, optional
            Rows with all variables, to score both networks.
        criterion : {"bic", "laplace", "log_likelihood"}
            The score, as for ``score``. Scores of structures need equal states in both networks.
        weights : array or str, optional
            One number ≥ 0 for each row, or the name of a column of ``data``.

        Returns
        -------
        Comparison
            Arcs that are missing, extra and reversed in ``other``, the structural Hamming distance,
            that of the equivalence classes, and the scores.
        """
        differences = compare_graphs(
            *({x: each.parents(x) for x in each} for each in (self, other))
        )
        if data is None:
            return differences
        odd = [x for x in self if set(self.domain[x]) != set(other.domain[x])]
        if odd and criterion != "log_likelihood":
            raise NetworkError(
                f"the states of {odd[0]!r} differ between the networks, so their scores cannot be "
                "compared; use criterion='log_likelihood'"
            )
        ours, theirs = (each.score(data, criterion, weights=weights) for each in (self, other))
        return replace(differences, scores=(ours.total, theirs.total))

    def with_arc(
        self,
        parent: str,
        child: str,
        data: Rows,
        *,
        local: str | None = None,
        prior_scale: object = "evidence",
        equivalent_sample_size: float | None = None,
        weights: object = None,
    ) -> "Network":
        """Return this network with one more arc; the child is fitted to data, all others stay.

        Parameters
        ----------
        parent, child : str
            The arc parent → child.
        data : table
            Rows with all variables. Their states are those of this network.
        local : {"ebnc", "table", "auto"}, optional
            The kind of the child, as for ``Network.fit``. By default an EBNC or a table stays one,
            and the embedded structure of an EBNC is kept; other kinds become the best kind.
        prior_scale, equivalent_sample_size
            As for ``Network.fit``.
        weights : array or str, optional
            One number ≥ 0 for each row, or the name of a column of ``data``.
        """
        cases, parents = self._cases(data, weights), with_more(self, parent, child)
        how = (local, prior_scale, equivalent_sample_size)
        return Network(refitted(self, child, parents, cases, *how), self.densities)

    def without_arc(
        self,
        parent: str,
        child: str,
        data: Rows,
        *,
        local: str | None = None,
        prior_scale: object = "evidence",
        equivalent_sample_size: float | None = None,
        weights: object = None,
    ) -> "Network":
        """Return this network without an arc; the child is fitted to data, all others stay.

        Parameters
        ----------
        parent, child : str
            The arc parent → child.
        data : table
            Rows with all variables. Their states are those of this network.
        local, prior_scale, equivalent_sample_size, weights
            As for ``with_arc``.
        """
        cases, parents = self._cases(data, weights), with_fewer(self, parent, child)
        how = (local, prior_scale, equivalent_sample_size)
        return Network(refitted(self, child, parents, cases, *how), self.densities)

    def _cases(self, data: Rows, weights: object) -> Cases:
        """Code complete rows of all variables by the states of this network."""
        rows = encode(data, self.domain, self.variables)
        if len(rows) == 0:
            raise DataError("the data have no rows")
        checked = row_weights(data, weights, len(rows))
        return Cases(self.domain, rows.names[0], rows, rows.codes[0], checked)


class LearnedNetwork(Network):
    """A network with the record of its learning.

    Parameters
    ----------
    learned : LearningResult
        The outcome of ``ebnc.network.learning.learn_network``.
    densities : mapping, optional
        As in ``Network``.
    em : EMRecord, optional
        The steps of EM that fitted the parameters to rows with gaps.

    Attributes
    ----------
    scores : mapping
        The score of every node; their sum is ``learned_score``. With ``em``, they are scores of
        completed rows.
    trace : list
        Every accepted change.
    n_cases : float
        N, the sum of the row weights.
    regime : str
        "sparse" or "dense".
    average : NetworkAverage
        The average of the networks of all orders; of this network alone if it is sparse.
    em : EMRecord or None
        As above.
    """

    def __init__(
        self,
        learned: LearningResult,
        densities: Mapping[str, BinDensity] | None = None,
        em: EMRecord | None = None,
    ) -> None:
        super().__init__(learned.locals_, densities)
        self.em = em
        self.scores = learned.scores
        self.trace = learned.trace
        self.n_cases = learned.n_cases
        self.regime = learned.regime
        each = [Network(locals_, densities) for locals_ in learned.of_orders]
        self.average = NetworkAverage(each or [Network(learned.locals_, densities)])

    @property
    def learned_score(self) -> float:
        """The score that was maximised: log evidence or BIC, with the structure prior."""
        return math.fsum(self.scores.values())

    def _facts(self) -> list[tuple[str, object]]:
        learned = [("rows", f"{self.n_cases:g}"), ("score", f"{self.learned_score:.3f} nats")]
        return [*super()._facts(), *learned]


class FittedNetwork(Network):
    """A network with given arcs, and its scores on the data that it was fitted to.

    Parameters
    ----------
    locals_ : iterable of Local
        The local distribution of every node.
    node_scores : mapping
        The ``NodeScore`` of every node.
    n_cases : float
        N, the sum of the row weights.
    densities : mapping, optional
        As in ``Network``.
    em : EMRecord, optional
        The steps of EM. Then there are no scores of nodes: the likelihood of rows with gaps is not
        a product over nodes.

    Attributes
    ----------
    node_scores, n_cases, em
        As above.
    """

    def __init__(
        self,
        locals_: Iterable[Local],
        node_scores: Mapping[str, NodeScore],
        n_cases: float,
        densities: Mapping[str, BinDensity] | None = None,
        em: EMRecord | None = None,
    ) -> None:
        super().__init__(locals_, densities)
        self.em = em
        self.node_scores = node_scores
        self.n_cases = n_cases

    def _facts(self) -> list[tuple[str, object]]:
        if self.em is None:
            name, value = "BIC", self.bic
        else:
            name, value = "log-likelihood", self.em.log_likelihood
        return [*super()._facts(), ("rows", f"{self.n_cases:g}"), (name, f"{value:.3f} nats")]

    @property
    def bic(self) -> float:
        """Σ_i L_i(φ̂_i) − (d_i/2) log N, eq. 9."""
        self._refuse_gaps()
        return math.fsum(node.bic for node in self.node_scores.values())

    @property
    def log_evidence(self) -> float:
        """log p(D | m), eq. 8; the summands of tables and trees are exact."""
        self._refuse_gaps()
        values = [node.log_evidence for node in self.node_scores.values()]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            raise ParameterError(
                "there is no evidence under a flat prior (prior_scale=inf); use .bic, or fit with "
                "a finite prior_scale"
            )
        return math.fsum(known)

    def _refuse_gaps(self) -> None:
        if self.em is not None:
            raise ParameterError(
                "a network that EM fitted to rows with gaps has no BIC and no evidence, which are "
                "sums over nodes; .em.log_likelihood is the log-likelihood of the observed entries"
            )
