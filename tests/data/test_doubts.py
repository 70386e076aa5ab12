"""Columns that look like a mistake are named, all at once; some are left out."""

import numpy as np
import pytest

import ebnc
from ebnc.data.files import DataFiles
from ebnc.data.read import learn_cases
from ebnc.data.table import Coding
from ebnc.domain import Interval
from ebnc.errors import DataError, DataWarning, ParameterError
from ebnc.search.structure_prior import log_number_of_effects

N = 2000


def columns() -> dict[str, list[str]]:
    generator = np.random.default_rng(0)
    return {
        "x": generator.choice(["p", "q"], N).tolist(),
        "uuid": [f"u{i}" for i in range(N)],
        "when": [f"{1 + i % 28}.{1 + i % 12}.20{i % 20:02d}" for i in range(N)],
        "one": ["same"] * N,
        "nothing": [""] * N,
        "price": [f"{i},{i % 100:02d}" for i in range(N)],
        "age": [str(18 + i % 72) for i in range(N)],
        "y": generator.choice(["no", "yes"], N).tolist(),
    }


def test_identifiers_and_dates_are_left_out_with_one_warning():
    data = columns()
    inputs = ["x", "uuid", "when", "one", "nothing", "age"]
    with pytest.warns(DataWarning) as told:
        cases = learn_cases(data, inputs, "y", leave_out=True)
    assert cases.inputs == ("x", "one", "nothing", "age")
    assert len(told) == 1
    words = str(told[0].message)
    for name in ("uuid", "when"):
        assert f"'{name}'" in words
    assert "'one'" not in words
    with pytest.raises(DataError, match=r"doubtful columns: 'uuid' .*identifier.*'when' .* dates"):
        learn_cases(data, inputs, "y")


@pytest.mark.parametrize("source", ["mapping", "csv"])
def test_a_number_that_was_not_cut_was_a_candidate_and_a_constant_was_not(source, tmp_path):
    generator = np.random.default_rng(3)
    x = generator.choice(["p", "q"], N)
    data = {
        "x": x.tolist(),
        "noise": generator.normal(size=N).tolist(),
        "one": ["same"] * N,
        "y": np.where(generator.random(N) < 0.2 + 0.6 * (x == "p"), "yes", "no").tolist(),
    }
    inputs = ["x", "noise", "one"]
    given = data
    if source == "csv":
        given = tmp_path / "data.csv"
        rows = [",".join(map(str, row)) for row in zip(*data.values(), strict=True)]
        given.write_text("\n".join([",".join(data), *rows]))
    cases = learn_cases(given, inputs, "y", leave_out=True, coding=Coding("mdlp"))
    assert cases.inputs == ("x", "noise", "one")
    assert cases.domain["noise"] == (Interval(-np.inf, np.inf),)
    # x is one effect; the noise has a place for a cut between any two cases.
    assert log_number_of_effects(cases) == pytest.approx(np.log(1 + (N - 1)))
    model = ebnc.EBNCClassifier().fit_cases(cases)
    assert model.constant_features_ == ["noise", "one"]
    (tmp_path / "new.csv").write_text("x\np\nq\n")
    assert model.predict(tmp_path / "new.csv").tolist() == ["yes", "no"]


def test_what_was_read_wrongly_ends_the_run_in_one_message():
    data = columns()
    with pytest.raises(DataError) as error:
        learn_cases(data, ["x", "uuid", "price"], "age", leave_out=True)
    words = str(error.value)
    assert "'age' is the target and has 72 different numbers" in words
    assert "'price' holds numbers written as '0,00'" in words
    assert "decimal=','" in words
    assert "--decimal ," in words
    assert "'uuid'" in words
    assert "EBNCRegressor" in words


def test_a_word_among_numbers_is_named():
    data = {"x": [*map(str, range(100)), "NAN"], "y": ["a"] * 50 + ["b"] * 51}
    with pytest.raises(DataError, match=r"'x' holds numbers and 'NAN'.*word for missing"):
        learn_cases(data, ["x"], "y")


def test_options_mend_what_is_doubtful(tmp_path):
    data = columns()
    lines = [";".join(data)] + [";".join(row) for row in zip(*data.values(), strict=True)]
    (tmp_path / "data.csv").write_text("\n".join(lines))
    files = DataFiles(
        tmp_path / "data.csv", decimal=",", types={"age": "label"}, missing_words=["", "same"]
    )
    cases = learn_cases(files, ["price", "one"], "age")
    assert len(cases.domain["age"]) == 72
    assert cases.domain["age"][0] == "18"
    assert cases.domain["one"] == (None,)
    with pytest.raises(DataError, match="no column 'agee'; did you mean 'age'"):
        learn_cases(DataFiles(tmp_path / "data.csv", types={"agee": "label"}), ["x"], "y")
    with pytest.raises(ParameterError, match="must be one of number, label, date, got 'text'"):
        learn_cases(DataFiles(tmp_path / "data.csv", types={"age": "text"}), ["x"], "y")
    with pytest.raises(ParameterError, match="delimiter must be one character"):
        learn_cases(DataFiles(tmp_path / "data.csv", delimiter=";;"), ["x"], "y")
