"""DuckDB with limits: memory, disk, threads, progress; and its errors in this package's words.

Everything it writes lies in one temporary directory, which goes when the engine is closed, on any
error, and at the latest when the interpreter ends.
"""

import re
import shutil
import tempfile
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ebnc.data.files import DataFiles
from ebnc.errors import DataError, ParameterError, StorageError

if TYPE_CHECKING:
    import duckdb

__all__ = ["Engine", "memory_bytes", "quoted"]

POLL_SECONDS = 0.2
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


class Engine:
    """One DuckDB connection whose tables spill to a temporary directory; a context manager."""

    def __init__(self, files: DataFiles) -> None:
        import duckdb

        self.files = files
        self.memory = memory_bytes("memory_limit", files.memory_limit)
        config: dict[str, Any] = {
            "memory_limit": f"{self.memory}B",
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        if files.threads is not None:
            config["threads"] = files.threads
        disk = None if files.disk_limit is None else memory_bytes("disk_limit", files.disk_limit)
        try:
            self.directory = Path(tempfile.mkdtemp(prefix="ebnc-", dir=files.temp_directory))
        except OSError as error:
            raise StorageError(
                f"no temporary directory can be made in {str(files.temp_directory)!r}: "
                f"{error.strerror}; give another temp_directory"
            ) from None
        self._remove = weakref.finalize(self, shutil.rmtree, self.directory, ignore_errors=True)
        config["temp_directory"] = str(self.directory)
        try:
            self.connection = duckdb.connect(":memory:", config=config)
            if disk is not None:  # only works once the directory is in use
                self.connection.execute(f"SET max_temp_directory_size = '{disk}B'")
            self.connection.execute("SET enable_progress_bar = true")
            self.connection.execute("SET enable_progress_bar_print = false")
        except duckdb.Error as error:
            self._remove()
            raise translated(error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the connection and remove what it wrote."""
        self.connection.close()
        self._remove()

    def run(self, query: str, task: str = "") -> "duckdb.DuckDBPyConnection":
        """Execute a query; ``task`` is what progress is reported as."""
        import duckdb

        report = self.files.progress
        done = threading.Event()
        watcher = None
        if report is not None and task:
            watcher = threading.Thread(target=self._watch, args=(task, done), daemon=True)
            report(task, 0.0)
            watcher.start()
        try:
            return self.connection.execute(query)
        except duckdb.Error as error:
            raise translated(error) from None
        finally:
            done.set()
            if watcher is not None and report is not None:
                watcher.join()
                report(task, 1.0)

    def rows(self, query: str, task: str = "") -> list[tuple[Any, ...]]:
        """The whole result, as Python values."""
        return self.run(query, task).fetchall()

    def arrays(self, query: str) -> dict[str, Any]:
        """The whole result, as NumPy arrays by name."""
        import duckdb

        try:
            return dict(self.connection.execute(query).fetchnumpy())
        except duckdb.Error as error:
            raise translated(error) from None

    def _watch(self, task: str, done: threading.Event) -> None:
        report = self.files.progress
        assert report is not None
        while not done.wait(POLL_SECONDS):
            share = self.connection.query_progress() / 100.0
            if 0.0 <= share <= 1.0:
                report(task, share)


def translated(error: "duckdb.Error") -> DataError | StorageError | ParameterError:
    """DuckDB's error as ours: the first lines say what and where, the rest is advice on DuckDB."""
    import duckdb

    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = re.sub(r"^[A-Za-z ]+Error: ", "", lines[0]) if lines else type(error).__name__
    for line in lines[1:]:
        if line.startswith(("Original Line:", "Expected Number", "file =")):
            said += f"; {line.replace('file =', 'file')}"
    text = str(error).lower()
    if isinstance(error, duckdb.OutOfMemoryException):
        if "max_temp_directory_size" in text or "temp_directory" in text:
            return StorageError(
                f"the temporary directory is full: {said}; raise disk_limit, or give a "
                "temp_directory with more space"
            )
        return StorageError(f"memory_limit is too small for these data: {said}; raise it")
    if "no space left" in text or "disk full" in text or "not enough disk" in text:
        return StorageError(
            f"the temporary directory is full: {said}; give a temp_directory with more space"
        )
    return DataError(f"the data cannot be read: {said}")


def memory_bytes(name: str, given: str | int) -> int:
    """Bytes from a number or from text such as "800MB" or "2 GiB"."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", str(given))
    if isinstance(given, bool) or match is None or match[2].upper() not in UNITS:
        raise ParameterError(f"{name} must be bytes or text such as '800MB', got {given!r}")
    found = int(float(match[1]) * UNITS[match[2].upper()])
    if found < 1:
        raise ParameterError(f"{name} must be positive, got {given!r}")
    return found


def quoted(text: str | Sequence[str]) -> str:
    """A string, or a list of strings, as SQL."""
    if isinstance(text, str):
        return "'" + text.replace("'", "''") + "'"
    return "[" + ", ".join(map(quoted, text)) + "]"
