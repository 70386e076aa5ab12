"""φ as JSON: a list of terms, and one list with the numbers of all blocks in that order.

A term is the list of its inputs. Its block has shape (products of columns, t_Y); the last axis
varies fastest. For nominal variables the products are those of r_i − 1 columns of each input, and
t_Y is K − 1; ordered variables have the columns of a curve (``Term.columns``). Inputs with one
state have no terms.
"""

from collections.abc import Sequence
from math import comb

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
    structure: EmbeddedStructure, domain: Domain, terms: Field, *, weak_pairs: bool = False
) -> tuple[Basis, list[Term]]:
    """Return the basis of a structure, and its terms in the order of the file.

    The file must list every term once, also the weak pairs. The number of terms is checked first,
    so the size of the file bounds the memory.
    """
    for name in structure.names:
        if name not in domain:
            raise terms.error(f"the domain has no variable {name!r} of the structure")
    listed = [item.texts() for item in terms.items()]
    varying = without_constants(structure, domain)
    for cluster in varying.clusters:
        if len(cluster) >= 60 or 2 ** len(cluster) > len(listed):
            raise terms.error(f"cluster {list(cluster)[:8]} of the structure has more terms")
    if weak_pairs and comb(len(varying.markov_blanket), 2) > len(listed):
        raise terms.error("the inputs have more pairs")
    basis = Basis(structure, domain, weak_pairs)
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
