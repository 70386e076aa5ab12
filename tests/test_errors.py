"""The error tree: one base, built-in parents, sizes that can be read."""

import builtins
import inspect

import pytest

from ebnc import errors
from ebnc.errors import EBNCError, TooLargeError, refuse_if_too_large

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


@pytest.mark.parametrize(
    ("n_bytes", "shown"),
    [
        (2**50, "1 PiB"),
        (3 * 2**60, "3 EiB"),
        (2**70, "1024 EiB"),
        (2**100, "1099511627776 EiB|2\\^100 bytes"),
        (2**200 + 1, "2\\^200 bytes"),
        (3**9000, "2\\^14264 bytes"),
    ],
)
def test_the_size_refused_is_named_in_readable_units(n_bytes, shown):
    """Also where it has more digits than Python prints."""
    with pytest.raises(
        TooLargeError, match=f"the thing would take ({shown}), .*; do less"
    ) as error:
        refuse_if_too_large(n_bytes, "the thing", "do less")
    assert isinstance(error.value, MemoryError)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize("n_bytes", [0, 1, 2**20])
def test_small_sizes_are_not_refused(n_bytes):
    """Nothing happens."""
    refuse_if_too_large(n_bytes, "the thing", "do less")
