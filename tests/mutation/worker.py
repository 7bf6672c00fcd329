"""A pytest plugin that collects once, then runs any of the tests in forked children as asked.

Requests and answers are lines of JSON over the two pipes named by PIPES:

    {"tests": [3, 17], "number": 5, "patience": [20.5, 21.0]}   ->   {"outcome": "failed", "at": 1}
    {"tests": [3, 17], "number": -1, "notes": true}
        ->   {"rows": [[3, 0.01, "passed", [5], ""], ...]}, the last of them the text of a failure

Seconds are those of processors, as the machine may be busy with other things; a wait counts little.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import time
from pathlib import Path

from _pytest.runner import runtestprotocol
from _pytest.warnings import catch_warnings_for_item

from tests.mutation.runtime import PARENT, VARIABLE, Page

PIPES = "AUTOGRAD_CY_MUTANTS_PIPES"
MEMORY = 14 << 30  # bytes of address space: a mutant in a size must not take the machine down
WAITING = 0.1  # what a second counts in which a test waits, for a process or a clock
IDLE = 0.03  # of a processor: what has less for so long waits for ever
ALONE = 120.0  # seconds that a test without a mutant may take
FAILURE = 20_000  # characters of the text of a failure
LOOK = 1.0  # seconds between two looks at one that takes long
TICK = os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    """Processor time of this process and of those it waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def seconds_of(session: int) -> float:
    """Processor time of the living processes of a session, and of those they waited for."""
    ticks = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat") as file:
                # The name of the program stands in brackets and may hold anything.
                fields = file.read().rpartition(")")[2].split()
                if int(fields[3]) == session:
                    ticks += sum(map(int, fields[11:15]))
    return ticks / TICK


class Watch:
    """Say when a child has had enough: processor time, or a wait in which it does nothing."""

    def __init__(self, pid: int):
        self.pid = pid
        self.start()

    def start(self):
        """A test begins."""
        self.since, self.before = time.monotonic(), seconds_of(self.pid)

    def is_over(self, patience: float) -> bool:
        wall = time.monotonic() - self.since
        if wall < patience:
            return False
        spent = seconds_of(self.pid) - self.before
        return spent > patience or spent < IDLE * wall


def pytest_collection(session):
    """Collect at one thread: a forked child would wait for a team that only its parent has."""
    Worker.threads = threads(1)


def threads(number):
    """Set how many threads operators use; returns how many it were."""
    try:
        import autograd_cy
    except ImportError:  # in the small trees of test_trial.py
        return 1
    before = autograd_cy.get_num_threads()
    autograd_cy.set_num_threads(number)
    return before


def pytest_runtestloop(session):
    """Serve requests instead of running all tests."""
    Worker(session).serve()
    return True


def run(item, following):
    """The reports of a test, under the filters of warnings that its marks ask for."""
    with catch_warnings_for_item(item.config, item.ihook, when="runtest", item=item):
        return runtestprotocol(item, log=False, nextitem=following)


class Worker:
    """The collected tests, and the pipes to the command."""

    threads = 1  # of a child

    def __init__(self, session):
        self.items = session.items
        self.page = Page(Path(os.environ[VARIABLE]))
        os.environ[PARENT] = str(os.getpid())
        incoming, outgoing = map(int, os.environ.pop(PIPES).split(","))
        self.requests = os.fdopen(incoming, "r")
        self.answers = os.fdopen(outgoing, "w")
        # One folder for all children, which would each begin a new one.
        session.config._tmp_path_factory.getbasetemp()

    def serve(self):
        names = [item.nodeid for item in self.items]
        self.answer({"tests": names, "imported": self.page.reached()})
        for line in self.requests:
            request = json.loads(line)
            serve = self.note if request.get("notes") else self.run
            self.answer(serve(**request))

    def answer(self, value):
        self.answers.write(json.dumps(value) + "\n")
        self.answers.flush()

    def run(self, tests, number, patience):
        """Run tests with a mutant until one fails; its place, and how it ended."""
        pid = self.fork(tests, number)
        status = self.wait(pid, patience)
        at = self.page.done
        if status is None:
            return {"outcome": "hung", "at": at}
        if os.WIFSIGNALED(status) or os.WEXITSTATUS(status) not in (0, 1):
            return {"outcome": "crashed", "at": at}
        return {"outcome": "failed" if os.WEXITSTATUS(status) else "passed", "at": at}

    def note(self, tests, number, notes):
        """Run all tests, each on its own account: seconds, outcome, places reached, failure."""
        rows = []
        while len(rows) < len(tests):
            incoming, outgoing = os.pipe()
            pid = self.fork(tests[len(rows) :], number, outgoing)
            os.close(outgoing)
            found, hung = self.read_rows(pid, incoming)
            rows += found
            if len(rows) < len(tests):
                rows.append([tests[len(rows)], 0.0, "hung" if hung else "crashed", [], ""])
        return {"rows": rows}

    def read_rows(self, pid, incoming):
        """The rows that a child writes, and whether it had to be ended."""
        text, hung, watch = b"", False, Watch(pid)
        while True:
            if select.select([incoming], [], [], LOOK)[0]:
                piece = os.read(incoming, 1 << 16)
                if not piece:
                    break
                text += piece
                watch.start()
            elif os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                break  # what it started has the pipe still
            elif watch.is_over(ALONE):
                hung = True
                break
        os.close(incoming)
        self.end(pid)
        os.waitpid(pid, 0)
        return [json.loads(line) for line in text.splitlines(True) if line.endswith(b"\n")], hung

    def fork(self, tests, number, notes=None):
        self.page.done = 0
        self.page.number = number
        pid = os.fork()
        if pid:
            return pid
        code = 3
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            code = self.child(tests, notes)
        finally:
            os._exit(code)

    def child(self, tests, notes):
        threads(self.threads)
        for place, test in enumerate(tests):
            following = self.items[tests[place + 1]] if place + 1 < len(tests) else None
            if notes is not None:
                self.page.forget()
            start, wall = own_seconds(), time.perf_counter()
            reports = run(self.items[test], following)
            seconds = own_seconds() - start
            seconds += WAITING * max(0.0, time.perf_counter() - wall - seconds)
            failed = any(report.failed for report in reports)
            if notes is None:
                if failed:
                    return 1
                self.page.done = place + 1
                continue
            skipped = any(report.skipped for report in reports)
            outcome = "failed" if failed else "skipped" if skipped else "passed"
            failure = next((str(r.longrepr)[:FAILURE] for r in reports if r.failed), "")
            row = [test, round(seconds, 4), outcome, self.page.reached(), failure]
            os.write(notes, (json.dumps(row) + "\n").encode())
        return 0

    def wait(self, pid, patience):
        """The status of a child; None if one of its tests took longer than its patience."""
        done, watch, pause = 0, Watch(pid), 0.001
        while True:
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                self.end(pid)
                return status
            if self.page.done != done:
                done = self.page.done
                watch.start()
            elif watch.is_over(patience[min(done, len(patience) - 1)]):
                self.end(pid)
                os.waitpid(pid, 0)
                return None
            time.sleep(pause)
            pause = min(0.05, pause * 1.3)

    def end(self, pid):
        """End a child and what it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
