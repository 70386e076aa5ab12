"""Damage that once ended in an error of Python's, a wrong page, or a long wait."""

import json
import time
from contextlib import suppress

import pytest

import fuzz
from ebnc.errors import EBNCError, FormatError

INFINITIES = [{"float": "inf"}, {"float": "-inf"}, {"interval": ["inf", "inf"]}]


def learned(kind):
    """The model file of a kind that was learned with a report."""
    files = [json.loads(content) for content in fuzz.model_files()]
    return next(file for file in files if file["kind"] == kind and "report" in file["findings"])


def use(document, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    fuzz.use(path, tmp_path)


def test_a_family_that_is_gone_is_refused_or_was_of_no_use(tmp_path):
    content = (fuzz.GOLDEN / "classifier-1.json").read_bytes()
    for i in range(len(json.loads(content)["model"]["ebnc"]["structure"]["families"])):
        document = json.loads(content)
        del document["model"]["ebnc"]["structure"]["families"][i]
        with suppress(FormatError):
            use(document, tmp_path)


def test_half_a_character_in_a_name_is_refused(tmp_path):
    document = learned("network")
    document["model"]["domain"][0]["name"] = "\ud800"
    with pytest.raises(FormatError, match="half a character"):
        use(document, tmp_path)


def test_a_repeated_name_of_a_column_is_refused(tmp_path):
    document = learned("classifier")
    features = document["model"]["features"]
    features["names"].append(features["names"][0])
    with pytest.raises(FormatError, match="different names"):
        use(document, tmp_path)


def test_weights_of_classes_that_are_no_list_are_refused(tmp_path):
    document = learned("classifier")
    document["model"]["parameters"]["class_weight"] = {"yes": {"float": "inf"}}
    with pytest.raises(FormatError, match="class_weight: must be an array"):
        use(document, tmp_path)


def test_a_bin_of_negative_weight_is_refused(tmp_path):
    document = learned("classifier")
    document["findings"]["report"]["held_out"]["reliability"][0][0]["weight"] = -1.0
    with pytest.raises(FormatError, match="a bin of predictions has weight -1"):
        use(document, tmp_path)


@pytest.mark.parametrize(("kind", "dimension"), [("classifier", None), ("network", 3)])
def test_steps_of_a_classifier_have_a_dimension_and_those_of_a_network_none(
    kind, dimension, tmp_path
):
    document = learned(kind)
    document["findings"]["report"]["trace"]["steps"][0]["dimension"] = dimension
    with pytest.raises(FormatError, match=r"has (no|a) dimension"):
        use(document, tmp_path)


@pytest.mark.parametrize("size", [1e308, -1e308])
def test_a_term_of_any_size_is_drawn(size, tmp_path):
    document = learned("classifier")
    document["findings"]["report"]["terms"][1]["size"] = size
    use(document, tmp_path)


@pytest.mark.parametrize("label", INFINITIES, ids=str)
@pytest.mark.filterwarnings("ignore::ebnc.errors.DataWarning")
def test_infinite_labels_are_refused_or_used_at_once(label, tmp_path):
    for kind in ("classifier", "network"):
        n_variables = len(learned(kind)["model"]["domain"])
        for i in range(n_variables):
            document = learned(kind)
            document["model"]["domain"][i]["states"][0] = label
            began = time.process_time()
            with suppress(EBNCError):
                use(document, tmp_path)
            assert time.process_time() - began < fuzz.SLOW
