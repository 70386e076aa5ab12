"""What README and docs say of results is what the tracked results say."""

import importlib
import re

import pytest
from study.claims import ROOT, Claim, fill, markdown_files, markdown_table, names_in
from study.local import report as local
from study.local import results as local_results
from study.report import claims


@pytest.fixture(scope="module")
def known():
    return claims()


@pytest.mark.parametrize(
    "path", list(markdown_files()), ids=lambda path: str(path.relative_to(ROOT))
)
def test_every_quoted_number_agrees_with_the_results(path, known):
    text = path.read_text()
    assert fill(text, known) == text, "run python -m study.report"


@pytest.mark.parametrize(
    "path", list(markdown_files()), ids=lambda path: str(path.relative_to(ROOT))
)
def test_no_line_begins_with_a_number_that_is_quoted(path):
    """A comment at the beginning of a line would end the paragraph."""
    assert not re.search(r"^\s*<!-- claim", path.read_text(), re.MULTILINE)


def test_readme_and_the_study_quote_numbers():
    for page, least in (("README.md", 5), ("docs/study.md", 20)):
        assert len(names_in((ROOT / page).read_text())) >= least


def test_the_page_of_part_c_is_made_of_its_results():
    page = (ROOT / "docs" / "study" / "local.md").read_text()
    assert page == local.page(local_results.frame()), "run python -m study.report"


def test_every_claim_says_where_it_comes_from(known):
    for name, claim in known.items():
        file, _, command = claim.source.partition("; ")
        assert (ROOT / file).exists(), name
        module = command.removeprefix("python -m ").split()[0]
        assert importlib.util.find_spec(module), name


def test_a_number_that_was_changed_by_hand_is_noticed():
    known = {"a/b": Claim("2.31", ""), "c": Claim("| x |\n|---|", "")}
    good = (
        "rank <!-- claim a/b -->2.31<!-- end -->.\n\n<!-- table c -->\n| x |\n|---|\n<!-- end -->\n"
    )
    assert fill(good, known) == good
    assert names_in(good) == ["a/b", "c"]
    assert fill(good.replace("2.31", "1.99"), known) == good
    with pytest.raises(KeyError, match="no claim d"):
        fill("<!-- claim d -->1<!-- end -->", known)


def test_tables_in_markdown():
    assert markdown_table({"set": ["a", "b"], "loss": ["1", "2"]}) == (
        "| set | loss |\n|---|--:|\n| a | 1 |\n| b | 2 |"
    )
