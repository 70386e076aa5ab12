"""Variables and their states.

A ``Domain`` lists the states of each variable in order. State 0 is the baseline (the paper's x¹),
also of the target. A state has a label; arrays hold its number in this order, the code.

A variable is *nominal*, *ordered* or *numeric*. The states of an ordered variable follow each
other, such as grades; those of a numeric variable are intervals of a number. Functions of ordered
and numeric variables are smooth curves over the states (``parameters.coding``); functions of
nominal variables are tables.
"""

import math
import operator
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias, TypeGuard

from ebnc.errors import DomainError

State: TypeAlias = Hashable
Kind: TypeAlias = Literal["nominal", "ordered", "numeric"]
DomainLike: TypeAlias = "Domain | Mapping[str, int | Iterable[State]]"


class Interval(NamedTuple):
    """A state of a discretised number: low < x ≤ high; the ends may be infinite.

    If the states of a variable are intervals, its data are numbers. The intervals must ascend
    without gaps.
    """

    low: float
    high: float

    def __str__(self) -> str:
        if self.low == -math.inf:
            return "any number" if self.high == math.inf else f"≤ {self.high:g}"
        return f"> {self.low:g}" if self.high == math.inf else f"({self.low:g}, {self.high:g}]"


MOST_WAVES = 12
"""Columns of a curve. Under the prior, those beyond would add 1/20 of its variance."""


class Levels(NamedTuple):
    """Number of states of a variable, and how many of them, the first ones, are in order.

    ``n_ordered`` is 0 for a nominal variable. A missing entry is a state outside of the order.
    """

    n_states: int
    n_ordered: int = 0

    @property
    def n_waves(self) -> int:
        """Number of columns of the curve over the ordered states."""
        return min(MOST_WAVES, max(0, self.n_ordered - 1))

    @property
    def n_columns(self) -> int:
        """t, the dimension of the variable's statistic: r − 1 for a nominal variable."""
        if not self.n_ordered:
            return self.n_states - 1
        return self.n_waves + self.n_states - self.n_ordered


class Domain(Mapping[str, tuple[State, ...]]):
    """Variables and their states: a read-only mapping from name to the tuple of labels.

    Parameters
    ----------
    states : mapping from str to int or iterable of labels
        The labels of each variable, or the number r of its states (labels 0 … r − 1).
    ordered : iterable of str
        Variables whose states are in order, except a last state None (missing). A variable whose
        states are intervals is then numeric.

    Examples
    --------
    >>> domain = Domain({"Weather": ["dry", "wet"], "Y": 3})
    >>> domain["Weather"], domain["Y"], domain.n_states("Y")
    (('dry', 'wet'), (0, 1, 2), 3)
    >>> Domain({"Grade": ["poor", "fair", "good"]}, ordered=["Grade"]).kind("Grade")
    'ordered'
    """

    def __init__(
        self, states: Mapping[str, int | Iterable[State]], ordered: Iterable[str] = ()
    ) -> None:
        self._states: dict[str, tuple[State, ...]] = {}
        self._codes: dict[str, dict[State, int]] = {}
        self._counted: set[str] = set()
        if not isinstance(states, Mapping):
            raise DomainError(_no_mapping(states))
        for name, declared in states.items():
            _check_name(name)
            if _is_labels(declared, name):
                labels = tuple(declared)
            else:
                labels = tuple(range(_check_count(name, declared)))
            self._codes[name] = _check_labels(name, labels)
            self._states[name] = labels
            if labels == tuple(range(len(labels))) and type(labels[0]) is int:
                self._counted.add(name)
            elif isinstance(labels[0], Interval):
                _check_intervals(name, labels)
        self._ordered = frozenset(ordered)
        for name in sorted(self._ordered):
            self[name]  # raises if it is not declared

    def __getitem__(self, name: str) -> tuple[State, ...]:
        try:
            return self._states[name]
        except KeyError:
            raise DomainError(_unknown(name, self._states)) from None

    def __contains__(self, name: object) -> bool:
        return name in self._states

    def get(self, name: str, default: Any = None) -> Any:
        """Return the labels of a variable, or a default.

        Parameters
        ----------
        name : str
            The variable.
        default : object
            The result if the variable is not declared.
        """
        return self._states.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._states)

    def __len__(self) -> int:
        return len(self._states)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Domain) and self._ordered != other._ordered:
            return False
        return super().__eq__(other)

    def __hash__(self) -> int:
        return hash(frozenset(self._states.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return Domain, (self._states, sorted(self._ordered))  # copies are checked, too

    def __repr__(self) -> str:
        inside = ", ".join(f"{name!r}: {list(labels)!r}" for name, labels in self._states.items())
        ordered = [name for name in self if name in self._ordered]
        return f"Domain({{{inside}}}{f', ordered={ordered!r}' if ordered else ''})"

    @property
    def ordered(self) -> frozenset[str]:
        """The variables whose states are in order."""
        return self._ordered

    def only(self, names: Iterable[str]) -> "Domain":
        """Return the domain of some of the variables, in this order.

        Parameters
        ----------
        names : iterable of str
            The variables.
        """
        chosen = {name: self[name] for name in names}
        return Domain(chosen, self._ordered.intersection(chosen))

    def kind(self, name: str) -> Kind:
        """Return whether a variable is "nominal", "ordered" or "numeric".

        Parameters
        ----------
        name : str
            The variable.
        """
        if not self.levels(name).n_ordered:
            return "nominal"
        return "numeric" if isinstance(self[name][0], Interval) else "ordered"

    def levels(self, name: str) -> Levels:
        """Return the number of states of a variable, and how many are in order.

        Parameters
        ----------
        name : str
            The variable.
        """
        states = self[name]
        if name not in self._ordered:
            return Levels(len(states))
        return Levels(len(states), len(states) - (states[-1] is None))

    def n_states(self, name: str) -> int:
        """Return the number of states r of a variable.

        Parameters
        ----------
        name : str
            The variable.
        """
        return len(self[name])

    def codes(self, name: str) -> Mapping[State, int]:
        """Return a mapping from the labels of a variable to their codes.

        Parameters
        ----------
        name : str
            The variable.
        """
        self[name]
        return self._codes[name]

    def is_counted(self, name: str) -> bool:
        """Whether the labels of a variable are 0 … r − 1, so that labels are codes.

        Parameters
        ----------
        name : str
            The variable.
        """
        self[name]
        return name in self._counted


def as_domain(states: DomainLike) -> Domain:
    """Return a ``Domain`` unchanged; make one from a mapping of names to labels or counts."""
    if isinstance(states, Domain):
        return states
    if isinstance(states, Mapping):
        return Domain(states)
    raise DomainError(_no_mapping(states))


def count_levels(n_states: DomainLike, names: Iterable[str]) -> tuple[int, ...]:
    """Return t + 1 of each of ``names``, where t is the dimension of its statistic.

    A nominal variable has t + 1 = r states. Only a ``Domain`` has other variables.
    """
    if isinstance(n_states, Domain):
        return tuple(n_states.levels(name).n_columns + 1 for name in names)
    return count_states(n_states, names)


def count_states(n_states: DomainLike, names: Iterable[str]) -> tuple[int, ...]:
    """Return the number of states of each of ``names``; other variables are ignored."""
    if not isinstance(n_states, Mapping):
        n_states = as_domain(n_states)
    counts = []
    for name in names:
        if name not in n_states:
            raise DomainError(_unknown(name, n_states))
        declared = n_states[name]
        if type(declared) is int and declared > 0:
            counts.append(declared)
        elif _is_labels(declared, name):
            counts.append(len(_check_labels(name, tuple(declared))))
        else:
            counts.append(_check_count(name, declared))
    return tuple(counts)


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name:
        raise DomainError(f"variable names must be non-empty strings, got {name!r}")


def _is_labels(states: object, name: str) -> TypeGuard[Iterable[State]]:
    """Whether states are a list of labels; a string is neither labels nor a count."""
    if isinstance(states, set | frozenset):
        raise DomainError(f"states of {name!r} are given as a set, which has no order; give a list")
    return isinstance(states, Iterable) and not isinstance(states, str | bytes)


def _check_count(name: str, states: object) -> int:
    try:
        if isinstance(states, bool):
            raise TypeError
        count = operator.index(states)  # type: ignore[arg-type]  # raises TypeError
    except TypeError:
        raise DomainError(
            f"states of {name!r} must be a whole number or a list of labels, got {states!r}"
        ) from None
    if count < 1:
        raise DomainError(f"{name!r} has {count} states; a variable needs at least one")
    return count


def _check_labels(name: str, labels: tuple[State, ...]) -> dict[State, int]:
    """Return the codes of labels; require at least one, hashable, all different, none NaN."""
    if not labels:
        raise DomainError(f"{name!r} has no states; a variable needs at least one")
    codes: dict[State, int] = {}
    for code, label in enumerate(labels):
        if _is_nan(label):
            raise DomainError(f"NaN is not a state of {name!r}; declare a label for missing values")
        try:
            earlier = codes.setdefault(label, code)
        except TypeError:
            raise DomainError(f"state {label!r} of {name!r} is not hashable") from None
        if earlier != code:
            raise DomainError(
                f"states {labels[earlier]!r} and {label!r} of {name!r} are equal; list each once"
            )
    return codes


def _is_nan(label: object) -> bool:
    """Whether a label is missing: NaN and NaT differ from themselves, pandas.NA raises."""
    try:
        return bool(label != label)  # noqa: PLR0124
    except TypeError:
        return True
    except ValueError:  # an array has no truth value
        return False


def _no_mapping(value: object) -> str:
    return (
        f"a domain must be a Domain or a mapping from variable names to states, got "
        f"{type(value).__name__}; write for example {{'X1': 2, 'Y': ['no', 'yes']}}"
    )


def _check_intervals(name: str, labels: tuple[State, ...]) -> None:
    """Require intervals from −∞ to ∞ without gaps; None (missing values) may follow."""
    intervals = labels[:-1] if labels[-1] is None else labels
    low = -math.inf
    for interval in intervals:
        if not isinstance(interval, Interval) or interval.low != low or not interval.high > low:
            raise DomainError(
                f"intervals of {name!r} must ascend from −∞ to ∞ without gaps, got {interval!r} "
                f"after {low}"
            )
        low = interval.high
    if low != math.inf:
        raise DomainError(f"intervals of {name!r} must end at ∞, got {low}")


def _unknown(name: str, known: Mapping[str, object]) -> str:
    shown = ", ".join(repr(other) for other in list(known)[:8])
    more = ", …" if len(known) > 8 else ""
    return f"no states are declared for {name!r}; declared variables are {shown}{more}"
