"""Networks in files and in other libraries: model files, BIF, pyAgrum, pgmpy, networkx."""

from os import PathLike
from typing import TYPE_CHECKING, Any, Self

from ebnc.network.inference.distribution import Distribution
from ebnc.network.inference.pyagrum import tables_from_pyagrum, to_pyagrum
from ebnc.network.model.networkx_graph import joint_of_graph, to_graph
from ebnc.network.model.pgmpy_network import tables_from_pgmpy, to_pgmpy
from ebnc.storage import provided

if TYPE_CHECKING:
    import networkx as nx


class Convertible(Distribution):
    """A joint distribution that is saved, and converted to and from other libraries."""

    @classmethod
    def read_bif(cls, path: str | PathLike[str]) -> Self:
        """Read a network of full tables from a BIF file; same as ``ebnc.read_bif``.

        Parameters
        ----------
        path : path
            The BIF file.
        """
        network: Self = provided("read_bif")(path)
        return network

    def write_bif(self, path: str | PathLike[str], *, overwrite: bool = True) -> list[str]:
        """Write the network as BIF, with a full table for every node.

        Parameters
        ----------
        path : path
            The file to write.
        overwrite : bool
            Whether an existing file may be replaced.

        Returns
        -------
        list of str
            Sentences that describe what BIF cannot represent.
        """
        lost: list[str] = provided("write_bif")(self, path, overwrite=overwrite)
        return lost

    def save(self, path: str | PathLike[str], *, overwrite: bool = True) -> None:
        """Save structure and φ (no expanded tables) to a file that ``ebnc.load`` reads.

        Parameters
        ----------
        path : path
            The file to write.
        overwrite : bool
            Whether an existing file may be replaced.
        """
        provided("save")(self, path, overwrite=overwrite)

    @classmethod
    def from_pyagrum(cls, bn: Any) -> Self:
        """Convert a network of pyAgrum to a network of full tables.

        Parameters
        ----------
        bn : pyagrum.BayesNet
            The network to convert.
        """
        return cls(tables_from_pyagrum(bn))

    def to_pyagrum(self) -> Any:
        """Return a ``pyagrum.BayesNet`` of full tables; raises an error if they are too large."""
        return to_pyagrum(self)

    @classmethod
    def from_pgmpy(cls, model: Any) -> Self:
        """Convert a network of pgmpy to a network of full tables.

        Parameters
        ----------
        model : pgmpy.models.DiscreteBayesianNetwork
            The network to convert, with a CPD for every node.
        """
        return cls(tables_from_pgmpy(model))

    def to_pgmpy(self) -> Any:
        """Return a ``DiscreteBayesianNetwork`` of pgmpy; raises an error if tables are too large.

        Labels that are text, numbers or booleans stay; intervals and missing entries become text.
        """
        return to_pgmpy(self.values())

    @classmethod
    def from_networkx(cls, graph: "nx.DiGraph[str]") -> Self:
        """Build a network from a graph whose nodes have their distribution as ``local``.

        Parameters
        ----------
        graph : networkx.DiGraph
            Every node has an attribute ``local``; the arcs agree with the parents of these. A
            numeric node may have an attribute ``density``.
        """
        joint = joint_of_graph(graph)
        return cls(joint.values(), joint.densities)

    def to_networkx(self) -> "nx.DiGraph[str]":
        """Return the outer DAG; the attribute ``local`` of each node is its distribution.

        Nodes with a density have it as ``density``.
        """
        return to_graph(self)
