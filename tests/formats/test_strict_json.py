"""JSON without its traps."""

import pytest

from ebnc.errors import FileError, FormatError
from ebnc.formats.strict_json import parse_json, read_json, to_json_bytes


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (b'{"a": 1', "cut off"),
        (b'{"a": 1, "a": 2}', "'a' is given twice"),
        (b"[NaN]", "NaN"),
        (b"[-Infinity]", "-Infinity"),
        (b"[1e400]", "1e400 is too large"),
        (b"[" + b"9" * 5000 + b"]", "5000 digits"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b"\xff\xfe{}", "not text"),
        (b"\x80\x04\x95", "not text"),
        (b"\xef\xbb\xbf{}", "not JSON"),
        (b"{} {}", "not JSON"),
    ],
)
def test_traps_are_refused_with_one_error(content, words):
    with pytest.raises(FormatError, match=words):
        parse_json(content)


def test_a_file_that_is_too_large_is_refused_before_it_is_parsed(tmp_path):
    (tmp_path / "large.json").write_bytes(b"[1, 2, 3, 4, 5]")
    with pytest.raises(FormatError, match="larger than 10 bytes"):
        read_json(tmp_path / "large.json", largest=10)


def test_files_that_cannot_be_read_are_named(tmp_path):
    for path in (tmp_path / "missing.json", tmp_path):
        with pytest.raises(FileError, match="cannot read .*" + path.name):
            read_json(path)


def test_floats_and_names_come_back_exactly():
    value = {"Größe 😀": [0.1, 5e-324, 1.7976931348623157e308, -0.0, 2**60]}
    back = parse_json(to_json_bytes(value))
    assert repr(back) == repr(value)


def test_half_a_character_is_no_text():
    """An escape in JSON may stand for one, but no file, frame or page can hold it."""
    with pytest.raises(FormatError, match=r"'\\ud800' is half a character"):
        to_json_bytes({"Größe \ud800": 1})
    with pytest.raises(FormatError, match=r"'\\ud800' is half a character"):
        parse_json(rb'["\ud800"]')
    assert parse_json(rb'["\ud83d\ude00"]') == ["😀"]


def test_no_file_with_nan_is_written():
    with pytest.raises(FormatError, match="NaN"):
        to_json_bytes([float("nan")])
