/* What this processor can run, and a check before a module runs what it may not.
 *
 * The build puts this file in front of the C of each module (-include): kernels for another
 * processor, or a package built with -march=native elsewhere, would end the process at their first
 * unknown instruction.  What stands here is compiled for the baseline everywhere. */

#ifndef AGC_PROCESSOR_H
#define AGC_PROCESSOR_H

#if defined(__x86_64__)
#define AGC_BASELINE __attribute__((target("arch=x86-64"), noinline, unused))

/* What -march=haswell and -march=skylake-avx512 let the compiler emit.  The first call also asks
   whether the system saves the wide registers. */
AGC_BASELINE static int agc_has_avx2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
        && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

AGC_BASELINE static int agc_has_avx512(void) {
    return agc_has_avx2() && __builtin_cpu_supports("avx512f")
        && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd")
        && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

/* A set of instructions that this file was compiled with and the processor lacks; NULL if none.
   Sets that come with others on all processors aren't asked for. */
AGC_BASELINE static const char *agc_lacking(void) {
    __builtin_cpu_init();
#ifdef __SSE4_2__
    if (!__builtin_cpu_supports("sse4.2")) return "sse4.2";
#endif
#ifdef __AVX__
    if (!__builtin_cpu_supports("avx")) return "avx";
#endif
#ifdef __XOP__
    if (!__builtin_cpu_supports("xop")) return "xop";
#endif
#ifdef __FMA4__
    if (!__builtin_cpu_supports("fma4")) return "fma4";
#endif
#ifdef __AVX2__
    if (!__builtin_cpu_supports("avx2")) return "avx2";
#endif
#ifdef __FMA__
    if (!__builtin_cpu_supports("fma")) return "fma";
#endif
#ifdef __BMI2__
    if (!__builtin_cpu_supports("bmi2")) return "bmi2";
#endif
#ifdef __AVX512F__
    if (!__builtin_cpu_supports("avx512f")) return "avx512f";
#endif
#if defined(__AVX512BW__) || defined(__AVX512DQ__) || defined(__AVX512VL__)
    if (!agc_has_avx512()) return "avx512bw, avx512cd, avx512dq and avx512vl";
#endif
#ifdef __AVX512VBMI__
    if (!__builtin_cpu_supports("avx512vbmi")) return "avx512vbmi";
#endif
#ifdef __AVX512VNNI__
    if (!__builtin_cpu_supports("avx512vnni")) return "avx512vnni";
#endif
#ifdef __AVX512BF16__
    if (!__builtin_cpu_supports("avx512bf16")) return "avx512bf16";
#endif
    return 0;
}
#else
#define AGC_BASELINE __attribute__((noinline, unused))
static int agc_has_avx2(void) { return 0; }
static int agc_has_avx512(void) { return 0; }
static const char *agc_lacking(void) { return 0; }
#endif

#ifdef AUTOGRAD_CY_ASKS_PROCESSOR
/* As Cython would include it. */
#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

AGC_BASELINE static PyObject *agc_begin_module(PyModuleDef *definition) {
    const char *lacking = agc_lacking();
    if (!lacking) return PyModuleDef_Init(definition);
    return PyErr_Format(
        PyExc_ImportError,
        "%s: this build of the module is for processors with %s, which this one lacks. The package "
        "imports kernels for the processor by itself; if a flag such as -march=native was given to "
        "the build, build again without it.", definition->m_name, lacking);
}
/* The whole of what Cython's PyInit_... calls. */
#define PyModuleDef_Init agc_begin_module
#endif

#endif
