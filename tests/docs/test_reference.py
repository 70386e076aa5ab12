"""The reference names everything that is public, and nothing that is not there."""

import re
from importlib import import_module
from pathlib import Path

import ebnc
from ebnc import errors, parameters, report

PAGES = Path(__file__).parents[2] / "docs" / "reference"


def documented() -> dict[str, str]:
    """Module by name, from the lines ``::: module.name``; the errors are listed as a module."""
    text = "".join(page.read_text(encoding="utf-8") for page in sorted(PAGES.glob("*.md")))
    homes = {}
    for module, name in re.findall(r"^::: (\S+)\.(\w+)$", text, flags=re.MULTILINE):
        if f"{module}.{name}" == errors.__name__:
            homes |= dict.fromkeys(errors.__all__, errors.__name__)
        else:
            homes[name] = module
    return homes


def test_every_public_name_has_its_place_in_the_reference():
    """A name added to ``ebnc``, ``ebnc.parameters`` or ``ebnc.report`` must be added there."""
    missing = {*ebnc.__all__, *parameters.__all__, *report.__all__} - set(documented())
    assert not missing


def test_every_place_in_the_reference_exists():
    """What was renamed or moved is renamed in docs/reference."""
    for name, module in documented().items():
        assert hasattr(import_module(module), name), f"{module}.{name}"
