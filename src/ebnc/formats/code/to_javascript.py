"""A model as a module of JavaScript, for browsers and Node."""

import json

from ebnc.formats.code.scorecard import Scorecard

PROGRAM = """
/** The code of one entry: its place among the cuts or labels of its column. */
function code(column, entry) {
  if (entry === null || entry === undefined || Number.isNaN(entry)) return column.missing;
  if (typeof entry === "string" && entry.trim() === "") return column.missing;
  if (column.kind === "boolean") {
    const words = { true: true, false: false, 1: true, 0: false };
    entry = words[String(entry).trim().toLowerCase()];
  } else if (column.kind === "text") {
    entry = String(entry);
  } else {
    const number = Number(entry);
    if (Number.isNaN(number)) throw new Error(`${column.name} must be a number, got ${entry}`);
    if (column.kind === "interval") return column.cuts.filter((cut) => cut < number).length;
    entry = number;
  }
  const place = column.labels.indexOf(entry);
  return place < 0 ? column.unknown : column.codes[place];
}

/** Probabilities of the classes, from codes that are all known. */
function known(codes) {
  const total = MODEL.classes.map(() => 0);
  for (const model of MODEL.models) {
    const odds = [0, ...model.intercept];
    for (const term of model.terms) {
      const cell = term.inputs.reduce((sum, input, j) => sum + codes[input] * term.strides[j], 0);
      term.table[cell].forEach((value, k) => { odds[k + 1] += value; });
    }
    const top = Math.max(...odds);
    const powers = odds.map((x) => Math.exp(x - top));
    const sum = powers.reduce((a, b) => a + b);
    powers.forEach((power, k) => { total[k] += (model.weight * power) / sum; });
  }
  return total;
}

/** Weights, and codes in which inputs with unknown entries have states. */
function fillings(codes, gone) {
  const fill = MODEL.fillings;
  if (fill === null || gone.length === 0) return [[1, codes]];
  const filled = (state) => codes.map((c, i) => (gone.includes(i) ? state(i) : c));
  if (gone.length === 1) return fill.shares[gone[0]].map((w, s) => [w, filled(() => s)]);
  return fill.rows.map((row, r) => [fill.weights[r], filled((i) => row[i])]);
}

/** Probabilities of `classes` for one row, an object with the columns as properties. */
function predictProba(row) {
  const codes = MODEL.columns.map((column) => code(column, row[column.name]));
  const gone = MODEL.columns.flatMap((column, i) => (codes[i] === column.unknown ? [i] : []));
  const total = MODEL.classes.map(() => 0);
  for (const [weight, filled] of fillings(codes, gone)) {
    known(filled).forEach((p, k) => { total[k] += weight * p; });
  }
  const sum = total.reduce((a, b) => a + b);
  return total.map((p) => p / sum);
}

/** The most probable class of one row; of a number, its mean. */
function predict(row) {
  const p = predictProba(row);
  const mean = MODEL.mean;
  if (mean === null) return MODEL.classes[p.indexOf(Math.max(...p))];
  const weights = p.map((x, b) => x * mean.weights[b]);
  const sum = weights.reduce((a, b) => a + b);
  return weights.reduce((a, x, b) => a + x * mean.means[b], 0) / sum;
}

const ebncModel = { classes: MODEL.classes, predictProba, predict };
if (typeof module !== "undefined") module.exports = ebncModel;
else globalThis.ebncModel = ebncModel;
"""


def to_javascript(card: Scorecard, note: str) -> str:
    """Return the source; ``note``: a line that says where it comes from."""
    target = json.dumps(card.target)
    # Safe in an HTML page, too: </script> cannot occur in it.
    model = json.dumps(card.to_plain(), allow_nan=False).replace("</", "<\\/")
    return f"// Predicts {target} from a row of a table. {note}\nconst MODEL = {model};\n{PROGRAM}"
