"""The instruction sets that `simd` modules are compiled for.

One of the resulting modules is chosen when the package is imported, so that a build made on one
node runs on all others.  The rest of the package is compiled for the baseline.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

X86_64 = """
#if !defined(__x86_64__)
#error "another processor"
#endif
typedef int probe;
"""


class UnknownTarget(Exception):
    """AUTOGRAD_CY_SIMD names something else."""


@dataclass(frozen=True)
class Target:
    name: str
    flags: tuple[str, ...] = ()


BASE = Target("base")
# In the order of preference at run time, best last.
X86_TARGETS = (
    Target("avx2", ("-march=haswell",)),
    Target("avx512", ("-march=skylake-avx512", "-mprefer-vector-width=512")),
)


def targets(probe, environ=os.environ) -> tuple[Target, ...]:
    """Return the targets that this compiler can compile for; `base` always comes first.

    AUTOGRAD_CY_SIMD=avx2, or a list with commas, keeps those and saves the time for the others.
    Other processors than x86-64 have `base` alone: on 64-bit Arm that has NEON and fused products.
    """
    wanted = named(environ)
    on_x86 = probe.compiles((), X86_64)
    able = [target for target in X86_TARGETS if on_x86 and probe.compiles(target.flags)]
    lacking = wanted - {BASE.name, *(target.name for target in able)}
    if lacking:
        raise UnknownTarget(
            f"autograd_cy: AUTOGRAD_CY_SIMD has {', '.join(sorted(lacking))}, which the compiler "
            f"({probe.version}) does not compile for"
            f"{'' if on_x86 else ': the processor is no x86-64'}.  "
            "Unset AUTOGRAD_CY_SIMD, or choose another compiler with CC=gcc."
        )
    return (BASE, *(target for target in able if not wanted or target.name in wanted))


def named(environ=os.environ) -> set[str]:
    """The targets that AUTOGRAD_CY_SIMD names; none where all are wanted."""
    words = environ.get("AUTOGRAD_CY_SIMD", "").replace(",", " ").split()
    names = [target.name for target in X86_TARGETS]
    unknown = set(words) - {BASE.name, *names}
    if unknown:
        raise UnknownTarget(
            f"autograd_cy: AUTOGRAD_CY_SIMD has {', '.join(sorted(unknown))}, "
            f"but only knows base, {', '.join(names)}."
        )
    return set(words)


def is_fallback(target: Target, among: tuple[Target, ...]) -> bool:
    """Return whether this one is for processors from before 2013 alone: it is compiled with less
    effort.

    Where it is the only one, as on other processors than x86-64, it is what everybody runs.
    """
    return target == BASE and len(among) > 1
