"""The instruction sets that `simd` modules are compiled for.

One of the resulting modules is chosen when the package is imported, so that a build made on one
node runs on all others.  The rest of the package is compiled for the baseline.
"""

from __future__ import annotations

from dataclasses import dataclass

X86_64 = """
#if !defined(__x86_64__)
#error "another processor"
#endif
typedef int probe;
"""


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


def targets(probe) -> tuple[Target, ...]:
    """What this compiler can make for the machine it compiles for; `base` always comes first."""
    if not probe.compiles((), X86_64):
        return (BASE,)
    return (BASE, *(target for target in X86_TARGETS if probe.compiles(target.flags)))
