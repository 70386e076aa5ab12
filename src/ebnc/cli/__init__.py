"""The command line ``ebnc``: one verb per module, each parses, calls and prints.

Nothing heavy is imported before a verb runs, so that ``ebnc --help`` answers at once.
"""

__all__ = ["main"]


def main() -> None:
    """The entry point of the command ``ebnc``."""
    import os
    import signal
    import sys

    from ebnc.cli.running import run

    status = run(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # too late: all is done and said
    if status:  # nothing is left to do, and libraries that were interrupted would complain
        sys.stderr.flush()
        os._exit(status)
