"""Where a model finds the functions that write it to a file.

Formats know every model, models know no format; yet models have methods such as ``save``. They ask
here for the function by name, and ``ebnc/__init__.py``, which knows where every public name lives,
provides it. So no model imports a format, not even when the method is called.
"""

from collections.abc import Callable
from typing import Any

__all__ = ["provide", "provided"]

_loaders: dict[str, Callable[[], object]] = {}


def provide(name: str, load: Callable[[], object]) -> None:
    """Say how the function of this name is loaded; it is loaded when it is first needed."""
    _loaders[name] = load


def provided(name: str) -> Callable[..., Any]:
    """The function of this name."""
    function = _loaders[name]()
    assert callable(function)
    return function
