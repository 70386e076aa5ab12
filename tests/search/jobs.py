"""Jobs for teams, where other processes find them; and what teams were given."""

import os
import signal
import time

from ebnc.kernels.parallel import n_threads
from ebnc.search import side_by_side
from ebnc.search.side_by_side import SideBySide


def ready(team):
    """The team once its processes run."""
    while not team.is_ready:
        time.sleep(1e-3)
    return team


def count_sent(monkeypatch):
    """A list of the jobs that others were given, by name, as it grows; none is begun alone."""
    sent = []
    make = SideBySide.as_they_come
    monkeypatch.setattr(SideBySide, "as_they_come", lambda self, *what: make(ready(self), *what))
    packed = SideBySide._packed

    def counting(self, job, arguments):
        sent.append(job.__name__)
        return packed(self, job, arguments)

    monkeypatch.setattr(SideBySide, "_packed", counting)
    return sent


def count_teams(monkeypatch):
    """A list of the teams that were made, as it grows."""
    made = []

    class Counting(SideBySide):
        def __init__(self, *arguments):
            made.append(arguments)
            super().__init__(*arguments)

    monkeypatch.setattr(side_by_side, "SideBySide", Counting)
    return made


def who(cases, seconds):
    """The process that did it, and on how many threads."""
    time.sleep(seconds)
    return os.getpid(), n_threads()


def size(cases, number):
    """The number again, and the sum of the weights."""
    if number == 2:
        raise ZeroDivisionError(f"job {number}")
    return number, cases.total_weight


def lengthen(cases, growing):
    """Changes what it is given."""
    time.sleep(0.01)
    growing.append(1)
    return len(growing)


def end(cases, survivor):
    """Ends the process unless it is this one."""
    if os.getpid() != survivor:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.2)


def shared(cases, kept):
    """The process, what it found in ``kept``, and when it made something of it."""
    time.sleep(0.05)
    return os.getpid(), kept.value, kept.made(time.perf_counter_ns)
