"""What is not known is averaged over the training data: against loops over the training rows."""

import json

import numpy as np
import pandas as pd
import pytest

import ebnc
from ebnc import EBNC, EBNCClassifier, EmbeddedStructure
from ebnc.errors import FormatError, ParameterError
from ebnc.formats.native import read_predictor
from ebnc.parameters.background import MOST_ROWS, Background, learn_background
from problems import read_cases
from test_parts import cut

pytestmark = pytest.mark.filterwarnings("ignore::ebnc.errors.DataWarning")  # which counts them

NAMES = ["a", "b", "c", "d", "e"]


def skewed(n_rows=400, seed=0, n_classes=3, most_states=4):
    """Dependent inputs with rare states, and a class that depends on them."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n_rows)
    columns = {
        name: np.minimum(rng.geometric(0.6, n_rows) - 1 + (hidden + i / 3 > 1), most_states - 1)
        for i, name in enumerate(NAMES)
    }
    score = 1.5 * columns["a"] - columns["b"] * columns["c"] + rng.normal(size=n_rows)
    y = np.digitize(score, np.quantile(score, [0.7, 0.9][: n_classes - 1]))
    x = pd.DataFrame({name: np.char.add("s", codes.astype(str)) for name, codes in columns.items()})
    return x, y


def averaged_by_hand(model, x, row, unknown):
    """Mean of p(y|x) over the training rows, each giving its states to the unknown inputs."""
    filled = pd.DataFrame([row] * len(x)).reset_index(drop=True)
    filled[unknown] = x[unknown].to_numpy()
    return model.predict_proba(filled).mean(axis=0)


PATTERNS = [["a"], ["e"], ["a", "b"], ["b", "c", "d"], NAMES]


@pytest.mark.parametrize("options", [{}, {"average": False}], ids=str)
@pytest.mark.parametrize("unknown", PATTERNS, ids=len)
def test_unknown_entries_are_averaged_over_the_training_rows(options, unknown):
    """Exactly so where few different rows were seen, whichever entries are unknown."""
    x, y = skewed(most_states=2)
    model = EBNCClassifier(**options).fit(x, y)
    new = x.iloc[:12].copy()
    new.loc[new.index[:9], unknown] = "never seen"
    found = model.predict_proba(new)
    for i in range(9):
        wanted = averaged_by_hand(model, x, x.iloc[i], unknown)
        np.testing.assert_allclose(found[i], wanted, atol=1e-12)
    assert found[9:].tolist() == model.predict_proba(x.iloc[9:12]).tolist()
    np.testing.assert_allclose(np.exp(model.predict_log_proba(new)), found, atol=1e-12)


def test_one_unknown_entry_is_averaged_exactly_however_many_rows_there_are():
    x, y = skewed(3000)
    model = EBNCClassifier("kdb1", prior_scale=1.0).fit(x, y)
    assert len(model.ebnc_.background.rows) > 100
    for name in NAMES:
        found = model.predict_proba(x.iloc[:5].assign(**{name: "never seen"}))
        for i in range(5):
            wanted = averaged_by_hand(model, x, x.iloc[i], [name])
            np.testing.assert_allclose(found[i], wanted, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
def test_if_nothing_is_known_classes_have_their_shares(n_classes):
    """With thousands of different rows, of which a few hundred are kept."""
    x, y = skewed(6000, n_classes=n_classes, most_states=6)
    assert len(x.drop_duplicates()) > 2 * MOST_ROWS
    model = EBNCClassifier("naive", prior_scale=1.0).fit(x, y)
    assert len(model.ebnc_.background.rows) <= MOST_ROWS
    found = model.predict_proba(x.iloc[:1].assign(**dict.fromkeys(NAMES, "never seen")))
    np.testing.assert_allclose(found[0], np.bincount(y) / len(y), atol=0.02)
    for unknown in (["a", "b"], ["b", "c", "d"]):
        new = x.iloc[:20].copy()
        new[unknown] = None
        wanted = [averaged_by_hand(model, x, x.iloc[i], unknown) for i in range(20)]
        np.testing.assert_allclose(model.predict_proba(new), wanted, atol=0.03)


def test_weights_count():
    """A row of weight 3 is three rows."""
    x, y = skewed(200, most_states=2)
    weights = np.random.default_rng(1).integers(1, 4, len(x))
    model = EBNCClassifier("naive", prior_scale=1.0).fit(x, y, sample_weight=weights)
    whole = x.loc[np.repeat(x.index, weights)]
    for unknown in PATTERNS:
        new = x.iloc[:1].copy()
        new[unknown] = "never seen"
        wanted = averaged_by_hand(model, whole, x.iloc[0], unknown)
        np.testing.assert_allclose(model.predict_proba(new)[0], wanted, atol=1e-12)


def test_rows_columns_and_labels_may_be_in_any_order():
    x, y = skewed(4000, most_states=6)
    assert len(x.drop_duplicates()) > MOST_ROWS
    rng = np.random.default_rng(2)
    new = x.iloc[:10].copy()
    new[["b", "c"]] = None
    new.loc[new.index[5:], "a"] = "never seen"
    structure = EmbeddedStructure.naive("class", NAMES)
    wanted = EBNCClassifier(structure, prior_scale=1.0).fit(x, y).predict_proba(new)
    order = rng.permutation(len(x))
    shuffled = EBNCClassifier(structure, prior_scale=1.0).fit(x.iloc[order], y[order])
    np.testing.assert_allclose(shuffled.predict_proba(new), wanted, atol=1e-9)
    turned = EBNCClassifier(structure, prior_scale=1.0).fit(x[NAMES[::-1]], 2 - y)
    np.testing.assert_allclose(turned.predict_proba(new[NAMES[::-1]])[:, ::-1], wanted, atol=1e-9)
    renamed = x.replace({f"s{i}": f"t{9 - i}" for i in range(6)})
    other = EBNCClassifier(structure, prior_scale=1.0).fit(renamed, y)
    asked = new.replace({f"s{i}": f"t{9 - i}" for i in range(6)})
    np.testing.assert_allclose(other.predict_proba(asked), wanted, atol=1e-9)


def test_cases_in_parts_have_the_background_of_the_whole():
    x, y = skewed(500, most_states=2)
    columns = {**{name: x[name].to_numpy() for name in NAMES}, "y": y}
    structure = EmbeddedStructure.naive("y", NAMES)
    model = ebnc.fit(structure, columns, 1.0)
    cases = read_cases(columns, model.domain, NAMES, "y")
    whole = learn_background(cases, model.tables, NAMES)
    parts = learn_background(cut(cases, [100, 130]), model.tables, NAMES)
    for unknown in PATTERNS:
        for one, other in zip(
            whole.configurations(unknown), parts.configurations(unknown), strict=True
        ):
            np.testing.assert_allclose(one, other, atol=1e-12)


def test_an_ebnc_averages_probabilities_and_its_log_odds_are_those_of_the_average():
    x, y = skewed(most_states=2)
    columns = {**{name: x[name].to_numpy() for name in NAMES}, "y": y}
    fitted = ebnc.fit(EmbeddedStructure.naive("y", NAMES), columns, 1.0)
    new = {name: x[name].to_numpy()[:4] for name in NAMES} | {"b": ["?", "s0", "?", "?"]}
    found = fitted.probabilities(new, unseen="average")
    filled = {name: np.repeat(new[name], len(x)) for name in NAMES}
    filled["b"] = np.tile(columns["b"], 4)
    by_hand = fitted.probabilities(filled).reshape(4, len(x), 3).mean(axis=1)
    np.testing.assert_allclose(found[[0, 2, 3]], by_hand[[0, 2, 3]], atol=1e-12)
    odds = fitted.log_odds(new, unseen="average")
    np.testing.assert_allclose(odds, np.log(found[:, 1:] / found[:, :1]), atol=1e-12)


def test_an_ebnc_without_training_data_takes_the_mean_of_the_log_odds():
    """As it always did: made by hand, or read from a file without a background."""
    domain = {"X": ["no", "yes", "maybe"], "Y": 2}
    model = EBNC(EmbeddedStructure.naive("Y", ["X"]), domain, [0.0, 1.0, 5.0])
    assert model.log_odds({"X": ["?"]}, unseen="average")[0, 0] == pytest.approx(2.0)


def test_a_file_keeps_what_unknown_entries_are_averaged_over(tmp_path):
    x, y = skewed(600)
    model = EBNCClassifier().fit(x, y)
    new = x.iloc[:30].copy()
    new.loc[new.index[:20], ["a", "c"]] = "never seen"
    model.save(tmp_path / "model.json")
    again = ebnc.load(tmp_path / "model.json")
    assert again.predict_proba(new).tolist() == model.predict_proba(new).tolist()
    assert again.contributions(new).values.tolist() == model.contributions(new).values.tolist()
    predictor = read_predictor(tmp_path / "model.json")
    rows = model.encode(new)
    assert predictor.probabilities(rows).tolist() == model.predict_proba(new).tolist()


def test_a_file_without_a_background_reads_and_takes_the_mean_of_the_log_odds(tmp_path):
    x, y = skewed(600)
    model = EBNCClassifier("naive", prior_scale=1.0).fit(x, y)
    path = tmp_path / "model.json"
    model.save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    del document["model"]["ebnc"]["background"]
    path.write_text(json.dumps(document), encoding="utf-8")
    again = ebnc.load(path)
    assert again.predict_proba(x).tolist() == model.predict_proba(x).tolist()
    found = again.predict_log_proba(x.iloc[:1].assign(a="never seen"))[0]
    states = list(model.ebnc_.domain["a"])
    rows = pd.concat([x.iloc[:1].assign(a=state) for state in states])
    log_p = model.predict_log_proba(rows).mean(axis=0)
    np.testing.assert_allclose(found - found[0], log_p - log_p[0], atol=1e-9)


@pytest.mark.parametrize(
    "change",
    [
        lambda b: b["inputs"].reverse(),
        lambda b: b["inputs"].append("a"),
        lambda b: b["inputs"].pop(),
        lambda b: b["state_weights"].pop(),
        lambda b: b["state_weights"][0].pop(),
        lambda b: b["state_weights"].__setitem__(0, [0.0] * len(b["state_weights"][0])),
        lambda b: b["rows"][0].append(0),
        lambda b: b["rows"][0].__setitem__(0, 99),
        lambda b: b["rows"].pop(),
        lambda b: b["row_weights"].__setitem__(0, -1.0),
    ],
)
def test_a_background_that_does_not_fit_is_refused(change, tmp_path):
    x, y = skewed(600)
    x["a"] = x["a"].where(x["a"] != "s3", "s2")  # inputs differ in their numbers of states
    EBNCClassifier("naive", prior_scale=1.0).fit(x, y).save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    change(document["model"]["ebnc"]["background"])
    (tmp_path / "model.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(FormatError, match="background"):
        ebnc.load(tmp_path / "model.json")


def test_a_background_is_checked():
    x, y = skewed(50)
    known = EBNCClassifier("naive", prior_scale=1.0).fit(x, y).ebnc_.background
    with pytest.raises(ParameterError, match="every state"):
        Background({}, known.rows, known.row_weights)
    with pytest.raises(ParameterError, match="add up to 1"):
        Background(known.state_weights, known.rows, known.row_weights * 2)
    with pytest.raises(ParameterError, match="every row"):
        Background(known.state_weights, known.rows, np.array([1.0]))
