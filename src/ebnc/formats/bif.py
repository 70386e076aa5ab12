"""BIF, the interchange format of Bayesian networks with full tables (version 0.15).

    network NAME { … }
    variable NAME { type discrete [ r ] { s1, s2, … }; }
    probability ( CHILD | PARENT, … ) { table p, …; }          or rows  (s, …) p, …;  default p, …;

``read_bif`` makes a network of ``Table`` nodes. ``write_bif`` expands every node to a full table,
so the structure inside a node is lost, and names and states become words that other programs read,
too: pyAgrum reads no number with a point, no sign such as ≤, and no letter beyond ASCII.
"""

import gzip
import re
import unicodedata
import zlib
from collections.abc import Iterator
from itertools import product
from math import prod
from os import PathLike
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from ebnc.domain import Domain
from ebnc.errors import EBNCError, FormatError
from ebnc.network.inference.pyagrum import state_names
from ebnc.network.local.expansion import MOST_CELLS, expand, refuse_expansion
from ebnc.network.local.table import Table
from ebnc.network.network import Network
from ebnc.writing import write_whole

TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)|(?P<quoted>"[^"\n]*")|(?P<mark>[{}()\[\],;|])"""
    r"""|(?P<word>[^\s{}()\[\],;|"]+)""",
    re.DOTALL,
)
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
DIGITS = re.compile(r"[0-9]+")
NOT_IN_A_WORD = re.compile(r"[^A-Za-z0-9]+")
SPELLED = [
    (re.compile("≤"), "le_"),
    (re.compile("≥"), "ge_"),
    (re.compile("<"), "lt_"),
    (re.compile(">"), "gt_"),
    (re.compile(r"(?<=[0-9]),(?=[-0-9])"), "_to_"),
    (re.compile(r"(?<![A-Za-z0-9])-(?=[0-9.])"), "minus_"),
]
KEYWORDS = frozenset(
    ["network", "variable", "probability", "property", "type", "discrete", "default", "table"]
)


class _Token(NamedTuple):
    text: str
    is_mark: bool
    place: int


def read_bif(path: str | PathLike[str]) -> Network:
    """Read a network from a BIF file; every node becomes a ``Table``.

    Parameters
    ----------
    path : str or path
        The file; it may be compressed with gzip.

    Returns
    -------
    Network
        The network, with variables in the order of the file.
    """
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror or error}") from None
    try:
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode()
    except (EOFError, OSError, ValueError, zlib.error) as error:
        raise FormatError(f"{path} is damaged or not text: {error}") from None
    return _Reader(str(path), text).network()


def write_bif(network: Network, path: str | PathLike[str], *, overwrite: bool = True) -> list[str]:
    """Write a network as BIF; every node becomes a full table.

    Raises ``TooLargeError`` before allocating if the tables are too large. After an error, the file
    is unchanged.

    Parameters
    ----------
    network : Network
        The network to write.
    path : str or path
        The file to write.
    overwrite : bool
        Whether to replace an existing file.

    Returns
    -------
    list of str
        What the format could not represent, in sentences.
    """
    refuse_expansion(network.values())
    names = _words(list(network), numbers=False)
    states = {x: _words(state_names(network.domain[x]), numbers=True) for x in network}
    lines = ["network ebnc {", "}"]
    for name in network:
        inside = ", ".join(states[name].values())
        lines += [f"variable {names[name]} {{"]
        lines += [f"  type discrete [ {len(states[name])} ] {{ {inside} }};", "}"]
    lost = []
    for name in network:
        table = expand(network[name])
        condition = " | " + ", ".join(names[x] for x in table.parents) if table.parents else ""
        lines.append(f"probability ( {names[name]}{condition} ) {{")
        rows = table.theta.reshape(-1, table.theta.shape[-1]).tolist()
        labels = product(*(states[x].values() for x in table.parents))
        for label, row in zip(labels, rows, strict=True):
            start = f"({', '.join(label)})" if label else "table"
            lines.append(f"  {start} {', '.join(map(repr, row))};")
        lines.append("}")
        if network[name].kind != "table":
            lost.append(f"{name}: written as a full table; it was of kind {network[name].kind}")
    for name in network:
        if names[name] != name:
            lost.append(f"{name!r} was renamed to {names[name]!r}")
        if list(states[name].values()) != list(network.domain[name]):
            lost.append(f"{name}: states are now the words {list(states[name].values())[:8]}")
        if name in network.densities:
            lost.append(f"{name}: the density of the number inside of its intervals is left out")
    write_whole(path, "\n".join([*lines, ""]).encode(), overwrite=overwrite)
    return lost


def _words(texts: list[str], *, numbers: bool) -> dict[str, str]:
    """Map distinct texts to distinct words that all programs read.

    ``numbers``: whether a word may be a whole number, as a state may.
    """
    words: dict[str, str] = {}
    taken = set()
    for text in texts:
        word = _word(text, numbers=numbers)
        while word in taken:
            word += "_"
        taken.add(word)
        words[text] = word
    return words


def _word(text: str, *, numbers: bool) -> str:
    """Return a text as a word of ASCII letters, digits and ``_``, ``.``, ``-``."""
    if WORD.fullmatch(text) and text not in KEYWORDS:
        return text
    if numbers and DIGITS.fullmatch(text):
        return text
    for pattern, replacement in SPELLED:
        text = pattern.sub(replacement, text)
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    word = NOT_IN_A_WORD.sub("_", plain).strip("_") or "_"
    return f"X{word}" if word[0].isdigit() or word in KEYWORDS else word


class _Reader:
    """A recursive-descent parser of one file."""

    def __init__(self, source: str, text: str) -> None:
        self.source, self.text, self.at = source, text, 0
        self.tokens = list(self._tokens())

    def network(self) -> Network:
        states: dict[str, list[str]] = {}
        tables: list[tuple[int, list[str], int]] = []
        if not self.tokens:
            raise FormatError(f"{self.source} is empty; a BIF file begins with 'network'")
        if self._word("'network'") != "network":
            self._fail("a BIF file begins with 'network'")
        self._skip("{")
        self._skip("}")
        while self.at < len(self.tokens):
            start = self.tokens[self.at].place
            word = self._word("'variable' or 'probability'")
            if word == "variable":
                name = self._word("a variable's name")
                if name in states:
                    self._fail(f"variable {name!r} is declared twice", start)
                states[name] = self._states(name)
            elif word == "probability":
                tables.append((start, self._family(), self.at))
                self._skip("}")
            else:
                self._fail(f"{word!r} where 'variable' or 'probability' should be", start)
        try:
            domain = Domain(states)
            locals_ = [self._table(domain, *table) for table in tables]
            known = {local.target for local in locals_}
            missing = [x for x in states if x not in known]
            if missing or not states:
                gap = f"{missing[0]!r} has no probabilities" if missing else "it has no variables"
                raise FormatError(f"{self.source} is not a complete network: {gap}")
            place = {x: i for i, x in enumerate(states)}
            return Network(sorted(locals_, key=lambda local: place[local.target]))
        except FormatError:
            raise
        except EBNCError as error:
            raise FormatError(f"{self.source}: {error}") from None

    def _states(self, name: str) -> list[str]:
        labels: list[str] | None = None
        self._expect("{")
        while not self._take("}"):
            if self._word("'type' or 'property'") != "type":
                self._skip(";")
                continue
            kind = self._word("'discrete'")
            if kind != "discrete":
                self._fail(f"variable {name!r} is {kind}; only discrete variables can be read")
            self._expect("[")
            n_states = self._word("a number of states")
            self._expect("]")
            self._expect("{")
            labels = self._list("}")
            self._expect(";")
            if n_states != str(len(labels)):
                self._fail(f"variable {name!r} declares {n_states} states and lists {len(labels)}")
        if labels is None:
            self._fail(f"variable {name!r} has no type")
        return labels

    def _family(self) -> list[str]:
        """Read a variable, its parents and the mark that opens its probabilities."""
        self._expect("(")
        family = [self._word("a variable's name")]
        if self._take("|"):
            family += self._list(")")
        else:
            self._expect(")")
        self._expect("{")
        return family

    def _table(self, domain: Domain, place: int, family: list[str], body: int) -> Table:
        child, *parents = family
        for name in family:
            if name not in domain:
                self._fail(f"{name!r} is not declared as a variable", place)
        shape = [domain.n_states(x) for x in (*parents, child)]
        if prod(shape) > MOST_CELLS:
            self._fail(f"the table of {child!r} has more than {MOST_CELLS} cells", place)
        theta = np.full(shape, np.nan)
        self.at = body
        while not self._take("}"):
            if self._take("("):
                where = self._codes(domain, child, parents)
                theta[where] = self._numbers(shape[-1])
                continue
            word = self._word("'table', 'default' or '('")
            if word == "table":
                # The child is the first variable, and the last variable varies fastest.
                values = np.array(self._numbers(prod(shape))).reshape(shape[-1], *shape[:-1])
                theta = np.moveaxis(values, 0, -1)
            elif word == "default":
                theta = np.where(np.isnan(theta), self._numbers(shape[-1]), theta)
            else:
                self._skip(";")
        if np.isnan(theta).any():
            self._fail(f"the table of {child!r} is not complete", place)
        return Table(child, parents, domain, theta)

    def _codes(self, domain: Domain, child: str, parents: list[str]) -> tuple[int, ...]:
        labels = self._list(")")
        if len(labels) != len(parents):
            self._fail(f"{len(labels)} states for the {len(parents)} parents of {child!r}")
        for name, label in zip(parents, labels, strict=True):
            if label not in domain.codes(name):
                self._fail(f"{label!r} is not a state of {name!r}")
        return tuple(domain.codes(x)[label] for x, label in zip(parents, labels, strict=True))

    def _numbers(self, n: int) -> list[float]:
        try:
            values = [float(word) for word in self._list(";")]
        except ValueError:
            self._fail("a probability is not a number")
        if len(values) != n:
            self._fail(f"{len(values)} probabilities where {n} should be")
        return values

    # -- tokens -------------------------------------------------------------------------------

    def _tokens(self) -> Iterator[_Token]:
        at = 0
        while at < len(self.text):
            match = TOKEN.match(self.text, at)
            if match is None:
                self._fail("a quotation mark is never closed", at)
            if match.lastgroup != "space":
                yield _Token(match.group().strip('"'), match.lastgroup == "mark", at)
            at = match.end()

    def _next(self, wanted: str) -> _Token:
        if self.at >= len(self.tokens):
            self._fail(f"the file ends where {wanted} should be", len(self.text))
        self.at += 1
        return self.tokens[self.at - 1]

    def _word(self, wanted: str) -> str:
        token = self._next(wanted)
        if token.is_mark:
            self._fail(f"{token.text!r} where {wanted} should be")
        return token.text

    def _take(self, mark: str) -> bool:
        """Step over the next token if it is this mark."""
        token = self._next(f"{mark!r} or more")
        found = token.is_mark and token.text == mark
        self.at -= not found
        return found

    def _expect(self, mark: str) -> None:
        if not self._take(mark):
            token = self.tokens[self.at]
            self._fail(f"{token.text!r} where {mark!r} should be", token.place)

    def _list(self, end: str) -> list[str]:
        """Read words, separated by commas or spaces, up to a mark."""
        words = []
        while not self._take(end):
            if not self._take(","):
                words.append(self._word("a word"))
        return words

    def _skip(self, end: str) -> None:
        while not self._take(end):
            self.at += 1

    def _fail(self, problem: str, place: int | None = None) -> NoReturn:
        if place is None:
            place = self.tokens[self.at - 1].place
        line = self.text.count("\n", 0, place) + 1
        raise FormatError(f"{self.source}, line {line}: {problem}")
