"""The compiler's options for OpenMP, found by compiling and linking a small program."""

from __future__ import annotations

import os
from dataclasses import dataclass

SOURCE = """
#include <omp.h>
int probe(void);
int probe(void)
{
    int n = 0;
#pragma omp parallel reduction(+:n)
    n += omp_get_num_threads();
    return n;
}
"""

MESSAGE = """\
autograd_cy: the C compiler ({compiler}) cannot compile and link an OpenMP program.
  Install its OpenMP runtime: libgomp for gcc; for clang libomp-16-dev, with the number of the
  clang (Debian, Ubuntu), libomp-devel (Fedora, RHEL) or llvm-openmp (conda). Or choose another
  compiler with CC=gcc. To build without threads, set AUTOGRAD_CY_OPENMP=0."""


class OpenMPMissing(Exception):
    """OpenMP was wanted and the compiler has none."""


@dataclass(frozen=True)
class OpenMP:
    flags: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()

    @property
    def enabled(self) -> bool:
        return bool(self.flags or self.link_flags)


def candidates(environ=os.environ) -> list[OpenMP]:
    """Spellings in the order they are tried."""
    result = [
        OpenMP(("-fopenmp",), ("-fopenmp",)),
        OpenMP(("-qopenmp",), ("-qopenmp",)),
        OpenMP(("-mp",), ("-mp",)),
        OpenMP(("-Xpreprocessor", "-fopenmp"), ("-lomp",)),
    ]
    prefixes = (environ.get("CONDA_PREFIX"), "/opt/homebrew/opt/libomp", "/usr/local/opt/libomp")
    for prefix in filter(None, prefixes):
        if os.path.exists(f"{prefix}/include/omp.h"):
            flags = ("-Xpreprocessor", "-fopenmp", f"-I{prefix}/include")
            result.append(OpenMP(flags, (f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib", "-lomp")))
    return result


def find(probe, environ=os.environ) -> OpenMP:
    """The flags for OpenMP; none when AUTOGRAD_CY_OPENMP=0; OpenMPMissing when there is none."""
    if environ.get("AUTOGRAD_CY_OPENMP", "1").lower() in ("0", "no", "off", "false"):
        return OpenMP()
    for candidate in candidates(environ):
        if probe.links(candidate.flags, candidate.link_flags, SOURCE):
            return candidate
    raise OpenMPMissing(MESSAGE.format(compiler=probe.version))
