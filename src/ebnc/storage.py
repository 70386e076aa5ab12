"""A registry of functions that read, write and draw models.

Formats and reports import models, so models must not import them; yet models have methods such as
``save``. These methods look the function up here by name. ``ebnc/__init__.py``, which lists the
module of every public name, registers it.
"""

from collections.abc import Callable
from typing import Any

_loaders: dict[str, Callable[[], object]] = {}


def provide(name: str, load: Callable[[], object]) -> None:
    """Register how to load the function of this name; ``provided`` loads it."""
    _loaders[name] = load


def provided(name: str) -> Callable[..., Any]:
    """Load and return the function of this name."""
    function = _loaders[name]()
    assert callable(function)
    return function
