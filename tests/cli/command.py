"""Run ``ebnc``: as a user would, in another process; or here, where there are many cases."""

import contextlib
import io
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from ebnc.cli.running import run

COMMAND = Path(sys.executable).with_name("ebnc")


@dataclass(frozen=True)
class Ran:
    status: int
    out: bytes
    err: str

    @property
    def text(self):
        return self.out.decode()


def ebnc(*arguments, stdin=b"", cwd=None):
    """In another process."""
    done = subprocess.run(
        [str(COMMAND), *map(str, arguments)],
        input=stdin,
        capture_output=True,
        check=False,
        cwd=cwd,
        timeout=300,
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode())


def ebnc_here(*arguments, stdin=b""):
    """In this process: the same code, without the second it takes to start."""
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    given = io.TextIOWrapper(io.BytesIO(stdin))
    with (
        warnings.catch_warnings(),
        mock.patch("sys.stdin", given),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        status = run([str(argument) for argument in arguments])
        out.flush()
    return Ran(status, out.buffer.getvalue(), err.getvalue())


def succeeded(*arguments, start=ebnc_here, **options):
    ran = start(*arguments, **options)
    assert ran.status == 0, ran.err
    assert "Traceback" not in ran.err
    return ran


def refused(*arguments, words, start=ebnc_here, **options):
    """Exit status 2, one line on standard error that says what is wrong, nothing else."""
    ran = start(*arguments, **options)
    assert ran.status == 2, (ran.status, ran.text, ran.err)
    assert ran.out == b""
    assert len(ran.err.splitlines()) == 1, ran.err
    assert ran.err.startswith("ebnc: ")
    assert "this is a bug" not in ran.err
    for word in [words] if isinstance(words, str) else words:
        assert word in ran.err, ran.err
    return ran
