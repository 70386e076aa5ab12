r"""Model strings: the notation of R's bnlearn, ``[X1][X2][Y|X1:X2]``, one bracket per variable.

White space around names is ignored. A backslash escapes the next character, so every name can be
written: ``[a\:b|c\]]`` is the variable ``a:b`` with parent ``c]``.
"""

import re
from collections.abc import Iterable

from ebnc.errors import StructureError

Family = tuple[str, tuple[str, ...]]

_PIECE = re.compile(
    r"""\s* (?P<name> (?: \\. | [^\\\[\]|:\s] | \s+ (?=[^\s\[\]|:]) )* )
        \s* (?P<mark> [\[\]|:] | \\?\Z )""",
    re.S | re.X,
)
"""A name, possibly empty, and the mark or the end of the string after it."""

_ESCAPED = re.compile(r"\\(.)", re.S)
_SPECIAL = re.compile(r"[\\\[\]|:]|^\s|\s$")


def parse_model_string(text: str) -> tuple[Family, ...]:
    """Return each variable with its parents, in the order of the string."""
    if not isinstance(text, str):
        raise StructureError(f"a model string must be a str, got {type(text).__name__}")
    families: list[Family] = []
    names: list[str] | None = None  # the names of the open bracket: the variable, then its parents
    has_bar = False
    for piece in _PIECE.finditer(text):
        name, mark = _ESCAPED.sub(r"\1", piece["name"]), piece["mark"]
        position = piece.start("mark")
        if mark == "\\":
            raise _syntax(text, position, "a backslash at the end")
        if names is None:
            if name or mark not in ("[", ""):
                start = piece.start("name")
                raise _syntax(text, start, f"{name or mark!r} stands outside of brackets")
            if mark == "":
                break
            names, has_bar = [], False
            continue
        problem = _problem(name, mark, has_bar)
        if problem is not None:
            raise _syntax(text, position, problem)
        names.append(name)
        has_bar = has_bar or mark == "|"
        if mark == "]":
            families.append((names[0], tuple(names[1:])))
            names = None
    if not families:
        raise StructureError(f"the model string {text!r} has no variables; write e.g. '[Y][X1|Y]'")
    return tuple(families)


def _problem(name: str, mark: str, has_bar: bool) -> str | None:
    """The error in a name and the mark after it, inside a bracket; None if they are valid."""
    if mark == "":
        return "the last bracket is not closed"
    if mark == "[":
        return "a bracket opens inside another"
    if mark == "|" and has_bar:
        return "a second '|' in one bracket"
    if mark == ":" and not has_bar:
        return "':' before '|'"
    return None if name else "a variable name is missing"


def format_model_string(families: Iterable[Family]) -> str:
    """The inverse of ``parse_model_string``."""
    brackets = []
    for name, parents in families:
        condition = "|" + ":".join(map(_escape, parents)) if parents else ""
        brackets.append(f"[{_escape(name)}{condition}]")
    return "".join(brackets)


def _escape(name: str) -> str:
    return _SPECIAL.sub(lambda match: "\\" + match.group(), name)


def _syntax(text: str, position: int, problem: str) -> StructureError:
    shown = text if len(text) <= 60 else text[max(0, position - 30) : position + 30]
    return StructureError(
        f"model string {shown!r}, character {position + 1}: {problem}; "
        "write one bracket per variable, as in '[X1][Y|X1][X2|X1:Y]'"
    )
