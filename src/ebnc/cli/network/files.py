"""Read networks from files, and evidence from the command line."""

from typing import TYPE_CHECKING

from ebnc.cli.streams import model_path
from ebnc.errors import FormatError, QueryError

if TYPE_CHECKING:
    from ebnc.domain import Domain, State
    from ebnc.network.network import Network


def read_network(path: str) -> "Network":
    """Read a network from a model file or a BIF file."""
    from ebnc.formats.native import load
    from ebnc.network.inference.average import NetworkAverage
    from ebnc.network.network import Network

    if path.lower().endswith(".bif"):
        return Network.read_bif(path)
    model = load(model_path(path))
    if isinstance(model, NetworkAverage):
        raise FormatError(
            f"{path} is an average of networks, which commands do not read; load it in Python"
        )
    if not isinstance(model, Network):
        kind = type(model).__name__
        raise FormatError(f"{path} is not a network but a classifier ({kind}); use `ebnc predict`")
    return model


def evidence_from(texts: list[str], domain: "Domain") -> dict[str, "State"]:
    """Parse evidence NAME=STATE; if the states are intervals, STATE may be a number."""
    evidence: dict[str, State] = {}
    for text in texts:
        name = next((x for x in domain if text.startswith(f"{x}=")), None)
        if name is None:
            raise QueryError(
                f"--evidence takes NAME=STATE, where NAME is a variable of the network, got "
                f"{text!r}; variables are {', '.join(list(domain)[:8])}"
            )
        if name in evidence:
            raise QueryError(f"--evidence gives {name!r} twice")
        evidence[name] = _state(name, text[len(name) + 1 :], domain)
    return evidence


def _state(name: str, text: str, domain: "Domain") -> "State":
    from ebnc.domain import Interval

    for state in domain[name]:
        if state_text(state) == text:
            return state
        if isinstance(state, Interval) and _is_inside(text, state.low, state.high):
            return state
    shown = ", ".join(state_text(state) for state in domain[name][:8])
    raise QueryError(f"{text!r} is not a state of {name!r}; its states are {shown}")


def _is_inside(text: str, low: float, high: float) -> bool:
    try:
        return low < float(text) <= high
    except ValueError:
        return False


def state_text(state: "State") -> str:
    """Format a state for tables and CSV; a missing entry is empty."""
    return "" if state is None else str(state)
