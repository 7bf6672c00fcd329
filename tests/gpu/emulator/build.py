"""Build the emulated driver, kernels for the host, and PyCUDA.

Run as ``python tests/gpu/emulator/build.py [WHAT]``:

    build.py                   all of it; only what changed since
    build.py driver            the driver and the stand-in for cuBLAS
    build.py kernels [NAME...] kernels, all images or those named (``ew_*`` is a pattern)
    build.py pycuda            PyCUDA, if none can be imported

Everything goes to ``build/emulated``. ``MAX_JOBS`` compilers run at once (2); ``CXX`` is the
compiler.
"""

import fnmatch
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

if __package__:
    from . import places
else:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from emulator import places

ROOT, HERE, BUILT = places.ROOT, places.HERE, places.BUILT

HEADERS_MISSING = """\
cuda.h was not found. Set CUDA_HOME to a CUDA toolkit, or
    pip install nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-profiler-api"""


class BuildError(RuntimeError):
    pass


# ---- what is there -------------------------------------------------------------------------------


def cuda_include():
    """The folder of cuda.h: of a toolkit, or of packages from PyPI."""
    homes = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")]
    nvcc = shutil.which("nvcc")
    if nvcc:
        homes.append(Path(nvcc).resolve().parents[1])
    folders = [Path(home) / "include" for home in (*homes, "/usr/local/cuda") if home]
    for site in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        folders += sorted(Path(site, "nvidia").glob("cu[0-9]*/include"), reverse=True)
        folders.append(Path(site, "nvidia", "cuda_runtime", "include"))
    for folder in folders:
        if (folder / "cuda.h").is_file():
            return folder
    raise BuildError(HEADERS_MISSING)


def compiler():
    command = os.environ.get("CXX", "g++").split()
    if shutil.which(command[0]) is None:
        raise BuildError(f"no C++ compiler {command[0]!r}: set CXX")
    if shutil.which("ccache") and "ccache" not in command[0]:
        command.insert(0, "ccache")
    return command


# ---- only what changed ---------------------------------------------------------------------------

_digests = {}


def _digest(path):
    path = os.path.normpath(ROOT / path)
    if path not in _digests:
        try:
            _digests[path] = hashlib.sha1(Path(path).read_bytes()).hexdigest()
        except OSError:
            _digests[path] = None
    return _digests[path]


def _forget(path):
    """A file was written."""
    _digests.pop(os.path.normpath(ROOT / path), None)


def _is_current(target, command):
    try:
        kept = json.loads(Path(f"{target}.json").read_text())
    except (OSError, ValueError):
        return False
    if not target.exists() or kept["command"] != command or "files" not in kept:
        return False
    return all(_digest(path) == digest for path, digest in kept["files"].items())


def _run(command, what):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        # One fault in a header gives thousands of lines.
        said = (done.stdout + done.stderr).splitlines()[:40]
        raise BuildError("\n".join([f"{what} failed:", " ".join(map(str, command)), *said]))


def _compile(source, target, flags):
    """Compile one file. Relative paths mean a checkout's own files, also where it was copied."""
    command = [*compiler(), *flags, "-c", _short(source), "-o", _short(target)]
    if _is_current(target, command):
        return False
    listed = Path(f"{target}.d")
    _run([*command, "-MD", "-MF", str(listed)], f"compiling {_short(source)}")
    inputs = listed.read_text().replace("\\\n", " ").split(":", 1)[1].split()
    listed.unlink()
    files = {_short(os.path.normpath(ROOT / path)): _digest(path) for path in inputs}
    Path(f"{target}.json").write_text(json.dumps({"command": command, "files": files}))
    return True


def _link(objects, target, *flags):
    command = [*compiler()[-1:], "-shared", *map(_short, objects), "-o", _short(target), *flags]
    files = {_short(path): _digest(path) for path in objects}
    if _is_current(target, command):
        return False
    # A running process may have the old library mapped: it keeps its file.
    target.unlink(missing_ok=True)
    _run(command, f"linking {target.name}")
    Path(f"{target}.json").write_text(json.dumps({"command": command, "files": files}))
    return True


def _short(path):
    try:
        return str(Path(path).relative_to(ROOT))
    except ValueError:
        return str(path)


def _in_parallel(function, items):
    """Do all of it, also after a failure; then raise what went wrong."""
    with ThreadPoolExecutor(int(os.environ.get("MAX_JOBS") or 2)) as pool:
        waiting = [pool.submit(function, item) for item in items]
    failures = [str(one.exception()) for one in waiting if one.exception()]
    if failures:
        raise BuildError("\n\n".join(failures))
    return [one.result() for one in waiting]


# ---- the driver ----------------------------------------------------------------------------------

_WARNINGS = ["-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Wno-deprecated-declarations"]


def build_driver():
    """Build libcuda.so.1 and libcublas.so.13. Gives the driver's path."""
    include = cuda_include()
    objects = BUILT / "objects"
    objects.mkdir(parents=True, exist_ok=True)
    flags = [
        "-std=c++17",
        "-O1",
        "-g1",
        "-fPIC",
        "-fvisibility=hidden",
        "-U_FORTIFY_SOURCE",
        *_WARNINGS,
    ]
    flags += [f"-I{include}", "-Iext/kernels"]
    sources = sorted(HERE.glob("driver_*.cpp")) + sorted(HERE.glob("cublas*.cpp"))
    _in_parallel(lambda s: _compile(s, objects / f"{s.stem}.o", flags), sources)
    made = [objects / f"{s.stem}.o" for s in sources]
    driver = [o for o in made if o.name.startswith("driver_")]
    _link(driver, places.DRIVER, "-Wl,-soname,libcuda.so.1", "-ldl", "-lpthread")
    cublas = [o for o in made if o.name.startswith("cublas")]
    if cublas:
        _link(cublas, places.CUBLAS, "-Wl,-soname,libcublas.so.13", *_against_driver())
    write_nvcc()
    return places.DRIVER


def write_nvcc():
    """Put the stand-in for nvcc where PyCUDA finds it."""
    script = places.COMPILER / "nvcc"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(f'#!/bin/sh\nexec {sys.executable!r} {str(HERE / "nvcc.py")!r} "$@"\n')
    script.chmod(0o755)
    places.CACHE.mkdir(exist_ok=True)


def _against_driver():
    return [f"-L{_short(BUILT)}", "-l:libcuda.so.1"]


# ---- kernels -------------------------------------------------------------------------------------


def kernel_flags():
    # -ffp-contract=off and -mfma: formulas take the roads that they take on a device.
    flags = ["-x", "c++", "-std=c++17", "-DAG_ON_HOST", "-O1", "-ffp-contract=off", "-w", "-fPIC"]
    flags += ["-fvisibility=hidden", "-U_FORTIFY_SOURCE"]
    # What a GPU answers otherwise, or by ending the context: the driver tells of the trap.
    flags += ["-fsanitize=alignment,bounds,shift-exponent", "-fsanitize-undefined-trap-on-error"]
    if platform.machine() in ("x86_64", "AMD64"):
        flags.append("-mfma")
    folders = ["ext/cuda/device", "ext/cuda", "ext/kernels", "ext/core"]
    return flags + [f"-I{folder}" for folder in folders] + [f"-I{_short(HERE)}"]


def kernel_sources():
    """Texts of all kernels, by image: {name: (text, flags)}; none if the generator isn't there."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    from ext.codegen import cuda_sources

    return {name: (source.text, source.flags) for name, source in cuda_sources.sources().items()}


def build_samples():
    """Build the kernels that test the emulator itself: {name: library}."""
    build_driver()
    found = {f"sample_{path.stem}": path for path in sorted((HERE / "samples").glob("*.cu"))}
    for name, path in found.items():
        _build_image(name, path.read_text(), [f"-I{_short(HERE / 'samples')}"])
    return {path.stem: BUILT / "images" / f"{name}.so" for name, path in found.items()}


def build_kernels(patterns=(), sources=None):
    """Build images for the host; gives the names of those that were compiled."""
    sources = kernel_sources() if sources is None else sources
    patterns = list(patterns) or ["*"]
    chosen = [n for n in sources if any(fnmatch.fnmatch(n, p) for p in patterns)]
    if not chosen:
        raise BuildError(
            f"no image is called {', '.join(patterns)}; there are {', '.join(sorted(sources))}"
        )
    if patterns == ["*"]:
        for stale in set(places.KERNELS.glob("*.fatbin")) - {
            places.KERNELS / f"{n}.fatbin" for n in sources
        }:
            stale.unlink()
    # Long ones first.
    chosen.sort(key=lambda name: -len(sources[name][0]))
    done = _in_parallel(lambda name: _build_image(name, *sources[name]), chosen)
    return [name for name, fresh in zip(chosen, done) if fresh]


def _build_image(name, text, flags):
    source = BUILT / "sources" / f"{name}.cu"
    made, library = BUILT / "objects" / f"image_{name}.o", BUILT / "images" / f"{name}.so"
    for path in (source, made, library, places.KERNELS / name):
        path.parent.mkdir(parents=True, exist_ok=True)
    if not source.exists() or source.read_text() != text:
        source.write_text(text)
        _forget(source)
    own = [flag for flag in flags if flag.startswith(("-D", "-I"))]
    fresh = _compile(source, made, [*kernel_flags(), *own])
    if fresh:
        _forget(made)
    fresh |= _link([made], library, "-Wl,-z,defs", *_against_driver())
    (places.KERNELS / f"{name}.fatbin").write_bytes(image_of(library))
    return fresh


def stale():
    """Names of images whose sources have changed since they were built; generated texts aside."""
    found = []
    for image in sorted(places.KERNELS.glob("*.fatbin")):
        kept = BUILT / "objects" / f"image_{image.stem}.o.json"
        files = json.loads(kept.read_text()).get("files") if kept.exists() else None
        if files is None or any(_digest(path) != digest for path, digest in files.items()):
            found.append(image.stem)
    return found


def image_of(library):
    """Return the code of a module as the emulated driver takes it."""
    return b"ACYEMU:" + os.fsencode(library) + b"\0"


# ---- PyCUDA --------------------------------------------------------------------------------------

_SITECONF = """\
CUDA_INC_DIR = [{include!r}]
CUDADRV_LIB_DIR = [{libraries!r}]
CUDADRV_LIBNAME = ["cuda"]
CUDA_ENABLE_GL = False
CUDA_ENABLE_CURAND = False
CXXFLAGS = ["-O1", "-g0", "-w"]
LDFLAGS = ["-Wl,-s"]
"""


def build_pycuda():
    """Build PyCUDA against the emulated driver, if there is none; its dependencies come with it."""
    import importlib.util
    import tempfile

    if importlib.util.find_spec("pycuda") is not None or (places.SITE / "pycuda").is_dir():
        return False
    include = cuda_include()
    if not (include / "cudaProfiler.h").is_file():
        raise BuildError(f"{include} has no cudaProfiler.h, which PyCUDA needs:\n"
                         "    pip install nvidia-cuda-profiler-api")  # fmt: skip
    build_driver()
    libraries = BUILT / "pycuda_links"
    libraries.mkdir(exist_ok=True)
    link = libraries / "libcuda.so"
    link.unlink(missing_ok=True)
    link.symlink_to(places.DRIVER)
    with tempfile.TemporaryDirectory() as home:
        # PyCUDA is told where things are by a file in the home folder, by nothing else.
        text = _SITECONF.format(include=str(include), libraries=str(libraries))
        Path(home, ".aksetup-defaults.py").write_text(text)
        # pip keeps what it has downloaded, and its settings, in the real one.
        env = {"PIP_CACHE_DIR": str(Path.home() / ".cache" / "pip")} | os.environ | {"HOME": home}
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-warn-script-location"]
        done = subprocess.run([*command, "--target", str(places.SITE), "pycuda==2026.1"], env=env)
    if done.returncode:
        raise BuildError("pip could not build PyCUDA; see above")
    # NumPy comes with it as a dependency; there is one already, which PyCUDA shares with the tests.
    for folder in places.SITE.glob("numpy*"):
        shutil.rmtree(folder)
    return True


def main(arguments):
    what, *names = arguments or ["all"]
    if what in ("driver", "all"):
        print(build_driver())
    if what in ("pycuda", "all") and build_pycuda():
        print(places.SITE / "pycuda")
    if what in ("kernels", "all"):
        build_driver()
        fresh = build_kernels(names)
        print(
            f"{len(list(places.KERNELS.glob('*.fatbin')))} images, {len(fresh)} of them built now"
        )
    if what not in ("driver", "pycuda", "kernels", "all"):
        raise BuildError(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BuildError as error:
        sys.exit(str(error))
