"""Facts about a fitted classifier for its representation, as text or as an HTML table."""

from html import escape
from typing import Any

MOST_NAMES = 12
LONGEST = 400  # characters of a structure


def facts(classifier: Any) -> list[tuple[str, str]]:
    """Return names and values of facts about a fitted classifier; none before ``fit``."""
    if not hasattr(classifier, "ebnc_"):
        return []
    selected = classifier.selected_features_
    shown = ", ".join(selected[:MOST_NAMES])
    if len(selected) > MOST_NAMES:
        shown += f" and {len(selected) - MOST_NAMES} more"
    structure = str(classifier.structure_)
    if len(structure) > LONGEST:
        structure = structure[:LONGEST] + " …"
    evidence = classifier.log_evidence_
    return [
        ("structure", structure),
        ("d", str(classifier.dimension_)),
        ("log evidence", "none, the prior is flat" if evidence is None else f"{evidence:.3f}"),
        ("features", f"{len(selected)} of {classifier.n_features_in_}: {shown or 'none'}"),
        ("models averaged", str(len(classifier.models_))),
    ]


def facts_as_text(classifier: Any) -> str:
    """Format the facts, each on a new line."""
    return "".join(f"\n  {name}: {value}" for name, value in facts(classifier))


def facts_as_html(classifier: Any) -> str:
    """Format the facts as a table; all text is escaped, because names come from data."""
    rows = "".join(
        f'<tr><th style="text-align:left;padding-right:1em">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(value)}</td></tr>'
        for name, value in facts(classifier)
    )
    return f'<table class="ebnc-facts">{rows}</table>' if rows else ""
