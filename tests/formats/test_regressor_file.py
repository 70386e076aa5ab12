"""Files of regressors: the schema, and damaged numbers of bins."""

import json

import jsonschema
import numpy as np
import pytest

import ebnc
from ebnc.errors import FormatError
from ebnc.formats.native import load, schema


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 1))
    path = tmp_path_factory.mktemp("files") / "model.json"
    model = ebnc.EBNCRegressor(prior_scale=0.3).fit(x, x[:, 0] + rng.normal(size=80))
    model.save(path)
    return path, model


def test_a_file_follows_the_schema_and_keeps_the_density(saved):
    path, model = saved
    jsonschema.validate(json.loads(path.read_text()), schema())
    assert load(path).density_ == model.density_
    assert np.ptp(model.density_.corrections) > 0


@pytest.mark.parametrize("name", ["means", "corrections", "offsets"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda numbers: numbers.pop(), "one number"),
        (lambda numbers: numbers.__setitem__(0, 1e307), "too large|in every bin"),
        (lambda numbers: numbers.__setitem__(0, "1"), "a number"),
    ],
)
def test_damaged_numbers_of_bins_are_refused(saved, tmp_path, name, change, message):
    plain = json.loads(saved[0].read_text())
    change(plain["model"][name])
    (tmp_path / "damaged.json").write_text(json.dumps(plain))
    with pytest.raises(FormatError, match=f"{name}.*({message})"):
        load(tmp_path / "damaged.json")


@pytest.mark.parametrize("name", ["corrections", "offsets"])
def test_missing_numbers_of_bins_are_refused(saved, tmp_path, name):
    plain = json.loads(saved[0].read_text())
    del plain["model"][name]
    (tmp_path / "damaged.json").write_text(json.dumps(plain))
    with pytest.raises(FormatError, match=name):
        load(tmp_path / "damaged.json")
