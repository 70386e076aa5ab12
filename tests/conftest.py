"""One hypothesis profile for all tests: the same examples in every run."""

import warnings

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "ebnc",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("ebnc")


@pytest.fixture(scope="session")
def gum():
    """pyAgrum; its import crashes the interpreter where SWIG's DeprecationWarning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pyagrum
    return pyagrum


@pytest.fixture
def without_warnings():
    """For libraries that warn of their own future."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
