"""What the defaults are worth: the experiments beside Part A, in small."""

import numpy as np
import pandas as pd
import pytest
from study.classification import screening, strict

from study import ablations


def test_phi_has_at_least_the_likelihood_of_theta(tmp_path):
    path = tmp_path / "strict.csv"
    strict.main(["--classes", "4,6", "--rows", "500", "--repeats", "1", "--results", str(path)])
    rows = strict.cells(path).frame()
    assert rows[["span", "generic"]].to_numpy().tolist() == [[12, 11], [20, 17]]
    assert (rows["train_phi"] <= rows["train_theta"] + 1e-6).all()
    assert (rows["test_truth"] < rows["test_theta"]).all()


def test_rows_of_the_strict_model_have_the_probabilities_they_say():
    theta = np.array([[0.2, 0.5, 0.9], [0.7, 0.1, 0.4]])
    rows, truth = strict.draw(3, 60_000, np.random.default_rng(0), theta)
    for (x1, x2), part in rows.groupby(["X1", "X2"]):
        share = part["Y"].value_counts(normalize=True).sort_index()
        np.testing.assert_allclose(truth[part.index[0]], share, atol=0.02, err_msg=f"{x1} {x2}")


def test_screening_is_measured_against_fitting_everything(tmp_path, capsys):
    rng = np.random.default_rng(0)
    inputs = rng.integers(2, size=(200, 4))
    noisy = (inputs[:, 0] ^ inputs[:, 1]) ^ (rng.random(200) < 0.1)
    frame = pd.DataFrame(inputs.astype(str), columns=list("abcd")).assign(**{"class": noisy})
    frame.to_csv(tmp_path / "xor.csv.gz", index=False)
    pd.Series({"xor": dict.fromkeys(frame, "categorical")}).to_json(tmp_path / "SCHEMA.json")
    options = ["--data", str(tmp_path), "--sets", "xor", "--results", str(tmp_path / "s.csv")]
    screening.main(options)
    line = screening.cells(tmp_path / "s.csv").frame().iloc[0]
    assert line["score"] == pytest.approx(line["all_score"], abs=1.0)
    assert line["fits"] < line["all_fits"]
    assert "xor" in capsys.readouterr().out


def test_tables_name_every_change_that_was_measured():
    found = ablations.claims()
    for name, label in ablations.CLASSIFIER.items():
        assert (f"record/{name}" in found) == (label in found["classifier"].text)
