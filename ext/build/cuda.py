"""nvcc: the switches, where it is, whether it works here, and the GPUs to compile kernels for.

AUTOGRAD_CY_CUDA=0|1|auto     kernels for GPUs: none, or an error without nvcc; auto (the default)
                              compiles them when nvcc is found
AUTOGRAD_CY_CUDA_ARCHS=list   compute capabilities from 8.0 on, as in 90 or 80,90,ptx (the
                              default); ptx adds code that drivers compile for other GPUs
CUDA_HOME, CUDA_PATH          a toolkit that is looked at before PATH
NVCC_CCBIN, CUDAHOSTCXX       the C++ compiler that nvcc works with

What is compiled is in cuda_images.py.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from .flags import FlagRefused
from .probe import CAPTURED

OLDEST = (11, 8)  # knows sm_90 and arguments that stay where the launch put them
SYSTEM = Path("/usr/local/cuda")
LOWEST = 80  # conversions of bfloat16 are instructions from here on
DEFAULT_ARCHS = "80,90,ptx"
# What would change the results of kernels; nvcc reads these variables itself.
FORBIDDEN = ("use_fast_math", "ftz=true", "prec-div=false", "prec-sqrt=false")
VARIABLES = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS")
SMALL = ("--compress-mode=size", "-Xfatbin=-compress-all")
PROBE = """
struct A { int *p; };
extern "C" __global__ void k(const __grid_constant__ A a) { *a.p = 1; }
"""
INSTALL = (
    "  Load or install a CUDA toolkit (module load cuda; CUDA_HOME=/usr/local/cuda says where one\n"
    "  is), or take nvcc from PyPI: pip install nvidia-cuda-nvcc nvidia-nvvm nvidia-cuda-crt\n"
    "  nvidia-cuda-runtime nvidia-cuda-cccl. AUTOGRAD_CY_CUDA=0 builds for the CPU only."
)


class NoCuda(Exception):
    """There is no nvcc that works here; the message says why in its first line, then what to do."""

    @property
    def reason(self) -> str:
        """The first line, as part of a sentence."""
        return str(self).partition("\n")[0].removeprefix("autograd_cy: ").rstrip(".:")


@dataclass(frozen=True)
class Archs:
    """GPUs to compile for: machine code for each, from the virtual architecture of the first."""

    machines: tuple[int, ...]
    ptx: bool = False

    @property
    def names(self) -> list[str]:
        """The names by which nvcc calls them."""
        names = [f"sm_{number}" for number in self.machines]
        return [*names, f"compute_{self.machines[0]}"] if self.ptx else names

    @property
    def flags(self) -> list[str]:
        """Options of nvcc."""
        virtual = f"compute_{self.machines[0]}"
        return ["-gencode", f"arch={virtual},code=[{','.join(self.names)}]"]


@dataclass(frozen=True)
class Toolkit:
    """An nvcc that works."""

    nvcc: Path
    version: str  # "13.0.88"
    host: str  # the first line that its C++ compiler says of its version
    known: tuple[int, ...]  # compute capabilities that it compiles for
    flags: tuple[str, ...] = field(default=())  # where it needs to be told: C++ compiler, size

    @property
    def root(self) -> Path:
        """The folder of the toolkit."""
        return self.nvcc.parent.parent


def wanted(environ=os.environ) -> str:
    """Return the value of AUTOGRAD_CY_CUDA: "0", "1" or "auto"."""
    setting = environ.get("AUTOGRAD_CY_CUDA", "").strip().lower()
    known = {"": "auto", "auto": "auto"}
    known |= dict.fromkeys(("0", "no", "off", "false"), "0")
    known |= dict.fromkeys(("1", "yes", "on", "true"), "1")
    if setting not in known:
        raise FlagRefused(f"autograd_cy: AUTOGRAD_CY_CUDA={setting} is not 0, 1 or auto.")
    return known[setting]


def toolkit(cache: Path, environ=os.environ) -> Toolkit:
    """The nvcc of this machine; raises NoCuda, or FlagRefused where it is told to do fast math.

    `cache` is a file that keeps what nvcc answered, since it takes a second to ask.
    """
    _refuse_unsafe(environ)
    nvcc = find(environ)
    if nvcc is None:
        raise NoCuda(f"autograd_cy: no nvcc was found{_looked_at(environ)}.\n{INSTALL}")
    host = environ.get("NVCC_CCBIN") or environ.get("CUDAHOSTCXX") or ""
    question = _question(nvcc, host, environ)
    try:
        stored = json.loads(cache.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        stored = {}
    if stored.get("question") != question:
        stored = {"question": question, "answer": _query_nvcc(nvcc, host)}
        cache.parent.mkdir(parents=True, exist_ok=True)
        cache.write_text(json.dumps(stored, indent=1), encoding="utf-8")
    answer = stored["answer"]
    return Toolkit(nvcc, answer["version"], answer["host"], tuple(answer["known"]),
                   tuple(answer["flags"]))  # fmt: skip


def find(environ=os.environ) -> Path | None:
    """The first nvcc of CUDA_HOME, CUDA_PATH, PATH, /usr/local/cuda and the packages of PyPI."""
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if environ.get(name) and (nvcc := _executable(Path(environ[name], "bin", "nvcc"))):
            return nvcc
    if nvcc := shutil.which("nvcc", path=environ.get("PATH", os.defpath)):
        return Path(nvcc)
    places = [SYSTEM / "bin" / "nvcc"]
    # The path of an isolated build has none of the environment that pip runs in.
    for folder in dict.fromkeys([*sys.path, sysconfig.get_paths()["purelib"]]):
        places += sorted(Path(folder or ".", "nvidia").glob("cu*/bin/nvcc"), reverse=True)
    return next(filter(None, map(_executable, places)), None)


def archs(known, environ=os.environ, version: str = "") -> Archs:
    """Return the architectures of AUTOGRAD_CY_CUDA_ARCHS, from those that nvcc knows."""
    value = environ.get("AUTOGRAD_CY_CUDA_ARCHS", "").strip()
    machines, ptx = [], False
    for word in re.split(r"[\s,;]+", value or DEFAULT_ARCHS):
        name, plus, suffix = word.lower().partition("+")
        ptx |= name == "ptx" or (bool(plus) and suffix == "ptx")
        if name == "ptx" or not word:
            continue
        match = re.fullmatch(r"(?:sm_)?(\d{2,3})|(\d{1,2})\.(\d)", name)
        if not match or (plus and suffix != "ptx"):
            raise _refused(value, f"{word} is no compute capability; write 80, 9.0, sm_90 or ptx.")
        machines.append(int(match[1] or match[2] + match[3]))
    if value and not machines:
        raise _refused(value, "it names no compute capability; 80,ptx, say, serves all since 8.0.")
    machines = sorted(set(machines))
    if too_low := [number for number in machines if number < LOWEST]:
        raise _refused(value, f"GPUs of compute capability {too_low[0] / 10} are too old; kernels "
                              f"need {LOWEST / 10} (Ampere) or later.")  # fmt: skip
    unknown = [number for number in machines if number not in known]
    if unknown and value:
        listed = ", ".join(str(number) for number in known if number >= LOWEST)
        raise _refused(
            value, f"nvcc {version} does not compile for {unknown[0]}; it knows {listed}."
        )
    return Archs(tuple(number for number in machines if number not in unknown), ptx)


def _refused(setting, why) -> FlagRefused:
    return FlagRefused(f"autograd_cy: AUTOGRAD_CY_CUDA_ARCHS={setting}: {why}")


def _refuse_unsafe(environ) -> None:
    for name in VARIABLES:
        for word in shlex.split(environ.get(name, "")):
            if word.lstrip("-").replace("-", "_") in [one.replace("-", "_") for one in FORBIDDEN]:
                raise FlagRefused(
                    f"autograd_cy: {word} (from {name}) is refused: it changes what kernels "
                    f"compute.  Remove it."
                )


def _executable(path: Path) -> Path | None:
    return path if path.is_file() and os.access(path, os.X_OK) else None


def _looked_at(environ) -> str:
    """Name the user's own folders that have no nvcc, for the message."""
    told = [f"{n}={environ[n]}" for n in ("CUDA_HOME", "CUDA_PATH") if environ.get(n)]
    return f" (not in {' nor '.join(told)} either)" if told else ""


def _question(nvcc: Path, host: str, environ) -> list:
    """Return everything on which the answers of nvcc depend: the programs themselves and their
    options."""
    paths = [nvcc.resolve()]
    compiler = shutil.which(host or "g++", path=environ.get("PATH", os.defpath))
    paths += [Path(compiler).resolve()] if compiler else []
    facts = [[str(path), path.stat().st_size, path.stat().st_mtime_ns] for path in paths]
    told = [environ.get(name, "") for name in VARIABLES]
    mine = hashlib.sha1(Path(__file__).read_bytes()).hexdigest()
    return [facts, host, told, mine]


def _query_nvcc(nvcc: Path, host: str) -> dict:
    said = _said([nvcc, "--version"], f"{nvcc} does not start")
    match = re.search(r"release [\d.]+, V(\d+\.\d+\.\d+)", said)
    if not match:
        raise NoCuda(f"autograd_cy: {nvcc} does not say its version:\n{said}\n{INSTALL}")
    version = match[1]
    if tuple(map(int, version.split(".")[:2])) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise NoCuda(
            f"autograd_cy: {nvcc} is version {version}, and kernels need {oldest} or later.\n"
            + INSTALL
        )
    known = _said([nvcc, "--list-gpu-arch"], f"{nvcc} does not list what it compiles for")
    numbers = sorted({int(number) for number in re.findall(r"compute_(\d+)$", known, re.M)})
    told = ["-ccbin", host] if host else []
    flags = _working_flags(nvcc, version, told)
    compiler = host or "g++"
    try:
        lines = subprocess.run([compiler, "--version"], check=False, **CAPTURED)
        compiler = (lines.stdout.splitlines() or [compiler])[0]
    except OSError:
        pass  # nvcc has one of its own, as on some clusters
    return {"version": version, "host": compiler, "known": numbers, "flags": flags}


def _said(command, otherwise: str) -> str:
    command = list(map(str, command))
    try:
        run = subprocess.run(command, check=False, **CAPTURED)
    except OSError as error:
        raise NoCuda(f"autograd_cy: {otherwise}: {error}.\n{INSTALL}") from None
    if run.returncode:
        said = (run.stdout + run.stderr).strip()
        raise NoCuda(f"autograd_cy: {otherwise}:\n{said}\n{INSTALL}")
    return run.stdout


def _working_flags(nvcc: Path, version: str, told: list[str]) -> list[str]:
    """`told` and what makes fatbins small, as far as this nvcc knows it; a kernel compiles."""
    with tempfile.TemporaryDirectory(prefix="autograd_cy_probe_") as folder:
        source = Path(folder, "probe.cu")
        source.write_text(PROBE, encoding="utf-8")
        command = [str(nvcc), "-std=c++17", "-fatbin", "-arch=compute_80", *told, str(source)]
        command += ["-o", f"{folder}/probe.fatbin"]
        for small in ([SMALL[0]], [SMALL[1]], []):
            run = subprocess.run([*command, *small], check=False, **CAPTURED)
            if not run.returncode:
                return [*told, *small]
    raise NoCuda(_explained(nvcc, version, (run.stdout + run.stderr).strip()))


def _explained(nvcc: Path, version: str, said: str) -> str:
    """Why an empty kernel does not compile, with the cure as far as the words of nvcc tell it."""
    shown = "\n  ".join(said.splitlines()[:6])
    head = f"autograd_cy: nvcc {version} ({nvcc}) does not compile an empty kernel"
    if "unsupported GNU version" in said or "unsupported clang version" in said:
        what = "does not work with this C++ compiler, which is too new for it"
        return (
            f"autograd_cy: nvcc {version} ({nvcc}) {what}:\n  {shown}\n"
            "  NVCC_CCBIN=g++-13, say, names an older one (module load gcc; apt install g++-13);\n"
            "  a newer toolkit takes newer compilers.  AUTOGRAD_CY_CUDA=0 builds for the CPU only."
        )
    if re.search(r"(gcc|g\+\+|cl\.exe|cc1plus|host compiler).*(not found|No such file|PATH)", said):
        return (
            f"{head} without a C++ compiler:\n  {shown}\n"
            "  Install one (apt install g++; dnf install gcc-c++), or name it: NVCC_CCBIN=g++-13.\n"
            "  AUTOGRAD_CY_CUDA=0 builds for the CPU only."
        )
    return (
        f"{head}:\n  {shown}\n"
        "  Parts of a toolkit may be missing.  Of nvcc from PyPI these belong together, in one\n"
        "  version: nvidia-cuda-nvcc nvidia-nvvm nvidia-cuda-crt nvidia-cuda-runtime\n"
        "  nvidia-cuda-cccl.  AUTOGRAD_CY_CUDA=0 builds for the CPU only."
    )
