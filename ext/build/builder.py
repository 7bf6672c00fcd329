"""The setuptools commands: generate sources, then compile the modules of extensions.py."""

from __future__ import annotations

import contextlib
import functools
import os
import pprint
import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

from . import flags, openmp, simd
from .extensions import (
    BUILD_DIR,
    GENERATED_DIR,
    MODULES,
    PACKAGE,
    PACKAGE_DIR,
    ROOT,
    Module,
)
from .probe import Probe
from .steps import Builder, Job, StepFailed


def commands() -> dict:
    """The commands that setup.py hands to setuptools."""
    return {"build_ext": BuildExt, "build_py": BuildPy}


def placeholders() -> list[Extension]:
    """One entry, so that setuptools knows that there is compiled code; build_ext fills in the rest."""
    return [Extension(f"{PACKAGE}.info", [])]


@functools.cache
def generate() -> list[Module]:
    """Run the code generator, if there is one, and return the modules that it wrote."""
    if not (ROOT / "ext" / "codegen" / "generate.py").exists():
        return []
    from ext.codegen.generate import main

    GENERATED_DIR.mkdir(parents=True, exist_ok=True)
    return [_as_module(found) for found in main(GENERATED_DIR, PACKAGE_DIR) or ()]


def _as_module(found) -> Module:
    get = found.get if isinstance(found, dict) else lambda key, *d: getattr(found, key, *d)
    source = get("source", None) or get("path", None)
    return Module(get("name", None), str(Path(source).resolve()), get("kind", "plain"))


class BuildPy(build_py):
    """Copies the package; the generated .pxd and stubs must be there before that."""

    def run(self):
        generate()
        super().run()


class BuildExt(build_ext):
    """Compiles the modules, in parallel, and only what has changed."""

    def build_extensions(self):
        try:
            with _locked(BUILD_DIR):
                self._build()
        except (flags.FlagRefused, openmp.OpenMPMissing, StepFailed) as error:
            raise SystemExit(f"\n{error}\n") from None

    def _build(self):
        modules = [*MODULES, *generate()]
        flags.refuse_unsafe(os.environ, [*self.compiler.compiler_so, *self.compiler.linker_so])
        jobs = self._jobs(modules)
        count = flags.job_count()
        print(f"building {len(jobs)} modules with {self.probe.version}, {count} at once")
        self.versions = tool_versions(self.probe)
        versions = [f"{name} {version}" for name, version in self.versions.items()]
        Builder(ROOT, count, versions, moving=[numpy_include()]).build(jobs)
        self.extensions[:] = [_extension(job.module) for job in jobs]
        self.built = [Path(self.get_ext_fullpath(job.module)) for job in jobs]
        for job, path in zip(jobs, self.built, strict=True):
            replace_if_changed(job.library, path)
        package = self.built[0].parent
        _remove_stale(package, set(self.built))
        self._write_build_info(package / "_build_info.py")
        self.built.append(package / "_build_info.py")

    def copy_extensions_to_source(self):
        """Copy what changed; a module in use elsewhere keeps its old file until it ends."""
        for path in self.built:
            replace_if_changed(path, PACKAGE_DIR / path.name)
        _remove_stale(PACKAGE_DIR, {PACKAGE_DIR / path.name for path in self.built})

    def _jobs(self, modules) -> list[Job]:
        folder = BUILD_DIR / ("debug" if flags.switch("AUTOGRAD_CY_DEBUG") else "release")
        folder /= sysconfig.get_config_var("SOABI") or sys.implementation.cache_tag
        cc, ld = list(self.compiler.compiler_so), list(self.compiler.linker_so)
        self.probe = probe = Probe(cc, ld, folder / "probes.json")
        self.openmp = openmp.find(probe)
        self.targets = simd.targets(probe)
        self.common = flags.common(probe)
        self.link = flags.link(probe)
        cython = ["-I", ".", "-I", os.path.relpath(GENERATED_DIR, ROOT)]
        for name, value in flags.directives().items():
            cython += ["-X", f"{name}={value}"]
        jobs = []
        for module in modules:
            for name, target in _variants(module, self.targets):
                compile_ = [*cc, *self.common]
                compile_ += flags.of_kind(module.kind, self.openmp, probe)
                if target is not None:
                    compile_ += [*target.flags, f"-DAUTOGRAD_CY_SIMD_{target.name.upper()}=1"]
                    compile_ += [f'-DAUTOGRAD_CY_SIMD="{target.name}"']
                compile_ += [f"-I{path}" for path in include_dirs()]
                threads = () if module.kind == "plain" else self.openmp.link_flags
                jobs.append(
                    Job(
                        name=name,
                        module=f"{PACKAGE}.{name}",
                        source=module.path,
                        cython_flags=cython,
                        compile_command=compile_,
                        link_command=ld,
                        link_flags=[*self.link, *threads],
                        folder=folder,
                        pxd=PACKAGE_DIR / f"{name}.pxd",
                        suffix=sysconfig.get_config_var("EXT_SUFFIX") or ".so",
                    )
                )
        return jobs

    def _write_build_info(self, path: Path):
        simd_flags = flags.of_kind("simd", self.openmp, self.probe)
        info = {
            "command": " ".join(self.compiler.compiler_so),
            "flags": " ".join(self.common),
            "kernel_flags": " ".join(simd_flags),
            "link_flags": " ".join(self.link),
            "openmp": " ".join(self.openmp.flags),
            "simd": {target.name: " ".join(target.flags) for target in self.targets},
            "debug": flags.switch("AUTOGRAD_CY_DEBUG"),
            **self.versions,
        }
        text = '"""How the compiled modules were built; written by the build."""\n\n'
        text += f"BUILD = {pprint.pformat(info, width=98, sort_dicts=False)}\n"
        _write_if_changed(path, text)


def _variants(module: Module, targets):
    """The modules that one source becomes: (name, target), with no target unless it is `simd`."""
    if module.kind != "simd":
        return [(module.name, None)]
    return [(f"{module.name}_{target.name}", target) for target in targets]


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


def numpy_include() -> str:
    import numpy

    return numpy.get_include()


def include_dirs() -> list[str]:
    """Where headers are looked for; ours are relative to the root."""
    found = ["ext/core", "ext/kernels", os.path.relpath(GENERATED_DIR, ROOT)]
    python = sysconfig.get_paths()
    found += [numpy_include(), python["include"], python["platinclude"]]
    return list(dict.fromkeys(found))


def _extension(name: str) -> Extension:
    return Extension(name, [])


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
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _remove_stale(package: Path, wanted: set[Path]) -> None:
    """Drop modules of earlier builds that no longer exist, or they would end up in the wheel."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX") or ".so"
    for path in package.glob(f"*{suffix}"):
        if path not in wanted:
            path.unlink()


@contextlib.contextmanager
def _locked(folder: Path):
    """Let one build at a time use the folder."""
    import fcntl

    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
