"""A model as a module of Python that needs nothing but the standard library."""

from pprint import pformat

from ebnc.formats.code.scorecard import Scorecard

PROGRAM = '''

CLASSES = MODEL["classes"]


def _code(column, entry):
    """Return the code of one entry: its place among the cuts or labels of its column."""
    if entry is None or entry != entry or (isinstance(entry, str) and not entry.strip()):
        return column["missing"]
    kind = column["kind"]
    if kind == "interval":
        return bisect_left(column["cuts"], float(entry))
    if kind == "number":
        entry = float(entry)
    elif kind == "boolean":
        entry = {"true": True, "false": False}.get(str(entry).strip().lower(), entry)
    elif not isinstance(entry, str):
        entry = str(int(entry) if isinstance(entry, float) and entry.is_integer() else entry)
    labels = column["labels"]
    return column["codes"][labels.index(entry)] if entry in labels else column["unknown"]


def _known(codes):
    """Return the probabilities of the classes, from codes that are all known."""
    total = [0.0] * len(CLASSES)
    for model in MODEL["models"]:
        odds = [0.0, *model["intercept"]]
        for term in model["terms"]:
            cell = sum(codes[i] * stride for i, stride in zip(term["inputs"], term["strides"]))
            for k, value in enumerate(term["table"][cell], 1):
                odds[k] += value
        top = max(odds)
        powers = [exp(x - top) for x in odds]
        for k, power in enumerate(powers):
            total[k] += model["weight"] * power / sum(powers)
    return total


def _fillings(codes, gone):
    """Yield weights and codes in which inputs with unknown entries have states."""
    fillings = MODEL["fillings"]
    if fillings is None or not gone:
        yield 1.0, codes
    elif len(gone) == 1:
        for state, share in enumerate(fillings["shares"][gone[0]]):
            if share:
                yield share, [state if i in gone else code for i, code in enumerate(codes)]
    else:
        for row, weight in zip(fillings["rows"], fillings["weights"]):
            yield weight, [row[i] if i in gone else code for i, code in enumerate(codes)]


def predict_proba(row):
    """Return the probabilities of CLASSES for one row, a mapping from columns to entries."""
    codes = [_code(column, row.get(column["name"])) for column in MODEL["columns"]]
    gone = [i for i, column in enumerate(MODEL["columns"]) if codes[i] == column["unknown"]]
    total = [0.0] * len(CLASSES)
    for weight, filled in _fillings(codes, gone):
        for k, p in enumerate(_known(filled)):
            total[k] += weight * p
    return [p / sum(total) for p in total]


def predict(row):
    """Return the most probable class of one row; of a number, its mean."""
    p = predict_proba(row)
    mean = MODEL["mean"]
    if mean is None:
        return CLASSES[p.index(max(p))]
    weights = [x * weight for x, weight in zip(p, mean["weights"])]
    return sum(x * m for x, m in zip(weights, mean["means"])) / sum(weights)
'''


def to_python(card: Scorecard, note: str) -> str:
    """Return the source; ``note``: a line that says where it comes from."""
    model = pformat(card.to_plain(), width=100, compact=True, sort_dicts=False)
    about = f"# Predicts {card.target!a} from a row of a table. {note}"
    return (
        f"{about}\nfrom bisect import bisect_left\nfrom math import exp\n\nMODEL = {model}{PROGRAM}"
    )
