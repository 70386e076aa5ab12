"""One line of progress on standard error, where somebody looks at it."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ebnc.search.trace import Step

__all__ = ["ProgressLine", "shown_progress"]

LONGEST = 100  # characters of the line


class ProgressLine:
    """Says what is being done: ``show`` shows words in place of those before; None, nothing."""

    def __init__(self, show: Callable[[str], None] | None = None) -> None:
        self._show = show

    def say(self, words: str) -> None:
        """What is being done."""
        if self._show is not None:
            self._show(words[:LONGEST])

    def share(self, task: str, done: float) -> None:
        """A task, and the share of it that is done."""
        self.say(f"{task}: {done:.0%}")

    def step(self, step: "Step") -> None:
        """A step of a search."""
        self.say(f"searching: score {step.score:.1f}, {step.dimension} parameters, {step.move}")


@contextmanager
def shown_progress(*, quiet: bool) -> Iterator[ProgressLine]:
    """A line on a terminal, which disappears afterwards; nothing if ``quiet`` or elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield ProgressLine()
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status("") as status:
        yield ProgressLine(lambda words: status.update(Text(words)))
