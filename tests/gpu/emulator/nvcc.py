"""A stand-in for nvcc, as PyCUDA calls it: compiles a user's CUDA source for the emulated driver.

``build.py`` puts it into ``build/emulated/bin`` under nvcc's name. What it writes as a cubin is the
image of a host build, which stays in ``build/emulated/user``. Sources are taken as is, but for
``extern __shared__`` arrays; kernels take arguments of any number and type. There are no textures,
no ``__constant__`` memory that the host fills and no dynamic parallelism.
"""

import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

if __package__:
    from . import build, places
else:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from emulator import build, places

KERNEL = re.compile(
    r"__global__\s+(?:[\w:]+\s*(?:\([^()]*\))?\s+)*?void\s+(?:__\w+__\s*(?:\([^()]*\))?\s*)*(\w+)\s*\("
)
DYNAMIC = re.compile(
    r"extern\s+__shared__\s+(?:__align__\s*\([^()]*\)\s*)?([\w:\s]+?)\s+(?:__align__\s*\([^()]*\)\s*)?(\w+)\s*\[\s*\]"
)
# What needs the threads of a block to run in turns.
MEETING = re.compile(r"__shared__|__sync|__shfl|_sync\s*\(|__activemask|cooperative_groups")


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def translated(text, name):
    """The source for g++, with an entry for each kernel at its end."""
    plain = without_comments(text)
    together = int(bool(MEETING.search(plain)))
    body = DYNAMIC.sub(r"\1 *const \2 = static_cast<\1 *>(emu_dynamic_shared())", text)
    entries = [f"EMU_USER_KERNEL({kernel}, {together})" for kernel in KERNEL.findall(plain)]
    return "\n".join(
        ['#include "user_kernels.h"', f'#line 1 "{name}"', body, *dict.fromkeys(entries), ""]
    )


def compile_source(source, target, flags):
    """Compile a .cu file to an image. Gives g++'s status; it says itself what is wrong."""
    text = translated(source.read_text(), source.name)
    digest = hashlib.sha1("\0".join([text, *flags, version()]).encode()).hexdigest()[:20]
    library = places.BUILT / "user" / f"{digest}.so"
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        # Made aside, and moved: another process may want the same.
        with tempfile.TemporaryDirectory(dir=library.parent) as folder:
            written, made = Path(folder, "kernel.cpp"), Path(folder, "kernel.so")
            written.write_text(text)
            command = [*build.compiler(), *language(), *flags, "-shared", str(written)]
            command += [f"-L{places.BUILT}", "-l:libcuda.so.1", "-o", str(made)]
            done = subprocess.run(command)
            if done.returncode:
                return done.returncode
            made.rename(library)
    target.write_bytes(build.image_of(library))
    return 0


def language():
    flags = [f for f in build.kernel_flags() if not f.startswith("-I")]
    return [*flags, f"-I{places.HERE}", f"-I{Path.cwd()}"]


def version():
    """Change with what the result depends on: PyCUDA's cache asks for it."""
    digest = hashlib.sha1()
    for name in ("nvcc.py", "device_language.h", "kernel_entry.h", "user_kernels.h"):
        digest.update((places.HERE / name).read_bytes())
    return f"nvcc of the emulated driver, release 13.0, {digest.hexdigest()[:12]}, {places.BUILT}"


def options(arguments):
    """(what to do, flags for g++, sources, output) of a command line of nvcc."""
    what, flags, sources, output = "cubin", [], [], None
    rest = iter(arguments)
    for one in rest:
        if one in (
            "--cubin",
            "-cubin",
            "--ptx",
            "-ptx",
            "--fatbin",
            "-fatbin",
            "--preprocess",
            "-E",
        ):
            what = "preprocess" if one == "-E" else one.lstrip("-")
        elif one in ("-o", "--output-file"):
            output = next(rest)
        elif one in (
            "-arch",
            "-code",
            "-gencode",
            "--compiler-options",
            "-Xcompiler",
            "-Xptxas",
            "-maxrregcount",
        ):
            next(rest)
        elif one in ("-I", "-D", "-include"):
            flags += [one, next(rest)]
        elif one.startswith(("-I", "-D", "-U")):
            flags.append(one)
        elif not one.startswith("-"):
            sources.append(Path(one))
    return what, flags, sources, output


def main(arguments):
    if "--version" in arguments or "-V" in arguments:
        print(version())
        return 0
    what, flags, sources, output = options(arguments)
    if len(sources) != 1:
        print("nvcc of the emulated driver: it takes one source", file=sys.stderr)
        return 1
    if what == "preprocess":
        command = [*build.compiler(), *language(), *flags, "-E", "-P", str(sources[0])]
        return subprocess.run(command).returncode
    target = Path(output or sources[0].with_suffix("." + what))
    return compile_source(sources[0], target, flags)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
