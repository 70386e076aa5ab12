"""Progress on standard error, where somebody looks at it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ebnc.search.trace import Step

__all__ = ["Shown", "shown_progress"]


class Shown:
    """Bars for tasks with a known share, a line for the steps of a search; or nothing at all."""

    def __init__(self, progress: Any = None) -> None:
        self._progress = progress
        self._tasks: dict[str, Any] = {}

    def share(self, task: str, done: float) -> None:
        """A task, and the share of it that is done."""
        if self._progress is None:
            return
        if task not in self._tasks:
            self._tasks[task] = self._progress.add_task(task, total=1.0)
        self._progress.update(self._tasks[task], completed=done)

    def step(self, step: "Step") -> None:
        """A step of a search."""
        self.say(f"searching: score {step.score:.1f}, {step.dimension} parameters, {step.move}")

    def say(self, words: str) -> None:
        """What is being done, without a known share."""
        if self._progress is None:
            return
        if "" not in self._tasks:
            self._tasks[""] = self._progress.add_task(words, total=None)
        self._progress.update(self._tasks[""], description=words[:100])


@contextmanager
def shown_progress(*, quiet: bool) -> Iterator[Shown]:
    """Progress bars on a terminal, which disappear afterwards."""
    if quiet or not sys.stderr.isatty():
        yield Shown()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = BarColumn(bar_width=24)  # pulses where the share is not known
    columns = (bar, TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield Shown(progress)
