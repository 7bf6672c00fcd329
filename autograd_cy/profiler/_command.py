"""Profiles without a change of the program: a command, and a variable of the environment."""

from __future__ import annotations

import argparse
import atexit
import os
import runpy
import signal
import sys
from pathlib import Path
from typing import Any

from autograd_cy._environment.logger import ERROR, tell
from autograd_cy.profiler._columns import Columns
from autograd_cy.profiler._counts import KinetoStepTracker
from autograd_cy.profiler._reports import Loaded
from autograd_cy.profiler._session import Session
from autograd_cy.profiler._steps import rank_of_process, worker_of_process

__all__ = ["add_arguments", "record_from_now", "run"]

VARIABLE = "AUTOGRAD_CY_PROFILE"


class Recording:
    """A recording of this process, from the start or some step on, which is reported once."""

    def __init__(self, options: dict[str, Any], steps: tuple[int, int] | None = None) -> None:
        self._session: Session | None = Session(**options)
        self._columns: Columns | None = None
        self._pid = os.getpid()
        self._steps = steps
        self.last_step = 0
        self.reported = False
        if steps is None or steps[0] <= 0:
            self._session.start()
        if steps is not None:
            KinetoStepTracker._listeners.append(self._stepped)

    def _stepped(self, step: int) -> None:
        assert self._steps is not None
        first, last = self._steps
        self.last_step = step
        if self._session is None:
            return
        if step >= last:
            self._finish()
        elif step >= first and not self._session.running:
            self._session.start()

    def _finish(self) -> None:
        session, self._session = self._session, None
        if session is not None and session.running:
            self._columns = session.stop()

    def report(self) -> Loaded | None:
        """Return the recorded events, the first time only; nothing in forked children."""
        if os.getpid() != self._pid:
            self.reported = True
            return None
        self._finish()
        columns, self._columns = self._columns, None
        self.reported = self.reported or columns is not None
        return None if columns is None else Loaded(columns)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``python -m autograd_cy profile``."""
    parser.add_argument("--trace", metavar="FILE", help="write a Chrome trace (.json or .json.gz)")
    parser.add_argument("--save", metavar="FILE", help="write the recording, for profiler.load")
    parser.add_argument("--flamegraph", metavar="FILE", help="write a flame graph (.svg)")
    parser.add_argument("--stacks", action="store_true", help="record lines of the program")
    parser.add_argument("--shapes", action="store_true", help="record sizes of arguments")
    parser.add_argument("--memory", action="store_true", help="record allocations")
    parser.add_argument(
        "--steps",
        metavar="FIRST:LAST",
        type=_range_of_steps,
        help="record only while this many steps of an optimizer have been made",
    )
    parser.add_argument("-m", dest="module", action="store_true", help="script is a module's name")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of the script")


def _range_of_steps(text: str) -> tuple[int, int]:
    first, colon, last = text.partition(":")
    try:
        steps = int(first or 0), int(last) if last else sys.maxsize
    except ValueError:
        steps = (0, 0)
    if not colon or not 0 <= steps[0] < steps[1]:
        raise argparse.ArgumentTypeError(f"{text!r} is no range of steps such as 10:20")
    return steps


def run(arguments: argparse.Namespace) -> int:
    """Run a program under the profiler, and report however it ends."""
    options = {
        "with_stack": arguments.stacks or bool(arguments.flamegraph),
        "record_shapes": arguments.shapes,
        "profile_memory": arguments.memory,
    }
    if not arguments.module and not Path(arguments.script).exists():
        print(f"autograd-cy profile: there is no script {arguments.script}", file=sys.stderr)
        return 2
    recording = Recording(options, arguments.steps)

    def report() -> None:
        profile = recording.report()
        if profile is not None:
            _report(profile, arguments)
        elif not recording.reported:
            recording.reported = True
            print(
                f"nothing was recorded: the program made {recording.last_step} steps of an "
                f"optimizer, and --steps begins with {arguments.steps[0]}",
                file=sys.stderr,
            )

    _on_termination(report)
    argv, path = sys.argv, list(sys.path)
    sys.argv = [arguments.script, *arguments.arguments]
    try:
        if arguments.module:
            sys.path.insert(0, os.getcwd())
            runpy.run_module(arguments.script, run_name="__main__", alter_sys=True)
        else:
            # What Python does for a script that it runs.
            sys.path.insert(0, str(Path(arguments.script).resolve().parent))
            runpy.run_path(arguments.script, run_name="__main__")
    finally:
        sys.argv, sys.path[:] = argv, path
        report()
    return 0


def _report(profile: Loaded, arguments: argparse.Namespace) -> None:
    print(profile.summary(), file=sys.stderr, end="")
    if arguments.stacks:
        print("\n" + profile.group("line").table(20), file=sys.stderr, end="")
    for path, write in (
        (arguments.trace, profile.export_chrome_trace),
        (arguments.save, profile.save),
        (arguments.flamegraph, profile.export_flamegraph),
    ):
        if path:
            own = _of_rank(path)
            write(own)
            print(f"wrote {own}", file=sys.stderr)


def _of_rank(path: str) -> str:
    """The path with the rank in its name: `t.json.gz` is `t.rank3.json.gz`."""
    rank = rank_of_process()
    if rank is None:
        return path
    folder, name = os.path.split(path)
    stem, dot, suffixes = name.partition(".")
    return os.path.join(folder, f"{stem}.rank{rank}{dot}{suffixes}")


def _on_termination(report: Any) -> None:
    """Report before SIGTERM ends the process; programs' own handlers stay."""
    try:
        if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
            return

        def terminated(number: int, frame: Any) -> None:
            report()
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

        signal.signal(signal.SIGTERM, terminated)
    except ValueError:  # not the main thread
        return


def record_from_now(folder: str) -> None:
    """
    Record this process until it ends: what the variable AUTOGRAD_CY_PROFILE asks for.

    Parameters
    ----------
    folder : str
        Where ``<worker>.npz`` is written, which ``profiler.load`` reads. Made if it isn't there.
    """
    # What the report needs: to import it after an interrupt can change the exit status, as Python
    # forgets the interrupt when it compiles a string.
    import logging  # noqa: F401
    import zipfile  # noqa: F401

    import numpy.ma  # noqa: F401

    import autograd_cy.profiler._summary  # noqa: F401

    recording = Recording({"with_stack": True})

    def report() -> None:
        profile = recording.report()
        if profile is None:
            return
        print(profile.summary(), file=sys.stderr, end="")
        try:
            os.makedirs(folder, exist_ok=True)
            path = os.path.join(folder, f"{worker_of_process()}.npz")
            profile.save(path)
            tell(f"wrote {path}")
        except OSError as error:
            tell(f"{VARIABLE}: can't write into {folder}: {error}", ERROR)

    atexit.register(report)
    _on_termination(report)
