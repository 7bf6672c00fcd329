# cython: language_level=3
# build: openmp
# What the compiler and the running thread say of themselves, for `autograd-cy info` and `doctor`.

cdef extern from *:
    """
    #if defined(__clang__)
    #define AGC_COMPILER "clang " __clang_version__
    #elif defined(__GNUC__)
    #define AGC_COMPILER "gcc " __VERSION__
    #else
    #define AGC_COMPILER "unknown"
    #endif

    #if defined(__x86_64__)
    #include <xmmintrin.h>
    static int agc_flushes_denormals(void) { return (_mm_getcsr() & 0x8040) != 0; }
    #else
    static int agc_flushes_denormals(void) {
        volatile double tiny = 2.2250738585072014e-308;
        return tiny / 4 == 0;
    }
    #endif
    """
    const char* AGC_COMPILER
    int agc_flushes_denormals() nogil


def compiler():
    """Name and version of the compiler."""
    return AGC_COMPILER.decode()


def flushes_denormals():
    """True when this thread rounds denormal numbers to zero, a trace of -ffast-math somewhere."""
    return bool(agc_flushes_denormals())
