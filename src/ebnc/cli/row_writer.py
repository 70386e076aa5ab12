"""Write rows out as text while the next ones are read: in another process, on another core.

It is a fork of this one: it has the model, gets rows through a pipe, and writes to the file that is
open here. Where it comes late, this one predicts for it. At the end of the rows it says through
another pipe whether all is well.
"""

import os
import pickle
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, BinaryIO, NoReturn

from ebnc.cli.prediction_text import Part, PredictionText
from ebnc.data.files import DataFiles
from ebnc.data.rows import CodedRows

__all__ = ["row_writer"]

MUCH = 2**22  # bytes of data that are worth another process
PIPE = 2**20  # bytes of rows that may wait; the most that Linux allows everybody
LATE = 2**18  # bytes that wait where the other process has more to do than this one

WriteRows = Callable[[CodedRows], None]


@contextmanager
def row_writer(text: PredictionText, file: BinaryIO, files: DataFiles) -> Iterator[WriteRows]:
    """What writes the lines of rows to ``file``; when the block is left, all are written."""
    size = sum(os.path.getsize(path) for path in files.find())
    if size >= MUCH and _can_fork():
        with _forked(text, file) as write:
            yield write
    else:

        def write(rows: CodedRows) -> None:
            for part in text.parts(rows):
                _write(text, part, file)

        yield write


def _can_fork() -> bool:
    """Whether there is a core to gain; on Linux, since forks of macOS may not use its libraries."""
    return sys.platform == "linux" and len(os.sched_getaffinity(0)) > 1


def _write(text: PredictionText, part: Part, file: BinaryIO) -> None:
    file.write(b"".join(text.pieces(part)))


@contextmanager
def _forked(text: PredictionText, file: BinaryIO) -> Iterator[WriteRows]:
    file.fileno()  # what is in memory only is put on disk
    file.flush()
    rows_out, rows_in = _pipe()
    said_out, said_in = _pipe()
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # Ctrl-C is for one of the two
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        # Other threads may hold locks; the fork needs none of theirs.
        process = os.fork()
    if process == 0:
        rows_in.close()
        _serve(text, file, rows_out, said_in)

    def send(rows: CodedRows) -> None:
        for part in text.parts(rows):
            is_late = _waiting(rows_in) > LATE
            pickle.dump(text.predicted(part) if is_late else part, rows_in, protocol=5)
            rows_in.flush()

    said = None
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        rows_out.close()
        said_in.close()
        with suppress(BrokenPipeError), rows_in:  # if it ended early, it says why
            yield send
        said = said_out.read()
    finally:
        if said is None:
            os.kill(process, signal.SIGKILL)
        said_out.close()
        os.waitpid(process, 0)
    if not said:
        raise ChildProcessError("the process that writes was ended from outside")
    if problem := pickle.loads(said):
        raise problem


def _serve(text: PredictionText, file: BinaryIO, rows: IO[bytes], said: IO[bytes]) -> NoReturn:
    """The other process, from begin to end."""
    try:
        problem: BaseException | None = None
        try:
            with suppress(EOFError):
                while True:
                    _write(text, pickle.load(rows), file)
            file.flush()
        except BaseException as error:
            problem = error
        pickle.dump(problem, said)
        said.flush()
    finally:
        os._exit(0)


def _waiting(pipe: IO[bytes]) -> int:
    """How many bytes in a pipe are not read yet."""
    import fcntl
    import termios

    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def _pipe() -> tuple[IO[bytes], IO[bytes]]:
    import fcntl  # not on every system

    out_of, into = os.pipe()
    with suppress(OSError):
        fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, PIPE)
    return open(out_of, "rb"), open(into, "wb")
