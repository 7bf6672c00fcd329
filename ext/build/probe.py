"""Questions to the C compiler: does it accept this flag, does this program compile and link?

Answers are kept in a file of the build folder, since a probe costs some 30 ms and a build asks ten.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
from functools import cached_property
from pathlib import Path

# Ends with 7 when loading the library has made denormal numbers zero.
LOADS = """
import ctypes, sys
try:
    ctypes.CDLL(sys.argv[1])
except OSError:
    sys.exit(0)
sys.exit(0 if float.fromhex("0x1p-1060") * float(len(sys.argv) - 1) > 0 else 7)
"""
EMPTY = "int main(void) { return 0; }\n"
# Compilers may write in another encoding than that of the locale, or quote a source that has one.
CAPTURED = {"capture_output": True, "text": True, "errors": "backslashreplace"}


class Probe:
    """Ask the compiler `cc` (a list: the command with the flags of Python and of the user)."""

    def __init__(self, cc: list[str], ld: list[str], cache: Path | None = None):
        self.cc = list(cc)
        self.ld = list(ld)
        self.version = compiler_version(cc)
        self.cache = cache
        self.answers: dict[str, bool] = {}
        if cache is not None:
            stored = read_json(cache)
            if stored.get("compiler") == self.identity:
                self.answers = stored["answers"]

    @property
    def identity(self) -> list:
        return [self.version, self.cc, self.ld]

    @cached_property
    def strict(self) -> list[str]:
        """-Werror, as clang takes unknown flags with a warning; not where all programs warn."""
        with tempfile.TemporaryDirectory(prefix="autograd_cy_probe_") as folder:
            c_file = Path(folder, "probe.c")
            c_file.write_text(EMPTY, encoding="utf-8")
            command = [*self.cc, "-Werror", "-c", str(c_file), "-o", f"{folder}/probe.o"]
            return ["-Werror"] if _succeeds(command) else []

    def compiles(self, flags=(), source: str = EMPTY) -> bool:
        """True when `source` compiles with `flags` added and no warning."""
        return self._try("compile", list(flags), [], source)

    def links(self, flags=(), link_flags=(), source: str = EMPTY) -> bool:
        """True when `source` also links into a shared object."""
        return self._try("link", list(flags), list(link_flags), source)

    def explain(self, source: str = EMPTY, flags=()) -> str:
        """Return the compiler's output for `source`, or the reason why it did not start; else
        ""."""
        with tempfile.TemporaryDirectory(prefix="autograd_cy_probe_") as folder:
            c_file = Path(folder, "probe.c")
            c_file.write_text(source, encoding="utf-8")
            command = [*self.cc, *flags, "-c", str(c_file), "-o", f"{folder}/probe.o"]
            return _explain(command)

    def explain_link(self) -> str:
        """Return the linker's output for an empty shared object, or the reason why it did not
        start; else ""."""
        with tempfile.TemporaryDirectory(prefix="autograd_cy_probe_") as folder:
            c_file, o_file = Path(folder, "probe.c"), f"{folder}/probe.o"
            c_file.write_text(EMPTY, encoding="utf-8")
            return _explain([*self.cc, "-c", str(c_file), "-o", o_file]) or _explain(
                [*self.ld, o_file, "-o", f"{folder}/probe.so"]
            )

    def flushes_denormals(self) -> bool:
        """True when a shared object from this compiler switches its process to flush-to-zero.

        False also where that cannot be tried: when compiling for another machine.
        """
        with tempfile.TemporaryDirectory(prefix="autograd_cy_probe_") as folder:
            c_file, o_file, library = (f"{folder}/probe{end}" for end in (".c", ".o", ".so"))
            Path(c_file).write_text(
                "int probe(void);\nint probe(void) { return 0; }\n", encoding="utf-8"
            )
            if not _succeeds([*self.cc, "-fPIC", "-c", c_file, "-o", o_file]):
                return False
            if not _succeeds([*self.ld, o_file, "-o", library]):
                return False
            command = [sys.executable, "-c", LOADS, library]
            return subprocess.run(command, check=False).returncode == 7

    def first(self, *candidates: list[str]) -> list[str]:
        """The first of the candidate flag lists that the compiler accepts, or an empty list."""
        return next((flags for flags in candidates if self.compiles(flags)), [])

    def _try(self, what, flags, link_flags, source):
        key = json.dumps([what, flags, link_flags, source])
        if key not in self.answers:
            self.answers[key] = self._run(what, flags, link_flags, source)
            if self.cache is not None:
                self.cache.parent.mkdir(parents=True, exist_ok=True)
                write_json(self.cache, {"compiler": self.identity, "answers": self.answers})
        return self.answers[key]

    def _run(self, what, flags, link_flags, source):
        with tempfile.TemporaryDirectory(prefix="autograd_cy_probe_") as folder:
            c_file, o_file = Path(folder, "probe.c"), Path(folder, "probe.o")
            c_file.write_text(source, encoding="utf-8")
            compile_ = [*self.cc, *flags, *self.strict, "-c", str(c_file), "-o", str(o_file)]
            if not _succeeds(compile_):
                return False
            if what == "compile":
                return True
            out = str(Path(folder, "probe.so"))
            return _succeeds([*self.ld, str(o_file), "-o", out, *link_flags])


def compiler_version(cc: list[str]) -> str:
    """First line of `cc --version`, or what is known without it.

    The words before the first flag are asked together: `ccache gcc` has the version of gcc.
    """
    words = list(itertools.takewhile(lambda word: not word.startswith("-"), cc)) or cc[:1]
    try:
        run = subprocess.run([*words, "--version"], check=False, **CAPTURED)
    except OSError:
        return "not found: " + cc[0]
    lines = run.stdout.splitlines() or run.stderr.splitlines()
    return next((line.strip() for line in lines if line.strip()), cc[0])


def read_json(path: Path) -> dict:
    """The record of an earlier build; empty if there is none, or half of one."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}


def write_json(path: Path, record: dict) -> None:
    """Replace the file in one step, so that a build that is killed leaves the whole of one."""
    passing = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    passing.write_text(json.dumps(record, indent=1), encoding="utf-8")
    os.replace(passing, path)


def _explain(command) -> str:
    """Run a command whose last word is its output; return why there is none, or ""."""
    try:
        run = subprocess.run(command, check=False, **CAPTURED)
    except OSError as error:
        return str(error)
    if run.returncode:
        return (run.stdout + run.stderr).strip() or f"exit status {run.returncode}"
    return "" if os.path.exists(command[-1]) else "it reports success, but writes no file"


def _succeeds(command) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
