"""List the kernels that a CUDA source defines, with the sizes of their arguments.

    python -m ext.build.cuda_listing OUT.json SOURCE.cu DEPFILE cc -Iext/cuda/device ...

The C preprocessor reads the source and names the kernels; the C compiler says how large the structs
of ext/cuda/device/*.h are, as the host packs them. So the list knows nothing of nvcc, and what nvcc
made is checked against it (cuda_checks.py).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from .elf import Elf

ROOT = Path(__file__).resolve().parents[2]
DEVICE = ROOT / "ext" / "cuda" / "device"
# Stands for ext/cuda/device's language: a kernel's definition becomes a mark.
LANGUAGE = """
#define AG_KERNEL(name, Args) @kernel name, Args@
#define AG_KERNEL_TOGETHER(name, Args, threads) @kernel name, Args@
"""
MARK = re.compile(r"@kernel (\w+), ([^@]+?)\s*@")


class ListingFailed(Exception):
    """A source could not be read, or its kernels can't be what they are."""


def listed(source: Path, compiler: list[str], depfile: Path | None = None) -> dict[str, int]:
    """{kernel: bytes of its arguments} of one source."""
    with tempfile.TemporaryDirectory(prefix="autograd_cy_listing_") as folder:
        Path(folder, "device_language.h").write_text(LANGUAGE, encoding="utf-8")
        command = [*compiler, "-w", "-E", "-P", "-x", "c++", f"-I{folder}", "-DAG_ON_HOST"]
        command += ["-MMD", "-MF", str(depfile)] if depfile else []
        text = _output([*command, str(source)])
        by_name: dict[str, str] = {}
        for name, arguments in MARK.findall(text):
            if by_name.setdefault(name, arguments) != arguments or name != name.lower():
                raise ListingFailed(f"{source.name}: {name} is defined twice, or not in lower case")
        if len(MARK.findall(text)) != len(by_name):
            raise ListingFailed(f"{source.name}: a kernel is defined twice")
        sizes = sizes_of(set(by_name.values()), compiler)
    return {name: sizes[arguments] for name, arguments in sorted(by_name.items())}


def sizes_of(structs: set[str], compiler: list[str]) -> dict[str, int]:
    """The size of each struct of ext/cuda/device/*.h."""
    order = sorted(structs)
    with tempfile.TemporaryDirectory(prefix="autograd_cy_listing_") as folder:
        lines = [f'#include "{path}"' for path in sorted(DEVICE.glob("*.h"))]
        lines += [f"char ag_size_{k}[sizeof({name})];" for k, name in enumerate(order)]
        source, output = Path(folder, "sizes.c"), Path(folder, "sizes.o")
        source.write_text("\n".join(lines) + "\n", encoding="utf-8")
        _output([*compiler, "-w", "-fno-lto", "-c", str(source), "-o", str(output)])
        sizes = {symbol.name: symbol.size for symbol in Elf(output.read_bytes()).symbols()}
    return {name: sizes[f"ag_size_{k}"] for k, name in enumerate(order)}


def _output(command: list[str]) -> str:
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode:
        raise ListingFailed(f"{' '.join(command)}\n{run.stderr.strip()}")
    return run.stdout


def main(arguments: list[str]) -> int:
    output, source, depfile, *compiler = arguments
    try:
        sizes = listed(Path(source), compiler, Path(depfile))
    except ListingFailed as error:
        print(error, file=sys.stderr)
        return 1
    Path(output).write_text(json.dumps(sizes, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
