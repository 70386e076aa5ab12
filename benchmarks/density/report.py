"""The table of test log-likelihoods: published figures, the baseline AR, and ours."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PUBLISHED = Path(__file__).parent / "published.csv"


def published() -> dict[str, dict[str, float]]:
    with PUBLISHED.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {row.pop("set"): {key: float(value) for key, value in row.items()} for row in rows}


def table(results: Mapping[str, Mapping[str, Any]]) -> str:
    """One line for each set; ``*`` where ours is better than every published figure."""
    known = published()
    columns = list(next(iter(known.values())))
    lines = [f"{'set':<12}" + "".join(f"{column:>9}" for column in (*columns, "ours"))]
    wins, at_least, n = 0, 0, 0
    for name in [x for x in known if x in results] + sorted(set(results) - set(known)):
        ours = float(results[name]["test"])
        row = known.get(name, {})
        rivals = [value for column, value in row.items() if column != "AR"]
        better = bool(rivals) and ours > max(rivals)
        wins += better
        at_least += bool(row) and round(ours, 2) >= row["AR"]
        n += bool(row)
        shown = "".join(f"{row[c]:>9.2f}" if c in row else " " * 9 for c in columns)
        lines.append(f"{name:<12}{shown}{ours:>9.2f}{'*' if better else ''}")
    if n > 1:
        lines.append(
            f"better than every published figure on {wins} of {n}; at least AR on {at_least}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    from benchmarks.density.run import HERE, read_results

    print(table(read_results(HERE / "results.csv")))
