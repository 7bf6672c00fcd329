"""The three steps that make a module: Cython, C compiler, linker.

A step runs only when its command, the content of a file it read or a version of the tools has
changed.  What it read comes from the tools themselves (dependency files), so a changed .pxd or
header rebuilds what uses it.  Files outside of the source tree are known by the version of what
they belong to, because pip puts NumPy and Cython into a new temporary folder for each build.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
import sys
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from .advice import advice
from .cython_runs import CythonRuns, is_uncorrected
from .probe import CAPTURED, read_json, write_json

READING = "2"  # changes when files count as read that did not before: all steps run once more
MANY = 8  # runs of Cython that pay for reading all declarations first
_CIMPORT = re.compile(r"^from ([\w.]+)\.(\w+) cimport ", re.M)


class StepFailed(Exception):
    """A compiler said no; the message holds its command and what it wrote."""

    advised = False  # true where memory, the disk or a crash is the reason, not what was read


class Stamp:
    """The record that earlier builds left of their steps: commands and digests of the files they
    read."""

    def __init__(self, path: Path):
        self.path = path
        self.ran: list[str] = []
        self.seconds = 0.0
        self.steps = read_json(path)

    def save(self) -> None:
        write_json(self.path, self.steps)

    def forget(self, step: str) -> None:
        """Drop a step that is about to run.

        A build that is killed leaves half of its output, and if the file that changed is put back,
        the record of an earlier run would be right again.
        """
        if self.steps.pop(step, None) is not None:
            self.save()


@dataclass
class Library:
    """One compiled module, made from the C file of its unit."""

    name: str  # last part of the module name
    compile_command: list[str]
    link_command: list[str]
    link_flags: list[str]


@dataclass
class Unit:
    """One source that Cython turns into one C file, and the modules compiled from that."""

    name: str
    module: str  # full name
    source: Path | None  # None: the helper code that the other units share
    pxd: Path  # its own .pxd, which may not exist yet
    cython_flags: list[str]
    libraries: list[Library]

    @property
    def size(self) -> int:
        return self.source.stat().st_size * len(self.libraries) if self.source else 0


@dataclass
class Step:
    """One run of a tool."""

    name: str
    command: list[str]
    output: Path
    depfile: Path | None  # which the tool writes: what it read
    always: tuple[Path, ...]  # read whatever the depfile says


class Builder:
    """Bring units up to date, several compilers at once, the longest work first."""

    def __init__(
        self, root: Path, folder: Path, suffix: str, versions=(), relocatable=(), say=print
    ):
        """`versions` of the tools and `relocatable`, the folders whose place means nothing."""
        self.root = root
        self.folder = folder
        self.c_folder = folder  # C is the same for all compilers
        self.suffix = suffix
        self.versions = list(versions)
        self.relocatable = [sys.executable, *map(str, relocatable)]
        self.say = say
        self.digests: dict[str, str] = {}

    def build(self, units: list[Unit], at_once: int, also=()) -> None:
        """
        All Cython runs are queued before the compilations, which wait for them.

        Between them come `also`, functions that bring other things up to date.
        """
        for folder in (self.folder, self.c_folder):
            folder.mkdir(parents=True, exist_ok=True)
        pool = ThreadPoolExecutor(at_once)
        count = sum(bool(self._reasons(*self._cython_step(unit))) for unit in units)
        self.cython_runs = CythonRuns(self.root, count >= MANY, max(1, min(at_once, count)))
        order = sorted(units, key=lambda unit: -unit.size)
        waiting: dict[Future, Unit | None] = {
            pool.submit(self._cythonise, unit): unit for unit in order
        }
        waiting |= dict.fromkeys(pool.submit(job) for job in also)
        try:
            while waiting:
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    unit = waiting.pop(future)
                    future.result()
                    for library in unit.libraries if unit else ():
                        waiting[pool.submit(self._compile, unit, library)] = None
        finally:
            pool.shutdown(cancel_futures=True)
            self.cython_runs.close()

    def path_of(self, library: Library) -> Path:
        """Return the path of the module."""
        return self.folder / f"{library.name}{self.suffix}"

    def _cythonise(self, unit):
        stamp, step = self._cython_step(unit)
        self._run_step(stamp, step)
        self._report(unit.name, stamp)

    def _compile(self, unit, library):
        stamp, *steps = self._library_steps(unit, library)
        for step in steps:
            try:
                self._run_step(stamp, step)
            except StepFailed as failure:
                if step.name == "link" and not failure.advised:
                    stamp.forget("compile")  # the linker may have been given a damaged file
                raise
        self._report(library.name, stamp)

    def _cython_step(self, unit):
        c_file = self.c_file(unit)
        stamp = Stamp(self.c_folder / f"{unit.name}.cython.json")
        command = [sys.executable, "-m", "cython", "--module-name", unit.module, *unit.cython_flags]
        if unit.source is None:
            command.append(f"--generate-shared={self._short(c_file)}")
            return stamp, Step("cython", command, c_file, None, ())
        command += ["-M", "-o", self._short(c_file), self._short(unit.source)]
        # The .pxd is listed even while it does not exist: its arrival must count as a change.
        always = (unit.source, unit.pxd)
        return stamp, Step("cython", command, c_file, Path(f"{c_file}.dep"), always)

    def _library_steps(self, unit, library):
        c_file = self.c_file(unit)
        o_file, depfile = (self.folder / f"{library.name}{end}" for end in (".o", ".d"))
        stamp = Stamp(self.folder / f"{library.name}.json")
        command = [*library.compile_command, "-MMD", "-MF", self._short(depfile)]
        command += ["-c", self._short(c_file), "-o", self._short(o_file)]
        compiled = Step("compile", command, o_file, depfile, (c_file,))
        output = self.path_of(library)
        command = [*library.link_command, self._short(o_file), "-o", self._short(output)]
        linked = Step("link", [*command, *library.link_flags], output, None, (o_file,))
        return stamp, compiled, linked

    def c_file(self, unit: Unit) -> Path:
        """The C file that Cython makes of the unit."""
        return self.c_folder / f"{unit.name}.c"

    def pending(self, unit: Unit) -> dict[str, dict[str, list[str]]]:
        """Return the steps that a build would run for the unit, and why: {unit or library: {step:
        reasons}}.

        A step that runs counts as a change for those that read its output.
        """
        result: dict[str, dict[str, list[str]]] = {}
        stamp, step = self._cython_step(unit)
        self._add_pending(result, unit.name, stamp, step, [])
        for library in unit.libraries:
            stamp, *steps = self._library_steps(unit, library)
            before = ["its C file is made anew"] if "cython" in result.get(unit.name, {}) else []
            for step in steps:
                self._add_pending(result, library.name, stamp, step, before)
                before = (
                    [f"its {step.name} step runs"]
                    if step.name in result.get(library.name, {})
                    else []
                )
        return result

    def _add_pending(self, pending, name, stamp, step, before):
        reasons = before or self._reasons(stamp, step)
        if reasons:
            pending.setdefault(name, {})[step.name] = reasons

    def _report(self, name, stamp):
        if stamp.ran:
            self.say(f"  {name}: {', '.join(stamp.ran)} ({stamp.seconds:.1f} s)")

    def _reasons(self, stamp, step) -> list[str]:
        """Why a step must run; nothing if what it made before is still right."""
        known = stamp.steps.get(step.name)
        if known is None:
            return ["it has not run yet"]
        if known.get("signature") != self._signature(step.command):
            return ["its command or a version of the tools changed"]
        if not step.output.exists():
            return [f"{self._short(step.output)} is gone"]
        if known.get("output", "") not in ("", self.digest(str(step.output))):
            return [f"{self._short(step.output)} is not what the step wrote"]
        if step.name == "cython" and is_uncorrected(step.output.read_bytes()):
            return ["its C file is from before what Cython writes was corrected"]
        return [
            self._change(*item) for item in known["read"].items() if self.digest(item[0]) != item[1]
        ]

    def _change(self, path, before):
        if before == "absent":
            return f"{path} is new"
        return f"{path} is gone" if self.digest(path) == "absent" else f"{path} changed"

    def _run_step(self, stamp, step):
        if not self._reasons(stamp, step):
            return
        stamp.forget(step.name)
        # A tool that fails may leave half a file, which must not pass for an earlier result.
        step.output.unlink(missing_ok=True)
        start = time.perf_counter()
        self._run(step.command)
        stamp.seconds += time.perf_counter() - start
        if not step.output.exists() or not step.output.stat().st_size:
            raise StepFailed(
                f"This command reports success, but does not write {self._short(step.output)}:\n"
                f"  {shlex.join(step.command)}\n"
                "A script in front of the compiler may be the reason: CC=gcc does without it."
            )
        self.digests.pop(str(step.output), None)
        read = {self._short(path) for path in step.always}
        read |= with_cimports(set(read_depfile(step.depfile, self.root)) | read, self.root)
        digests = {path: self.digest(path) for path in sorted(read)}
        stamp.steps[step.name] = {
            "signature": self._signature(step.command),
            "output": self.digest(str(step.output)),
            "read": digests,
        }
        stamp.save()
        stamp.ran.append(step.name)

    def _signature(self, command):
        # Cython writes the same for every compiler.
        cython = command[1:3] == ["-m", "cython"]
        versions = [v for v in self.versions if not (cython and v.startswith("compiler "))]
        text = "\n".join([*command, *versions, READING])
        for number, path in enumerate(self.relocatable):
            text = text.replace(path, f"<{number}>")
        return hashlib.sha1(text.encode()).hexdigest()

    def _short(self, path):
        """Relative to the root, where commands run: no path of this machine gets into a file."""
        return os.path.relpath(path, self.root)

    def _run(self, command):
        if command[1:3] == ["-m", "cython"]:
            status, output = self.cython_runs.run(command[3:])
        else:
            run = subprocess.run(command, cwd=self.root, check=False, **CAPTURED)
            status, output = run.returncode, run.stdout + run.stderr
        output = output.strip()
        if status:
            reason = advice(status, output)
            said = [f"This command failed:\n  {shlex.join(command)}", output, reason]
            failure = StepFailed("\n".join(filter(None, said)))
            failure.advised = bool(reason)
            raise failure
        if output:
            self.say(output)

    def digest(self, path: str) -> str:
        """A digest of the file's content; files are read once per build."""
        path = str(self.root / path)
        if path not in self.digests:
            try:
                self.digests[path] = hashlib.sha1(Path(path).read_bytes()).hexdigest()
            except OSError:
                self.digests[path] = "absent"
        return self.digests[path]


def with_cimports(paths: set[str], root: Path) -> set[str]:
    """
    `paths`, and the .pxd files that the .pxd files among them cimport.

    Cython's dependency file has what a source cimports, not what its own .pxd does.
    """
    result, new = set(paths), [path for path in paths if path.endswith(".pxd")]
    while new:
        path = root / new.pop()
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        for package, name in _CIMPORT.findall(text):
            other = Path(*package.split("."), f"{name}.pxd").as_posix()
            if other not in result and (root / other).exists():
                result.add(other)
                new.append(other)
    return result


def read_depfile(path: Path | None, root: Path) -> list[str]:
    """The files of the source tree named after the colon of a make rule, relative to `root`."""
    if path is None or not path.exists():
        return []
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    _, _, names = text.partition(": ")
    words = re.split(r"(?<!\\)\s+", names.strip())
    paths = [os.path.relpath(root / word.replace("\\ ", " "), root) for word in words if word]
    return [path for path in paths if not path.startswith("..")]
