"""A small part of ``make fuzz``: random tables, damaged model files, damaged BIF files."""

import pytest

import fuzz

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_every_source_of_a_table_gives_one_model_and_one_prediction(first):
    assert fuzz.run("table", range(first, first + 20)) == []


@pytest.mark.parametrize("kind", ["model", "bif"])
def test_damaged_files_are_refused_in_words_or_can_be_used(kind):
    assert fuzz.run(kind, range(300)) == []
