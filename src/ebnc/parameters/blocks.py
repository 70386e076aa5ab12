"""Dimension and a non-redundant basis, block by block: the procedure of §6 (eq. 17–19).

For each input X_i the map η_i → ψ_i is linear; the ψ_i of different inputs do not overlap, so

    d = Σ_{i=0}^{n} rank ∂ψ_i/∂η_i          (eq. 18; the sum starts at 0, errata E3)
    φ = ∪_i basis(η_i → ψ_i)                (eq. 19)
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ebnc.domain import DomainLike
from ebnc.markup import html_table
from ebnc.parameters.constants import sizes_of
from ebnc.parameters.decomposition import turns
from ebnc.parameters.incidence import independent_configurations
from ebnc.structure.embedded import EmbeddedStructure


@dataclass(frozen=True, slots=True)
class PsiParameter:
    """ψ_i(𝐚) for one state of X_i and one class: a coefficient of I(x_i^s) I(𝐚) in eq. 12.

    Attributes
    ----------
    variable : str or None
        X_i; None for ψ_0.
    state : int
        The number s of the state, ≥ 1 because 0 is the baseline; 0 for ψ_0.
    of_class : int
        The number of the class, ≥ 1.
    context : tuple of (str, int)
        𝐚: earlier inputs with the numbers of their states.
    """

    variable: str | None
    state: int
    of_class: int
    context: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class PsiBlock:
    """One block of eq. 18.

    Attributes
    ----------
    variable : str or None
        X_i; None for ψ_0.
    basis : tuple of PsiParameter
        A basis of the image of η_i → ψ_i.
    """

    variable: str | None
    basis: tuple[PsiParameter, ...]

    @property
    def rank(self) -> int:
        """rank ∂ψ_i/∂η_i."""
        return len(self.basis)


class BlockDimension(int):
    """A dimension with its blocks.

    Attributes
    ----------
    blocks : tuple of PsiBlock
        The blocks of eq. 18, ψ_0 first.
    """

    blocks: tuple[PsiBlock, ...]

    def __new__(cls, blocks: Sequence[PsiBlock]) -> "BlockDimension":
        self = super().__new__(cls, sum(block.rank for block in blocks))
        self.blocks = tuple(blocks)
        return self

    def _repr_html_(self) -> str:
        rows = [(block.variable or "none: ψ₀", block.rank) for block in self.blocks]
        return html_table(("block of", "rank"), rows, note=f"dimension {int(self)}")

    def __getnewargs__(self) -> tuple[tuple[PsiBlock, ...]]:  # type: ignore[override]
        return (self.blocks,)

    @property
    def ranks(self) -> tuple[int, ...]:
        """The summands of eq. 18, ψ_0 first."""
        return tuple(block.rank for block in self.blocks)

    @property
    def basis(self) -> tuple[PsiParameter, ...]:
        """φ of eq. 19: parameters ψ that determine all others."""
        return tuple(parameter for block in self.blocks for parameter in block.basis)


def dimension_by_blocks(
    structure: EmbeddedStructure, n_states: DomainLike, order: Sequence[str] | None = None
) -> BlockDimension:
    """Return d as the sum of the blocks' ranks (eq. 18), with the basis of eq. 19, exact.

    A variable whose statistic has dimension t counts as one with t + 1 states; "states" s ≥ 1 in
    the basis are then the columns of its curve. The time is exponential in the size of the largest
    context; ``dimension`` returns the same number in closed form.

    Parameters
    ----------
    structure : EmbeddedStructure
        The structure.
    n_states : Domain or mapping
        The states of all variables including the target, as counts, labels or a ``Domain``. Only a
        ``Domain`` has ordered and numeric variables, which count with the columns of their curves.
    order : sequence of str, optional
        Any order of the inputs; the sum does not depend on it.

    Returns
    -------
    BlockDimension
        An int with the blocks, their ranks and the basis.

    Examples
    --------
    >>> worked = EmbeddedStructure.from_string(
    ...     "[X1][X2][X3][Y|X1:X2][X4|X1:X3:Y][X5|X2:X3:Y]", target="Y"
    ... )
    >>> dimension_by_blocks(worked, dict.fromkeys(worked.names, 2)).ranks
    (1, 1, 2, 3, 4, 4)
    """
    varying, n_classes, counts = sizes_of(structure, n_states)
    if order is not None:
        constants = set(structure.names) - set(varying.names)
        order = [x for x in order if x not in constants]
    classes = range(1, n_classes)
    blocks = [PsiBlock(None, tuple(PsiParameter(None, 0, k, ()) for k in classes))]
    for turn in turns(varying, order):
        # ψ_i(𝐚) = Σ_F η_i^F(𝐚_F): a sum of tables, with the same matrix for every state and class.
        contexts = independent_configurations(
            {x: counts[x] for x in turn.context},
            [earlier for _, earlier in turn.factors],
            f"the matrix η → ψ of {turn.variable!r} in §6",
        )
        basis = (
            PsiParameter(turn.variable, state, k, tuple(zip(turn.context, a, strict=True)))
            for a in contexts
            for state in range(1, counts[turn.variable])
            for k in classes
        )
        blocks.append(PsiBlock(turn.variable, tuple(basis)))
    return BlockDimension(blocks)
