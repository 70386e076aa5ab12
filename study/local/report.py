"""What Part C shows: ``python -m study.local.report`` writes docs/study/local.md and its figures.

A mean is over the repeats that all kinds of its line have finished. Nothing is typed by hand: the
sentences, too, are made of the tracked results.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from study.local.__main__ import NETWORKS, REPEATS, SIZES
from study.local.figures import curves, save, trade_off
from study.local.learners import KINDS, PEERS
from study.local.measure import RESULTS, cells

__all__ = ["behind", "means", "page", "ratios", "sentences", "winners", "write_figures"]

DOCS = Path(__file__).parents[2] / "docs" / "study"
LABELS = {
    "table": "full table",
    "tree": "decision tree",
    "graph": "decision graph",
    "noisy-max": "noisy-MAX",
    "naive": "naive EBNC",
    "ebnc": "searched EBNC",
    "default": "EBNC or table or tree",
    "mixed": "best of all",
    "pyagrum": "pyAgrum's tables",
}
SINGLE = ("table", "tree", "graph", "noisy-max", "naive", "ebnc")
"""Kinds that stand alone: what is compared first."""

QUOTED = ("ebnc", "tree", "graph", "default", "mixed")
"""Kinds whose share of the full tables' divergence is said in words."""

DRAW = 0.02
"""Share of the best divergence within which another kind is as good."""

WHY = """
Why EBNCs lose where they do:

- Some nodes are nearly deterministic, with a different rule for each configuration of the parents.
  An EBNC then needs large parameters of high order. The prior shrinks these until there are many
  rows, while a table needs only a few rows of the one configuration.
- If a configuration never occurred, a table predicts nothing in particular, while an EBNC or a tree
  generalises from other configurations. If that is wrong, it is confidently wrong.
- An AND of several parents has one distribution for all configurations but one. A decision graph
  needs two leaves for it; an EBNC needs an interaction of all parents.

Naive EBNCs and noisy-MAX cannot express such distributions, so their divergence stops falling.
"""

INTRODUCTION = """
<!-- Made by python -m study.local.report from study/local/results.csv. -->

# Local distributions head to head

We drew samples from known networks and learned them again with one search. In each run all nodes
have one kind, or each node has the kind that scores best. The kinds are the rivals that the paper's
introduction names. The tables show the divergence KL(truth ‖ learned) in nats; lower is better.

| kind | meaning |
|---|---|
| full table | evidence chooses the equivalent sample size |
| decision tree, decision graph, noisy-MAX | as in `ebnc.Network` |
| naive EBNC | an EBNC without interactions |
| searched EBNC | an EBNC with the interactions that the search finds |
| EBNC or table or tree | the default of `Network.learn` |
| best of all | the default, with graphs and noisy-MAX added |
| pyAgrum's tables | greedy hill climbing with BDeu, smoothed like ours |

Smaller samples are the first rows of larger ones, the same for all kinds. To reproduce one line of
`study/local/results.csv`, run a command with its values, such as

    python -m study.local --data DIR --networks alarm --structures given --kinds ebnc \\
        --sizes 250 --repeats 0 --again
"""


def means(frame: pd.DataFrame, structure: str, column: str = "divergence") -> pd.DataFrame:
    """Means by network and rows, a column for each kind; empty where a kind was not measured.

    Over the repeats that are there for every kind that was measured with this network and size.
    """
    wide = _finished(frame, structure, column)
    order = {name: i for i, name in enumerate(NETWORKS.split(","))}
    return (
        wide.groupby(["network", "rows"])
        .mean()
        .sort_index(key=lambda level: level.map(order) if level.name == "network" else level)
    )


def repeats(frame: pd.DataFrame, structure: str) -> pd.Series:
    """How many repeats each mean is over."""
    return _finished(frame, structure, "dimension").groupby(["network", "rows"]).size()


def _finished(frame: pd.DataFrame, structure: str, column: str) -> pd.DataFrame:
    part = frame[frame["structure"] == structure]
    kinds = [kind for kind in (*KINDS, *PEERS) if (part["kind"] == kind).any()]
    wide = part.pivot_table(index=["network", "rows", "repeat"], columns="kind", values=column)
    wide = wide.reindex(columns=kinds)
    measured = wide.notna()
    anywhere = measured.groupby(["network", "rows"]).transform("any")
    return wide[(measured | ~anywhere).all(axis=1)]


def ratios(table: pd.DataFrame, base: str = "table") -> pd.DataFrame:
    """Divergence as a share of ``base``'s, the geometric mean over networks, by rows; empty where
    one of the networks was not measured."""
    logarithms = np.log(table.div(table[base], axis=0))
    return np.exp(logarithms.groupby("rows").agg(lambda column: column.mean(skipna=False)))


def winners(table: pd.DataFrame, kinds: Sequence[str] = SINGLE) -> dict[tuple[str, int], list[str]]:
    """For every network and size the kinds that are best, or as good, the best first."""
    found = {}
    for key, row in table[[k for k in kinds if k in table]].iterrows():
        ordered = row.sort_values()
        found[key] = list(ordered.index[ordered <= (1 + DRAW) * ordered.iloc[0]])
    return found


def wins(table: pd.DataFrame, kinds: Sequence[str] = SINGLE) -> pd.DataFrame:
    """On how many networks each kind is best, or as good, by rows."""
    found = winners(table, kinds)
    sizes = sorted({rows for _, rows in found})
    counts = {
        kind: [sum(kind in best for (_, rows), best in found.items() if rows == n) for n in sizes]
        for kind in kinds
        if kind in table
    }
    return pd.DataFrame(counts, index=pd.Index(sizes, name="rows"))


def markdown(table: pd.DataFrame, digits: int, best: str | None = None) -> str:
    """A table in Markdown; ``best``: "min" marks the smallest of each line."""
    names = [LABELS.get(str(name), str(name)) for name in (*table.index.names, *table.columns)]
    lines = ["| " + " | ".join(names) + " |", "|---" + "|--:" * (len(names) - 1) + "|"]
    for i in range(len(table)):
        least = table.iloc[i].min() if best == "min" else None
        key = table.index[i] if table.index.nlevels > 1 else [table.index[i]]
        texts = [str(part) for part in key]
        for value in table.iloc[i]:
            text = "" if pd.isna(value) else f"{value:.{digits}f}"
            texts.append(f"**{text}**" if least is not None and value <= least else text)
        lines.append("| " + " | ".join(texts) + " |")
    return "\n".join(lines)


def sentences(table: pd.DataFrame) -> list[str]:
    """Which single kinds are best at which size, in words."""
    lines = []
    counted, shares = wins(table), ratios(table)
    for n in counted.index[counted.any(axis=1)]:  # single kinds were measured
        row = counted.loc[n].sort_values(ascending=False, kind="stable")
        n_networks = sum(1 for _, rows in table.index if rows == n)
        listed = ", ".join(f"{LABELS[kind]} {count}" for kind, count in row.items() if count)
        share = shares.loc[n, [k for k in QUOTED if k in shares]].dropna()
        against = ", ".join(f"{LABELS[str(kind)]} {value:.2f}" for kind, value in share.items())
        lines.append(
            f"- {n} rows, {n_networks} networks. Best single kind, or within {DRAW:.0%}: {listed}. "
            f"Divergence as a share of full tables', geometric mean: {against}."
        )
    return lines


def behind(table: pd.DataFrame, kind: str = "ebnc") -> str:
    """Where a kind is furthest behind the best other single kind."""
    rivals = table[[k for k in SINGLE if k in table and k not in ("ebnc", "naive")]]
    ratio = (table[kind] / rivals.min(axis=1)).dropna().sort_values(ascending=False)
    texts = [
        f"{network} with {rows} rows ({value:.2f} times "
        f"{LABELS[str(rivals.loc[(network, rows)].idxmin())]}'s)"
        for (network, rows), value in ratio.items()
    ]
    return (
        f"Searched EBNCs are furthest behind on {', '.join(texts[:3])}, and furthest ahead on "
        f"{', '.join(texts[:-4:-1])}, each against the best single kind that is no EBNC."
    )


def _left_out(frame: pd.DataFrame, structure: str) -> str:
    """What the design has and the results have not."""
    counts = repeats(frame, structure)
    lines = []
    for size in map(int, SIZES.split(",")):
        there = {name: int(counts.get((name, size), 0)) for name in NETWORKS.split(",")}
        absent = [name for name, n in there.items() if n == 0]
        fewest = [n for n in there.values() if n]
        if len(absent) == len(there):
            lines.append(f"{size} rows: nothing")
            continue
        text = f"{size} rows: {min(fewest)}" + (
            f" to {max(fewest)}" if max(fewest) > min(fewest) else ""
        )
        text += f" of {REPEATS} repeats"
        lines.append(text + (f", without {', '.join(absent)}" if absent else ""))
    return "; ".join(lines) + "."


def page(frame: pd.DataFrame) -> str:
    """The page, all of it."""
    parts = [INTRODUCTION.strip()]
    headings = {"given": "With the true arcs", "searched": "With searched arcs"}
    notes = {
        "given": "These divergences are exact; they are computed family by family.",
        "searched": "These divergences are estimated from 100 000 fresh rows, the same for all "
        "kinds (or exact, if no arc is wrong).",
    }
    for structure, heading in headings.items():
        table = means(frame, structure)
        if not len(table):
            continue
        shown = table.assign(repeats=repeats(frame, structure)).reset_index()
        shown["repeats"] = shown["repeats"].astype(str)
        shown = shown.set_index(["network", "rows", "repeats"])
        parts += [f"## {heading}", notes[structure], "\n".join(sentences(table)), behind(table)]
        parts += ["Divergence as a share of full tables', the geometric mean over networks:"]
        parts += [markdown(ratios(table), 2, "min")]
        parts += [f"![Divergence against rows](local-{structure}.svg)"]
        parts += [f"![Divergence against parameters](local-{structure}-parameters.svg)"]
        parts += ["Divergence, nats:", markdown(shown, 3, "min")]
        parts += ["Parameters:", markdown(means(frame, structure, "dimension"), 0)]
        if structure == "given":
            parts += [WHY.strip()]
        if structure == "searched":
            wrong = frame.assign(wrong=frame["missing"] + frame["extra"])
            parts += ["Pairs of variables wrongly joined or not joined:"]
            parts += [markdown(means(wrong, structure, "wrong"), 1, "min")]
        parts += ["Seconds to learn, on one processor:"]
        parts += [markdown(means(frame, structure, "seconds"), 1)]
        parts += [
            f"The design has sizes {SIZES.replace(',', ', ')} with {REPEATS} repeats of "
            f"{NETWORKS.replace(',', ', ')}. Measured: {_left_out(frame, structure)} "
            "Empty cells were not measured."
        ]
    return "\n\n".join(parts) + "\n"


def write_figures(frame: pd.DataFrame, folder: Path) -> None:
    labels: Mapping[str, str] = LABELS
    for structure in ("given", "searched"):
        table = means(frame, structure)
        if len(table):
            save(curves(table, labels), folder / f"local-{structure}.svg")
            dimensions = means(frame, structure, "dimension")
            save(trade_off(table, dimensions, labels), folder / f"local-{structure}-parameters.svg")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Tables and figures of Part C.")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--out", type=Path, default=DOCS)
    options = parser.parse_args(arguments)
    frame = cells(options.results).frame()
    options.out.mkdir(parents=True, exist_ok=True)
    write_figures(frame, options.out)
    (options.out / "local.md").write_text(page(frame))
    print(f"wrote {options.out / 'local.md'}")


if __name__ == "__main__":
    main()
