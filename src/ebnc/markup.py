"""Small tables: text for terminals, and HTML for notebooks.

HTML has the colours of the page around it, light or dark. All its text is
escaped, because names and labels come from data.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

MOST_ROWS = 60
CELL = "text-align:left;vertical-align:top;padding:.15em 1em .15em 0;background:none"
NUMBER = CELL.replace("left", "right", 1) + ";font-variant-numeric:tabular-nums"


class Bar(NamedTuple):
    """A number that a table shows with a bar; ``share``: its length, from 0 to 1."""

    text: str
    share: float


def probability(p: float) -> Bar:
    """Return a probability with its bar."""
    return Bar(f"{p:.4f}", p)


def text_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of text with aligned columns."""
    lines = [columns, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(text.ljust(w) for text, w in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def html_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str = "", note: str = ""
) -> str:
    """Return a table; floats and bars are aligned as numbers.

    ``title`` stands above it and ``note`` below. Beyond ``MOST_ROWS`` rows it says how many follow.
    """
    listed = list(rows)
    lines = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in listed[:MOST_ROWS])
    head = "".join(f'<th scope="col" style="{CELL}">{escape(name)}</th>' for name in columns)
    more = f"… and {len(listed) - MOST_ROWS} more rows" if len(listed) > MOST_ROWS else ""
    above = f"<thead><tr>{head}</tr></thead>" if columns else ""
    return (
        f"<div>{html_line(title, bold=True)}"
        f'<table style="border-collapse:collapse;color:inherit">{above}<tbody>{lines}</tbody>'
        f"</table>{html_line(more)}{html_line(note)}</div>"
    )


def html_facts(facts: Iterable[tuple[str, object]], *, title: str = "") -> str:
    """Return names and values, each on its line."""
    return html_table((), ((name, str(value)) for name, value in facts), title=title)


def html_text(text: str, *, title: str = "") -> str:
    """Return text with its line breaks and spaces."""
    style = "background:none;color:inherit;line-height:1.35;margin:0"
    return f'<div>{html_line(title, bold=True)}<pre style="{style}">{escape(text)}</pre></div>'


def html_line(text: str, *, bold: bool = False) -> str:
    """Return one line of text; nothing for empty text."""
    weight = "font-weight:600" if bold else "opacity:.75"
    return f'<div style="{weight};margin:.2em 0">{escape(text)}</div>' if text else ""


def _cell(value: object) -> str:
    if isinstance(value, Bar):
        share = f"{100 * min(1.0, max(0.0, value.share)):.1f}%"
        track = "display:inline-block;width:7em;height:.7em;border-radius:3px;margin-right:.7em"
        fill = f"display:block;width:{share};height:100%;border-radius:3px;background:#3d8bd4"
        bar = f'<span style="{track};background:#8884"><span style="{fill}"></span></span>'
        return f'<td style="{NUMBER};white-space:nowrap">{bar}{escape(value.text)}</td>'
    if isinstance(value, float):
        return f'<td style="{NUMBER}">{value:.4f}</td>'
    return f'<td style="{CELL}">{escape(str(value))}</td>'
