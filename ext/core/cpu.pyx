# cython: language_level=3
# Chooses the instruction set of the kernels, once, when the package is imported.
#
# AUTOGRAD_CY_CPU=base|avx2|avx512 overrides the choice.  Modules of kind `simd` are loaded with
# load(); everything else is compiled for the baseline of the platform.

from importlib import import_module
import os

from autograd_cy._C._build_info import BUILD as _BUILD

cdef extern from "processor.h":
    int agc_has_avx2() nogil
    int agc_has_avx512() nogil

# In the order of preference, best last; the index is the constant of cpu.pxd.
NAMES = ("base", "avx2", "avx512")

cdef int chosen = TARGET_BASE


cdef int target() noexcept nogil:
    return chosen


def supported_targets():
    """Return the instruction sets that this processor can run, best last."""
    targets = ["base"]
    if agc_has_avx2():
        targets.append("avx2")
    if agc_has_avx512():
        targets.append("avx512")
    return tuple(targets)


def selected_target():
    """Return the instruction set in use: "avx512", "avx2" or "base"."""
    return NAMES[chosen]


def usable_targets():
    """Return the instruction sets that this build has kernels for and this processor can run."""
    return tuple(name for name in supported_targets() if name in _BUILD["simd"])


def load(name):
    """Return the kernel module `name` compiled for the selected instruction set."""
    return import_module(f"autograd_cy._C.{name}_{NAMES[chosen]}")


def choose(wanted, supported, compiled):
    """Return the target for the value of AUTOGRAD_CY_CPU, the processor's sets and the build's."""
    if not wanted:
        return max((name for name in supported if name in compiled), key=NAMES.index)
    if wanted not in NAMES:
        raise ImportError(
            f"AUTOGRAD_CY_CPU={wanted}: unknown instruction set. "
            f"Choose one of {', '.join(NAMES)} or unset the variable."
        )
    if wanted not in supported:
        raise ImportError(
            f"AUTOGRAD_CY_CPU={wanted}: this processor cannot run it. "
            f"It supports {', '.join(supported)}; unset the variable to take the best."
        )
    if wanted not in compiled:
        raise ImportError(
            f"AUTOGRAD_CY_CPU={wanted}: this build of autograd_cy has no kernels for it, but for "
            f"{', '.join(compiled)}. Unset the variable, or build again without AUTOGRAD_CY_SIMD "
            f"or with a newer compiler."
        )
    return wanted


chosen = NAMES.index(
    choose(os.environ.get("AUTOGRAD_CY_CPU"), supported_targets(), tuple(_BUILD["simd"])))
