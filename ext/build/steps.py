"""The three steps that make one module: Cython, C compiler, linker.

A step runs only when its command, the content of a file it read or a version of the tools has
changed.  What it read comes from the tools themselves (dependency files), so a changed .pxd or
header rebuilds what uses it.  Files outside of the source tree are known by the version of what
they belong to, because pip puts NumPy and Cython into a new temporary folder for each build.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path


class StepFailed(Exception):
    """A compiler said no; the message holds its command and what it wrote."""


@dataclass
class Job:
    """One compiled module: where it comes from and how each step is run."""

    name: str  # last part of the module name
    module: str  # full name
    source: Path
    cython_flags: list[str]
    compile_command: list[str]
    link_command: list[str]
    link_flags: list[str]
    folder: Path  # intermediate files
    pxd: Path  # its own .pxd, which may not exist yet
    suffix: str = ".so"
    ran: list[str] = field(default_factory=list)

    @property
    def c_file(self) -> Path:
        return self.folder / f"{self.name}.c"

    @property
    def object(self) -> Path:
        return self.folder / f"{self.name}.o"

    @property
    def library(self) -> Path:
        return self.folder / f"{self.name}{self.suffix}"

    @property
    def state_file(self) -> Path:
        return self.folder / f"{self.name}.json"

    @cached_property
    def state(self) -> dict:
        try:
            return json.loads(self.state_file.read_text())
        except (OSError, ValueError):
            return {}

    @property
    def cost(self) -> float:
        """Seconds it took last time; for a new module a guess from the size of its source."""
        return self.state.get("seconds") or self.source.stat().st_size / 5e3


class Builder:
    """Brings jobs up to date, several at once, the longest first."""

    def __init__(self, root: Path, jobs_at_once: int, versions=(), moving=(), say=print):
        """`versions` of the tools and `moving`, the folders whose place means nothing."""
        self.root = root
        self.jobs_at_once = jobs_at_once
        self.versions = list(versions)
        self.moving = [sys.executable, *map(str, moving)]
        self.say = say
        self.digests = {}

    def build(self, jobs: list[Job]) -> None:
        order = sorted(jobs, key=lambda job: -job.cost)
        with ThreadPoolExecutor(self.jobs_at_once) as pool:
            futures = [pool.submit(self.bring_up_to_date, job) for job in order]
            try:
                for future in as_completed(futures):
                    future.result()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def bring_up_to_date(self, job: Job) -> None:
        job.folder.mkdir(parents=True, exist_ok=True)
        start = time.perf_counter()
        self._cythonise(job)
        self._compile(job)
        self._link(job)
        if job.ran:
            seconds = time.perf_counter() - start
            if len(job.ran) == 3:
                job.state["seconds"] = round(seconds, 2)
            job.state_file.write_text(json.dumps(job.state, indent=1))
            self.say(f"  {job.name}: {', '.join(job.ran)} ({seconds:.1f} s)")

    def _cythonise(self, job):
        command = [sys.executable, "-m", "cython", "-M", "--module-name", job.module]
        command += [*job.cython_flags, "-o", self._short(job.c_file), self._short(job.source)]
        depfile = Path(f"{job.c_file}.dep")
        # The .pxd is listed even while it does not exist: its arrival must count as a change.
        always = [job.source, job.pxd]
        self._step(job, "cython", command, job.c_file, depfile, always)

    def _compile(self, job):
        depfile = job.folder / f"{job.name}.d"
        command = [*job.compile_command, "-MMD", "-MF", self._short(depfile)]
        command += ["-c", self._short(job.c_file), "-o", self._short(job.object)]
        self._step(job, "compile", command, job.object, depfile, [job.c_file])

    def _link(self, job):
        command = [*job.link_command, self._short(job.object), "-o", self._short(job.library)]
        command += job.link_flags
        self._step(job, "link", command, job.library, None, [job.object])

    def _step(self, job, step, command, output, depfile, always):
        known = job.state.get(step)
        signature = self._signature(command)
        if known and known.get("signature") == signature and output.exists():
            unchanged = (self.digest(path) == digest for path, digest in known["read"].items())
            if all(unchanged):
                return
        job.state.pop(step, None)
        self._run(command)
        self.digests.pop(str(self.root / output), None)
        read = {self._short(path) for path in always}
        read |= set(read_depfile(depfile, self.root))
        read = {path: self.digest(path) for path in sorted(read)}
        job.state[step] = {"signature": signature, "read": read}
        job.ran.append(step)

    def _signature(self, command):
        text = "\n".join([*command, *self.versions])
        for number, path in enumerate(self.moving):
            text = text.replace(path, f"<{number}>")
        return hashlib.sha1(text.encode()).hexdigest()

    def _short(self, path):
        """Relative to the root, where commands run: no path of this machine gets into a file."""
        return os.path.relpath(path, self.root)

    def _run(self, command):
        run = subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False)
        output = (run.stdout + run.stderr).strip()
        if run.returncode:
            raise StepFailed(f"This command failed:\n  {shlex.join(command)}\n{output}")
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


def read_depfile(path: Path | None, root: Path) -> list[str]:
    """The files of the source tree named after the colon of a make rule, relative to `root`."""
    if path is None or not path.exists():
        return []
    text = path.read_text().replace("\\\n", " ")
    _, _, names = text.partition(": ")
    words = re.split(r"(?<!\\)\s+", names.strip())
    paths = [os.path.relpath(root / word.replace("\\ ", " "), root) for word in words if word]
    return [path for path in paths if not path.startswith("..")]
