r"""Model strings: the notation of R's bnlearn, ``[X1][X2][Y|X1:X2]``, one bracket a variable.

White space around names is ignored. A backslash takes the next character as it is, so every
name can be written: ``[a\:b|c\]]`` is the variable ``a:b`` with parent ``c]``.
"""

import re
from collections.abc import Iterable, Iterator

from ebnc.errors import StructureError

__all__ = ["format_model_string", "parse_model_string"]

Family = tuple[str, tuple[str, ...]]

_TOKEN = re.compile(
    r"\\(?P<escaped>.)|(?P<mark>[\[\]|:])|(?P<space>\s+)|(?P<text>[^\\\[\]|:\s]+)", re.S
)
_SPECIAL = re.compile(r"[\\\[\]|:]|^\s|\s$")


def parse_model_string(text: str) -> tuple[Family, ...]:
    """Each variable with its parents, in the order and spelling of the string."""
    if not isinstance(text, str):
        raise StructureError(f"a model string must be a str, got {type(text).__name__}")
    families: list[Family] = []
    names: list[str] | None = None  # the names of the open bracket: the variable, then its parents
    has_bar = False
    current = ""
    pending_space = ""

    def close_name(position: int) -> None:
        nonlocal current, pending_space
        assert names is not None
        if not current:
            raise _syntax(text, position, "a variable name is missing")
        names.append(current)
        current = pending_space = ""

    for kind, value, position in _tokens(text):
        if kind == "space":
            pending_space = value if current else ""
        elif kind in ("text", "escaped"):
            if names is None:
                raise _syntax(text, position, f"{value!r} stands outside of brackets")
            current += pending_space + value
            pending_space = ""
        elif names is None:
            if value != "[":
                raise _syntax(text, position, f"{value!r} stands outside of brackets")
            names, has_bar = [], False
        elif value == "[":
            raise _syntax(text, position, "a bracket opens inside another")
        elif value == "|":
            if has_bar:
                raise _syntax(text, position, "a second '|' in one bracket")
            close_name(position)
            has_bar = True
        elif value == ":":
            if not has_bar:
                raise _syntax(text, position, "':' before '|'")
            close_name(position)
        else:
            close_name(position)
            families.append((names[0], tuple(names[1:])))
            names = None
    if names is not None:
        raise _syntax(text, len(text), "the last bracket is not closed")
    if not families:
        raise StructureError(f"the model string {text!r} has no variables; write e.g. '[Y][X1|Y]'")
    return tuple(families)


def format_model_string(families: Iterable[Family]) -> str:
    """The inverse of ``parse_model_string``."""
    brackets = []
    for name, parents in families:
        given = "|" + ":".join(map(_escape, parents)) if parents else ""
        brackets.append(f"[{_escape(name)}{given}]")
    return "".join(brackets)


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _syntax(text, position, "a backslash with nothing behind it")
        kind = match.lastgroup or ""
        yield kind, match.group(kind), position
        position = match.end()


def _escape(name: str) -> str:
    return _SPECIAL.sub(lambda match: "\\" + match.group(), name)


def _syntax(text: str, position: int, problem: str) -> StructureError:
    shown = text if len(text) <= 60 else text[max(0, position - 30) : position + 30]
    return StructureError(
        f"model string {shown!r}, character {position + 1}: {problem}; "
        "write one bracket per variable, as in '[X1][Y|X1][X2|X1:Y]'"
    )
