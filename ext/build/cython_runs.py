"""Runs of Cython from a process that has loaded it once.

Most of a short run is loading Cython and reading its own helper code, two seconds for each of some
sixty modules. Here one process does that, by translating a small module, makes a copy of itself for
each run that may go on at once, and these fork for every run: each begins in the same state, as a
new interpreter would, and leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import Any, TextIO

# Uses what the modules of the package use most, so that Cython has read the code for it.
WARM_UP = """
cdef class Pair:
    cdef public object left
    cdef double right

    def __init__(self, left, double right=1.0):
        self.left, self.right = left, right

    def __add__(self, other):
        return Pair(self.left + other, self.right)

    @property
    def items(self):
        return [x for x in (self.left, self.right)]


cdef int total(Py_ssize_t n) except -1:
    cdef Py_ssize_t i, found = 0
    with nogil:
        for i in range(n):
            found += i
    return <int>found


def describe(*args, key=None, **more):
    cdef dict seen = {}
    cdef tuple pair
    try:
        for k, v in more.items():
            seen[k] = v
        pair = tuple(args)
        return f"{total(len(pair))} {key!r} {pair[0]}", lambda x: x in seen
    except (KeyError, TypeError) as error:
        raise ValueError(f"no {key}") from error
    finally:
        seen.clear()


def walk(items):
    for item in items:
        yield isinstance(item, str) and item.startswith("a")
"""


# Cython's helper that appends to the list of a comprehension gives back its reference to the
# element also where it fails, for want of memory; its caller does so again then, which frees an
# element that is still in use. (Cython 3.3; older ones lack the helper and need no correction.)
WRONG = "    int result = PyList_Append(list, x);\n    Py_DECREF(x);\n"
CORRECTION = WRONG.replace("    Py_DECREF", "    if (likely(result == 0)) Py_DECREF")
_UNCHECKED = re.compile(rb"= PyObject_IsInstance\([^;\n]*\); *\n")


def correct_helpers() -> None:
    """Correct what is wrong in Cython's helper code, in this process."""
    from Cython.Compiler.Code import UtilityCode

    try:
        helper = UtilityCode.load_cached("ListCompAppendAndDecref", "Optimize.c")
    except (KeyError, ValueError):  # older ones raise one, newer ones the other
        return
    helper.impl = helper.impl.replace(WRONG, CORRECTION)


def correct_calls() -> None:
    """Let `isinstance` of several classes look whether asking an object for its class failed.

    Cython 3.3 writes one call for each class, and forgets the test of its result that it writes
    for a class alone: an error raised by a property ``__class__`` stayed set, and surfaced later.
    """
    from Cython.Compiler.ExprNodes import PythonCapiCallNode
    from Cython.Compiler.PyrexTypes import CFuncType

    if getattr(PythonCapiCallNode, "checks_classes", False):
        return
    plain = PythonCapiCallNode.__init__

    def checking(self, pos, function_name, func_type, *args, **kwargs):
        if function_name == "PyObject_IsInstance" and func_type.exception_value is None:
            func_type = CFuncType(func_type.return_type, func_type.args, exception_value=-1)
        plain(self, pos, function_name, func_type, *args, **kwargs)

    PythonCapiCallNode.__init__ = checking
    PythonCapiCallNode.checks_classes = True


def trace_with_the_gil_only() -> None:
    """Leave functions without the GIL out of `linetrace`.

    They can't call Python's tracer, but at their end Cython lets them wait for the GIL: forever, if
    they run in a thread of OpenMP for a thread that holds it.
    """
    from Cython.Compiler.Nodes import FuncDefNode

    if getattr(FuncDefNode, "traces_with_the_gil_only", False):
        return
    plain = FuncDefNode.generate_function_definitions

    def generate(self, env, code):
        before = code.globalstate.directives
        if self.local_scope.nogil:
            code.globalstate.directives = before | {"linetrace": False, "profile": False}
        try:
            plain(self, env, code)
        finally:
            code.globalstate.directives = before

    FuncDefNode.generate_function_definitions = generate
    FuncDefNode.traces_with_the_gil_only = True


def is_uncorrected(source: bytes) -> bool:
    """Return whether a C file is from before one of these corrections, or from Cython alone."""
    return WRONG.encode() in source or _UNCHECKED.search(source) is not None


class CythonRuns:
    """Processes that wait for runs: copies of one, which has loaded Cython and what runs share."""

    def __init__(self, root: Path, many: bool = False, at_once: int = 1):
        """`many`: so many runs that reading all declarations first is worth a second."""
        self.root = root
        self.many = many
        self.at_once = at_once
        self.free: SimpleQueue[tuple[TextIO, TextIO]] = SimpleQueue()
        self.all: list[TextIO] = []
        self.first: subprocess.Popen | None = None
        self.starting = Lock()

    def run(self, arguments: list[str]) -> tuple[int, str]:
        """The exit status of ``cython arguments...`` and what it wrote."""
        with self.starting:
            if self.first is None:
                self.first = self._start(arguments)
        requests, answers = self.free.get()
        try:
            requests.write(json.dumps(arguments) + "\n")
            requests.flush()
            line = answers.readline()
        except BrokenPipeError:
            line = ""
        self.free.put((requests, answers))
        if not line:
            return 1, "the process that runs Cython ended"
        answer = json.loads(line)
        return answer["status"], answer["output"]

    def _start(self, arguments: list[str]) -> subprocess.Popen:
        """The first process, which makes the others; runs like this one are what they expect."""
        theirs = []
        for _ in range(self.at_once):
            (questions, requests), (answers, answered) = os.pipe(), os.pipe()
            theirs.append((questions, answered))
            self.all += [
                os.fdopen(requests, "w", encoding="utf-8"),
                os.fdopen(answers, encoding="utf-8"),
            ]
            self.free.put((self.all[-2], self.all[-1]))
        # The shared helper code comes of no source, and cimports nothing.
        like = arguments if self.many and arguments[-1].endswith(".pyx") else None
        say = json.dumps({"pipes": theirs, "like": like})
        process = subprocess.Popen(
            [sys.executable, "-m", "ext.build.cython_runs", say], cwd=self.root,
            stdin=subprocess.DEVNULL, pass_fds=[end for pair in theirs for end in pair],
        )  # fmt: skip
        for end in (end for pair in theirs for end in pair):
            os.close(end)
        return process

    def close(self) -> None:
        for pipe in self.all:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        self.all.clear()
        if self.first is not None:
            self.first.wait()


def prepare(pipes: list[tuple[int, int]], like: list[str] | None) -> None:
    """Load what runs share, then answer those asked for on each pair of pipes."""
    ready: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "warm_up.pyx")
        source.write_text(WARM_UP, encoding="utf-8")
        # Not in a child: this is what the children inherit.
        _cython(["-3", "-o", str(source.with_suffix(".c")), str(source)])
    if like is not None:
        ready[" ".join(_common(like))] = _declarations(like)
    for place in range(1, len(pipes)):
        if os.fork() == 0:
            serve(pipes, place, ready)
            os._exit(0)
    serve(pipes, 0, ready)
    for _ in pipes[1:]:
        os.wait()


def serve(pipes: list[tuple[int, int]], place: int, ready: dict[str, Any]) -> None:
    """Answer the runs asked for on one pair of pipes, one line each, until it ends."""
    for other in (end for pair in (*pipes[:place], *pipes[place + 1 :]) for end in pair):
        os.close(other)  # a pipe ends when nobody can write into it any more
    requests, answers = (
        os.fdopen(pipes[place][0], encoding="utf-8"),
        os.fdopen(pipes[place][1], "w", encoding="utf-8"),
    )
    for line in requests:
        arguments = json.loads(line)
        common = " ".join(_common(arguments))
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
            child = os.fork()
            if child == 0:
                # Trees of Cython are cycles, but the process ends before they take much memory:
                # looking for them is a fifth to two fifths of a run, and frees 5 percent.
                gc.disable()
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
                with ready.get(common) or contextlib.nullcontext():
                    status = _cython(arguments)
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            log.seek(0)
            answers.write(json.dumps({"status": status, "output": log.read()}) + "\n")
            answers.flush()


def _common(arguments: list[str]) -> list[str]:
    """The arguments without what differs from run to run: module, result and source."""
    places = [arguments.index(name) + 1 for name in ("--module-name", "-o") if name in arguments]
    own = {*places, len(arguments) - 1}
    return [argument for place, argument in enumerate(arguments) if place not in own]


def _declarations(arguments: list[str]):
    """A context in which runs with such arguments have the declarations of their package."""
    from Cython import __version__

    # What this takes hold of in Cython isn't promised to anybody: other versions do without it.
    if not __version__.startswith(("3.2.", "3.3.")):
        return None
    from .declarations import read, used_by_runs

    package = arguments[arguments.index("--module-name") + 1].rpartition(".")[0]
    declarations = read(arguments, Path(*package.split(".")), package)
    return declarations and used_by_runs(declarations)


def _cython(arguments: list[str]) -> int:
    """One run in this process; returns its exit status."""
    from Cython.Compiler.Main import main

    correct_helpers()
    correct_calls()
    if "linetrace=True" in arguments:
        trace_with_the_gil_only()
    sys.argv = ["cython", *arguments]
    try:
        main(command_line=1)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    prepare(**json.loads(sys.argv[1]))
