/* Functions beside the gamma function that take loops: the incomplete ones and polygamma. In double.
 *
 * The lower one by its power series (NIST DLMF 8.11.4), the upper one by a continued fraction
 * (8.9.2); whichever is small is computed, the other one is its complement. For large a close to x
 * both would take long, and Temme's uniform expansion (8.12) begins with an error function. */
#ifndef AG_SCALAR_GAMMA_LOOPS_H
#define AG_SCALAR_GAMMA_LOOPS_H

#include "gamma.h"

#define AG_GAMMA_STEPS 2000
#define AG_GAMMA_LARGE 1e4
#define AG_GAMMA_UNIT 1.1102230246251565e-16

/* log(1 + m) - m, also of small m. */
AG_FN double ag_log1pmx_f64(double m) {
    double sum = 0, power = m;
    int k;
    if (fabs(m) > 0.25) return log1p(m) - m;
    for (k = 2; k < 40; k++) {
        const double term = (power *= -m) / k;
        sum += term;
        if (fabs(term) < AG_GAMMA_UNIT * fabs(sum)) break;
    }
    return sum;
}

/* x^a e^-x / gamma(a + 1). For larger a by what is left beside the largest value, which is at a. */
AG_FN double ag_gamma_weight_f64(double a, double x) {
    double r, correction;
    if (a < 10) {
        const double near_1 = a * (a - 1) * ag_lgamma_near_f64(a - 1);
        return exp(a * log(x) - x - (a <= 2 ? near_1 : ag_lgamma_f64(a + 1)));
    }
    r = 1 / (a * a);
    correction = 1.0 / 156;
    correction = ag_fma_f64(correction, r, -691.0 / 360360);
    correction = ag_fma_f64(correction, r, 1.0 / 1188);
    correction = ag_fma_f64(correction, r, -1.0 / 1680);
    correction = ag_fma_f64(correction, r, 1.0 / 1260);
    correction = ag_fma_f64(correction, r, -1.0 / 360);
    correction = ag_fma_f64(correction, r, 1.0 / 12) / a;
    return exp(a * ag_log1pmx_f64((x - a) / a) - correction) / sqrt(6.283185307179586477 * a);
}

AG_FN double ag_lower_series_f64(double a, double x) {
    double term = 1, sum = 1, n = a;
    int k;
    for (k = 0; k < AG_GAMMA_STEPS && term > AG_GAMMA_UNIT * sum; k++) {
        n += 1;
        term *= x / n;
        sum += term;
    }
    return sum * ag_gamma_weight_f64(a, x);
}

/* 1 - x^a / gamma(a + 1) (1 + a sum over n > 0 of (-x)^n / (n! (a + n))), for small x. */
AG_FN double ag_upper_series_f64(double a, double x) {
    const double log_power = a * log(x) - a * (a - 1) * ag_lgamma_near_f64(a - 1);
    double factor = 1, sum = 0;
    int n;
    for (n = 1; n < 40; n++) {
        const double term = (factor *= -x / n) / (a + n);
        sum += term;
        if (fabs(term) < AG_GAMMA_UNIT * fabs(sum)) break;
    }
    return -expm1(log_power) - a * exp(log_power) * sum;
}

/* By Lentz's rule, from the odd part of the fraction. */
AG_FN double ag_upper_fraction_f64(double a, double x) {
    const double tiny = 1e-300;
    double b = x + 1 - a, c = 1 / tiny, d = 1 / b, h = d;
    int k;
    for (k = 1; k < AG_GAMMA_STEPS; k++) {
        const double n = -k * (k - a);
        double change;
        b += 2;
        d = n * d + b;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = b + n / c;
        c = fabs(c) < tiny ? tiny : c;
        change = d * c;
        h *= change;
        if (fabs(change - 1) < AG_GAMMA_UNIT) break;
    }
    return h * a * ag_gamma_weight_f64(a, x);
}

/* Q of large a: half an error function, and the first terms of what is left. */
AG_FN double ag_upper_uniform_f64(double a, double x, int upper) {
    const double half = -ag_log1pmx_f64((x - a) / a); /* of eta^2 */
    const double eta = x < a ? -sqrt(2 * half) : sqrt(2 * half);
    const double z = eta * sqrt(0.5 * a);
    double first = 8.296711340953086e-7, second = 2.0576131687242798e-4, rest;
    first = ag_fma_f64(first, eta, -1.85406221071516e-6);
    first = ag_fma_f64(first, eta, -2.1854485106799922e-6);
    first = ag_fma_f64(first, eta, 3.9192631785224378e-5);
    first = ag_fma_f64(first, eta, -1.7875514403292181e-4);
    first = ag_fma_f64(first, eta, 3.527336860670194e-4);
    first = ag_fma_f64(first, eta, 1.1574074074074074e-3);
    first = ag_fma_f64(first, eta, -1.4814814814814815e-2);
    first = ag_fma_f64(first, eta, 8.3333333333333333e-2);
    first = ag_fma_f64(first, eta, -3.3333333333333333e-1);
    second = ag_fma_f64(second, eta, -9.9022633744855967e-4);
    second = ag_fma_f64(second, eta, 2.6455026455026455e-3);
    second = ag_fma_f64(second, eta, -3.4722222222222222e-3);
    second = ag_fma_f64(second, eta, -1.8518518518518519e-3);
    rest = first + (second + 4.1335978835978836e-3 / a) / a;
    rest *= exp(-a * half) / sqrt(6.283185307179586477 * a);
    return upper ? 0.5 * erfc(z) + rest : 0.5 * erfc(-z) - rest;
}

/* The lower one P(a, x), or the upper one Q(a, x); what they are at the ends is as in SciPy. */
AG_FN_COLD double ag_incomplete_gamma_f64(double a, double x, int upper) {
    double lower, above;
    if (!(a >= 0 && x >= 0)) return NAN;
    if (a == 0) return x > 0 ? (double)!upper : NAN;
    if (x == 0) return upper;
    if (a == INFINITY) return x == INFINITY ? NAN : (double)upper;
    if (x == INFINITY) return !upper;
    if (a > AG_GAMMA_LARGE && fabs(x - a) < 0.3 * a) return ag_upper_uniform_f64(a, x, upper);
    if (x <= 1.1 && a < 2 && (x <= 0.5 ? -0.4 / log(x) >= a : x * 1.1 >= a)) {
        above = ag_upper_series_f64(a, x);
        return upper ? above : 1 - above;
    }
    if (x < a + 1) {
        lower = ag_lower_series_f64(a, x);
        return upper ? 1 - lower : lower;
    }
    above = ag_upper_fraction_f64(a, x);
    return upper ? above : 1 - above;
}

/* zeta(s, q), the sum of (q + k)^-s over k >= 0, for q > 0 by Euler and Maclaurin (25.2.10). */
AG_FN double ag_zeta_f64(double s, double q) {
    const double bernoulli[10] = { /* (2k)! / B_2k */
        12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1892437580.3183791606,
        7.47242496e10, -2.950130727918164224e12, 1.1646782814350067249e14,
        -4.5979787224074726105e15,
    };
    double sum = pow(q, -s), at = q, term = 0, factor = 1, k = 0;
    int i;
    for (i = 0; i < 9 || at <= 9; i++) {
        at += 1;
        term = pow(at, -s);
        sum += term;
        if (fabs(term) <= AG_GAMMA_UNIT * fabs(sum)) return sum;
    }
    sum += term * at / (s - 1) - 0.5 * term;
    for (i = 0; i < 10; i++) {
        double t;
        factor *= s + k;
        term /= at;
        t = factor * term / bernoulli[i];
        sum += t;
        if (fabs(t) < AG_GAMMA_UNIT * fabs(sum)) break;
        factor *= s + k + 1;
        term /= at;
        k += 2;
    }
    return sum;
}

/* The derivative of order n > 1 of digamma: (-1)^(n + 1) n! zeta(n + 1, x). Terms of numbers below 0
 * are those of two sums over numbers above it. */
AG_FN_COLD double ag_polygamma_f64(int n, double x) {
    const double s = n + 1, sign = n & 1 ? 1 : -1; /* sign is also (-1)^s */
    double zeta;
    if (x != x || x == -INFINITY) return NAN;
    if (x > 0) {
        zeta = x == INFINITY ? 0 : ag_zeta_f64(s, x);
    } else if (x == floor(x)) {
        zeta = INFINITY;
    } else {
        const double part = -x - floor(-x);
        zeta = sign * (ag_zeta_f64(s, part) - ag_zeta_f64(s, 1 - x)) + ag_zeta_f64(s, 1 - part);
    }
    return sign * tgamma(s) * zeta;
}

#endif
