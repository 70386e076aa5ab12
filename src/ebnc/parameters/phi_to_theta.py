"""The map φ → θ in closed form, for structures that absorb normalising constants.

The closed form (after Roos et al. 2005) is: take the children of Y in reverse topological order,
set

    θ(x_i|a, y^k) = exp f_{i,k}(x_i, a) / Z_k(a),     Z_k(a) = Σ_{x_i} exp f_{i,k}(x_i, a)

add log Z_k(a) to the factor that absorbs it, and end with p(y|pa_y) = softmax f_Y. θ may contain
any positive function of (x_i, a) as a factor; f is centred over the classes, which keeps θ away
from zero.
"""

from collections.abc import Mapping

import numpy as np

from ebnc.domain import Domain
from ebnc.errors import NoEmbeddedNetworkError, ParameterError
from ebnc.parameters.embedded_network import EmbeddedNetwork
from ebnc.parameters.tables import TableSum, refuse_large_table, spread
from ebnc.parameters.theta import uniform_theta
from ebnc.structure.embedded import EmbeddedStructure, Factor
from ebnc.typing import FloatArray


def tables_to_theta(
    structure: EmbeddedStructure, domain: Domain, tables: TableSum
) -> EmbeddedNetwork:
    """The embedded network with exactly these log odds, on the structure or an equivalent one.

    ``tables``: one per cluster of the structure. Raises ``NoEmbeddedNetworkError`` if no equivalent
    structure fills the span; then θ is only approximate (``fitting.closest_theta``).
    """
    absorbing = structure.equivalent_that_fills_span()
    if absorbing is None:
        raise NoEmbeddedNetworkError(
            f"the clusters of {structure} are not decomposable: no closed form leads from φ to θ, "
            "and an exact θ need not exist; ask for ebnc.closest_embedded_network(model)"
        )
    values = factor_tables(absorbing, domain, tables)
    theta = {
        name: uniform_theta(absorbing, domain, name)
        for name in absorbing.inputs
        if name not in values
    }
    for factor in reversed(absorbing.factors[1:]):
        # A function of x that is equal for all classes cancels; centring keeps θ away from zero.
        table = values[factor.head] - values[factor.head].mean(axis=-1, keepdims=True)
        normaliser = _log_sum_exp(table)  # over x_i, the last axis but the class
        theta[factor.head] = factor_table_to_theta(absorbing, factor, np.exp(table - normaliser))
        absorber = absorbing.absorbers[factor.head]
        assert absorber is not None, "the structure fills its span"
        scope = next(f.inputs for f in absorbing.factors if f.head == absorber)
        values[absorber] = values[absorber] + spread(
            normaliser[..., 0, :], factor.inputs[:-1], scope
        )
    own = values[absorbing.target]
    exponents = np.exp(own - own.max(axis=-1, keepdims=True))
    theta[absorbing.target] = exponents / exponents.sum(axis=-1, keepdims=True)
    refuse_underflow(theta)
    return EmbeddedNetwork(absorbing, domain, theta)


def factor_tables(
    structure: EmbeddedStructure, domain: Domain, tables: TableSum
) -> dict[str, FloatArray]:
    """f of every factor with all K classes (0 for class 0), from the tables of the clusters."""
    n_classes = domain.n_states(structure.target)
    values = {}
    owner: dict[frozenset[str], Factor] = {}
    for factor in structure.factors:
        shape = (*(domain.n_states(x) for x in factor.inputs), n_classes)
        refuse_large_table(shape, f"the table θ of {factor.head!r}")
        values[factor.head] = np.zeros(shape)
        owner.setdefault(frozenset(factor.inputs), factor)
    for scope, table in zip(tables.scopes, tables.tables, strict=True):
        factor = owner[frozenset(scope)]  # every cluster is the scope of some factor
        values[factor.head][..., 1:] += spread(table, scope, factor.inputs)
    return values


def _log_sum_exp(table: FloatArray) -> FloatArray:
    """log Σ exp over the last axis but one, which remains with length 1."""
    largest = table.max(axis=-2, keepdims=True)
    return np.asarray(largest + np.log(np.exp(table - largest).sum(axis=-2, keepdims=True)))


def factor_table_to_theta(
    structure: EmbeddedStructure, factor: Factor, values: FloatArray
) -> FloatArray:
    """Permute a factor's axes (inputs …, y) to those of θ: parents, then the head itself."""
    axes = {name: axis for axis, name in enumerate((*factor.inputs, structure.target))}
    order = [axes[name] for name in (*structure.parents(factor.head), factor.head)]
    return np.transpose(values, order)


def refuse_underflow(theta: Mapping[str, FloatArray]) -> None:
    """Raise if an entry of θ is exactly zero, because it has no log odds."""
    for name, table in theta.items():
        if not (table > 0).all():
            raise ParameterError(
                f"θ of {name!r} underflows: φ asks for probabilities below the smallest number; "
                "keep φ, whose log odds have no such limit"
            )
