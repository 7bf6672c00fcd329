/* Loops over contiguous elements, o[i] = f(a[i], ...), as macros: the letters of a name say which
 * operands are vectors (V) and which are one element for all (S).
 *
 * The pragma says what the compiler would test at run time, with a second loop for the other case:
 * no element depends on an earlier one. A result is exactly one of the operands, or apart. */
#ifndef AG_EACH_H
#define AG_EACH_H

#include <stddef.h>

#if defined(__GNUC__) && !defined(__clang__)
#define AG_APART _Pragma("GCC ivdep")
#else
#define AG_APART
#endif

#define AG_EACH(n, set)                                                                          \
    do {                                                                                         \
        const ptrdiff_t n_ = (n);                                                                \
        AG_APART for (ptrdiff_t i_ = 0; i_ < n_; i_++) set;                                      \
    } while (0)
#define AG_EACH_V(n, o, f, a) AG_EACH(n, o[i_] = f(a[i_]))
#define AG_EACH_S(n, o, f, a) AG_EACH(n, o[i_] = f(a))
#define AG_EACH_VV(n, o, f, a, b) AG_EACH(n, o[i_] = f(a[i_], b[i_]))
#define AG_EACH_VS(n, o, f, a, b) AG_EACH(n, o[i_] = f(a[i_], b))
#define AG_EACH_SV(n, o, f, a, b) AG_EACH(n, o[i_] = f(a, b[i_]))
#define AG_EACH_VVV(n, o, f, a, b, c) AG_EACH(n, o[i_] = f(a[i_], b[i_], c[i_]))
#define AG_EACH_VSV(n, o, f, a, b, c) AG_EACH(n, o[i_] = f(a[i_], b, c[i_]))
#define AG_EACH_VVS(n, o, f, a, b, c) AG_EACH(n, o[i_] = f(a[i_], b[i_], c))
#define AG_EACH_VSS(n, o, f, a, b, c) AG_EACH(n, o[i_] = f(a[i_], b, c))
#define AG_EACH_SVV(n, o, f, a, b, c) AG_EACH(n, o[i_] = f(a, b[i_], c[i_]))
#define AG_EACH_VVVV(n, o, f, a, b, c, d) AG_EACH(n, o[i_] = f(a[i_], b[i_], c[i_], d[i_]))
#define AG_EACH_VVVS(n, o, f, a, b, c, d) AG_EACH(n, o[i_] = f(a[i_], b[i_], c[i_], d))
#define AG_EACH_VVSS(n, o, f, a, b, c, d) AG_EACH(n, o[i_] = f(a[i_], b[i_], c, d))
#define AG_EACH_SVVS(n, o, f, a, b, c, d) AG_EACH(n, o[i_] = f(a, b[i_], c[i_], d))

/* o[i] = f(a[-i]) */
#define AG_EACH_BACKWARDS(n, o, f, a) AG_EACH(n, o[i_] = f(a[-i_]))

/* Likewise with strides in bytes: s of the result, sa of a, ... */
#define AG_AT(p, stride) (*(__typeof__(p))((char *)(p) + i_ * (stride)))
#define AG_STRIDED_1(n, o, s, f, a, sa) AG_EACH(n, AG_AT(o, s) = f(AG_AT(a, sa)))
#define AG_STRIDED_2(n, o, s, f, a, sa, b, sb)                                                   \
    AG_EACH(n, AG_AT(o, s) = f(AG_AT(a, sa), AG_AT(b, sb)))
#define AG_STRIDED_3(n, o, s, f, a, sa, b, sb, c, sc)                                            \
    AG_EACH(n, AG_AT(o, s) = f(AG_AT(a, sa), AG_AT(b, sb), AG_AT(c, sc)))
#define AG_STRIDED_4(n, o, s, f, a, sa, b, sb, c, sc, d, sd)                                     \
    AG_EACH(n, AG_AT(o, s) = f(AG_AT(a, sa), AG_AT(b, sb), AG_AT(c, sc), AG_AT(d, sd)))

#endif
