"""What Part C shows: the sentences that other pages quote, its own page, and figures."""

from functools import cache
from pathlib import Path

import pandas as pd

from study.claims import Claim
from study.local import report
from study.local.measure import cells

SOURCE = "study/local/results.csv; python -m study.local --data DIR"


@cache
def frame() -> pd.DataFrame:
    return cells().frame()


@cache
def claims() -> dict[str, Claim]:
    texts = {}
    for structure in ("given", "searched"):
        table = report.means(frame(), structure)
        if len(table):
            texts[f"{structure}/sentences"] = "\n".join(report.sentences(table))
            texts[f"{structure}/behind"] = report.behind(table)
            texts |= _against_hill_climbing(table, structure)
            shares = report.ratios(table)
            for kind in shares:
                least, most = shares[kind].min(), shares[kind].max()
                texts[f"{structure}/share/{kind}"] = f"{least:.2f} to {most:.2f}"
    return {name: Claim(text, SOURCE) for name, text in texts.items()}


def _against_hill_climbing(table: pd.DataFrame, structure: str) -> dict[str, str]:
    """The default and pyAgrum's search of tables, side by side, where both were measured."""
    if not {"default", "pyagrum"} <= set(table):
        return {}
    both = table[["default", "pyagrum"]].dropna()
    return {
        f"{structure}/hill-climbing/{network}/{rows}": f"{ours:.3f} against {theirs:.3f}"
        for (network, rows), (ours, theirs) in both.T.items()
    }


def write_figures(folder: Path) -> None:
    """The figures, and the page that shows them."""
    report.write_figures(frame(), folder)
    (folder / "local.md").write_text(report.page(frame()))
