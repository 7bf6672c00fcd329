"""The setuptools commands: generate sources, then compile the modules of extensions.py."""

from __future__ import annotations

import contextlib
import functools
import os
import pprint
import re
import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension
from setuptools._distutils.ccompiler import new_compiler
from setuptools._distutils.sysconfig import customize_compiler
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info

from . import advice, archives, cuda, cuda_images, flags, openmp, prerequisites, simd
from .extensions import (
    BUILD_DIR,
    GENERATED_DIR,
    MODULES,
    PACKAGE,
    PACKAGE_DIR,
    ROOT,
    SHARED,
    Module,
)
from .probe import Probe
from .steps import Builder, Library, StepFailed, Unit

KERNELS_DIR = PACKAGE_DIR.parent / cuda_images.PLACE
# What stops a build with its message alone, without a traceback.
REFUSALS = (
    cuda.NoCuda,
    flags.FlagRefused,
    openmp.OpenMPMissing,
    prerequisites.Missing,
    simd.UnknownTarget,
    StepFailed,
)


def commands() -> dict:
    """The commands that setup.py hands to setuptools."""
    classes = {
        "bdist_wheel": archives.BdistWheel,
        "build": Build,
        "build_ext": BuildExt,
        "build_py": BuildPy,
        "egg_info": EggInfo,
        "sdist": archives.Sdist,
    }
    return {name: ending(command) for name, command in classes.items()}


def ending(command: type) -> type:
    """Return a command that ends the process with a message alone where a build can't go on."""

    class Ending(command):
        def run(self):
            try:
                super().run()
            except REFUSALS as error:
                raise SystemExit(f"\n{error}\n") from None
            except OSError as error:
                if said := advice.of_error(error):
                    raise SystemExit(f"\n{said}\n") from None
                raise

    return Ending


def placeholders() -> list[Extension]:
    """One entry, which tells setuptools that there is compiled code; build_ext makes all of it."""
    return [Extension(f"{PACKAGE}.info", [])]


@functools.cache
def generate() -> list[Module]:
    """Run the code generator, if there is one, and return the modules that it wrote."""
    if not (ROOT / "ext" / "codegen" / "generate.py").exists():
        return []
    from ext.codegen.generate import main

    GENERATED_DIR.mkdir(parents=True, exist_ok=True)
    return [_as_module(described) for described in main(GENERATED_DIR, PACKAGE_DIR) or ()]


def _as_module(module) -> Module:
    get = module.get if isinstance(module, dict) else lambda key, *d: getattr(module, key, *d)
    source = get("source", None) or get("path", None)
    flags = tuple(get("flags", ()))
    return Module(get("name", None), str(Path(source).resolve()), get("kind", "plain"), flags)


def require_writable_tree() -> None:
    """Raise Missing where the source tree cannot be written to."""
    for folder in (BUILD_DIR, GENERATED_DIR, PACKAGE_DIR):
        prerequisites.require_writable(folder)


class EggInfo(egg_info):
    """Write the metadata; the first command of a build that writes, so it sees a read-only tree."""

    def run(self):
        prerequisites.require_writable(Path(self.egg_info or ".").resolve().parent)
        super().run()


class Build(build):
    """Build the package; what is missing is said before a thousand lines about copied files."""

    def run(self):
        self.get_finalized_command("build_ext").check()
        super().run()


class BuildPy(build_py):
    """Copy the package; the generated .pxd and stubs must be there before that."""

    def run(self):
        require_writable_tree()
        generate()
        super().run()


class BuildExt(build_ext):
    """Compile the modules, in parallel, and only what has changed."""

    def initialize_options(self):
        super().initialize_options()
        self.built: list[Path] = []  # files under build_lib
        self.kernel_files: list[Path] = []  # among them, those of CUDA kernels

    def run(self):
        self._check_variables()
        super().run()

    def check(self):
        """Look for what a build would stop at, but for errors of compilers."""
        self._check_variables()
        require_writable_tree()
        before, self.compiler = self.compiler, new_compiler()
        customize_compiler(self.compiler)
        self._probe_compiler(self.folder())
        self.compiler = before

    def _check_variables(self):
        """Check what needs no compiler; setuptools splits the variables next."""
        prerequisites.require_packages("cython", "numpy", "scipy")
        for name in flags.VARIABLES:
            flags.words_of(name)
            # An empty CC chooses no compiler, but setuptools would start one without a name.
            if not os.environ.get(name, "-").strip():
                del os.environ[name]
        flags.refuse_mistyped()
        flags.job_count()
        flags.source_date()
        cuda.wanted()

    def build_extensions(self):
        require_writable_tree()
        with locked(BUILD_DIR):
            self._build()

    def _build(self):
        builder, units, libraries = self._prepare()
        count = flags.job_count()
        print(f"building {len(libraries)} modules with {self.probe.version}, {count} at once")
        if self.images is not None:
            toolkit, names = self.images.toolkit, ", ".join(self.images.archs.names)
            print(f"building {len(self.images.images)} images with nvcc {toolkit.version}: {names}")
        builder.build(units, count, self.images.jobs() if self.images is not None else ())
        self._collect(builder, libraries)

    def _prepare(self) -> tuple[Builder, list[Unit], list[Library]]:
        """Write the generated sources and say how everything is compiled; nothing is run yet."""
        modules = [*MODULES, *generate()]
        folder = self.folder()
        self._probe_compiler(folder)
        units = [self._unit(module) for module in modules] + [self._shared_unit()]
        libraries = [library for unit in units for library in unit.libraries]
        self.images, self.cuda_info = cuda_images.prepare(list(self.compiler.compiler_so))
        versions = [f"{name} {version}" for name, version in self.versions.items()]
        suffix = sysconfig.get_config_var("EXT_SUFFIX") or ".so"
        builder = Builder(ROOT, folder, suffix, versions, relocatable=[numpy_include()])
        return builder, units, libraries

    def folder(self) -> Path:
        """Return the folder of what this Python's builds of this kind make."""
        return build_folder()

    def header_dirs(self) -> list[str]:
        """Return the folders of headers."""
        return include_dirs()

    def _collect(self, builder, libraries):
        """Put what was built where setuptools looks for it."""
        for library in libraries:
            path = Path(self.get_ext_fullpath(f"{PACKAGE}.{library.name}"))
            replace_if_changed(builder.path_of(library), path)
            self.built.append(path)
        package = self.built[0].parent
        _remove_stale(package, set(self.built))
        self.kernel_files = cuda_images.collect(self.images, package.parent, replace_if_changed)
        self._write_build_info(package / "_build_info.py")
        self.built.append(package / "_build_info.py")

    def copy_extensions_to_source(self):
        """Copy what changed; a module in use elsewhere keeps its old file until it ends."""
        for path in self.built:
            replace_if_changed(path, PACKAGE_DIR / path.name)
        _remove_stale(PACKAGE_DIR, {PACKAGE_DIR / path.name for path in self.built})
        for path in self.kernel_files:
            replace_if_changed(path, KERNELS_DIR / path.name)
        cuda_images.remove_stale(
            KERNELS_DIR, {KERNELS_DIR / path.name for path in self.kernel_files}
        )

    def get_outputs(self):
        return [str(path) for path in (*self.built, *self.kernel_files)]

    def get_output_mapping(self):
        """{built file: its copy in the source tree}, which editable installs ask for."""
        if not self.inplace:
            return {}
        modules = {str(path): str(PACKAGE_DIR / path.name) for path in self.built}
        return modules | {str(path): str(KERNELS_DIR / path.name) for path in self.kernel_files}

    def _probe_compiler(self, folder: Path):
        """Find out what the compiler can do, and fix the flags."""
        flags.refuse_unsafe(os.environ, [*self.compiler.compiler_so, *self.compiler.linker_so])
        self.probe = Probe(
            self.compiler.compiler_so, self.compiler.linker_so, folder / "probes.json"
        )
        prerequisites.require_compiler(self.probe)
        prerequisites.require_python_header(self.probe, self.header_dirs())
        flags.refuse_hidden(self.probe)
        self.openmp = openmp.find(self.probe)
        self.targets = simd.targets(self.probe)
        self.common = flags.common(self.probe)
        self.link = flags.link(self.probe)
        self.versions = tool_versions(self.probe)

    def _unit(self, module: Module) -> Unit:
        if not module.path.is_file():
            raise StepFailed(f"{module.path}, the source of {module.name}, does not exist.")
        cython = ["-I", ".", "-I", os.path.relpath(GENERATED_DIR, ROOT)]
        cython += ["--shared", f"{PACKAGE}.{SHARED}", *self._directives()]
        targets = self.targets if module.kind == "simd" else (None,)
        return Unit(
            name=module.name,
            module=f"{PACKAGE}.{module.name}",
            source=module.path,
            pxd=PACKAGE_DIR / f"{module.name}.pxd",
            cython_flags=cython,
            libraries=[self._library(module, target) for target in targets],
        )

    def _shared_unit(self) -> Unit:
        """The helper code of Cython, once for all modules."""
        return Unit(
            name=SHARED,
            module=f"{PACKAGE}.{SHARED}",
            source=None,
            pxd=PACKAGE_DIR / f"{SHARED}.pxd",
            cython_flags=self._directives(),
            libraries=[self._library(Module(SHARED, ""), None)],
        )

    def _directives(self) -> list[str]:
        return [w for name, value in flags.directives().items() for w in ("-X", f"{name}={value}")]

    def _library(self, module: Module, target: simd.Target | None) -> Library:
        name, chosen, cold = module.name, [], module.cold
        if target is not None:
            cold = cold or simd.is_fallback(target, self.targets)
            name = f"{module.name}_{target.name}"
            # One C file serves all targets; only the name of its entry point differs.
            chosen = [*target.flags, f"-DPyInit_{module.name}=PyInit_{name}"]
            chosen += [f'-DAUTOGRAD_CY_SIMD="{target.name}"']
            chosen += [f"-DAUTOGRAD_CY_SIMD_{target.name.upper()}=1"]
        return Library(
            name=name,
            compile_command=[
                *self.compiler.compiler_so,
                *self.common,
                *flags.of_kind(module.kind, self.openmp, self.probe),
                *chosen,
                *(flags.of_cold(module.kind, self.probe) if cold else ()),
                *flags.of_module(module.flags, self.probe),
                *flags.ASKS_PROCESSOR,
                *(f"-I{path}" for path in self.header_dirs()),
            ],
            link_command=list(self.compiler.linker_so),
            link_flags=[*self.link, *(() if module.kind == "plain" else self.openmp.link_flags)],
        )

    def _write_build_info(self, path: Path):
        simd_flags = flags.of_kind("simd", self.openmp, self.probe)
        info = {
            "version": package_version(),
            "command": " ".join(flags.without_folders(self.compiler.compiler_so)),
            "flags": " ".join(self.common),
            "kernel_flags": " ".join(flags.without_folders(simd_flags)),
            "link_flags": " ".join(self.link),
            "openmp": " ".join(flags.without_folders(self.openmp.flags)),
            "simd": {target.name: " ".join(target.flags) for target in self.targets},
            "cuda": self._cuda_info(),
            "debug": flags.switch("AUTOGRAD_CY_DEBUG"),
            **self.versions,
        }
        text = '"""The build that made the compiled modules; written by the build."""\n\n'
        text += "from typing import Any\n\n"
        text += f"BUILD: dict[str, Any] = {pprint.pformat(info, width=98, sort_dicts=False)}\n"
        _write_if_changed(path, text)

    def _cuda_info(self) -> dict:
        """The toolkit, or why there is none, and the size of each image."""
        fatbins = [path for path in self.kernel_files if path.suffix == ".fatbin"]
        sizes = {path.stem: path.stat().st_size for path in sorted(fatbins)}
        return self.cuda_info | ({"images": sizes} if sizes else {})


def build_folder(environ=os.environ) -> Path:
    """Return the folder of intermediate files: of this kind of build, for this Python."""
    kinds = {"AUTOGRAD_CY_COVERAGE": "coverage", "AUTOGRAD_CY_DEBUG": "debug"}
    kind = next((kind for name, kind in kinds.items() if flags.switch(name, environ)), "release")
    return BUILD_DIR / kind / (sysconfig.get_config_var("SOABI") or sys.implementation.cache_tag)


def tool_versions(probe) -> dict[str, str]:
    """Versions of what takes part in a build."""
    import Cython
    import numpy
    import scipy

    return {
        "compiler": probe.version,
        "python": sys.version.split()[0],
        "cython": Cython.__version__,
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
    }


def package_version() -> str:
    """Return the version that the source tree has."""
    text = (PACKAGE_DIR.parent / "_version.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "(.+)"', text, re.M)[1]


def numpy_include() -> str:
    import numpy

    return numpy.get_include()


def include_dirs() -> list[str]:
    """Return the folders of headers; ours are relative to the root."""
    folders = ["ext/core", "ext/kernels", "ext/cuda", os.path.relpath(GENERATED_DIR, ROOT)]
    python = sysconfig.get_paths()
    folders += [numpy_include(), python["include"], python["platinclude"]]
    return list(dict.fromkeys(folders))


def replace_if_changed(source: Path, target: Path) -> None:
    """Put a copy of `source` in place of `target` in one step, unless it is the same already."""
    if target.exists() and target.read_bytes() == source.read_bytes():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    passing = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copyfile(source, passing)
    shutil.copymode(source, passing)
    os.replace(passing, target)


def _write_if_changed(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _remove_stale(package: Path, wanted: set[Path]) -> None:
    """Drop modules of earlier builds that no longer exist, or they would end up in the wheel."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX") or ".so"
    for path in package.glob(f"*{suffix}"):
        if path not in wanted:
            path.unlink()
    for path in package.glob(f".*{suffix}.*"):  # a build was killed while it copied
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def locked(folder: Path):
    """Let one build at a time use the folder, where its file system has locks."""
    import fcntl

    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting for another build that uses {folder}", flush=True)
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError as error:
            # Lustre and NFS mounted without locks: a second build at once is the user's affair.
            print(f"building without a lock on {folder}: {error.strerror}")
        yield
