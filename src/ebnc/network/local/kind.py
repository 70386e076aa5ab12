"""A kind of local distribution: how it is learned, kept in files, and named in reports.

Every kind is one ``Kind`` in the table ``network.local.kinds.KINDS``; nothing else lists them. A
kind turns its distributions into plain values (``network.local.plain``) and back. How these are
written, and the check of what is read, is the business of formats.
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
        What reports call it, in the singular: "decision tree".
    fields
        What a file holds besides kind and target.
    to_plain
        From a distribution to its fields; optional ones may be left out.
    from_plain
        From a target, a domain and fields to the distribution; raises an ``EBNCError`` where they
        contradict each other.
    learner
        From a node to the ``LocalLearner`` that fits this kind to it.
    optional
        Fields that may be absent.
    is_readable
        Whether ``str(local)`` is a text that a report shows.
    """

    name: str
    words: str
    fields: Mapping[str, FieldType]
    to_plain: Callable[[Any], dict[str, Any]]
    from_plain: Callable[[str, Domain, Mapping[str, Any]], Local]
    learner: Callable[[Node], LocalLearner]
    optional: frozenset[str] = frozenset()
    is_readable: bool = False
