"""Progress of a search on the terminal: every step a line, below them what is going on now."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from ebnc.search.trace import Step

__all__ = ["SearchProgress"]


class SearchProgress:
    """Prints steps and shows, where the output is a terminal, how many candidates are screened.

    Nothing at all with ``verbose`` 0. Use as a context.
    """

    def __init__(self, verbose: int, console: Console | None = None) -> None:
        self.verbose = bool(verbose)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not self.verbose,
        )
        self._task: TaskID | None = None
        self._steps = 0

    def __enter__(self) -> Self:
        self._progress.start()
        self._task = self._progress.add_task("first fit", total=None)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def step(self, step: Step) -> None:
        """A move was accepted."""
        if not self.verbose:
            return
        self._steps += 1
        line = f"{step.score:12.3f}  d = {step.dimension:<6} {step.seconds:7.2f} s  {step.move}"
        self._progress.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def screening(self, n_candidates: int, score: float) -> None:
        """Candidates are about to be screened."""
        if self._task is not None:
            what = f"step {self._steps}, score {score:.3f}, {n_candidates} candidates"
            self._progress.update(self._task, description=what)
