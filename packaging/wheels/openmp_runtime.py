"""The OpenMP runtime that goes into wheels: gcc's libgomp, for glibc 2.28.

A distribution's libgomp asks for the glibc that it was built on. So it is built here from the
source of the same gcc, which Debian has as a package (``apt-get install gcc-12-source``). It is one
folder of C, half a minute. A compiler's own libgomp that is old enough (RHEL 8) is used as it is.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
import tarfile
from pathlib import Path

#: The folders and files of gcc's source that libgomp's configure and make read.
PARTS = re.compile(
    r"[^/]+/(?:libgomp|config|include)/.*|[^/]+/(?!.*\.(?:texi|info)$)[^/]+|[^/]+/gcc/(?:BASE-VER|DATESTAMP)"
)
#: Texts that come with every copy of the library: the licence and the exception for programs.
LICENCES = ("COPYING3", "COPYING.RUNTIME")
CFLAGS = "-O2 -g0 -fPIC"


def newest_glibc(library: Path) -> tuple[int, ...]:
    """Return the newest version of glibc that a library asks for, as (2, 34)."""
    run = subprocess.run(
        ["readelf", "-W", "-V", str(library)], capture_output=True, text=True, check=True
    )
    versions = re.findall(r"Name: GLIBC_(\d[\d.]*)", run.stdout)
    return max((tuple(map(int, v.split("."))) for v in versions), default=(0,))


def of_compiler(cc: str) -> Path | None:
    """Return the libgomp that the compiler links, or None if it has none."""
    run = subprocess.run(
        [*shlex.split(cc), "-print-file-name=libgomp.so.1"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    path = Path(run.stdout.strip())
    return path.resolve() if path.is_absolute() else None


def source_of(cc: str) -> Path | None:
    """Return the source of this gcc: GCC_SOURCE, or what Debian's package installs, or None."""
    if os.environ.get("GCC_SOURCE"):
        return Path(os.environ["GCC_SOURCE"])
    run = subprocess.run(
        [*shlex.split(cc), "-dumpversion"], capture_output=True, text=True, check=True
    )
    major = run.stdout.strip().partition(".")[0]
    return next(iter(sorted(Path(f"/usr/src/gcc-{major}").glob("gcc-*.tar.*"))), None)


def build(source: Path, folder: Path, cc: str, ldflags: str) -> Path:
    """Build libgomp alone from a source of gcc.

    Parameters
    ----------
    source : pathlib.Path
        The archive of gcc's source.
    folder : pathlib.Path
        Where it is unpacked and built.
    cc : str
        The compiler, whose version should be that of the source.
    ldflags : str
        Flags of the linker: the folder of `link_stubs`.

    Returns
    -------
    pathlib.Path
        The folder of ``libgomp.so.1``, with the texts of `LICENCES` beside it.
    """
    ready, result = folder / "ready", folder / "lib"
    # A runtime that is there was built by the same scripts.
    scripts = [Path(__file__).with_name(name) for name in ("link_stubs.py", "openmp_runtime.py")]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in scripts)).hexdigest()
    recipe = "\n".join((str(source), cc, ldflags, digest))
    if ready.exists() and ready.read_text(encoding="utf-8") == recipe:
        return result
    tree = unpack(source, folder / "source")
    objects = folder / "objects"
    objects.mkdir(parents=True, exist_ok=True)
    flags = f"{CFLAGS} -ffile-prefix-map={tree}=. -ffile-prefix-map={objects}=."
    environment = os.environ | {"CC": cc, "CFLAGS": flags, "LDFLAGS": f"{ldflags} -Wl,--strip-all"}
    configure = [str(tree / "libgomp" / "configure"), "--disable-multilib", "--disable-static"]
    configure += ["--disable-werror", "--with-pic", f"--prefix={folder / 'prefix'}"]
    jobs = os.environ.get("MAX_JOBS") or str(os.cpu_count() or 1)
    for command in (configure, ["make", f"-j{jobs}", "libgomp.la"]):
        run = subprocess.run(
            command, cwd=objects, env=environment, capture_output=True, text=True, check=False
        )
        if run.returncode:
            said = "\n".join((run.stdout + run.stderr).splitlines()[-20:])
            raise SystemExit(f"openmp_runtime.py: {' '.join(command)} failed in {objects}:\n{said}")
    result.mkdir(exist_ok=True)
    built = next((objects / ".libs").glob("libgomp.so.1.*"))
    (result / "libgomp.so.1").write_bytes(built.read_bytes())
    for name in LICENCES:
        (result / name).write_bytes((tree / name).read_bytes())
    ready.write_text(recipe, encoding="utf-8")
    return result


def unpack(source: Path, folder: Path) -> Path:
    """Unpack what libgomp needs of gcc's source; return the folder with it."""
    with tarfile.open(source) as archive:
        # Python before 3.12 may not have the filter, and 3.12 warns without one.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        members = [m for m in archive if PARTS.fullmatch(m.name) and (m.isfile() or m.isdir())]
        tests = "/testsuite/"  # configure wants their templates
        chosen = [m for m in members if tests not in m.name or m.name.endswith(".in")]
        archive.extractall(folder, chosen)
    return next(path for path in folder.iterdir() if (path / "libgomp").is_dir())
