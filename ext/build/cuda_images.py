"""The images of CUDA kernels: each source of ext/codegen/cuda_sources.py becomes one fatbin.

Fatbins are data of the package, `autograd_cy/_cuda/<image>.fatbin`, beside `manifest.json`, which
says {image: {kernel: bytes of its arguments}}. They know no Python: builds for several share them.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import cuda
from .extensions import BUILD_DIR, ROOT
from .flags import switch
from .steps import Builder, Stamp, Step, StepFailed

FOLDER = BUILD_DIR / "cuda"
PLACE = "_cuda"  # of the package
MANIFEST = "manifest.json"
WRITTEN = (".cu", ".fatbin", ".kernels", ".ptxas", ".seconds")
INCLUDE = ("ext/cuda/device", "ext/cuda", "ext/kernels", "ext/core")
COMMON = ("-std=c++17", "-O3", "-Werror=all-warnings", "-Xptxas=-v")
# What ptxas says of each kernel; it is kept beside the image for the checks.
PTXAS = re.compile(r"^(ptxas info\b|    (Function properties|\d+ bytes stack frame)).*\n?", re.M)


@dataclass(frozen=True)
class Image:
    """One fatbin."""

    name: str
    source: Path
    flags: tuple[str, ...] = ()


class Images(Builder):
    """Bring fatbins up to date, or with `kind` "cubin" the code of one architecture, readable."""

    def __init__(
        self, toolkit: cuda.Toolkit, archs: cuda.Archs, cc: list[str], say=print, kind="fatbin"
    ):
        self.toolkit = toolkit
        self.archs = archs
        self.kind = kind
        self.cc = [*cc, *(f"-I{path}" for path in INCLUDE)]
        versions = [toolkit.version, toolkit.host]
        folder = FOLDER if kind == "fatbin" else FOLDER / archs.names[0]
        # Where the toolkit is means nothing: pip puts nvcc from PyPI into a new folder each time.
        super().__init__(ROOT, folder, f".{kind}", versions, relocatable=[toolkit.root], say=say)
        self.images = write_sources(FOLDER)
        folder.mkdir(parents=True, exist_ok=True)

    def jobs(self) -> list[Callable[[], None]]:
        """Return the steps of a build, which may run in any order and at once, the longest
        first."""
        order = sorted(self.images, key=lambda image: -image.source.stat().st_size)
        return [functools.partial(self.compile, image) for image in order]

    def compile(self, image: Image) -> None:
        """Bring one image up to date."""
        stamp, *steps = self._steps(image)
        for step in steps:
            self._run_step(stamp, step)
        self._report(image.name, stamp)

    def pending_images(self) -> dict[str, list[str]]:
        """Images that a build would compile, and why."""
        pending = {}
        for image in self.images:
            stamp, *steps = self._steps(image)
            if reasons := [why for step in steps for why in self._reasons(stamp, step)]:
                pending[image.name] = reasons
        return pending

    def output(self, image: Image) -> Path:
        """Return the path at which nvcc puts an image."""
        return self.folder / f"{image.name}{self.suffix}"

    def usage(self, image: Image) -> str:
        """Return the registers and spills of each kernel, as ptxas reports them."""
        return (self.folder / f"{image.name}.ptxas").read_text(encoding="utf-8")

    def seconds(self, image: Image) -> float:
        """Processor time that nvcc took for an image when it was compiled last."""
        return float((self.folder / f"{image.name}.seconds").read_text(encoding="utf-8"))

    def manifest(self) -> dict[str, dict[str, int]]:
        """{image: {kernel: bytes of its arguments}}, as the sources say."""
        names = sorted(image.name for image in self.images)
        return {
            name: json.loads((self.folder / f"{name}.kernels").read_text(encoding="utf-8"))
            for name in names
        }

    def _command(self, image):
        """Return the command of nvcc for an image; the files are to be added."""
        debug = ["-lineinfo"] if switch("AUTOGRAD_CY_DEBUG") else []
        include = [f"-I{path}" for path in INCLUDE]
        return [str(self.toolkit.nvcc), *COMMON, *debug, *self.toolkit.flags, f"-{self.kind}",
                *self.archs.flags, *image.flags, *include]  # fmt: skip

    def _steps(self, image):
        source, output = self._short(image.source), self.output(image)
        stamp = Stamp(self.folder / f"{image.name}.json")
        listed, listing = (self.folder / f"{image.name}.kernels{end}" for end in ("", ".d"))
        command = [sys.executable, "-m", "ext.build.cuda_listing"]
        command += [self._short(listed), source, self._short(listing), *self.cc]
        always = (image.source, *sorted(ROOT.glob("ext/cuda/device/*.h")))
        listing_step = Step("listing", command, listed, listing, always)
        depfile = Path(f"{output}.d")
        command = [
            *self._command(image),
            "-MD",
            "-MF",
            self._short(depfile),
            "-o",
            self._short(output),
            source,
        ]
        return stamp, listing_step, Step("nvcc", command, output, depfile, (image.source,))

    def _run(self, command):
        status, said, seconds = timed(command, self.root)
        rest = PTXAS.sub("", said).strip()
        name = next(Path(word).stem for word in command if word.endswith(".cu"))
        if status:
            raise StepFailed(
                f"autograd_cy: the CUDA kernels of image {name} do not compile "
                f"(nvcc {self.toolkit.version}, {', '.join(self.archs.names)}, {seconds:.0f} s).\n"
                f"  {shlex.join(command)}\n{rest or said}\n"
                "AUTOGRAD_CY_CUDA=0 builds for the CPU only."
            )
        if command[0] == str(self.toolkit.nvcc):
            (self.folder / f"{name}.ptxas").write_text(said, encoding="utf-8")
            (self.folder / f"{name}.seconds").write_text(f"{seconds:.2f}\n", encoding="utf-8")
        if rest:
            self.say(rest)


def timed(command: list[str], folder: Path) -> tuple[int, str, float]:
    """Run a command; its status, what it wrote, and the processor time of all that it started."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        process = subprocess.Popen(command, cwd=folder, stdout=said, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return process.returncode, said.read(), usage.ru_utime + usage.ru_stime


def write_sources(folder: Path) -> list[Image]:
    """Write the source of each image and remove what is left of images that are gone."""
    from ext.codegen.cuda_sources import sources

    folder.mkdir(parents=True, exist_ok=True)
    images = []
    for name, source in sources().items():
        path = folder / f"{name}.cu"
        if not path.exists() or path.read_text(encoding="utf-8") != source.text:
            path.write_text(source.text, encoding="utf-8")
        images.append(Image(name, path, tuple(source.flags)))
    known = {image.name for image in images}
    for path in folder.iterdir():
        if path.suffix in WRITTEN and path.stem not in known:
            path.unlink()
    return images


def prepare(cc: list[str], say=print) -> tuple[Images | None, dict]:
    """
    The images to build, or None, and what `_build_info.py` records of the toolkit.

    Raises NoCuda where AUTOGRAD_CY_CUDA=1 asks for kernels and there is no nvcc that works.
    """
    setting = cuda.wanted()
    if setting == "0":
        return None, {"missing": "AUTOGRAD_CY_CUDA=0 when it was built"}
    try:
        toolkit = cuda.toolkit(FOLDER / "nvcc.probe")
    except cuda.NoCuda as error:
        if setting == "1":
            raise
        say(f"no CUDA kernels: {error.reason} (AUTOGRAD_CY_CUDA=1 says what to do)")
        return None, {"missing": error.reason}
    archs = cuda.archs(toolkit.known, version=toolkit.version)
    images = Images(toolkit, archs, cc, say)
    info = {
        "nvcc": toolkit.version,
        "host_compiler": toolkit.host,
        "archs": archs.names,
        "flags": " ".join([*COMMON, *toolkit.flags]),
    }
    return images, info


def collect(images: Images | None, package: Path, replace) -> list[Path]:
    """Put fatbins and manifest into `package`/_cuda, drop what is stale; what is there then."""
    folder, wanted = package / PLACE, []
    if images is not None:
        folder.mkdir(parents=True, exist_ok=True)
        listed = images.folder / MANIFEST
        text = json.dumps(images.manifest(), indent=1) + "\n"
        if not listed.exists() or listed.read_text(encoding="utf-8") != text:
            listed.write_text(text, encoding="utf-8")
        for source in [*map(images.output, images.images), listed]:
            wanted.append(folder / source.name)
            replace(source, wanted[-1])
    remove_stale(folder, set(wanted))
    return wanted


def remove_stale(folder: Path, wanted: set[Path]) -> None:
    """Drop files of earlier builds from `folder`, and `folder` with the last of them."""
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if path not in wanted and path.suffix in (".fatbin", ".json"):
            path.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()
