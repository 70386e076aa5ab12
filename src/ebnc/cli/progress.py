"""One line of progress on standard error, if that is a terminal."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ebnc.search.trace import Step

LONGEST = 100  # characters of the line


class ProgressLine:
    """A line of progress. ``update`` replaces the text on the screen; None shows nothing."""

    def __init__(self, update: Callable[[str], None] | None = None) -> None:
        self._update = update
        self._began, self._n_steps = 0.0, 0

    def show(self, words: str) -> None:
        """Show this text."""
        if self._update is not None:
            self._update(words[:LONGEST])

    def share(self, task: str, done: float) -> None:
        """Show a task and how much of it is done, 0 … 1."""
        self.show(f"{task}: {done:.0%}")

    def fold(self, number: int, n_folds: int) -> None:
        """Show that a fold of a cross-validation begins, and from the second on how long it takes.

        ``number``: from 1.
        """
        now = time.monotonic()
        self._began = now if number == 1 else self._began
        each = (now - self._began) / max(1, number - 1)
        left = f", about {each * (n_folds - number + 1):.0f} s left" if number > 1 else ""
        what = f"cross-validating, fold {number} of {n_folds}" if n_folds > 1 else "checking"
        self.show(f"{what}{left}")

    def step(self, step: "Step") -> None:
        """Show a step of a search."""
        self._n_steps += 1
        found = f"score {step.score:.1f}, {step.dimension} parameters, {step.move}"
        self.show(f"searching, step {self._n_steps}: {found}")


@contextmanager
def shown_progress(*, quiet: bool) -> Iterator[ProgressLine]:
    """Show progress inside this context; nothing if ``quiet`` or if no terminal is attached."""
    if quiet or not sys.stderr.isatty():
        yield ProgressLine()
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status("") as status:
        yield ProgressLine(lambda words: status.update(Text(words)))
