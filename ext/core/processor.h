/* What this processor can run, and a check before a module runs what it may not.
 *
 * The build puts this file in front of the C of modules for more than the baseline (-include): their
 * first instructions may be unknown to the processor, which would end the process.  What stands here
 * is compiled for the baseline everywhere. */

#ifndef AGC_PROCESSOR_H
#define AGC_PROCESSOR_H

#ifdef AUTOGRAD_CY_SIMD_NEEDS
/* As Cython would include it. */
#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>
#endif

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
#else
#define AGC_BASELINE __attribute__((noinline, unused))
static int agc_has_avx2(void) { return 0; }
static int agc_has_avx512(void) { return 0; }
#endif

#ifdef AUTOGRAD_CY_SIMD_NEEDS
AGC_BASELINE static PyObject *agc_begin_module(PyModuleDef *definition) {
    if (AUTOGRAD_CY_SIMD_NEEDS()) return PyModuleDef_Init(definition);
    PyErr_Format(PyExc_ImportError,
                 "%s is compiled for " AUTOGRAD_CY_SIMD ", which this processor cannot run. The "
                 "package itself imports the modules that it can.", definition->m_name);
    return NULL;
}
/* The whole of what Cython's PyInit_... calls. */
#define PyModuleDef_Init agc_begin_module
#endif

#endif
