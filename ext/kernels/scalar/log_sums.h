/* Logarithms of sums of exponentials, of two terms; what running sums are made of. In double. */
#ifndef AG_SCALAR_LOG_SUMS_H
#define AG_SCALAR_LOG_SUMS_H

#include "config.h"

/* log(e^a + e^b); also of infinities. */
AG_FN double ag_log_add_f64(double a, double b) {
    const double top = a < b ? b : a, low = a < b ? a : b;
    if (a != a || b != b) return a + b;
    if (low == -INFINITY || top == INFINITY) return top;
    return top + log1p(exp(low - top));
}

/* Infinity times x, and 0 of 0. */
AG_FN double ag_endless(double x) { return x != 0 ? INFINITY * x : 0; }

/* The logarithm of 0 has no angle. */
AG_FN ag_c128 ag_without_angle(ag_c128 a) {
    if (a.re == -INFINITY && a.im == a.im) a.im = 0;
    return a;
}

/* log(e^a + e^b) of complex numbers; what is larger is taken out of the sum. */
AG_FN_COLD ag_c128 ag_log_add_c128(ag_c128 a, ag_c128 b) {
    double re = b.re - a.re, im = b.im - a.im, x, y, scale;
    ag_c128 top = a;
    if (a.re == -INFINITY && a.im == a.im) return b; /* e^a is 0 */
    if (b.re == -INFINITY && b.im == b.im) return a;
    if (a.re == INFINITY && b.re == INFINITY) {
        x = ag_endless(cos(a.im)) + ag_endless(cos(b.im));
        y = ag_endless(sin(a.im)) + ag_endless(sin(b.im));
        a.re = log(hypot(x, y));
        a.im = atan2(y, x);
        return a;
    }
    if (a.re == INFINITY && b.im - b.im == 0) return a; /* beside it a finite number is nothing */
    if (re > 0) {
        re = -re;
        im = -im;
        top = b;
    }
    scale = exp(re);
    x = scale * cos(im); /* e^(low - top) */
    y = scale * sin(im);
    a.re = top.re + (x > -0.5 ? 0.5 * log1p(x * (2 + x) + y * y) : log(hypot(1 + x, y)));
    a.im = top.im + atan2(y, 1 + x);
    return a;
}

/* e^(low - top) for what is at most `top`, which may be infinite. */
AG_FN double ag_shrunk(double low, double top) { return low == top ? 1.0 : exp(low - top); }

/* The part of a sum that `total` lost when it was rounded, or 0 where it isn't that sum. */
AG_FN double ag_what_was_rounded(double sum, double total, double unit) {
    const double lost = sum - total;
    return fabs(lost) <= unit * fabs(total) ? lost : 0;
}

#endif
