"""Joint distributions as graphs of networkx whose nodes have their distribution as ``local``."""

from typing import TYPE_CHECKING

from ebnc.errors import NetworkError
from ebnc.network.model.joint import Joint

if TYPE_CHECKING:
    import networkx as nx


def to_graph(network: Joint) -> "nx.DiGraph[str]":
    """Return the DAG; each node has a ``local``, and a ``density`` if it has one."""
    import networkx

    graph: nx.DiGraph[str] = networkx.DiGraph()
    for name, local in network.items():
        graph.add_node(name, local=local)
    for name, density in network.densities.items():
        graph.nodes[name]["density"] = density
    graph.add_edges_from(network.arcs)
    return graph


def joint_of_graph(graph: "nx.DiGraph[str]") -> Joint:
    """Return the joint distribution of a graph whose arcs agree with its local distributions."""
    locals_, densities = [], {}
    for name, attributes in graph.nodes(data=True):
        if "local" not in attributes:
            raise NetworkError(
                f"node {name!r} has no attribute 'local'; set it to a local distribution"
            )
        locals_.append(attributes["local"])
        if "density" in attributes:
            densities[name] = attributes["density"]
    joint = Joint(locals_, densities)
    if set(joint.arcs) != set(graph.edges):
        odd = min(set(joint.arcs) ^ set(graph.edges))
        raise NetworkError(
            f"the graph and the parents of its local distributions disagree on arc {odd}"
        )
    return joint
