"""Libraries to link with, so that what is built on a newer glibc loads on glibc 2.28.

Since glibc 2.34, functions of libdl and libpthread are in libc. A module that is linked there asks
for ``dlopen`` of GLIBC_2.34, though the function has not changed. The libraries made here have the
names and versions of glibc 2.28 and no code. The linker takes these few functions from them, and
records what it would record on a system with glibc 2.28. At run time, the real libraries are
loaded: those of glibc 2.28, or those that newer ones install for programs of that time.

Since glibc 2.38, headers turn ``strtol`` and the like into ``__isoc23_strtol``, which also reads
``0b11``. A small archive here has functions of these names, which call those of before.

If a module uses another function that is newer than 2.28, nothing here hides it: the build names
it and stops.
"""

from __future__ import annotations

import platform
import re
import shlex
import subprocess
from pathlib import Path

#: Functions that moved into libc after glibc 2.28: {library: {version: names}}, of x86-64.
MOVED = {
    "libdl.so.2": {
        "GLIBC_2.2.5": ("dladdr", "dlclose", "dlerror", "dlopen", "dlsym"),
    },
    "libpthread.so.0": {
        "GLIBC_2.2.5": (
            "pthread_attr_getguardsize",
            "pthread_attr_getstack",
            "pthread_attr_getstacksize",
            "pthread_attr_setstacksize",
            "pthread_create",
            "pthread_detach",
            "pthread_getattr_np",
            "pthread_join",
            "pthread_key_create",
            "pthread_key_delete",
            "pthread_once",
            "pthread_setspecific",
        ),
        "GLIBC_2.3.4": (
            "pthread_attr_setaffinity_np",
            "pthread_getaffinity_np",
            "pthread_setaffinity_np",
        ),
    },
}

#: Functions that newer headers rename, and the types that they return.
RENAMED = {
    "strtol": "long",
    "strtoul": "unsigned long",
    "strtoll": "long long",
    "strtoull": "unsigned long long",
}


def needed() -> bool:
    """Return whether this system's glibc is one that has the functions in libc."""
    library, version = platform.libc_ver()
    if library != "glibc" or platform.machine() != "x86_64":
        return False
    return tuple(int(part) for part in version.split(".")[:2]) >= (2, 34)


def write(folder: Path, cc: str) -> Path:
    """Make the libraries and a ``libc.so`` that names them first.

    Parameters
    ----------
    folder : pathlib.Path
        Where they go; ``-L`` with this folder makes the linker use them.
    cc : str
        The command of the C compiler.

    Returns
    -------
    pathlib.Path
        The folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    command = shlex.split(cc)
    stubs = [_stub(folder, command, name, versions) for name, versions in MOVED.items()]
    archive = _renamed(folder, command)
    (folder / "libc.so").write_text(_script(command, stubs, archive), encoding="utf-8")
    return folder


def _stub(folder: Path, command: list[str], name: str, versions: dict) -> Path:
    source, script, stub = folder / f"{name}.c", folder / f"{name}.map", folder / name
    functions = [function for names in versions.values() for function in names]
    source.write_text(
        "".join(f"void {function}(void) {{}}\n" for function in functions), encoding="utf-8"
    )
    lines, before = [], ""
    for version, names in versions.items():
        lines.append(f"{version} {{ global: {'; '.join(names)}; }}{before};")
        before = f" {version}"
    script.write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = ["-shared", "-fPIC", "-fno-builtin", "-nostdlib", "-w", f"-Wl,-soname,{name}"]
    options += [f"-Wl,--version-script={script}", "-o", str(stub), str(source)]
    subprocess.run([*command, *options], check=True)
    return stub


def _renamed(folder: Path, command: list[str]) -> Path:
    """Make the archive of functions with newer names."""
    source, product = folder / "renamed.c", folder / "renamed.o"
    lines = []
    for name, kind in RENAMED.items():
        lines += [
            f'{kind} old_{name}(const char *, char **, int) __asm__("{name}");',
            '__attribute__((visibility("hidden")))',
            f"{kind} __isoc23_{name}(const char *text, char **end, int base)",
            f"{{ return old_{name}(text, end, base); }}",
        ]
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = ["-c", "-O2", "-fPIC", "-o", str(product), str(source)]
    subprocess.run([*command, *options], check=True)
    archive = folder / "librenamed.a"
    archive.unlink(missing_ok=True)
    subprocess.run(["ar", "rcD", str(archive), str(product)], check=True)
    return archive


def _script(command: list[str], stubs: list[Path], archive: Path) -> str:
    """Return the linker script of libc with the stubs and the archive before libc itself.

    A library that no symbol of a module comes from is not recorded in the module.
    """
    run = subprocess.run(
        [*command, "-print-file-name=libc.so"], capture_output=True, text=True, check=True
    )
    script = Path(run.stdout.strip()).read_text(encoding="utf-8")
    first = " ".join(str(stub.resolve()) for stub in stubs)
    group = f"GROUP ( AS_NEEDED ( {first} ) {archive.resolve()}"
    text, count = re.subn(r"\bGROUP *\(", group, script, count=1)
    if count != 1:
        raise SystemExit(f"link_stubs.py: {run.stdout.strip()} is not a linker script with a GROUP")
    return text
