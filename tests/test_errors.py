"""The error tree: one base, built-in parents."""

import builtins
import inspect

import pytest

from ebnc import errors
from ebnc.errors import EBNCError

ERRORS = [
    value
    for _, value in inspect.getmembers(errors, inspect.isclass)
    if issubclass(value, Exception)
    and not issubclass(value, Warning)
    and value.__module__ == "ebnc.errors"
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: e.__name__)
def test_every_error_has_the_base_and_a_built_in_parent(error):
    """So ``except ValueError`` works, and ``except EBNCError`` catches all."""
    assert issubclass(error, EBNCError)
    assert error.__name__ in errors.__all__
    assert error.__doc__
    if error is not EBNCError:
        others = [c for c in error.__mro__ if getattr(builtins, c.__name__, None) is c]
        assert set(others) - {Exception, BaseException, object}
