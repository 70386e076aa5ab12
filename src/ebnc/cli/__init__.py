"""The command line ``ebnc``: one verb per module, each parses, calls and prints.

Nothing heavy is imported before a verb runs, so that ``ebnc --help`` answers at once.
"""

__all__ = ["main"]


def main() -> None:
    """The entry point of the command ``ebnc``."""
    import sys

    from ebnc.cli.running import run

    sys.exit(run(sys.argv[1:]))
