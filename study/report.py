"""Tables, figures and quoted numbers of the study: ``python -m study.report``

Everything comes from the tracked ``results.csv`` of the parts. Writes the figures of docs/study/
and fills the marked places of README and docs (``claims``).
"""

from collections.abc import Iterator
from pathlib import Path

from study import ablations
from study.claims import ROOT, Claim, fill, markdown_files
from study.classification import results as classification
from study.density import results as density
from study.local import results as local
from study.numbers import results as numbers
from study.regression import results as regression

__all__ = ["claims", "main"]


def claims() -> dict[str, Claim]:
    """All that can be quoted, by name."""
    return {f"{part}/{name}": claim for part, name, claim in _claims()}


def _claims() -> Iterator[tuple[str, str, Claim]]:
    parts = {"classification": classification, "density": density, "local": local}
    parts |= {"ablations": ablations, "numbers": numbers, "regression": regression}
    for part, module in parts.items():
        for name, claim in module.claims().items():
            yield part, name, claim


def main() -> None:
    for module in (classification, density, local):
        module.write_figures(ROOT / "docs" / "study")
    known = claims()
    for path in markdown_files():
        text = path.read_text()
        filled = fill(text, known)
        if filled != text:
            _replace(path, filled)
            print(f"filled {path.relative_to(ROOT)}")


def _replace(path: Path, text: str) -> None:
    beside = path.with_suffix(".part")
    beside.write_text(text)
    beside.replace(path)


if __name__ == "__main__":
    main()
