"""Files are written whole or not at all."""

import os
import stat

import pytest

from ebnc.errors import FileError
from ebnc.writing import write_whole, written_whole


def test_a_file_appears_with_all_its_content_and_nothing_beside_it(tmp_path):
    write_whole(tmp_path / "a.txt", b"new")
    write_whole(tmp_path / "a.txt", b"newer")
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"a.txt": b"newer"}


def fail_half_way(path, error):
    with written_whole(path) as beside:
        assert beside.parent == path.parent
        assert beside.suffix == path.suffix
        beside.write_bytes(b"half")
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_what_was_there(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    with pytest.raises(error):
        fail_half_way(path, error)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"a.txt": b"old"}


def test_existing_files_are_refused_where_that_is_asked(tmp_path):
    path = tmp_path / "a.txt"
    write_whole(path, b"old", overwrite=False)
    with pytest.raises(FileError, match="exists already"):
        write_whole(path, b"new", overwrite=False)


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path):
    path = tmp_path / "late.txt"

    def write():
        with written_whole(path, overwrite=False) as beside:
            beside.write_bytes(b"mine")
            path.write_bytes(b"theirs")

    with pytest.raises(FileError, match="exists already"):
        write()
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"late.txt": b"theirs"}


def test_places_that_cannot_be_written_are_named(tmp_path):
    for path in (tmp_path, tmp_path / "no" / "such" / "folder.json"):
        with pytest.raises(FileError, match=f"cannot write .*{path.name}"):
            write_whole(path, b"x")


def test_a_link_stays_a_link_and_a_device_a_device(tmp_path):
    (tmp_path / "real.txt").write_bytes(b"old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_whole(tmp_path / "link.txt", b"new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_bytes() == b"new"
    write_whole("/dev/null", b"gone", overwrite=False)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_permissions_are_those_of_an_ordinary_file(tmp_path):
    write_whole(tmp_path / "ours", b"x")
    (tmp_path / "ordinary").write_bytes(b"x")
    modes = {p.name: p.stat().st_mode for p in tmp_path.iterdir()}
    assert modes["ours"] == modes["ordinary"]
