"""The command line ``ebnc``: one verb per module, each parses, calls and prints.

Nothing heavy is imported before a verb runs, so that ``ebnc --help`` answers at once.
"""

__all__ = ["main"]


def main() -> None:
    """The entry point of the command ``ebnc``."""
    import gc
    import signal
    import sys

    gc.set_threshold(100_000)  # what is loaded stays: looking through it takes a tenth of a start
    from ebnc.cli.running import run

    status = run(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # too late: all is done and said
    sys.exit(status)
