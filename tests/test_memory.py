"""Requests that are too large are refused, in sizes that can be read."""

import pytest

from ebnc.errors import TooLargeError
from ebnc.memory import refuse_if_too_large


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
