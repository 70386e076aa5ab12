"""The command line ``ebnc``: one verb per module, each parses, calls and prints.

Nothing heavy is imported before a verb runs, so that ``ebnc --help`` answers at once.
"""

__all__ = ["main"]


def main() -> None:
    """Run the command ``ebnc`` and exit with its status."""
    import gc
    import signal
    import sys

    gc.set_threshold(100_000)  # modules are never freed, and scanning them takes 10% of a start
    from ebnc.cli.running import run

    status = run(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the work is done: ignore Ctrl-C
    sys.exit(status)
