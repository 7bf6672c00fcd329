# cython: language_level=3
# What the C compiler and this processor say about themselves.  Imported by `autograd_cy info` only.

cdef extern from *:
    """
    #if defined(__clang__)
    #define AGC_COMPILER "clang " __clang_version__
    #elif defined(__GNUC__)
    #define AGC_COMPILER "gcc " __VERSION__
    #else
    #define AGC_COMPILER "unknown"
    #endif

    #if defined(_OPENMP)
    #include <omp.h>
    #define AGC_OPENMP _OPENMP
    #define AGC_MAX_THREADS() omp_get_max_threads()
    #else
    #define AGC_OPENMP 0
    #define AGC_MAX_THREADS() 1
    #endif

    #if defined(__x86_64__)
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
    #include <xmmintrin.h>
    static int agc_flushes_denormals(void) { return (_mm_getcsr() & 0x8040) != 0; }
    #else
    static int agc_has_avx2(void) { return 0; }
    static int agc_has_avx512(void) { return 0; }
    static int agc_flushes_denormals(void) {
        volatile double tiny = 2.2250738585072014e-308;
        return tiny / 4 == 0;
    }
    #endif
    """
    const char* AGC_COMPILER
    int AGC_OPENMP
    int AGC_MAX_THREADS() nogil
    int agc_has_avx2() nogil
    int agc_has_avx512() nogil
    int agc_flushes_denormals() nogil


def compiler():
    """Name and version of the compiler."""
    return AGC_COMPILER.decode()


def openmp_version():
    """The date that OpenMP's standard gives itself (`_OPENMP`), or 0 without OpenMP."""
    return AGC_OPENMP


def openmp_threads():
    """The team size that OpenMP would use by default."""
    return AGC_MAX_THREADS()


def cpu_targets():
    """Instruction sets of this processor that kernels are compiled for, best last."""
    found = ["base"]
    if agc_has_avx2():
        found.append("avx2")
    if agc_has_avx512():
        found.append("avx512")
    return found


def flushes_denormals():
    """True when this thread rounds denormal numbers to zero, a trace of -ffast-math somewhere."""
    return bool(agc_flushes_denormals())
