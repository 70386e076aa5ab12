"""Facts about a fitted classifier for its representation, as text or as HTML."""

from typing import Any

from ebnc.markup import Bar, html_facts, html_table
from ebnc.storage import provided

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
    """Format the facts as HTML, with the structure and the importances of the inputs."""
    known = facts(classifier)
    if not known:
        return ""
    worths = sorted(classifier.feature_worths_, key=lambda each: -each.worth)
    largest = max((each.worth for each in worths), default=1.0)
    rows = [
        (each.feature, Bar(f"{each.worth:.3f}", each.worth / largest if largest > 0 else 0.0))
        for each in worths[:MOST_NAMES]
    ]
    importances = html_table(("input", "importance (nats)"), rows) if rows else ""
    drawing = provided("draw_html")(classifier.structure_)
    return f'<div class="ebnc-facts">{html_facts(known[1:])}{importances}{drawing}</div>'
