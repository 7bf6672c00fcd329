# cython: language_level=3
# Chooses the instruction set of the kernels, once, when the package is imported.
#
# AUTOGRAD_CY_CPU=base|avx2|avx512 overrides the choice.  Modules of kind `simd` are loaded with
# load(); everything else is compiled for the baseline of the platform.

from importlib import import_module
import os

cdef extern from *:
    """
    #if defined(__x86_64__)
    /* What -march=haswell and -march=skylake-avx512 let the compiler emit.  The first call also
       asks whether the system saves the wide registers. */
    static int agc_has_avx2(void) {
        __builtin_cpu_init();
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
            && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    }
    static int agc_has_avx512(void) {
        return agc_has_avx2() && __builtin_cpu_supports("avx512f")
            && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd")
            && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    }
    #else
    static int agc_has_avx2(void) { return 0; }
    static int agc_has_avx512(void) { return 0; }
    #endif
    """
    int agc_has_avx2() nogil
    int agc_has_avx512() nogil

# In the order of preference, best last; the index is the constant of cpu.pxd.
NAMES = ("base", "avx2", "avx512")

cdef int chosen = TARGET_BASE


cdef int target() noexcept nogil:
    return chosen


def supported_targets():
    """Return the instruction sets that this processor can run, best last."""
    found = ["base"]
    if agc_has_avx2():
        found.append("avx2")
    if agc_has_avx512():
        found.append("avx512")
    return tuple(found)


def selected_target():
    """Return the instruction set in use: "avx512", "avx2" or "base"."""
    return NAMES[chosen]


def load(name):
    """Return the kernel module `name` compiled for the selected instruction set.

    A build whose compiler did not know that set has fewer modules; the next best one is taken
    unless AUTOGRAD_CY_CPU asked for this one by name.
    """
    for index in range(chosen, -1, -1):
        module = f"autograd_cy._C.{name}_{NAMES[index]}"
        try:
            return import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module or index == 0:
                raise
            if os.environ.get("AUTOGRAD_CY_CPU"):
                raise ImportError(
                    f"AUTOGRAD_CY_CPU={NAMES[chosen]}: this build of autograd_cy has no kernels "
                    f"for it ({module} is missing). Unset the variable or build with a newer "
                    f"compiler."
                ) from None


def choose(asked, supported):
    """Return the target for the value of AUTOGRAD_CY_CPU and what the processor supports."""
    if not asked:
        return supported[len(supported) - 1]
    if asked not in NAMES:
        raise ImportError(
            f"AUTOGRAD_CY_CPU={asked}: unknown instruction set. "
            f"Choose one of {', '.join(NAMES)} or unset the variable."
        )
    if asked not in supported:
        raise ImportError(
            f"AUTOGRAD_CY_CPU={asked}: this processor cannot run it. "
            f"It supports {', '.join(supported)}; unset the variable to take the best."
        )
    return asked


chosen = NAMES.index(choose(os.environ.get("AUTOGRAD_CY_CPU"), supported_targets()))
