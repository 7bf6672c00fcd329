"""Run cases in worker processes and find out which of them killed one.

A Driver has one worker per library and instruction set. When a worker dies or takes too long, the
case that it was in is run again alone, in a fresh one; if that goes well, the cases before it are
halved until as few as possible are left that still bring it down.
"""

import functools
import os
import signal
import subprocess
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

from . import parts
from .case import Finding

ROOT = Path(__file__).resolve().parents[2]
MODULE = "tests.fuzz.worker"
HISTORY = 400  # cases of a worker that are tried when one alone doesn't do it; then it is replaced
START = 60.0  # seconds that a worker may take until its first case, whatever the limit of one


class Died(Exception):
    """The worker is gone; `number` is the case that it was in."""

    def __init__(self, number, kind, text):
        super().__init__(text)
        self.number, self.kind, self.text = number, kind, text


def state_of(pid):
    """The fields of a process in /proc from its state on; None on other systems."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def processor_seconds(pid):
    """Return the processor time of a process; infinite where nobody knows."""
    state = state_of(pid)
    return sum(map(int, state[11:13])) / os.sysconf("SC_CLK_TCK") if state else float("inf")


def is_waiting_for_a_core(pid):
    """Return whether it would run if others let it."""
    return (state_of(pid) or "?")[0] == "R"


class Worker:
    """One process. `library` is autograd_cy or torch."""

    def __init__(self, library="autograd_cy", cpu="", limit=60.0):
        self.library, self.cpu, self.limit = library, cpu, limit
        self.folder = tempfile.TemporaryDirectory()
        self.errors = open(Path(self.folder.name) / "stderr", "w+b")  # noqa: SIM115
        self.history = []
        here, there = os.pipe(), os.pipe()
        environment = dict(os.environ, PYTHONPATH=str(ROOT), OMP_NUM_THREADS="2")
        environment.pop("AUTOGRAD_CY_CPU", None)
        if cpu:
            environment["AUTOGRAD_CY_CPU"] = cpu
        self.process = subprocess.Popen(
            [sys.executable, "-m", MODULE, str(here[0]), str(there[1]), library],
            pass_fds=(here[0], there[1]),
            cwd=self.folder.name,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=self.errors,
            stderr=self.errors,
        )
        os.close(here[0])
        os.close(there[1])
        self.requests = Connection(here[1], readable=False)
        self.answers = Connection(there[0], writable=False)

    def run(self, part, seed, numbers, with_values=False):
        """Yield (number, status, title, text, source, result) of each case; may raise Died."""
        current, spent = None, 0.0
        try:
            self.requests.send((part, seed, tuple(numbers), with_values))
            while True:
                limit = self.limit if self.history else max(START, self.limit)
                while not self.answers.poll(limit):
                    spent, before = processor_seconds(self.process.pid), spent
                    if spent - before > limit / 2 or not is_waiting_for_a_core(self.process.pid):
                        raise Died(current, "hang", self._kill_and_read())
                spent = processor_seconds(self.process.pid)
                answer = self.answers.recv()
                if answer[0] == "batch":
                    return
                if answer[0] == "start":
                    current = answer[1]
                    self.history.append(current)
                else:
                    yield answer[1:]
        except (EOFError, OSError):
            code = self.process.wait()
            name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            raise Died(current, "crash", f"{name}\n{self._last_words()}") from None

    def _kill_and_read(self):
        self.process.send_signal(signal.SIGUSR1)  # writes where each thread is
        time.sleep(0.3)
        self.process.kill()
        self.process.wait()
        return f"no end within {self.limit:.0f} s\n{self._last_words()}"

    def _last_words(self):
        self.errors.flush()
        self.errors.seek(0)
        text = self.errors.read().decode(errors="replace")
        lines = [line for line in text.splitlines() if "Extension modules:" not in line]
        return "\n".join(lines[-30:])

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for x in (self.requests, self.answers, self.errors):
            x.close()
        self.folder.cleanup()


class Driver:
    """Workers of one job, made when first needed."""

    def __init__(self, seed, targets=("",), limit=60.0, against=None):
        self.seed, self.targets, self.limit, self.against = seed, targets, limit, against
        self.workers = {}

    def worker(self, library="autograd_cy", cpu=""):
        key = (library, cpu)
        found = self.workers.get(key)
        if found is None or len(found.history) > HISTORY:
            if found is not None:
                found.close()
            found = self.workers[key] = Worker(library, cpu, self.limit)
        return found

    def drop(self, library="autograd_cy", cpu=""):
        self.workers.pop((library, cpu)).close()

    def batch(self, part, numbers, cpu=""):
        """Yield (status, Finding or None) of each case."""
        numbers = list(numbers)
        compare = getattr(parts.load(part), "compare", None) if self.against else None
        results = {}
        while numbers:
            worker = self.worker(cpu=cpu)
            try:
                for answer in worker.run(part, self.seed, numbers, compare is not None):
                    number, status, title, text, source, result = answer
                    numbers.remove(number)
                    if status in ("ok", "refused"):
                        results[number] = (title, source, result)
                        yield status, None
                    else:
                        yield status, Finding(part, number, status, title, text, source)
            except Died as died:
                history = list(worker.history)
                self.drop(cpu=cpu)
                if died.number is None:
                    raise RuntimeError(f"a worker does not start: {died.text}") from None
                numbers.remove(died.number)
                yield self._explained(part, died, history, cpu)
        if compare is not None:
            yield from self._second_opinion(part, results, compare)

    def _explained(self, part, died, history, cpu):
        """A dead worker as a finding: which cases does it take?"""
        before = [n for n in history if n != died.number]
        needed = self._needed(part, before, died.number, cpu)
        title, source = describe(part, self.seed, died.number)
        text = died.text
        if needed is None:
            text, needed = f"once, and not again\n{text}", tuple(before)
        return died.kind, Finding(part, died.number, died.kind, title, text, source, needed)

    def _needed(self, part, before, number, cpu):
        """The cases that must run before `number` to bring a worker down; None if nothing does."""
        if self._dies(part, [number], cpu):
            return ()
        if not self._dies(part, [*before, number], cpu):
            return None
        needed = before
        for _ in range(8):
            half = len(needed) // 2
            if half and self._dies(part, [*needed[half:], number], cpu):
                needed = needed[half:]
            elif half and self._dies(part, [*needed[:half], number], cpu):
                needed = needed[:half]
            else:
                break
        return tuple(needed)

    def _dies(self, part, numbers, cpu):
        worker = Worker(cpu=cpu, limit=self.limit)
        try:
            for _ in worker.run(part, self.seed, numbers):
                pass
        except Died:
            return True
        finally:
            worker.close()
        return False

    def _second_opinion(self, part, results, compare):
        """Run the cases by another library, and compare values."""
        try:
            for answer in self.worker(self.against).run(part, self.seed, list(results), True):
                number, status, _, text, _, theirs = answer
                title, source, ours = results[number]
                if status not in ("ok", "refused"):
                    continue  # the other library's own fault
                if ours.status != status:
                    text = f"{ours.status} here, {status} by {self.against}: {ours.text or text}"
                    yield "other", Finding(part, number, "other", title, text, source)
                    continue
                text = compare(ours, theirs)
                if text:
                    yield (
                        "wrong",
                        Finding(part, number, "wrong", title, f"by {self.against}: {text}", source),
                    )
        except Died:
            self.drop(self.against)

    def close(self):
        for worker in self.workers.values():
            worker.close()


def describe(part, seed, number):
    """(title, source) of a case, made without running it."""
    from .case import random_numbers

    case = parts.load(part).make(random_numbers(seed, part, number))
    return case.title, case.source()


@functools.cache
def usable_targets():
    """Instruction sets that can run here, asked in another process."""
    code = "from autograd_cy._C import cpu; print(*cpu.usable_targets())"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return tuple(run.stdout.split())
