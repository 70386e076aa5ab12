"""φ as JSON: a list of terms, and one list with the numbers of all blocks in that order.

A term is the list of its inputs. Its block has shape (r_i − 1 for its inputs …, K − 1); the last
axis varies fastest. Inputs with one state have no terms.
"""

from collections.abc import Sequence

import numpy as np

from ebnc.domain import Domain
from ebnc.field import Field
from ebnc.parameters.coding import INDICATOR, ORTHONORMAL
from ebnc.parameters.constants import without_constants
from ebnc.parameters.phi import Basis, Term
from ebnc.structure.embedded import EmbeddedStructure
from ebnc.typing import FloatArray

CODINGS = (ORTHONORMAL.name, INDICATOR.name)
LARGEST_PARAMETER = 1e100  # sums and products of such log odds are still numbers


def terms_to_json(basis: Basis) -> list[list[str]]:
    """Return the inputs of every term, in the order of φ."""
    return [list(term.inputs) for term in basis.terms]


def basis_from_json(
    structure: EmbeddedStructure, domain: Domain, terms: Field
) -> tuple[Basis, list[Term]]:
    """Return the basis of a structure, and its terms in the order of the file.

    The file must list every term once. The number of terms is checked first, so the size of the
    file bounds the memory.
    """
    for name in structure.names:
        if name not in domain:
            raise terms.error(f"the domain has no variable {name!r} of the structure")
    listed = [item.texts() for item in terms.items()]
    for cluster in without_constants(structure, domain).clusters:
        if len(cluster) >= 60 or 2 ** len(cluster) > len(listed):
            raise terms.error(f"cluster {list(cluster)[:8]} of the structure has more terms")
    basis = Basis(structure, domain)
    expected = terms.built(lambda: basis.terms)
    known = {frozenset(term.inputs): term for term in expected}
    ordered = []
    for inputs in listed:
        term = known.pop(frozenset(inputs), None)
        if term is None or term.inputs != inputs:
            raise terms.error(f"term {list(inputs)[:8]} is repeated or not of the structure")
        ordered.append(term)
    if known:
        raise terms.error(f"term {list(next(iter(known.values())).inputs)[:8]} is missing")
    return basis, ordered


def phi_from_json(basis: Basis, order: Sequence[Term], field: Field) -> FloatArray:
    """Read one number per parameter; return them in the order of ``basis``."""
    numbers = field.numbers(LARGEST_PARAMETER)
    if numbers.shape != (basis.dimension,):
        raise field.error(f"has {numbers.size} numbers; the structure needs {basis.dimension}")
    phi = np.empty(basis.dimension)
    begin = 0
    for term in order:
        end = begin + term.stop - term.start
        phi[term.start : term.stop] = numbers[begin:end]
        begin = end
    return phi
