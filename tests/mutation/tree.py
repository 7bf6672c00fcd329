"""The copy of the source tree that holds all mutants: written, built, made to compile."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.mutation import runtime
from tests.mutation.mutants import Mutant, write

ROOT = Path(__file__).resolve().parents[2]
OUTPUTS = shutil.ignore_patterns("*.so", "__pycache__", ".*", "_build_info.py")
# A forked child stays at one thread. Those of a trial, whose parent had one, too, may have more,
# and what their tests fork may not.
FORKED = "agc_forked = 1;"
OF_A_TRIAL = f"""
        extern char *getenv(const char *);
        extern int atoi(const char *), getppid(void);
        const char *parent = getenv("{runtime.PARENT}");
        agc_forked = !parent || atoi(parent) != getppid();
"""
IMPORT = "from autograd_cy._C._mutants import _mutant"
# Not mutated: what only prints, measures the machine, or is about being installed.
NOT_CODE = ("doctor", "info", "machine", "printing", "namespace", "__main__", "_version", "viz")


def sources() -> list[Path]:
    """Hand-written Cython and Python, without the operator table, which has tests of its own."""
    found = [path for ending in ("*.pyx", "*.pxi") for path in (ROOT / "ext").rglob(ending)]
    for path in (ROOT / "autograd_cy").rglob("*.py"):
        left_out = "ops" in path.parts or "_C" in path.parts or path.stem in NOT_CODE
        if not left_out and not is_generated(path):
            found.append(path)
    return found


def is_generated(path: Path) -> bool:
    """Return whether the build wrote it: there only after a build, and another next time."""
    return "do not edit" in path.read_text(errors="replace")[:400]


def make(folder: Path, mutants: dict[int, Mutant]) -> dict[int, Mutant]:
    """Write and build the tree with the mutants; returns those that compile."""
    while True:
        _copy(folder, mutants)
        refused = _build(folder, mutants)
        if not refused:
            return mutants
        mutants = {number: mutant for number, mutant in mutants.items() if number not in refused}
        print(f"{len(refused)} mutants do not compile and are left out", flush=True)


def _copy(folder: Path, mutants: dict[int, Mutant]) -> None:
    """A copy of the tree; only what differs is written, so that a later build is short."""
    texts = changed(mutants)
    remove_strays(folder, texts)

    def copy_file(source, target):
        name = str(Path(source).relative_to(ROOT))
        _write(Path(target), texts.pop(name, None) or Path(source).read_bytes())

    shutil.copytree(ROOT, folder, ignore=_left_out, dirs_exist_ok=True, copy_function=copy_file)
    for name, text in texts.items():
        _write(folder / name, text)


def remove_strays(folder: Path, texts) -> None:
    """Remove the files that an older tree had and this one has not: their tests would fail without
    a mutant."""
    for path in list(folder.rglob("*")):
        name = path.relative_to(folder)
        written = {"build", "dist", "__pycache__"} & set(name.parts) or OUTPUTS("", [path.name])
        if written or not path.is_file() or str(name) in texts or (ROOT / name).exists():
            continue
        if not is_generated(path):
            path.unlink()


def changed(mutants: dict[int, Mutant]) -> dict[str, bytes]:
    """{file: its text with the mutants}, and the module that `_mutant` comes from."""
    by_path: dict[str, dict[int, Mutant]] = {}
    for number, mutant in mutants.items():
        by_path.setdefault(mutant.path, {})[number] = mutant
    texts = {name: write((ROOT / name).read_text(), found) for name, found in by_path.items()}
    for name in list(texts):
        if name.endswith(".py"):
            texts[name] = _with_import(texts[name])
    hosts = {_host(name) for name in texts if not name.endswith(".py")}
    threads = "ext/core/parallel.pyx"
    texts[threads] = texts.get(threads) or (ROOT / threads).read_text()
    if FORKED not in texts[threads]:
        raise LookupError(f"{threads} notes otherwise that a process was forked")
    texts[threads] = texts[threads].replace(FORKED, OF_A_TRIAL.strip())
    for name in hosts:
        text = texts.get(name) or (ROOT / name).read_text()
        start = re.search(r"^(from|import|cimport|cdef) ", text, re.M).start()
        texts[name] = text[:start] + runtime.CYTHON + text[start:]
    # Below everything that may ask it (tests/test_layers.py).
    texts["autograd_cy/_C/_mutants.py"] = runtime.PYTHON
    return {name: text.encode() for name, text in texts.items()}


def _write(path: Path, text: bytes) -> None:
    if not path.exists() or path.read_bytes() != text:
        path.write_bytes(text)


def _left_out(folder, names):
    outputs = {"build", "dist"} if Path(folder) == ROOT else set()
    return OUTPUTS(folder, names) | outputs


def _with_import(text: str) -> str:
    """Python with the import of `_mutant`, after the docstring and __future__."""
    line = 0
    for node in ast.parse(text).body:
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not (docstring or future):
            break
        line = node.end_lineno
    lines = text.splitlines()
    return "\n".join([*lines[:line], IMPORT, *lines[line:]]) + "\n"


def _host(name: str) -> str:
    """The .pyx that a .pxi is a part of, which its folder is named after; or the .pyx itself."""
    path = ROOT / name
    if path.suffix == ".pyx":
        return name
    for folder in (path.parent, path.parent.parent):
        for host in folder.glob("*.pyx"):
            if f'include "{path.relative_to(folder).as_posix()}"' in host.read_text():
                return str(host.relative_to(ROOT))
    raise LookupError(f"nothing includes {name}")


def _build(folder: Path, mutants: dict[int, Mutant]) -> set[int]:
    """Build; returns the numbers of mutants in the lines that a compiler refused."""
    for name in {mutant.path for mutant in mutants.values() if mutant.path.endswith(".py")}:
        ast.parse((folder / name).read_text())
    environment = {"AUTOGRAD_CY_OPT": "0", "AUTOGRAD_CY_SIMD": "base"} | os.environ
    if shutil.which("ccache") and "CC" not in environment:
        environment["CC"] = "ccache gcc"
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "setup.py", "-q", "build_ext", "--inplace"],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if run.returncode == 0:
        return set()
    said = run.stdout + run.stderr
    refused = set()
    for name, line in blamed(said):
        lines = (folder / name).read_text().splitlines()
        for near in lines[max(0, int(line) - 4) : int(line) + 1]:
            refused |= {int(number) for number in re.findall(r"_mutant\((\d+)\)", near)}
    if not refused & set(mutants):
        raise SystemExit(said)
    return refused


def blamed(said: str) -> list[tuple[str, str]]:
    """The places (file and line) of Cython's errors; warnings begin with that word."""
    return re.findall(r"^(ext/[\w/]+\.p(?:yx|x[id])):(\d+):\d+:", said, re.M)
