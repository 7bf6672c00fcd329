"""Compiler flags: what we add, what we refuse from the user, and the switches of the environment.

AUTOGRAD_CY_OPENMP=0          build without threads
AUTOGRAD_CY_SIMD=list         instruction sets for kernels, as in avx2 (all by default; see simd.py)
AUTOGRAD_CY_NATIVE=1          compile for this very processor (the result may not run elsewhere)
AUTOGRAD_CY_OPT=0             optimisation level of all modules, for quick builds while developing
AUTOGRAD_CY_DEBUG=1           bounds checks, assertions, debug symbols
AUTOGRAD_CY_SANITIZE=list     -fsanitize=list, as in address,undefined
AUTOGRAD_CY_COVERAGE=1        calls of Python's tracer in each line that holds the GIL (coverage.py)
MAX_JOBS=n                    compilers at once
SOURCE_DATE_EPOCH=n           the time of all files in an archive
CC, CFLAGS, CPPFLAGS, LDFLAGS are honoured; flags that change the meaning of arithmetic are refused.
"""

from __future__ import annotations

import difflib
import os
import re
import resource
import shlex
import sysconfig

# With any of these NaN, infinity, signed zero or denormals stop working, and linking with some of
# them switches the whole process to flush-to-zero.
FORBIDDEN = (
    "-ffast-math",
    "-Ofast",
    "-funsafe-math-optimizations",
    "-ffinite-math-only",
    "-fassociative-math",
    "-freciprocal-math",
    "-fno-signed-zeros",
    "-fno-honor-nans",
    "-fno-honor-infinities",
    "-mdaz-ftz",
    "-ftz",
    "-ffp-model=fast",
    "-ffp-model=aggressive",
    "-fp-model=fast",
    "-fast",
    "-Mfprelaxed",
    "-Kfast",
)
#: Our variables, those with a value of their own last; a name close to one of them is a mistake.
SWITCHES = ("COVERAGE", "DEBUG", "NATIVE", "OPENMP")
SETTINGS = ("CUDA", "CUDA_ARCHS", "OPT", "SANITIZE", "SIMD")
PREFIX = "AUTOGRAD_CY_"
FILES_OF_A_JOB = 8  # open at once: two pipes to Cython, three to a compiler
NO, YES = ("", "0", "no", "off", "false"), ("1", "yes", "on", "true")
VARIABLES = ("CC", "CFLAGS", "CPPFLAGS", "CXXFLAGS", "LDSHARED", "LDFLAGS", "ARCHFLAGS")

TAKE_A_FOLDER = ("-I", "-L", "-B", "-isystem", "-idirafter", "-include", "-isysroot", "--sysroot")
NAMES_A_FOLDER = re.compile(r"(?:-[ILB]|-isystem|-[^,=]*=|-Wl,(?:.*[,=])?)/")

MEMSET = "-mmemset-strategy=unrolled_loop:512:noalign,libcall:-1:noalign"
SIMD_MATH = ("-fno-math-errno", "-fno-trapping-math")
# What is fused is what a source says (ext/kernels/scalar/config.h). Left to itself a compiler
# decides loop by loop, and an element gets other bits in a whole vector than in what is left over.
CONTRACTION = "-ffp-contract=off"
# For modules that mostly call others. -O1 takes two thirds of the time of -O2 and loses nothing
# there as long as small functions are inlined and last calls are jumps: all of these, or none.
COLD = (
    "-O1",
    "-finline-small-functions",
    "-findirect-inlining",
    "-foptimize-sibling-calls",
    "-freorder-blocks-and-partition",
    "-fpartial-inlining",
    "-fipa-ra",
)
# For loops whose vectors are written out: what -O3 has beside these flags takes a quarter of its
# time and changes nothing there. Loops of many options need it, as those of optimizers and of rows.
COLD_SIMD = ("-O2", "-ftree-vectorize", "-fvect-cost-model=dynamic", "-fno-gcse", "-fno-tree-pre")
# Short loops that cross what a processor fetches at once take up to 1.5 times as long (Zen 3), and
# where a loop lies changes with every change of its module.
ALIGN = "-falign-loops=32"
# What Cython marks as small runs once, when its module is imported: no effort at all.
ONCE = "-DCYTHON_SMALL_CODE=__attribute__((cold,optimize(0)))"
# A module says it if the processor lacks what the compiler took to be there, by whatever flag.
ASKS_PROCESSOR = ("-DAUTOGRAD_CY_ASKS_PROCESSOR", "-include", "ext/core/processor.h")
RUNS_ONCE = "CYTHON_SMALL_CODE int probe(int x) { return x; }"

# Compiles where arithmetic is what the standard says, and fails otherwise.
HONEST = """
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0)
#error "fast math"
#endif
typedef int probe;
"""

DIRECTIVES = {
    "language_level": "3",
    "boundscheck": "False",
    "wraparound": "False",
    "cdivision": "True",
    "initializedcheck": "False",
    "embedsignature": "True",
    "embedsignature.format": "python",
    "binding": "True",
    "emit_code_comments": "False",
}
COVERAGE_DIRECTIVES = {"linetrace": "True"}
# By sys.settrace, also where Python has sys.monitoring: coverage.py asks plugins with that alone.
COVERAGE = ("-DCYTHON_TRACE=1", "-DCYTHON_USE_SYS_MONITORING=0")
DEBUG_DIRECTIVES = {
    "boundscheck": "True",
    "initializedcheck": "True",
    "emit_code_comments": "True",
}


class FlagRefused(Exception):
    """The user's flags would change results."""


def switch(name: str, environ=os.environ) -> bool:
    """True when the environment variable is set to something other than a no."""
    return environ.get(name, "0").lower() not in NO


def refuse_mistyped(environ=os.environ) -> None:
    """Raise FlagRefused for a switch that is neither on nor off, and for names close to ours."""
    for name in (f"{PREFIX}{rest}" for rest in SWITCHES):
        if environ.get(name, "").lower() not in (*NO, *YES):
            raise FlagRefused(f"autograd_cy: {name}={environ[name]} is neither 1 nor 0.")
    known = (*SWITCHES, *SETTINGS)
    for name in sorted(environ):
        rest = name.removeprefix(PREFIX)
        if name == rest or rest in known:
            continue
        if near := difflib.get_close_matches(rest, known, 1, 0.8):
            raise FlagRefused(
                f"autograd_cy: the build knows no {name}; is {PREFIX}{near[0]} meant?  Unset the "
                "other one."
            )


def refuse_hidden(probe) -> None:
    """Raise FlagRefused when the compiler does fast math though no flag that we can see says so.

    Wrappers do that: Spack's, Cray's, a site's own script in front of the compiler.
    """
    if probe.explain(HONEST):
        sign = "it defines __FAST_MATH__ or __FINITE_MATH_ONLY__"
    elif probe.flushes_denormals():
        sign = "what it links makes denormal numbers zero in the whole process"
    else:
        return
    raise FlagRefused(
        f"autograd_cy: the compiler command ({probe.cc[0]}) does fast math though no flag says so: "
        f"{sign}.  It may be a wrapper that adds flags (Spack: cflags of the package; Cray or site "
        f"scripts: their configuration).  That breaks NaN, infinity and denormal numbers.  Take it "
        f"out there, or choose a compiler with CC=gcc."
    )


def opt_level(environ=os.environ) -> str | None:
    """The level that AUTOGRAD_CY_OPT asks for, or None: each module has its own then."""
    level = environ.get("AUTOGRAD_CY_OPT", "").strip()
    if level and level not in ("0", "1", "2", "3"):
        raise FlagRefused(f"autograd_cy: AUTOGRAD_CY_OPT={level} is no level; use 0, 1, 2 or 3.")
    return level or None


def words_of(name: str, environ=os.environ) -> list[str]:
    """The words of a variable, split as a shell does."""
    try:
        return shlex.split(environ.get(name, ""))
    except ValueError as error:
        example = '"/path with spaces/gcc" -O2' if name == "CC" else '-O2 -DNAME="a b"'
        raise FlagRefused(
            f"autograd_cy: {name} cannot be split into words ({str(error).lower()}): "
            f"{environ[name]}\n  Quote it as for a shell: {name}='{example}'."
        ) from None


def is_forbidden(flag: str) -> bool:
    return flag in FORBIDDEN or flag.startswith(("-fp-model=fast", "-ffp-model=fast"))


def refuse_unsafe(environ=os.environ, command=()) -> None:
    """Raise FlagRefused when the environment or the compiler command break arithmetic."""
    sources = {name: words_of(name, environ) for name in VARIABLES}
    sources["the compiler command of this Python"] = list(command)
    for where, flags in sources.items():
        for flag in flags:
            if is_forbidden(flag):
                raise FlagRefused(
                    f"autograd_cy: {flag} (from {where}) is refused: it breaks NaN, infinity and "
                    f"denormal numbers, here and in every library of the process.  Remove it."
                )


def common(probe, environ=os.environ) -> list[str]:
    """Flags of every module."""
    if switch("AUTOGRAD_CY_DEBUG", environ):
        flags = ["-O1", "-g", "-UNDEBUG", "-Wall", "-Wno-unused-function"]
    else:
        flags = [f"-O{opt_level(environ) or 2}", "-g0", "-w", "-DNDEBUG"]
        flags += ["-DCYTHON_WITHOUT_ASSERTIONS=1"]
    flags += ["-fno-strict-aliasing", "-DNPY_NO_DEPRECATED_API=NPY_1_22_API_VERSION"]
    for candidate in ("-fno-semantic-interposition", "-fvisibility=hidden", MEMSET):
        flags += probe.first([candidate])
    if not switch("AUTOGRAD_CY_DEBUG", environ) and probe.compiles([ONCE], RUNS_ONCE):
        flags += [ONCE]
    if "intel" in probe.version.lower() or "icx" in probe.version.lower():
        flags += probe.first(["-fp-model=precise"], ["-ffp-model=precise"])
    if switch("AUTOGRAD_CY_NATIVE", environ):
        flags += _native(probe)
    if switch("AUTOGRAD_CY_COVERAGE", environ):
        flags += COVERAGE
    return flags + _sanitizers(environ, probe)


def of_kind(kind: str, openmp, probe, environ=os.environ) -> list[str]:
    """Flags that the kind of module adds to the common ones."""
    flags = [] if kind == "plain" else list(openmp.flags)
    if kind == "simd":
        if not switch("AUTOGRAD_CY_DEBUG", environ) and not opt_level(environ):
            flags += ["-O3", *probe.first([ALIGN])]
        for flag in SIMD_MATH:
            flags += probe.first([flag])
    return flags + probe.first([CONTRACTION])


def of_module(wanted, probe, environ=os.environ) -> list[str]:
    """A module's own flags, as far as the compiler knows them; AUTOGRAD_CY_OPT overrides levels."""
    if opt_level(environ):
        wanted = [flag for flag in wanted if not flag.startswith("-O")]
    return [known for flag in wanted for known in probe.first([flag])]


def of_cold(kind: str, probe, environ=os.environ) -> list[str]:
    """Flags of a cold module; none in quick and debug builds, or where the compiler misses one."""
    if opt_level(environ) or switch("AUTOGRAD_CY_DEBUG", environ):
        return []
    return probe.first(list(COLD_SIMD if kind == "simd" else COLD))


def link(probe, environ=os.environ) -> list[str]:
    """Link flags of every module: no symbols but those needed to load it."""
    flags = _sanitizers(environ)
    if switch("AUTOGRAD_CY_DEBUG", environ):
        return flags
    for candidate in ("-Wl,--strip-all", "-Wl,-x"):
        if probe.links((), [candidate]):
            return [*flags, candidate]
    return flags


def directives(environ=os.environ) -> dict[str, str]:
    """Cython's compiler directives."""
    directives = dict(DIRECTIVES)
    if switch("AUTOGRAD_CY_DEBUG", environ):
        directives |= DEBUG_DIRECTIVES
    if switch("AUTOGRAD_CY_COVERAGE", environ):
        directives |= COVERAGE_DIRECTIVES
    return directives


def _native(probe) -> list[str]:
    """The flag for this very processor."""
    if flags := probe.first(["-march=native"], ["-mcpu=native"]):
        return flags
    raise FlagRefused(
        f"autograd_cy: AUTOGRAD_CY_NATIVE=1, but the compiler ({probe.version}) refuses "
        "-march=native.  Unset it: kernels are compiled for each instruction set anyway."
    )


def _sanitizers(environ, probe=None) -> list[str]:
    """Flags of sanitizers: for compiling if there is a compiler to ask, else for linking."""
    names = environ.get("AUTOGRAD_CY_SANITIZE", "")
    if not names:
        return []
    flags = [f"-fsanitize={names}"]
    if probe is None:
        return flags
    if not probe.links(flags, flags):
        raise FlagRefused(
            f"autograd_cy: the compiler ({probe.version}) cannot compile and link with "
            f"-fsanitize={names}, which AUTOGRAD_CY_SANITIZE asks for.  Use address, undefined or "
            "thread, and install the compiler's runtime (libasan, libubsan; for clang compiler-rt)."
        )
    return [*flags, "-fno-omit-frame-pointer", "-fno-sanitize-recover=all"]


def compiler(environ=os.environ) -> list[str]:
    """Return the command of CC, or of the C compiler that this Python was built with."""
    return words_of("CC", environ) or shlex.split(sysconfig.get_config_var("CC") or "cc")


def without_folders(command) -> list[str]:
    """Return a command without the folders of this machine, as the package records it."""
    words: list[str] = []
    for word in command:
        if not word.startswith("/"):
            if not NAMES_A_FOLDER.match(word):
                words.append(word)
        elif words and words[-1] in TAKE_A_FOLDER:
            words.pop()
        else:  # a compiler
            words.append(os.path.basename(word))
    return words


def source_date(environ=os.environ) -> int | None:
    """Return the seconds since 1970 in SOURCE_DATE_EPOCH, or None where it isn't set."""
    date = environ.get("SOURCE_DATE_EPOCH", "").strip()
    if not date:
        return None
    # Headers of gzip have 32 bits for it.
    if not date.isdecimal() or int(date) >= 1 << 32:
        raise FlagRefused(
            f"autograd_cy: SOURCE_DATE_EPOCH={date} is no time in seconds since 1970; "
            "use SOURCE_DATE_EPOCH=$(git log -1 --format=%ct), say, or unset it."
        )
    return int(date)


def job_count(environ=os.environ) -> int:
    """Compilers to run at once: MAX_JOBS, or the processors this process may use.

    Both are limited by the files that a process may open, as each compiler needs some.
    """
    most = max(1, (resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 64) // FILES_OF_A_JOB)
    wanted = environ.get("MAX_JOBS", "").strip()
    if wanted:
        try:
            return min(most, max(1, int(wanted)))
        except ValueError:
            raise FlagRefused(
                f"autograd_cy: MAX_JOBS={wanted} is no number of compilers to run at once; "
                "use MAX_JOBS=4, say, or unset it."
            ) from None
    if hasattr(os, "sched_getaffinity"):
        return min(most, len(os.sched_getaffinity(0)))
    return min(most, os.cpu_count() or 1)
