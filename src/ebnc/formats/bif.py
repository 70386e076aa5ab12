"""BIF, the interchange format of Bayesian networks with full tables (version 0.15).

    network NAME { … }
    variable NAME { type discrete [ r ] { s1, s2, … }; }
    probability ( CHILD | PARENT, … ) { table p, …; }          or rows  (s, …) p, …;  default p, …;

``read_bif`` makes a network of ``Table`` nodes. ``write_bif`` expands every node to a full table,
so the structure inside a node is lost, and states become words.
"""

import gzip
import re
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

__all__ = ["read_bif", "write_bif"]

TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)|(?P<quoted>"[^"\n]*")|(?P<mark>[{}()\[\],;|])"""
    r"""|(?P<word>[^\s{}()\[\],;|"]+)""",
    re.DOTALL,
)
NOT_A_WORD = re.compile(r"""[\s{}()\[\],;|"]|/(?=[/*])""")


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
    source = Path(path)
    try:
        raw = source.read_bytes()
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode()
    except OSError as error:
        if isinstance(error, gzip.BadGzipFile):
            raise FormatError(f"{source} is damaged: {error}") from None
        raise FormatError(f"{source} cannot be read: {error.strerror or error}") from None
    except (EOFError, ValueError) as error:  # truncated gzip, or not UTF-8
        raise FormatError(f"{source} is damaged or not text: {error}") from None
    except Exception as error:  # zlib.error derives from Exception
        raise FormatError(f"{source} is damaged: {error}") from None
    return _Reader(str(source), text).network()


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
    names = _words(list(network))
    states = {x: _words(state_names(network.domain[x])) for x in network}
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
    write_whole(path, "\n".join([*lines, ""]).encode(), overwrite=overwrite)
    return lost


def _words(texts: list[str]) -> dict[str, str]:
    """Map distinct texts to distinct words that BIF allows."""
    words: dict[str, str] = {}
    taken = set()
    for text in texts:
        word = NOT_A_WORD.sub("_", text) or "_"
        while word in taken:
            word += "_"
        taken.add(word)
        words[text] = word
    return words


class _Reader:
    """A recursive-descent parser of one file."""

    def __init__(self, source: str, text: str) -> None:
        self.source, self.text = source, text
        self.tokens = list(self._tokens())
        self.at = 0

    def network(self) -> Network:
        states: dict[str, list[str]] = {}
        tables: list[tuple[int, str, list[str], int]] = []
        self._header()
        while self.at < len(self.tokens):
            start = self.tokens[self.at].place
            word = self._word("'variable' or 'probability'")
            if word == "variable":
                name, labels = self._variable()
                if name in states:
                    self._fail(f"variable {name!r} is declared twice", start)
                states[name] = labels
            elif word == "probability":
                child, parents = self._family()
                tables.append((start, child, parents, self.at))
                self._skip_block()
            else:
                self._fail(f"{word!r} where 'variable' or 'probability' should be", start)
        try:
            domain = Domain(states)
            locals_ = [self._table(domain, *entry) for entry in tables]
            missing = [x for x in states if x not in {local.target for local in locals_}]
            if missing or not states:
                gap = f"{missing[0]!r} has no probabilities" if missing else "it has no variables"
                raise FormatError(f"{self.source} is not a complete network: {gap}")
            return Network(sorted(locals_, key=lambda local: list(states).index(local.target)))
        except FormatError:
            raise
        except EBNCError as error:
            raise FormatError(f"{self.source}: {error}") from None

    # -- blocks -------------------------------------------------------------------------------

    def _header(self) -> None:
        if not self.tokens:
            raise FormatError(f"{self.source} is empty; a BIF file begins with 'network'")
        if self._word("'network'") != "network":
            self._fail("a BIF file begins with 'network'", self.tokens[0].place)
        while not self._is("{"):
            self._next("'{'")
        self._skip_block()

    def _variable(self) -> tuple[str, list[str]]:
        name = self._word("a variable's name")
        self._expect("{")
        labels: list[str] | None = None
        while not self._is("}"):
            word = self._word("'type' or 'property'")
            if word == "type":
                labels = self._states(name)
            else:
                self._skip_statement()
        self._expect("}")
        if labels is None:
            self._fail(f"variable {name!r} has no type")
        return name, labels

    def _states(self, name: str) -> list[str]:
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
        return labels

    def _family(self) -> tuple[str, list[str]]:
        self._expect("(")
        child = self._word("a variable's name")
        if self._is("|"):
            self.at += 1
            return child, self._list(")")
        self._expect(")")
        return child, []

    def _table(
        self, domain: Domain, place: int, child: str, parents: list[str], body: int
    ) -> Table:
        for name in (child, *parents):
            if name not in domain:
                self._fail(f"{name!r} is not declared as a variable", place)
        shape = [domain.n_states(x) for x in (*parents, child)]
        if prod(shape) > MOST_CELLS:
            self._fail(f"the table of {child!r} has more than {MOST_CELLS} cells", place)
        theta = np.full(shape, np.nan)
        self.at = body
        self._expect("{")
        while not self._is("}"):
            if self._is("("):
                self.at += 1
                labels = self._list(")")
                if len(labels) != len(parents):
                    self._fail(f"{len(labels)} states for the {len(parents)} parents of {child!r}")
                where = tuple(
                    self._code(domain, x, s) for x, s in zip(parents, labels, strict=True)
                )
                theta[where] = self._numbers(shape[-1])
                continue
            word = self._word("'table', 'default' or '('")
            if word == "table":
                # The child is the first variable, and the last variable varies fastest.
                values = np.array(self._numbers(prod(shape))).reshape(shape[-1], *shape[:-1])
                theta = np.moveaxis(values, 0, -1)
            elif word == "default":
                values = np.array(self._numbers(shape[-1]))
                theta = np.where(np.isnan(theta), values, theta)
            else:
                self._skip_statement()
        self._expect("}")
        if np.isnan(theta).any():
            self._fail(f"the table of {child!r} is not complete", place)
        return Table(child, parents, domain, theta)

    def _code(self, domain: Domain, name: str, label: str) -> int:
        codes = domain.codes(name)
        if label not in codes:
            self._fail(f"{label!r} is not a state of {name!r}")
        return codes[label]

    def _numbers(self, n: int) -> list[float]:
        words = self._list(";")
        try:
            values = [float(word) for word in words]
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
                is_mark = match.lastgroup == "mark"
                yield _Token(match.group().strip('"'), is_mark, at)
            at = match.end()

    def _next(self, wanted: str) -> _Token:
        if self.at >= len(self.tokens):
            self._fail(f"the file ends where {wanted} should be", len(self.text))
        self.at += 1
        return self.tokens[self.at - 1]

    def _word(self, wanted: str) -> str:
        token = self._next(wanted)
        if token.is_mark:
            self._fail(f"{token.text!r} where {wanted} should be", token.place)
        return token.text

    def _is(self, mark: str) -> bool:
        if self.at >= len(self.tokens):
            self._fail(f"the file ends where {mark!r} or more should be", len(self.text))
        token = self.tokens[self.at]
        return token.is_mark and token.text == mark

    def _expect(self, mark: str) -> None:
        token = self._next(repr(mark))
        if not (token.is_mark and token.text == mark):
            self._fail(f"{token.text!r} where {mark!r} should be", token.place)

    def _list(self, end: str) -> list[str]:
        """Read words, separated by commas or spaces, up to a mark."""
        words = []
        while not self._is(end):
            if self._is(","):
                self.at += 1
            else:
                words.append(self._word("a word"))
        self.at += 1
        return words

    def _skip_statement(self) -> None:
        while not self._is(";"):
            self.at += 1
        self.at += 1

    def _skip_block(self) -> None:
        self._expect("{")
        while not self._is("}"):
            self.at += 1
        self.at += 1

    def _fail(self, problem: str, place: int | None = None) -> NoReturn:
        if place is None:
            place = self.tokens[min(self.at, len(self.tokens)) - 1].place
        line = self.text.count("\n", 0, place) + 1
        raise FormatError(f"{self.source}, line {line}: {problem}")
