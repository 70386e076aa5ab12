"""Write files atomically: write a temporary file in the same folder, then rename it."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ebnc.errors import FileError


@contextmanager
def written_whole(path: str | os.PathLike[str], *, overwrite: bool = True) -> Iterator[Path]:
    """Yield a temporary path, which replaces ``path`` if the block ends without an error.

    Until then, and after an error or Ctrl-C, ``path`` is unchanged. Devices and pipes cannot be
    replaced, so the yielded path is ``path`` itself.
    """
    if not overwrite:
        refuse_existing(path)
    final = Path(os.path.realpath(path))  # replace the target of a link, not the link
    if final.is_dir():
        raise FileError(f"cannot write {final}: it is a directory; name a file in it")
    if final.exists() and not final.is_file():
        with _named_errors(final):
            yield final
        return
    # Keep the suffix: some writers choose their format by it.
    beside = final.with_name(f".{final.stem[:80]}.{secrets.token_hex(6)}{final.suffix}")
    with _named_errors(final):
        try:
            yield beside
            if not overwrite:
                refuse_existing(path)
            os.replace(beside, final)
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], content: bytes, *, overwrite: bool = True) -> None:
    """Write bytes to a file; after an error the file is unchanged."""
    with written_whole(path, overwrite=overwrite) as beside, open(beside, "wb") as file:
        file.write(content)
        file.flush()
        with suppress(OSError):  # pipes and some file systems do not support it
            os.fsync(file.fileno())


def refuse_existing(path: str | os.PathLike[str]) -> None:
    """Raise if a file, directory or dangling link has this name; devices are allowed."""
    place = Path(path)
    if place.is_symlink() or place.is_file() or place.is_dir():
        raise FileError(f"{place} exists already; choose another name or allow overwriting it")


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror or error}") from error
