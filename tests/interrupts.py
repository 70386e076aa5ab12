"""Programs that are interrupted at random moments by a real Ctrl-C: what they leave, how soon.

    python tests/interrupts.py data.csv target --moments 10

prints the seconds between the signal and the end of every process: a fit in Python, scikit-learn's
cross-validation, ``ebnc learn --report`` and ``ebnc network learn``.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import ebnc

COMMAND = Path(sys.executable).with_name("ebnc")
WITHOUT_LIKELIHOOD = "ebnc: interrupted; the network is complete, its likelihood was not computed\n"
INTERRUPTED = 3  # exit status of the programs below

PYTHON = """
import sys
try:
    import warnings
    import pandas as pd
    from ebnc import EBNCClassifier
    warnings.simplefilter("ignore")
    from sklearn.model_selection import cross_val_score
    frame = pd.read_csv(sys.argv[1], dtype=str, keep_default_na=False)
    y = frame.pop(sys.argv[2])
    model = EBNCClassifier()
    {job}
    print("done")
except KeyboardInterrupt:
    sys.exit(3)
"""


@dataclass(frozen=True)
class Program:
    """A command, and what must hold when it has ended; ``folder`` holds its outputs."""

    arguments: Sequence[str]
    check: Callable[["Ended"], None]


@dataclass(frozen=True)
class Ended:
    """A process that was interrupted.

    ``seconds``: from the signal to its end, None if it had ended before; ``cpu_seconds``: those it
    used in between, which other processes do not change.
    """

    status: int
    out: str
    err: str
    seconds: float | None
    cpu_seconds: float
    folder: Path


def programs(data: Path, target: str) -> dict[str, Program]:
    """Outputs go into the folder that the process runs in."""
    fit, validate = (
        PYTHON.format(job="model.fit(frame, y)"),
        PYTHON.format(job="assert len(cross_val_score(model, frame, y, error_score='raise')) == 5"),
    )
    python = [sys.executable, "-c"]
    learn = [str(COMMAND), "learn", str(data), "-t", target, "-o", "model.json"]
    network = [str(COMMAND), "network", "learn", str(data), "-o", "model.json"]
    return {
        "fit": Program([*python, fit, str(data), target], check_python),
        "cross_val_score": Program([*python, validate, str(data), target], check_python),
        "learn": Program([*learn, "--report", "report.html"], check_learn),
        "network": Program(network, check_network),
    }


def interrupted(program: Program, moment: float | None, folder: Path) -> Ended:
    """Run it, interrupt it ``moment`` seconds after its start, and check what is left."""
    # A shell lets its background jobs, and so their children, ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    outputs, temporary = folder / "outputs", folder / "temporary"
    outputs.mkdir()
    temporary.mkdir()
    process = subprocess.Popen(
        program.arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=outputs,
        env={**os.environ, "TMPDIR": str(temporary)},
        start_new_session=True,
    )
    seconds, cpu_before = None, 0.0
    others = cpu_of_children()
    try:
        out, err = process.communicate(timeout=moment)
    except subprocess.TimeoutExpired:
        cpu_before = cpu_of(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        began = time.perf_counter()
        out, err = process.communicate(timeout=100)
        seconds = time.perf_counter() - began
    used = cpu_of_children() - others - cpu_before
    ended = Ended(process.returncode, out, err, seconds, used, outputs)
    assert "Traceback" not in err, err
    assert "this is a bug" not in err, err
    assert list(temporary.iterdir()) == []
    assert not has_members(process.pid), "a child is still running"
    program.check(ended)
    return ended


def cpu_of(process: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_of_children() -> float:
    """CPU seconds of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def has_members(group: int) -> bool:
    """Whether a process group still has a process."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def check_python(ended: Ended) -> None:
    """KeyboardInterrupt, or the whole result; a signal may also come when Python is leaving."""
    ends = [("", INTERRUPTED), ("done\n", INTERRUPTED), ("done\n", -signal.SIGINT)]
    assert (ended.out, ended.status) in [("done\n", 0), *(ends if ended.seconds else [])], ended


def check_learn(ended: Ended) -> None:
    """No file; or a model and its report, which say what is missing."""
    left = sorted(path.name for path in ended.folder.iterdir())
    if ended.status != 0:
        assert left == [], left
        assert ended.err == "ebnc: interrupted; nothing was written\n", ended.err
        return
    assert left == ["model.json", "report.html"], left
    assert "</html>" in (ended.folder / "report.html").read_text(encoding="utf-8")
    model = ebnc.load(ended.folder / "model.json")
    document = json.loads((ended.folder / "model.json").read_bytes())
    held_out = document["findings"]["report"]["held_out"]
    was_cut = "interrupted" in ended.err
    assert was_cut or ended.err == "", ended.err
    assert (held_out is None) == was_cut
    assert held_out is None or held_out["n_folds"] == 5
    assert model.trace_.interrupted == ("best model so far" in ended.err)


def check_network(ended: Ended) -> None:
    """No file, or a network; an interrupted one says so."""
    left = sorted(path.name for path in ended.folder.iterdir())
    if ended.status != 0:
        assert left == [], left
        assert ended.err == "ebnc: interrupted; nothing was written\n", ended.err
        return
    assert left == ["model.json"], left
    network = ebnc.load(ended.folder / "model.json")
    assert np.isfinite(network.log_likelihood(network.sample(10, random_state=0))).all()
    said = ("", "ebnc: interrupted; the network so far was saved\n", WITHOUT_LIKELIHOOD)
    assert ended.err in said, ended.err


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("target")
    parser.add_argument("--moments", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    for name, program in programs(options.data.resolve(), options.target).items():
        if options.only and name not in options.only:
            continue
        generator = np.random.default_rng(options.seed)
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            interrupted(program, None, Path(folder))
        whole = time.perf_counter() - began
        print(f"{name}: {whole:.1f} s if it is not interrupted", flush=True)
        for moment in np.sort(generator.uniform(0.1, 0.98, options.moments)) * whole:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    ended = interrupted(program, float(moment), Path(folder))
                except AssertionError as error:
                    print(f"  at {moment:6.2f} s: WRONG {error}", flush=True)
                    continue
            took = (
                f"{ended.seconds:.2f} s, {ended.cpu_seconds:.2f} CPU s" if ended.seconds else "over"
            )
            said = f"status {ended.status} {ended.err.strip()}"
            print(f"  at {moment:6.2f} s: {took}, {said}", flush=True)


if __name__ == "__main__":
    main()
