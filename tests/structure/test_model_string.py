"""Model strings: bnlearn's notation, every name, clear errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebnc import EmbeddedStructure
from ebnc.errors import StructureError
from ebnc.structure.model_string import format_model_string, parse_model_string
from strategies import AWKWARD_NAMES, structures

any_name = st.one_of(st.sampled_from(AWKWARD_NAMES), st.text(min_size=1, max_size=6))
any_family = st.tuples(any_name, st.lists(any_name, max_size=3).map(tuple))


@given(st.lists(any_family, min_size=1, max_size=4).map(tuple))
def test_every_name_survives_formatting_and_parsing(families):
    """Any text at all may be a name, white space and brackets too."""
    assert parse_model_string(format_model_string(families)) == families


@pytest.mark.parametrize("name", AWKWARD_NAMES)
def test_an_awkward_name_survives_as_variable_and_as_parent(name):
    """Round trip of one name in both places."""
    families = (("Y!", ()), (name, ("Y!",)), ("Z!", ("Y!", name)))
    structure = EmbeddedStructure("Y!", families)
    assert EmbeddedStructure.from_string(str(structure), target="Y!").families == families


@given(structures(max_inputs=5, awkward=True))
def test_a_structure_is_parsed_from_what_it_prints(structure):
    """Same DAG, same order of variables and parents; ``repr`` evaluates to it too."""
    parsed = EmbeddedStructure.from_string(str(structure), target=structure.target)
    assert parsed == structure
    assert parsed.families == structure.families
    evaluated = eval(repr(structure))  # what a reader would paste
    assert evaluated == structure


def test_the_notation_is_bnlearns():
    """The model string of bnlearn's ``learning.test`` network, from its manual."""
    assert parse_model_string("[A][C][F][B|A][D|A:C][E|B:F]") == (
        ("A", ()),
        ("C", ()),
        ("F", ()),
        ("B", ("A",)),
        ("D", ("A", "C")),
        ("E", ("B", "F")),
    )


@pytest.mark.parametrize(
    "text",
    ["[X1][Y|X1]", " [X1] [Y|X1] ", "[ X1 ]\n[ Y | X1 ]", "[X1][\tY|\tX1\t]\n", "[\\X1][Y|X\\1]"],
)
def test_white_space_around_names_and_needless_backslashes_are_ignored(text):
    """Five spellings of one structure."""
    assert parse_model_string(text) == (("X1", ()), ("Y", ("X1",)))


def test_white_space_inside_a_name_is_kept():
    """Only the outside is trimmed."""
    assert parse_model_string("[ body  mass ]") == (("body  mass", ()),)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no variables"),
        ("  ", "no variables"),
        ("Y", "character 1: 'Y' stands outside of brackets"),
        ("[X]Y", "character 4: 'Y' stands outside"),
        ("[X]:[Y]", "':' stands outside"),
        ("]", "']' stands outside"),
        ("[]", "character 2: a variable name is missing"),
        ("[ ]", "a variable name is missing"),
        ("[|X]", "a variable name is missing"),
        ("[Y|]", "a variable name is missing"),
        ("[Y|X:]", "a variable name is missing"),
        ("[Y|:X]", "a variable name is missing"),
        ("[Y|X::Z]", "a variable name is missing"),
        ("[Y|X|Z]", r"a second '\|'"),
        ("[Y:X]", r"':' before '\|'"),
        ("[Y[X]]", "opens inside another"),
        ("[X][Y|X", "not closed"),
        ("[Y\\", "a backslash at the end"),
        ("[Y\\]", "not closed"),
    ],
)
def test_a_malformed_string_is_refused_with_its_place(text, problem):
    """One clear error for every way to get it wrong."""
    with pytest.raises(StructureError, match=problem):
        parse_model_string(text)


@pytest.mark.parametrize("given", [None, 3, b"[Y]", ["[Y]"]])
def test_what_is_no_string_is_refused(given):
    """The type is named."""
    with pytest.raises(StructureError, match=f"must be a str, got {type(given).__name__}"):
        EmbeddedStructure.from_string(given, target="Y")


def test_the_error_in_a_long_string_shows_the_neighbourhood_only():
    """Thousands of variables do not flood the terminal."""
    text = "".join(f"[X{i}]" for i in range(5000)) + "[Y|X1|X2]" + "[Z]" * 5000
    with pytest.raises(StructureError, match="second") as error:
        parse_model_string(text)
    assert len(str(error.value)) < 300
