import pytest

from ebnc import EmbeddedNetwork, EmbeddedStructure


@pytest.fixture
def worked():
    """The worked model of §6, Figure 2a: all variables binary."""
    return EmbeddedStructure.from_string(
        "[X1][X2][X3][Y|X1:X2][X4|X1:X3:Y][X5|X2:X3:Y]", target="Y"
    )


@pytest.fixture
def worked_network(worked):
    return EmbeddedNetwork.random(worked, dict.fromkeys(worked.names, 2), random_state=1)
