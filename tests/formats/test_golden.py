"""Files of this and of all older versions of the format are read, and predict as they did."""

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

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


def as_version_2(golden):
    """A document of version 1, with the fields of version 2 that it lacks."""
    model = golden["model"]
    if golden["kind"] == "classifier":
        model["parameters"] |= {"numbers": "mdlp", "kinds": None}
    for fitted in (model, model.get("ebnc", {})):
        if "fit" in fitted:
            fitted["fit"]["prior"]["weak_scale"] = 0.05
    return golden | {"version": 2}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_reading_and_writing_again_changes_nothing(path):
    stored = read_model(path)
    again = document(stored.model, stored.provenance, stored.findings)
    golden = json.loads(path.read_text(encoding="utf-8"))
    if golden["version"] == 1:
        golden = as_version_2(golden)
    assert again == without_constants(golden)
    assert isinstance(stored.model, ebnc.EBNC | ebnc.EBNCClassifier | ebnc.Network)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_file_is_what_the_schema_of_its_version_says(path):
    golden = json.loads(path.read_text(encoding="utf-8"))
    folder = files("ebnc.formats") / "schema"
    schema = json.loads((folder / f"model-{golden['version']}.schema.json").read_text())
    jsonschema.validate(golden, schema)


def test_a_classifier_of_version_1_is_fitted_again_as_it_was():
    """MDLP cuts its numbers, as it did. φ̃ is close: versions stop at slightly other scales."""
    stored = read_model(next(path for path in FILES if path.name == "classifier-1.json")).model
    assert (stored.numbers, stored.kinds) == ("mdlp", None)
    columns, y = regenerate.weather()
    again = clone(stored).fit(pd.DataFrame(columns), pd.Series(y, name="play"))
    assert again.constant_features_ == stored.constant_features_ == ["temperature"]
    inputs = ["outlook", "windy"]
    assert dict(again.ebnc_.domain.only(inputs)) == dict(stored.ebnc_.domain.only(inputs))
    assert again.structure_ == stored.structure_
    np.testing.assert_allclose(again.ebnc_.phi, stored.ebnc_.phi, atol=5e-3)


def test_the_golden_file_of_numbers_has_all_that_version_2_is_about():
    stored = read_model(next(path for path in FILES if path.name == "numbers-2.json")).model
    domain = stored.ebnc_.domain
    kinds = {x: domain.kind(x) for x in domain}
    assert kinds == {
        "play": "nominal",
        "x": "numeric",
        "z": "numeric",
        "size": "ordered",
        "children": "ordered",
        "flag": "nominal",
    }
    assert domain["x"][-1] is None
    assert ("x", "z") in stored.structure_.clusters
    assert [model.basis.weak_pairs for model in stored.models_] == [False, True]
    assert any(term.is_weak for term in stored.models_[1].basis.terms)
