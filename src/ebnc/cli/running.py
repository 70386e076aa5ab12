"""Run a command: the exit status is 0, or 2 after one line on standard error; no tracebacks."""

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from ebnc.errors import EBNCError

FAILED, INTERRUPTED = 2, 130
LONGEST = 1000  # characters of a message


def run(arguments: Sequence[str]) -> int:
    """Run a command line, given without the program's name, and return its exit status."""
    from ebnc.cli.app import app

    warnings.showwarning = _one_line_warning
    try:
        status = app(args=list(arguments), prog_name="ebnc", standalone_mode=False)
        sys.stdout.flush()
        if status == INTERRUPTED:  # typer turns Ctrl-C into a status
            raise KeyboardInterrupt
        return status if isinstance(status, int) else 0
    except BrokenPipeError:
        return _unread()
    except SystemExit as left:  # typer turns a broken pipe into an exit
        if isinstance(left.__context__, BrokenPipeError):
            return _unread()
        raise
    except EBNCError as error:
        return _fail(error)
    except OSError as error:
        where = error.filename or "standard output"
        return _fail(f"cannot use {where}: {error.strerror or error}")
    except (MemoryError, RecursionError) as error:
        return _fail(f"out of memory: {error}" if isinstance(error, MemoryError) else error)
    except KeyboardInterrupt:
        return _fail("interrupted; nothing was written")
    except Exception as error:  # usage errors, whose class differs between versions of typer; bugs
        return _other(error)


def _unread() -> int:
    """Succeed although the reader closed the pipe; discard the rest of the output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())  # type: ignore[union-attr]
    return 0


def _other(error: Exception) -> int:
    name = type(error).__name__
    if name == "Abort":
        return _fail("interrupted; nothing was written")
    message = getattr(error, "format_message", None)
    if name == "NoArgsIsHelpError":
        print(message() if message else error)
        return FAILED
    if message is not None:
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "ebnc"
        return _fail(f"{message()} (see {path} --help)")
    if os.environ.get("EBNC_TRACEBACK"):
        raise error
    return _fail(f"{name}: {error} (this is a bug; EBNC_TRACEBACK=1 shows where)")


def _fail(problem: object) -> int:
    words = " ".join(str(problem).split())  # names may contain line breaks
    if len(words) > LONGEST:
        words = f"{words[:LONGEST]}…"
    print(f"ebnc: {words or type(problem).__name__}", file=sys.stderr)
    return FAILED


def _one_line_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"ebnc: warning: {' '.join(str(message).split())}", file=sys.stderr)
