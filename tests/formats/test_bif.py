"""BIF: what pyAgrum and pgmpy write and read, round trips, and every damaged file."""

import gzip

import numpy as np
import pytest

import ebnc
from ebnc.errors import FileError, FormatError
from ebnc.formats.bif import read_bif
from network.networks import random_network

RAIN = """
network weather {
  property author somebody;
}
variable Rain { type discrete [ 2 ] { no, yes }; property position = (1, 2); }
variable Wet { type discrete[3] { "dry", damp, soaked }; }
// a comment
probability ( Rain ) { table 0.8, 0.2; }
probability ( Wet | Rain ) {
  (no) 0.7, 0.2, 0.1; /* another
  comment */
  default 0.1 0.3 0.6;
}
"""


def written(text, tmp_path):
    path = tmp_path / "network.bif"
    path.write_text(text, encoding="utf-8")
    return path


def test_reads_what_it_says(tmp_path):
    network = read_bif(written(RAIN, tmp_path))
    assert network.variables == ("Rain", "Wet")
    assert network.domain["Wet"] == ("dry", "damp", "soaked")
    assert network.local("Wet").theta.tolist() == [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]
    packed = tmp_path / "network.bif.gz"
    packed.write_bytes(gzip.compress(RAIN.encode()))
    assert read_bif(packed).arcs == (("Rain", "Wet"),)


@pytest.mark.parametrize("seed", range(6))
def test_round_trip_of_mixed_networks(seed, tmp_path):
    network = random_network(seed)
    path = tmp_path / "network.bif"
    lost = network.write_bif(path)
    back = ebnc.Network.read_bif(path)
    rows = network.sample(100, random_state=0)
    np.testing.assert_allclose(back.log_likelihood(rows), network.log_likelihood(rows), rtol=1e-12)
    kinds = [local.kind for local in network.values()]
    assert len(lost) == sum(kind != "table" for kind in kinds)


@pytest.mark.parametrize("seed", range(3))
def test_pyagrum_reads_what_is_written_and_the_other_way_round(seed, gum, tmp_path):
    network = random_network(seed)
    path = tmp_path / "network.bif"
    network.write_bif(path)
    there = gum.loadBN(str(path))
    rows = network.sample(50, random_state=0)
    np.testing.assert_allclose(
        ebnc.Network.from_pyagrum(there).log_likelihood(rows),
        network.log_likelihood(rows),
        rtol=1e-6,
    )
    other = tmp_path / "other.bif"
    gum.saveBN(there, str(other))
    np.testing.assert_allclose(
        read_bif(other).log_likelihood(rows), network.log_likelihood(rows), rtol=1e-4
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_pgmpy_reads_what_is_written(seed, without_warnings, tmp_path):
    from pgmpy.readwrite import BIFReader

    network = random_network(seed)
    path = tmp_path / "network.bif"
    network.write_bif(path)
    there = BIFReader(str(path)).get_model()
    assert set(there.edges()) == set(network.arcs)
    rows = network.sample(20, random_state=0)
    expected = np.exp(network.log_likelihood(rows))
    for i, p in enumerate(expected):
        assert there.get_state_probability(dict(rows.iloc[i])) == pytest.approx(p, rel=1e-9)


def test_odd_names_become_words_and_are_reported(tmp_path):
    domain = {"a b": [1, 2], "a_b": ["(x]", "y;z"], "c": [None, "missing"]}
    network = ebnc.Network(
        [
            ebnc.Table("a b", [], domain, [0.25, 0.75]),
            ebnc.Table("a_b", ["a b"], domain, [[0.5, 0.5], [0.1, 0.9]]),
            ebnc.Table("c", [], domain, [0.5, 0.5]),
        ]
    )
    path = tmp_path / "network.bif"
    lost = network.write_bif(path)
    back = read_bif(path)
    assert len(set(back.variables)) == 3
    assert len(set(back.domain["c"])) == 2
    assert any("'a b' was renamed to" in line for line in lost)
    assert any("states are now the words" in line for line in lost)


def test_pyagrum_reads_numbers_signs_and_keywords(tmp_path, gum):
    """What it rejected: points, signs, letters beyond ASCII, words of the format itself."""
    texts = ["0.5", "1-2", "1e5", "a&b", "x=1", "table", "ü", "≤", "a/b", "-", "7", "007", "größe"]
    rng = np.random.default_rng(0)
    domain = dict.fromkeys(texts, texts[:3]) | {"states": texts}
    network = ebnc.Network(
        [
            *(ebnc.Table(x, [], domain, rng.dirichlet([1, 1, 1])) for x in texts),
            ebnc.Table("states", [texts[0]], domain, rng.dirichlet(np.ones(len(texts)), 3)),
        ]
    )
    path = tmp_path / "odd.bif"
    lost = network.write_bif(path)
    assert "'0.5' was renamed to 'X0_5'" in lost
    assert len([line for line in lost if "was renamed" in line]) == len(texts)
    there, back = gum.loadBN(str(path)), read_bif(path)
    assert set(there.names()) == set(back.variables)
    for old, new in zip(network.variables, back.variables, strict=True):
        np.testing.assert_array_equal(back[new].theta, network[old].theta)
        assert there.variable(new).labels() == tuple(map(str, back.domain[new]))
        np.testing.assert_allclose(there.cpt(new).toarray(), network[old].theta, atol=1e-7)


def test_pyagrum_reads_a_network_of_cut_numbers(tmp_path, gum):
    rng = np.random.default_rng(0)
    data = {"x": rng.normal(size=200), "y": rng.choice(["no", "yes"], 200)}
    data["x"][:5] = np.nan
    network = ebnc.Network.fit([("x", "y")], data, local="table")
    network.write_bif(tmp_path / "cut.bif")
    there = gum.loadBN(str(tmp_path / "cut.bif"))  # its variables do not outlive it
    labels = there.variable("x").labels()
    assert labels[0].startswith("le_minus_")
    assert "_to_" in labels[1]
    assert labels[-2].startswith("gt_")
    assert labels[-1] == "missing"


def test_does_not_overwrite_unless_allowed(tmp_path):
    path = written("kept", tmp_path)
    with pytest.raises(FileError, match="exists already"):
        random_network(0).write_bif(path, overwrite=False)
    assert path.read_text() == "kept"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("network weather", "net weather"), "begins with 'network'"),
        (("[ 2 ]", "[ 3 ]"), "declares 3 states and lists 2"),
        (("discrete [ 2 ]", "continuous [ 2 ]"), "is continuous"),
        (("0.8, 0.2", "0.8"), "1 probabilities where 2 should be"),
        (("0.8, 0.2", "0.8, x"), "not a number"),
        (("0.8, 0.2", "0.8, 0.3"), "sums to 1.1"),
        (("0.8, 0.2", "nan, 0.2"), "not complete"),
        (("| Rain", "| Snow"), "'Snow' is not declared"),
        (("(no) 0.7", "(perhaps) 0.7"), "'perhaps' is not a state of 'Rain'"),
        (("(no) 0.7", "(no, no) 0.7"), "2 states for the 1 parents"),
        (("default 0.1 0.3 0.6;", ""), "not complete"),
        (("variable Wet", "variable Rain"), "declared twice"),
        (("probability ( Rain ) { table 0.8, 0.2; }", ""), "'Rain' has no probabilities"),
        (("( Rain ) {", "( Rain | Wet ) { (soaked) 0.5, 0.5; (damp) 0.5, 0.5; (dry)"), "cycle"),
        (('"dry"', '"dry'), "never closed"),
    ],
)
def test_damaged_files(change, message, tmp_path):
    old, new = change
    text = RAIN.replace(old, new, 1)
    if "cycle" in message:
        text = text.replace("(dry) table 0.8", "(dry) 0.8")
    assert text != RAIN
    with pytest.raises(FormatError, match=message):
        read_bif(written(text, tmp_path))


def test_every_truncation_is_one_clear_error(tmp_path):
    path = tmp_path / "network.bif"
    random_network(1, n_nodes=3).write_bif(path)
    whole = path.read_bytes()
    for length in range(len(whole) - 2):
        path.write_bytes(whole[:length])
        with pytest.raises(FormatError):
            read_bif(path)
    packed = gzip.compress(whole)
    for length in range(0, len(packed), 7):
        path.write_bytes(packed[:length])
        with pytest.raises(FormatError):
            read_bif(path)


def test_files_that_are_no_text(tmp_path):
    with pytest.raises(FormatError, match="cannot be read"):
        read_bif(tmp_path)
    with pytest.raises(FormatError, match="cannot be read"):
        read_bif(tmp_path / "absent.bif")
    path = tmp_path / "junk.bif"
    path.write_bytes(bytes(range(256)))
    with pytest.raises(FormatError):
        read_bif(path)
