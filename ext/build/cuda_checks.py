"""Checks of the CUDA kernels that need nvcc and no GPU.

    python -m ext.build.cuda_checks                  all images, for compute capability 9.0
    python -m ext.build.cuda_checks --images ew_f32  some of them
    python -m ext.build.cuda_checks --default        the default architectures, for time and size

Every image compiles, with warnings as errors. Its machine code holds the kernels of the manifest
and no others, and each takes one struct of the size that the host packs. No kernel spills. The
elementwise ones stay within the instructions an element of cuda_limits.py. The processor time of
all compilers stays within a limit. Nothing is compiled again that has not changed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import struct
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from . import cuda, cuda_limits
from .cuda_images import FOLDER, Image, Images
from .elf import FUNCTION, Elf
from .extensions import ROOT
from .flags import FlagRefused, compiler, job_count
from .steps import StepFailed

LIMITS = {"one": 180, "default": 300}  # seconds of processor time
PARAMETER = 0x17  # the attribute of a parameter: its offset and size
INSTRUCTION, NOP = 16, 0x918  # bytes of an instruction; the low bits of the one that fills up
SPILL = re.compile(
    r"Function properties for (\w+)\n\s+(\d+) bytes stack frame, "
    r"(\d+) bytes spill stores, (\d+) bytes spill loads"
)
REGISTERS = re.compile(r"Used (\d+) registers")


@dataclass
class Report:
    """The results of the checks."""

    nvcc: str
    archs: list[str]
    kernels: int = 0
    bytes: int = 0
    seconds: dict[str, float] = field(default_factory=dict)  # processor time by image
    registers: int = 0  # the most of any kernel
    instructions: dict[str, float] = field(default_factory=dict)  # an element, of elementwise ones
    problems: list[str] = field(default_factory=list)

    @property
    def total(self) -> float:
        return sum(self.seconds.values())


def parameters(section: bytes) -> list[tuple[int, int, int]]:
    """(number, offset, bytes) of each parameter, from the section .nv.info of a kernel."""
    at, result = 0, []
    while at + 4 <= len(section):
        form, attribute, size = struct.unpack_from("<BBH", section, at)
        at += 4
        if form != 4:  # the value is in the place of the size
            continue
        if attribute == PARAMETER:
            _, number, offset, bits = struct.unpack_from("<IHHI", section, at)
            result.append((number, offset, bits >> 18))
        at += size
    return sorted(result)


def kernels_of(cubin: Elf) -> set[str]:
    """The names of the kernels of a cubin."""
    return {
        s.name for s in cubin.symbols() if s.kind == FUNCTION and s.section and "$" not in s.name
    }


def instructions(code: bytes) -> int:
    """Instructions of a kernel, but for those that only fill up its last line."""
    words = struct.iter_unpack("<QQ", code[: len(code) // INSTRUCTION * INSTRUCTION])
    return sum(low & 0xFFF != NOP for low, _ in words)


def compare(image: str, cubin: Elf, wanted: dict[str, int]) -> list[str]:
    """List the differences between machine code and manifest: names, and sizes of arguments."""
    names, problems = kernels_of(cubin), []
    for name in sorted(wanted.keys() - names):
        problems.append(f"{image}: kernel {name} of the manifest is not in the machine code")
    for name in sorted(names - wanted.keys()):
        problems.append(f"{image}: kernel {name} is in the machine code, not in the manifest")
    for name in sorted(names & wanted.keys()):
        takes = parameters(cubin.section(f".nv.info.{name}"))
        if takes != [(0, 0, wanted[name])]:
            problems.append(
                f"{image}: {name} takes {takes} (number, offset, bytes), "
                f"and the host packs one struct of {wanted[name]} bytes"
            )
    return problems


def spills(image: str, said: str) -> list[str]:
    """Kernels that keep registers in memory, from the words of ptxas."""
    return [
        f"{image}: {name} spills {int(stores) + int(loads)} bytes"
        for name, _, stores, loads in SPILL.findall(said)
        if int(stores) or int(loads)
    ]


def costs(cubin: Elf, names: set[str], lanes: dict[str, int]) -> dict[str, float]:
    """
    Instructions an element of the dense elementwise kernels.

    A kernel has its formula once for each element that a thread takes at once, and once more for
    what is left over. What seldom runs counts, too: the slow paths of division, huge arguments.
    """
    return {
        name: instructions(cubin.section(f".text.{name}")) / (lanes[name] + (lanes[name] > 1))
        for name in sorted(names & lanes.keys())
    }


def elementwise_lanes(image: str) -> dict[str, int]:
    """Elements that a thread takes at once, of each dense elementwise kernel of an image."""
    from ext.codegen import cuda_elementwise

    entries, _ = cuda_elementwise.plan()
    own = [one for one in entries.values() if one.image == image and not one.notes_faults]
    return {one.name: one.lanes for one in own}


def check(images: Images, chosen: list[Image], say=print) -> Report:
    """Compile the chosen images as needed and check them."""
    report = Report(images.toolkit.version, images.archs.names)
    with ThreadPoolExecutor(job_count()) as pool:
        for image, failed in zip(chosen, pool.map(lambda one: _compiled(images, one), chosen)):
            if failed:
                report.problems.append(failed)
            else:
                _add(report, images, image)
    return report


def _compiled(images, image) -> str:
    try:
        images.compile(image)
    except StepFailed as error:
        return str(error)
    return ""


def _add(report, images, image):
    report.seconds[image.name] = images.seconds(image)
    output, said = images.output(image), images.usage(image)
    report.bytes += output.stat().st_size
    report.registers = max([report.registers, *map(int, REGISTERS.findall(said))])
    report.problems += spills(image.name, said)
    wanted = json.loads((images.folder / f"{image.name}.kernels").read_text(encoding="utf-8"))
    report.kernels += len(wanted)
    if images.kind != "cubin":
        return
    cubin = Elf(output.read_bytes())
    report.problems += compare(image.name, cubin, wanted)
    costs_by_name = costs(cubin, kernels_of(cubin), elementwise_lanes(image.name))
    report.instructions |= {name: round(cost, 1) for name, cost in costs_by_name.items()}
    if images.archs.names == [cuda_limits.ARCH]:
        report.problems += cuda_limits.exceeded(costs_by_name)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m ext.build.cuda_checks", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--arch", default="90", help="compute capability (90)")
    parser.add_argument("--images", nargs="+", metavar="NAME", help="these alone")
    parser.add_argument(
        "--default", action="store_true", help="compile fatbins for the default architectures"
    )
    parser.add_argument("--json", metavar="FILE", help="write what was found")
    options = parser.parse_args(arguments)
    os.chdir(ROOT)
    try:
        images = _prepared(options)
    except (cuda.NoCuda, FlagRefused) as error:
        print(error)
        return 1
    by_name = {image.name: image for image in images.images}
    if unknown := [name for name in options.images or () if name not in by_name]:
        parser.error(f"no image {', '.join(unknown)}; there are {', '.join(sorted(by_name))}")
    chosen = [by_name[name] for name in options.images or by_name]
    chosen.sort(key=lambda image: -image.source.stat().st_size)
    report = check(images, chosen)
    limit = LIMITS["default" if options.default else "one"]
    if report.total > limit:
        report.problems.append(f"{report.total:.0f} s of processor time; the limit is {limit} s")
    print(rendered(report))
    if options.json:
        Path(options.json).write_text(json.dumps(asdict(report), indent=1) + "\n", encoding="utf-8")
    return 1 if report.problems else 0


def _prepared(options) -> Images:
    toolkit = cuda.toolkit(FOLDER / "nvcc.probe")
    environ = {} if options.default else {"AUTOGRAD_CY_CUDA_ARCHS": options.arch}
    archs = cuda.archs(toolkit.known, environ, toolkit.version)
    return Images(toolkit, archs, compiler(), kind="fatbin" if options.default else "cubin")


def rendered(report: Report) -> str:
    """The report as text: problems, then a line of totals."""
    lines = list(report.problems)
    slow = sorted(report.seconds.items(), key=lambda item: -item[1])
    lines += [f"  {name:<20}{seconds:6.1f} s" for name, seconds in slow]
    lines.append(
        f"{len(report.seconds)} images, {report.kernels} kernels for {', '.join(report.archs)} by "
        f"nvcc {report.nvcc}: {report.total:.0f} s of processor time, {report.bytes / 1e6:.2f} MB, "
        f"{report.registers} registers at most, {len(report.problems)} problems"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
