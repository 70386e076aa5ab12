"""A kind of local distribution: how it is learned, saved in files, and named in reports.

Every kind is one ``Kind`` in the table ``network.local.kinds.KINDS``, which is the only list. A
kind converts its distributions to plain values (``network.local.plain``) and back. ``ebnc.formats``
writes these values to files and checks them on reading.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ebnc.domain import Domain
from ebnc.network.local.local import Local
from ebnc.network.local.node import LocalLearner, Node
from ebnc.network.local.plain import FieldType

__all__ = ["Kind"]


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of local distribution.

    Attributes
    ----------
    name
        The name in ``Network.learn``, in files, and as ``kind`` of the distributions.
    words
        The name in reports, in the singular: "decision tree".
    fields
        The fields of a file besides kind and target.
    to_plain
        Converts a distribution to its fields; it may leave out optional ones.
    from_plain
        Converts a target, a domain and fields to the distribution; raises an ``EBNCError`` if they
        contradict each other.
    learner
        Makes the ``LocalLearner`` that fits this kind to a node.
    optional
        Fields that may be absent.
    is_readable
        Whether reports show ``str(local)``.
    """

    name: str
    words: str
    fields: Mapping[str, FieldType]
    to_plain: Callable[[Any], dict[str, Any]]
    from_plain: Callable[[str, Domain, Mapping[str, Any]], Local]
    learner: Callable[[Node], LocalLearner]
    optional: frozenset[str] = frozenset()
    is_readable: bool = False
