"""Model files: round trips to the bit, the published schema, and refusal of everything else."""

import copy
import json

import jsonschema
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

import ebnc
from ebnc.domain import Domain
from ebnc.errors import EBNCError, FileError, FormatError, ParameterError
from ebnc.formats.native import document, load, read_model, save, schema
from ebnc.formats.provenance import DataSource, Provenance, fingerprint
from ebnc.formats.strict_json import to_json_bytes
from golden import regenerate
from strategies import models

ROWS = pd.DataFrame(
    {
        "a b|c]": ["x", "y", "y", None, "z", "x"] * 20,
        "λ": [1.5, 2.5, 3.5, np.nan, 1e6, -3.0] * 20,
        "n": [1, 2, 3, 1, 2, 3] * 20,
    }
)
CLASSES = {
    "str": ["no", "yes", "no", "yes", "no", "maybe"] * 20,
    "int": [3, 7, 3, 7, 3, 9] * 20,
    "bool": [True, False, True, False, True, True] * 20,
    "float": [2.0, 1.0, 2.0, 1.0, 2.0, 1.0] * 20,
    "category": pd.Categorical(["no", "yes", "no", "yes", "no", "maybe"] * 20),
}
PARAMETERS = [
    {},
    {"average": False, "n_jobs": 1, "random_state": 3},
    {"structure": "tan", "prior_scale": [1.0, 0.5], "class_weight": "balanced"},
    {"structure": "naive", "prior_scale": np.float64(2.0), "criterion": "bic"},
    {
        "required_features": ["n"],
        "required_arcs": [("n", "λ")],
        "forbidden_features": ("a b|c]",),
        "class_weight": {"no": 1, "yes": 2.0, "maybe": 3},
    },
    {"structure": ebnc.EmbeddedStructure.chain("T", ["λ", "n"])},
    {"numbers": "mdlp", "kinds": {"n": "ordered", "λ": "numeric", "a b|c]": "ordered"}},
    {"structure": "table", "numbers": "quantile", "kinds": {}},
]


def saved(model, tmp_path, **more):
    path = tmp_path / "model.json"
    save(model, path, **more)
    return load(path)


@pytest.mark.parametrize("parameters", PARAMETERS, ids=lambda p: ",".join(p) or "default")
@pytest.mark.filterwarnings("ignore::ebnc.errors.DataWarning")
def test_a_classifier_predicts_the_same_bits_after_a_round_trip(parameters, tmp_path):
    """Probabilities, also of labels never seen; and every public attribute."""
    model = ebnc.EBNCClassifier(**parameters).fit(ROWS, CLASSES["str"])
    model.save(tmp_path / "model.json")
    back = ebnc.load(tmp_path / "model.json")
    unseen = ROWS.assign(**{"a b|c]": ["never seen", *ROWS["a b|c]"][1:]]})
    for rows in (ROWS, unseen):
        assert np.array_equal(model.predict_proba(rows), back.predict_proba(rows))
        assert np.array_equal(model.predict_log_proba(rows), back.predict_log_proba(rows))
        assert np.array_equal(model.predict(rows), back.predict(rows))
    for name in ("structure_", "dimension_", "bic_", "log_evidence_", "selected_features_"):
        assert getattr(back, name) == getattr(model, name), name
    assert back.trace_ == model.trace_
    assert back.feature_worths_ == model.feature_worths_
    assert back.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    assert str(back.ebnc_.phi_table()) == str(model.ebnc_.phi_table())
    assert back.ebnc_.prior == model.ebnc_.prior
    np.testing.assert_allclose(back.ebnc_.solution.phi, model.ebnc_.solution.phi, rtol=1e-15)
    assert back.ebnc_.solution.status is model.ebnc_.solution.status
    again = back.fit(ROWS, CLASSES["str"])  # it kept its parameters, too
    assert np.array_equal(again.predict_proba(ROWS), model.predict_proba(ROWS))
    jsonschema.validate(json.loads((tmp_path / "model.json").read_text()), schema())


def test_files_with_draws_from_the_posterior_predict_with_the_best_model(tmp_path):
    """Older files may average over several φ of a model (``predictive="posterior"``)."""
    path = tmp_path / "model.json"
    ebnc.EBNCClassifier().fit(ROWS, CLASSES["str"]).save(path)
    contents = json.loads(path.read_text())
    saved_model = contents["model"]
    saved_model["parameters"]["predictive"] = "posterior"
    for model in saved_model["models"]:
        model["draws"] = [[x + shift for x in model["draws"][0]] for shift in (-0.5, 0.5)]
    jsonschema.validate(contents, schema())
    path.write_text(json.dumps(contents))
    back = ebnc.load(path)
    np.testing.assert_array_equal(back.predict_proba(ROWS), back.ebnc_.probabilities(ROWS))


@pytest.mark.parametrize("kind", CLASSES)
def test_classes_keep_their_type(kind, tmp_path):
    model = ebnc.EBNCClassifier(structure="naive").fit(ROWS, CLASSES[kind])
    back = saved(model, tmp_path)
    assert back.classes_.dtype == model.classes_.dtype
    assert back.classes_.tolist() == model.classes_.tolist()
    assert np.array_equal(model.predict(ROWS), back.predict(ROWS))


def test_a_classifier_of_an_array_has_no_feature_names(tmp_path):
    x = np.array([["a", "b"], ["b", "b"], ["a", "c"], ["b", "c"]] * 5)
    model = ebnc.EBNCClassifier().fit(x, [0, 1, 0, 0] * 5)
    back = saved(model, tmp_path)
    assert not hasattr(back, "feature_names_in_")
    assert np.array_equal(model.predict_proba(x), back.predict_proba(x))


@settings(max_examples=40)
@given(drawn=models(max_inputs=4, max_states=3, awkward=True))
def test_any_ebnc_comes_back_as_it_was(drawn, tmp_path_factory):
    """Any structure, either coding; φ equal bit by bit."""
    structure, n_states = drawn.structure, drawn.n_states
    d = ebnc.dimension(structure, n_states)
    phi = np.random.default_rng(d).normal(size=d)
    for coding in ("indicator", "orthonormal"):
        model = ebnc.EBNC(structure, n_states, phi, coding)
        back = saved(model, tmp_path_factory.mktemp("ebnc"))
        assert back.structure == model.structure
        assert back.structure.families == model.structure.families
        assert back.domain == model.domain
        assert back.coding is model.coding
        assert np.array_equal(back.phi, model.phi)


def test_a_fitted_ebnc_keeps_its_report(tmp_path):
    model = regenerate.fitted()
    back = saved(model, tmp_path)
    for name in ("bic", "log_evidence", "log_likelihood", "n_cases", "prior", "dimension"):
        assert getattr(back, name) == getattr(model, name), name
    assert np.array_equal(back.standard_errors(), model.standard_errors())
    twice = saved(back, tmp_path)
    assert document(twice) == document(model)


def test_maximum_likelihood_has_infinite_scales_and_no_evidence(tmp_path):
    structure = ebnc.EmbeddedStructure.naive("y", ["n"])
    model = ebnc.fit(structure, {"n": ROWS["n"], "y": [0, 1, 1, 1, 0, 0] * 20}, np.inf)
    back = saved(model, tmp_path)
    assert back.prior == model.prior
    assert back.fit.log_evidence is None
    with pytest.raises(ParameterError, match="flat prior"):
        _ = back.log_evidence


def test_terms_may_stand_in_any_order(tmp_path):
    model = regenerate.plain()
    contents = document(model)
    body = contents["model"]
    body["terms"].reverse()
    body["phi"] = [
        value
        for term in reversed(model.basis.terms)
        for value in model.phi[term.start : term.stop].tolist()
    ]
    (tmp_path / "model.json").write_bytes(to_json_bytes(contents))
    assert np.array_equal(load(tmp_path / "model.json").phi, model.phi)


def test_provenance_and_findings_come_back(tmp_path):
    data = tmp_path / "data.csv"
    data.write_bytes(b"abc")
    source = DataSource("data.csv", 3, 2, fingerprint(data))
    assert source.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    provenance = Provenance("9.9", ("ebnc", "learn"), source)
    findings = {"evaluation": {"log_loss": 0.25, "confusion": [[1, 2], [3, 4]]}}
    save(regenerate.plain(), tmp_path / "m.json", provenance=provenance, findings=findings)
    back = read_model(tmp_path / "m.json")
    assert (back.provenance, back.findings) == (provenance, findings)


# -- refusals ------------------------------------------------------------------------------------


def written(tmp_path, content):
    path = tmp_path / "model.json"
    path.write_bytes(content if isinstance(content, bytes) else to_json_bytes(content))
    return path


@pytest.mark.parametrize("name", regenerate.MODELS)
def test_a_file_cut_off_at_any_byte_is_refused(name, tmp_path):
    content = to_json_bytes(document(regenerate.MODELS[name]()))
    for length in range(0, len(content), 1 if name == "ebnc" else 7):
        with pytest.raises(FormatError, match=r"model\.json: the file is not"):
            load(written(tmp_path, content[:length]))


def test_newer_versions_are_refused_by_name(tmp_path):
    newer = document(regenerate.plain()) | {"version": 3, "new field": 1}
    words = "the file has format version 3; this ebnc reads versions up to 2; upgrade ebnc"
    with pytest.raises(FormatError, match=words):
        load(written(tmp_path, newer))


@pytest.mark.parametrize(
    "change", [{"kind": "pickle"}, {"format": "x"}, {"version": "1"}, {"x": 1}]
)
def test_unknown_kinds_and_fields_are_refused(change, tmp_path):
    with pytest.raises(FormatError):
        load(written(tmp_path, document(regenerate.plain()) | change))


def places(value, path=()):
    """Every place in a document, itself included."""
    yield path
    inside = value.items() if isinstance(value, dict) else ()
    for key, inner in enumerate(value) if isinstance(value, list) else inside:
        yield from places(inner, (*path, key))


def changed(contents, path, new):
    result = copy.deepcopy(contents)
    inner = result
    for key in path[:-1]:
        inner = inner[key]
    if new is REMOVED:
        del inner[path[-1]]
    else:
        inner[path[-1]] = new
    return result


REMOVED = object()
JUNK = [REMOVED, None, True, -1, 0, 1e308, 1.5, "", "<script>alert(1)</script>", [], [[]], {}]


@pytest.mark.filterwarnings("ignore::ebnc.errors.DataWarning")  # states that are nonsense
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in ("ebnc", "background") else [pytest.mark.slow])
        for name in regenerate.MODELS
    ],
)
def test_any_field_made_nonsense_is_refused_or_harmless(name, tmp_path):
    """Every place in the file × every junk: an EBNCError, or a model that predicts numbers."""
    contents = document(regenerate.MODELS[name]())
    contents["model"].get("models", [])[2:] = []
    every = list(places(contents))
    tried = refused = 0
    for path in every[:: 1 + len(every) // 1000]:  # all, unless there are many
        for new in JUNK if path else []:
            tried += 1
            try:
                model = load(written(tmp_path, changed(contents, path, new)))
                assert np.isfinite(regenerate.predictions(model)).all()
            except EBNCError:
                refused += 1
            except ValueError as error:  # scikit-learn's, on names that the rows do not have
                if "feature" not in str(error):
                    raise
    assert tried > 500
    assert refused > 0.8 * tried


def test_a_structure_with_more_terms_than_the_file_is_refused_before_they_are_made(tmp_path):
    contents = document(regenerate.plain())
    inputs = [f"x{i}" for i in range(50)]
    contents["model"]["domain"] = [{"name": n, "states": [0, 1]} for n in [*inputs, "play"]]
    families = [{"name": n, "parents": []} for n in inputs]
    contents["model"]["structure"]["families"] = [
        *families,
        {"name": "play", "parents": inputs},
    ]
    with pytest.raises(FormatError, match="has more terms"):
        load(written(tmp_path, contents))


def numbers_document():
    """A classifier of numbers, as a document; and its model with weak pairs."""
    contents = document(regenerate.numbers())
    return contents, contents["model"]["models"][1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda model: model.update(weak_pairs=False), "repeated or not of the structure"),
        (lambda model: model.update(weak_pairs=1), "must be true or false"),
        (lambda model: model["terms"].pop(), "is missing"),
        (lambda model: model["terms"].append(model["terms"][-1]), "is repeated"),
        (lambda model: model["draws"][0].pop(), "numbers; the structure needs"),
    ],
)
def test_weak_pairs_must_be_what_the_file_says(change, words, tmp_path):
    contents, model = numbers_document()
    assert model["weak_pairs"]
    change(model)
    with pytest.raises(FormatError, match=words):
        load(written(tmp_path, contents))


def test_an_averaged_model_has_only_inputs_of_the_best_one(tmp_path):
    """Rows are coded for the best model."""
    contents = document(regenerate.classifier())
    families = contents["model"]["ebnc"]["structure"]["families"]
    (isolated,) = (f for f in families if f["name"] == "temperature")
    families.remove(isolated)
    with pytest.raises(FormatError, match=r"has input 'temperature', which 'ebnc' does not have"):
        load(written(tmp_path, contents))


def test_more_weak_pairs_than_the_file_has_terms_are_refused_before_they_are_made(tmp_path):
    contents, model = numbers_document()
    more = [f"x{i}" for i in range(20_000)]
    contents["model"]["domain"] += [{"name": name, "states": [0, 1]} for name in more]
    model["structure"]["families"] += [{"name": name, "parents": ["play"]} for name in more]
    model["terms"] += [[name] for name in more]
    with pytest.raises(FormatError, match="the inputs have more pairs"):
        load(written(tmp_path, contents))


def test_an_order_that_the_file_denies_or_adds_changes_the_number_of_parameters(tmp_path):
    contents = document(regenerate.numbers())
    (x,) = (v for v in contents["model"]["domain"] if v["name"] == "x")
    for order, words in [(False, "the structure needs"), (1, "must be true or false")]:
        x["ordered"] = order
        with pytest.raises(FormatError, match=words):
            load(written(tmp_path, contents))
    del x["ordered"]
    with pytest.raises(FormatError, match="the structure needs"):
        load(written(tmp_path, contents))


def test_parameters_of_a_wide_interaction_are_counted_before_they_are_made(tmp_path):
    """The file says 3 inputs with 1000 states each, and has a few numbers."""
    contents = document(regenerate.plain())
    inputs = ["a", "b", "c"]
    states = list(range(1000))
    model = contents["model"]
    model["domain"] = [{"name": x, "states": states} for x in inputs]
    model["domain"].append({"name": "play", "states": [0, 1]})
    families = [{"name": "play", "parents": inputs}]
    model["structure"]["families"] = [{"name": x, "parents": []} for x in inputs] + families
    model["terms"] = [[], ["a"], ["b"], ["c"], ["a", "b"], ["a", "c"], ["b", "c"], inputs]
    with pytest.raises(FormatError, match=r"the structure needs 1000000000|would take"):
        load(written(tmp_path, contents))


@pytest.mark.parametrize("kinds", [{"x": "wide"}, {"x": 1}, ["x"], "ordered"])
def test_kinds_that_do_not_exist_are_refused(kinds, tmp_path):
    contents = document(regenerate.numbers())
    contents["model"]["parameters"]["kinds"] = kinds
    with pytest.raises(FormatError, match="kind"):
        load(written(tmp_path, contents))
    contents["model"]["parameters"] |= {"kinds": None, "numbers": "rough"}
    with pytest.raises(FormatError, match="numbers must be one of smooth, mdlp, quantile"):
        load(written(tmp_path, contents))


def test_huge_parameters_are_refused(tmp_path):
    contents = document(regenerate.plain())
    contents["model"]["phi"][0] = 1e300
    with pytest.raises(FormatError, match=r"model\.phi: 1e\+300 is too large"):
        load(written(tmp_path, contents))


def test_what_cannot_be_read_back_is_not_written(tmp_path):
    """Nor is what was there before touched."""
    path = written(tmp_path, b"before")
    structure = ebnc.EmbeddedStructure.naive("y", [])
    with pytest.raises(FormatError, match="too large"):
        ebnc.EBNC(structure, Domain({"y": 2}), [1e200]).save(path)
    with pytest.raises(FormatError, match="is a bytes"):
        ebnc.EBNC(structure, Domain({"y": [b"a", b"b"]}), [1.0]).save(path)
    with pytest.raises(FormatError, match="is not a model"):
        save("a string", path)
    with pytest.raises(FileError, match="exists already"):
        save(regenerate.plain(), path, overwrite=False)
    assert path.read_bytes() == b"before"
    assert [p.name for p in tmp_path.iterdir()] == ["model.json"]


def test_names_and_states_are_never_more_than_text(tmp_path):
    """A script in a state's name is a state's name."""
    label = "<script>alert('x')</script>\x00\u2028"
    domain = {"__class__": [label, "b"], "y": 2}
    model = ebnc.EBNC(ebnc.EmbeddedStructure.naive("y", ["__class__"]), domain, [0.0, 1.0])
    assert saved(model, tmp_path).domain["__class__"] == (label, "b")


@pytest.mark.slow
def test_the_schema_is_one_and_refuses_what_the_reader_refuses():
    jsonschema.Draft202012Validator.check_schema(schema())
    validator = jsonschema.Draft202012Validator(schema())
    for name, make in regenerate.MODELS.items():
        contents = json.loads(to_json_bytes(document(make())))
        assert validator.is_valid(contents), name
        for path in places(contents):
            if path and path[0] != "findings":
                wrong = changed(contents, path, {"unknown": 1})
                assert not validator.is_valid(wrong), path
