"""Files of this and of all older versions of the format are read, and predict as they did."""

import json
from pathlib import Path

import numpy as np
import pytest

import ebnc
from ebnc.formats.native import FORMAT_VERSION, document, read_model, save
from golden import regenerate

FILES = sorted(Path(regenerate.__file__).parent.glob("*.json"))


def test_every_kind_has_a_golden_file_of_this_version():
    names = {path.name for path in FILES}
    assert {f"{name}-{FORMAT_VERSION}.json" for name in regenerate.MODELS} <= names


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::ebnc.errors.DataWarning")
def test_a_golden_file_predicts_as_it_did(path):
    """To rounding: another machine's linear algebra may differ in the last bit."""
    stored = read_model(path)
    expected = json.loads(path.with_suffix(".predictions").read_text(encoding="utf-8"))
    np.testing.assert_allclose(regenerate.predictions(stored.model), expected, rtol=1e-12)
    assert stored.provenance == regenerate.PROVENANCE
    assert stored.findings == {"note": "golden"}


@pytest.mark.parametrize("name", ["ebnc", "background", "network"])
def test_what_is_written_today_is_what_was_written(name, tmp_path):
    """The same model, the same bytes; so a change of the format shows."""
    save(
        regenerate.MODELS[name](),
        tmp_path / "model.json",
        provenance=regenerate.PROVENANCE,
        findings={"note": "golden"},
    )
    golden = next(path for path in FILES if path.name == f"{name}-{FORMAT_VERSION}.json")
    assert (tmp_path / "model.json").read_bytes() == golden.read_bytes()


def without_constants(part, gone=frozenset()):
    """A document without inputs of one state, which earlier versions wrote."""
    if isinstance(part, list):
        kept = (item for item in part if not (isinstance(item, dict) and item.get("name") in gone))
        return [
            without_constants(item, gone)
            for item in kept
            if not (isinstance(item, str) and item in gone)
        ]
    if not isinstance(part, dict):
        return part
    if isinstance(part.get("domain"), list):
        gone = frozenset(v["name"] for v in part["domain"] if len(v["states"]) == 1)
    return {
        key: value if key == "features" else without_constants(value, gone)
        for key, value in part.items()
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_reading_and_writing_again_changes_nothing(path):
    stored = read_model(path)
    again = document(stored.model, stored.provenance, stored.findings)
    golden = json.loads(path.read_text(encoding="utf-8"))
    assert again == without_constants(golden) | {"version": FORMAT_VERSION}
    assert isinstance(stored.model, ebnc.EBNC | ebnc.EBNCClassifier | ebnc.Network)
