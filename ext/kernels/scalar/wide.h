/* Functions over whole vectors: AVX-512 has instructions for what the formulas of exp_log.h and
 * hyper.h spell out on bits (exponent, mantissa, scaling with overflow and subnormals, tables of
 * sixteen numbers, a first guess of 1 / x), which halves their work. Elsewhere the loops over those
 * formulas are run.
 *
 * ag_run_<name>_<type>(a, out, n) takes a multiple of 16 elements; `out` may be `a`. */
#ifndef AG_SCALAR_WIDE_H
#define AG_SCALAR_WIDE_H

#include "activation.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && !defined(__CUDACC__)
#include <immintrin.h>
#define AG_HAS_WIDE 1

#define AG_V(x) _mm512_set1_ps(x)
#define AG_W(x) _mm512_set1_pd(x)
#define AG_MULADD_PS(a, b, c) _mm512_fmadd_ps(a, b, AG_V(c))
#define AG_MULADD_PD(a, b, c) _mm512_fmadd_pd(a, b, AG_W(c))
/* min and max give their second operand for a NaN in either */
#define AG_CLAMP_PS(x, low, top) _mm512_min_ps(AG_V(top), _mm512_max_ps(AG_V(low), x))
#define AG_CLAMP_PD(x, low, top) _mm512_min_pd(AG_W(top), _mm512_max_pd(AG_W(low), x))
/* All of a number but its sign, with that of another. */
#define AG_SIGNED_PS(mag, sign)                                                                  \
    _mm512_castsi512_ps(_mm512_ternarylogic_epi32(_mm512_castps_si512(mag),                      \
                                                  _mm512_castps_si512(sign),                     \
                                                  _mm512_set1_epi32((int)0x80000000u), 0xD8))
#define AG_SIGNED_PD(mag, sign)                                                                  \
    _mm512_castsi512_pd(_mm512_ternarylogic_epi64(                                               \
        _mm512_castpd_si512(mag), _mm512_castpd_si512(sign),                                     \
        _mm512_set1_epi64((long long)0x8000000000000000u), 0xD8))

/* ---- exp ---- */

/* x = n ln 2 + r; n comes as a float */
AG_FN __m512 ag_reduce_wide_f32(__m512 x, __m512 *n) {
    const __m512 shift = AG_V(0x1.8p+23f);
    *n = _mm512_sub_ps(_mm512_fmadd_ps(x, AG_V(0x1.715476p+0f), shift), shift);
    return _mm512_fnmadd_ps(*n, AG_V(AG_LN2_LO_F32), _mm512_fnmadd_ps(*n, AG_V(AG_LN2_HI_F32), x));
}
/* (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2, with the coefficients of ag_expm1_near_f32 */
AG_FN __m512 ag_exp_rest_wide(__m512 r) {
    __m512 p = AG_V(0.00138390157f);
    p = AG_MULADD_PS(p, r, 0.00836707f);
    p = AG_MULADD_PS(p, r, 0.0416677445f);
    p = AG_MULADD_PS(p, r, 0.16666539f);
    return AG_MULADD_PS(p, r, 0.49999997f);
}
/* 2^n exp(r) */
AG_FN __m512 ag_exp_end_wide(__m512 r, __m512 n) {
    const __m512 p = AG_MULADD_PS(ag_exp_rest_wide(r), r, 1.0f);
    return _mm512_scalef_ps(AG_MULADD_PS(p, r, 1.0f), n);
}
AG_FN __m512 ag_exp_wide_f32(__m512 x) {
    __m512 n, r = ag_reduce_wide_f32(AG_CLAMP_PS(x, -110.0f, 95.0f), &n);
    return ag_exp_end_wide(r, n);
}

/* 2^(j / 16), and what those doubles lack */
static const double ag_exp_table[32] = {
    1.0, 1.0442737824274138, 1.0905077326652577, 1.1387886347566916,
    1.189207115002721, 1.241857812073484, 1.2968395546510096, 1.3542555469368927,
    1.4142135623730951, 1.4768261459394993, 1.5422108254079407, 1.6104903319492543,
    1.681792830507429, 1.7562521603732995, 1.8340080864093424, 1.9152065613971474,
    0.0, 8.5518897055379649e-17, -3.0467820798124711e-17, 8.9128126760254078e-17,
    3.9820152314656461e-17, 4.6580275918369368e-17, 2.5382502794888315e-17, 7.7009483798029895e-17,
    -9.6672933134529135e-17, -3.4839945568927958e-17, 7.9498348096976209e-17, 2.4707192569797888e-17,
    8.1990100205814965e-17, 2.9601406954488733e-17, 3.2831072242456272e-17, -1.0619946056195963e-16};

/* Entry j mod 16 of a table. */
AG_FN __m512d ag_look_up(__m512d j, const double *table) {
    return _mm512_permutex2var_pd(_mm512_loadu_pd(table), _mm512_castpd_si512(j),
                                  _mm512_loadu_pd(table + 8));
}
/* x = n ln 2 + r with n a multiple of 1/16; *z has 16 n in its low bits */
AG_FN __m512d ag_reduce_wide_f64(__m512d x, __m512d *z, __m512d *n) {
    const __m512d shift = AG_W(0x1.8p+48);
    *z = _mm512_fmadd_pd(x, AG_W(0x1.71547652b82fep+0), shift);
    *n = _mm512_sub_pd(*z, shift);
    return _mm512_fnmadd_pd(*n, AG_W(AG_LN2_LO_F64), _mm512_fnmadd_pd(*n, AG_W(AG_LN2_HI_F64), x));
}
/* (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 32 */
AG_FN __m512d ag_exp_rest_wide_f64(__m512d r) {
    __m512d p = AG_W(0.00019841722890322956);
    p = AG_MULADD_PD(p, r, 0.0013889093067856338);
    p = AG_MULADD_PD(p, r, 0.008333333331737181);
    p = AG_MULADD_PD(p, r, 0.04166666666186407);
    p = AG_MULADD_PD(p, r, 0.1666666666666668);
    return AG_MULADD_PD(p, r, 0.5000000000000003);
}
AG_FN __m512d ag_exp_wide_f64(__m512d x) {
    __m512d z, n, r = ag_reduce_wide_f64(AG_CLAMP_PD(x, -800.0, 800.0), &z, &n);
    const __m512d t = ag_look_up(z, ag_exp_table), low = ag_look_up(z, ag_exp_table + 16);
    const __m512d e = _mm512_fmadd_pd(_mm512_mul_pd(r, r), ag_exp_rest_wide_f64(r), r);
    const __m512d p = _mm512_fmadd_pd(t, e, low);
    return _mm512_scalef_pd(_mm512_add_pd(t, p), n);  /* which takes the whole part of n */
}

/* ---- log ---- */

/* x = m 2^k with 3/4 <= m < 3/2. What lies outside comes out right by itself: the exponent of 0 is
 * -inf, that of inf inf, and the mantissa of a negative number NaN. */
AG_FN __m512 ag_split_wide_f32(__m512 x, __m512 *k) {
    const __m512 m = _mm512_getmant_ps(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
    *k = _mm512_sub_ps(_mm512_getexp_ps(x), _mm512_getexp_ps(m));
    return m;
}
AG_FN __m512d ag_split_wide_f64(__m512d x, __m512d *k) {
    const __m512d m = _mm512_getmant_pd(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
    *k = _mm512_sub_pd(_mm512_getexp_pd(x), _mm512_getexp_pd(m));
    return m;
}
AG_FN __m512 ag_log_wide_f32(__m512 x) {
    __m512 k, m = ag_split_wide_f32(x, &k), f = _mm512_sub_ps(m, AG_V(1.0f));
    const __m512 f2 = _mm512_mul_ps(f, f), f4 = _mm512_mul_ps(f2, f2);
    const __m512 a = AG_MULADD_PS(f, AG_V(-0.250000957721514f), 0.3333344910043955f);
    const __m512 b = AG_MULADD_PS(f, AG_V(-0.16647314965981963f), 0.19990861363038256f);
    const __m512 c = AG_MULADD_PS(f, AG_V(-0.13161173543039442f), 0.14478400853858814f);
    const __m512 d = AG_MULADD_PS(f, AG_V(-0.04507406815910095f), 0.10462940765346068f);
    const __m512 q = _mm512_fmadd_ps(f4, _mm512_fmadd_ps(f2, d, c), _mm512_fmadd_ps(f2, b, a));
    __m512 low = _mm512_mul_ps(k, AG_V(AG_LN2_LO_F32));
    low = _mm512_fmadd_ps(_mm512_mul_ps(f, f2), q, low);
    low = _mm512_fnmadd_ps(_mm512_mul_ps(f, AG_V(0.5f)), f, low);
    return _mm512_fmadd_ps(k, AG_V(AG_LN2_HI_F32), _mm512_add_ps(f, low));
}

/* -ln(y) and -log2(y), each in two parts, of y = j / 16 where 10 <= j <= 22, at j mod 16 */
static const double ag_ln_table[32] = {
    0x0.0p+0, -0x1.f0a30c0118000p-5, -0x1.e27076e2b0000p-4, -0x1.5ff3070a7a000p-3,
    -0x1.c8ff7c79aa000p-3, -0x1.1675cababa000p-2, -0x1.4618bc21c6000p-2, 0.0,
    0.0, 0.0, 0x1.e148a1a272000p-2, 0x1.7fafa3bd81000p-2,
    0x1.269621134e000p-2, 0x1.a93ed3c8ae000p-3, 0x1.1178e8227e000p-3, 0x1.08598b59e4000p-4,
    0.0, 5.2136206391365041e-14, 4.6547297475984447e-14, 8.6492396072120709e-14,
    4.1697965845271953e-14, -8.6043067728087328e-14, 1.7625431312172662e-14, 0.0,
    0.0, 0.0, 9.6677196032355664e-14, 7.2604661499256374e-14,
    -6.292357389008195e-14, -4.3425422595242564e-14, 3.1859736349078334e-14, -2.1225608044809997e-14};
static const double ag_log2_table[32] = {
    0x0.0p+0, -0x1.663f6fac90000p-4, -0x1.5c01a39fbe000p-3, -0x1.fbc16b9026000p-3,
    -0x1.49a784bcd2000p-2, -0x1.91bba891f1000p-2, -0x1.d6753e032f000p-2, 0.0,
    0.0, 0.0, 0x1.5b2c3da197000p-1, 0x1.14c560fe68800p-1,
    0x1.a8ff971811000p-2, 0x1.32bfee370f000p-2, 0x1.8a8980abfc000p-3, 0x1.7d60496cfc000p-4,
    0.0, -6.7813636550208424e-14, 6.7289964272407267e-14, -5.7124840835318464e-14,
    6.3338595256861598e-14, -9.9959254865286992e-14, 8.4432841558581754e-14, 0.0,
    0.0, 0.0, 6.3338595256861598e-14, 8.4432841558581754e-14,
    -8.0041855585412396e-14, -2.2626511356032611e-14, -1.9917399279874596e-14, -1.6703260328550802e-14};

/* r = m y - 1, exactly, for the y = j / 16 nearest 1 / m; *z has j in its low bits. y is 1 for all
 * m near 1, whose logarithm is then that of 1 + r alone. */
AG_FN __m512d ag_near_one_wide(__m512d m, __m512d *z) {
    const __m512d shift = AG_W(0x1.8p+48);
    *z = _mm512_add_pd(_mm512_rcp14_pd(m), shift);
    return _mm512_fmsub_pd(m, _mm512_sub_pd(*z, shift), AG_W(1.0));
}
/* (log(1 + r) - r + r^2 / 2) / r^3 for |r| <= 0.047, to 2^-56 of the logarithm */
AG_FN __m512d ag_log_rest_wide(__m512d r) {
    __m512d q = AG_W(-0.10048621759967914);
    q = AG_MULADD_PD(q, r, 0.11160095061614787);
    q = AG_MULADD_PD(q, r, -0.12499899609208744);
    q = AG_MULADD_PD(q, r, 0.1428562352744224);
    q = AG_MULADD_PD(q, r, -0.16666666752278578);
    q = AG_MULADD_PD(q, r, 0.2000000006617796);
    q = AG_MULADD_PD(q, r, -0.249999999999752);
    return AG_MULADD_PD(q, r, 0.3333333333331837);
}
AG_FN __m512d ag_log_wide_f64(__m512d x) {
    __m512d k, z, m = ag_split_wide_f64(x, &k), r = ag_near_one_wide(m, &z), top, sum, low;
    const __m512d r2 = _mm512_mul_pd(r, r);
    top = _mm512_fmadd_pd(k, AG_W(0x1.62e42fefa3800p-1), ag_look_up(z, ag_ln_table));
    low = _mm512_fmadd_pd(k, AG_W(0x1.ef35793c76730p-45), ag_look_up(z, ag_ln_table + 16));
    low = _mm512_fmadd_pd(r2, _mm512_fmadd_pd(r, ag_log_rest_wide(r), AG_W(-0.5)), low);
    /* top is 0 or the larger of the two */
    sum = _mm512_add_pd(top, r);
    low = _mm512_add_pd(low, _mm512_sub_pd(r, _mm512_sub_pd(sum, top)));
    /* an infinite sum has no rest */
    return _mm512_mask_add_pd(sum, _mm512_cmp_pd_mask(_mm512_abs_pd(sum), AG_W(1e4), _CMP_LT_OQ),
                              sum, low);
}

/* ---- log2 and log10 ---- */

/* -log2(y) and -log10(y) of y = j / 16, each in two parts, at j mod 16. Sums of the first part and
 * the logarithm of a power of 2, or its first part, are exact. */
static const float ag_log2_table_f32[32] = {
    0, -0x1.664p-4f, -0x1.5cp-3f, -0x1.fbcp-3f, -0x1.49a8p-2f, -0x1.91b8p-2f, -0x1.d678p-2f, 0, 0,
    0, 0x1.5b2cp-1f, 0x1.14c4p-1f, 0x1.a9p-2f, 0x1.32cp-2f, 0x1.8a9p-3f, 0x1.7d6p-4f, 0,
    0x1.20a6dep-21f, -0x1.a39fbep-19f, -0x1.6b9026p-19f, 0x1.ed0cbap-20f, -0x1.d448f8p-17f,
    0x1.60fe68p-17f, 0, 0, 0, 0x1.ed0cbap-20f, 0x1.60fe68p-17f, -0x1.a39fbep-20f,
    -0x1.1c8f12p-22f, -0x1.9fd502p-17f, 0x1.25b3eep-22f};
static const float ag_log10_table_f32[32] = {
    0, -0x1.bp-6f, -0x1.a3p-5f, -0x1.318p-4f, -0x1.8dp-4f, -0x1.e38p-4f, -0x1.1b4p-3f, 0, 0, 0,
    0x1.a2p-3f, 0x1.4d4p-3f, 0x1.ff8p-4f, 0x1.718p-4f, 0x1.dbp-5f, 0x1.ccp-6f, 0, 0x1.40daap-15f,
    -0x1.53ac14p-18f, -0x1.982ae2p-15f, 0x1.cf8ef4p-17f, -0x1.e0d588p-15f, 0x1.8e136cp-19f, 0, 0,
    0, 0x1.3509f8p-16f, 0x1.fc13aep-18f, 0x1.fe15dep-15f, -0x1.1798e4p-15f, 0x1.1ed766p-17f,
    -0x1.8e0664p-15f};

/* As ag_log_wide_f64: `unit` is 1 / log(base), and the last sum but one is known without a loss. */
AG_FN __m512 ag_log_base_wide_f32(__m512 x, const int ten) {
    const float *table = ten ? ag_log10_table_f32 : ag_log2_table_f32;
    const __m512 shift = AG_V(0x1.8p+19f);
    __m512 k, m = ag_split_wide_f32(x, &k), top, sum, low, q;
    const __m512 z = _mm512_add_ps(_mm512_rcp14_ps(m), shift);
    const __m512i j = _mm512_castps_si512(z);
    const __m512 r = _mm512_fmsub_ps(m, _mm512_sub_ps(z, shift), AG_V(1.0f));
    const __m512 unit = AG_V(ten ? 0x1.bcb7b2p-2f : 0x1.715476p+0f), r2 = _mm512_mul_ps(r, r);
    const __mmask16 finite = (__mmask16)~_mm512_fpclass_ps_mask(k, 0x18);
    top = _mm512_permutexvar_ps(j, _mm512_loadu_ps(table));
    low = _mm512_permutexvar_ps(j, _mm512_loadu_ps(table + 16));
    if (ten) {
        top = _mm512_fmadd_ps(k, AG_V(0x1.344p-2f), top);
        low = _mm512_fmadd_ps(k, AG_V(0x1.3509f8p-18f), low);
        low = _mm512_fmadd_ps(r, AG_V(-0x1.5b235ep-27f), low);
        q = AG_MULADD_PS(r, AG_V(0.08708588033914566f), -0.10877304524183273f);
        q = AG_MULADD_PS(r, q, 0.14476463198661804f);
        q = AG_MULADD_PS(r, q, -0.2171471267938614f);
    } else {
        top = _mm512_add_ps(k, top);
        low = _mm512_fmadd_ps(r, AG_V(0x1.4ae0cp-26f), low);
        q = AG_MULADD_PS(r, AG_V(0.2892930209636688f), -0.36133623123168945f);
        q = AG_MULADD_PS(r, q, 0.4808976948261261f);
        q = AG_MULADD_PS(r, q, -0.7213471531867981f);
    }
    low = _mm512_fmadd_ps(r2, q, low);
    sum = _mm512_fmadd_ps(r, unit, top);
    /* an infinite sum has no rest */
    top = _mm512_maskz_sub_ps(finite, top, sum);
    return _mm512_add_ps(sum, _mm512_add_ps(low, _mm512_fmadd_ps(r, unit, top)));
}
AG_FN __m512 ag_log2_wide_f32(__m512 x) { return ag_log_base_wide_f32(x, 0); }
AG_FN __m512 ag_log10_wide_f32(__m512 x) { return ag_log_base_wide_f32(x, 1); }

/* -log10(y), as the others for double */
static const double ag_log10_table[32] = {
    0x0.0p+0, -0x1.af5f92b010000p-6, -0x1.a30a9d60a0000p-5, -0x1.31b3055c48000p-4,
    -0x1.8cf1838864000p-4, -0x1.e3bc1ab0e0000p-4, -0x1.1b3e71ec94000p-3, 0.0,
    0.0, 0.0, 0x1.a209a84fbc000p-3, 0x1.4d43f8275a000p-3,
    0x1.ffbfc2bbc8000p-4, 0x1.715d0ce368000p-4, 0x1.db11ed7668000p-5, 0x1.cb38fccd90000p-6,
    0.0, 2.303833573367737e-14, 2.857603188831182e-14, 5.295754592095892e-14,
    -2.859665406848114e-14, -9.234612513604464e-14, -1.0998794445193693e-13, 0.0,
    0.0, 0.0, 1.1345357820417986e-13, 3.206228782072406e-14,
    -2.8373705641129622e-14, -1.78235453177227e-14, 7.807781277774597e-14, -5.697035970961075e-14};

AG_FN __m512d ag_log_base_wide_f64(__m512d x, const int ten) {
    const __m512d unit = AG_W(ten ? 0x1.bcb7b1526e50ep-2 : 0x1.71547652b82fep+0);
    const double *table = ten ? ag_log10_table : ag_log2_table;
    __m512d k, z, m = ag_split_wide_f64(x, &k), r = ag_near_one_wide(m, &z), top, sum, low;
    const __m512d r2 = _mm512_mul_pd(_mm512_mul_pd(r, r), unit);
    top = ag_look_up(z, table);
    low = ag_look_up(z, table + 16);
    if (ten) {
        top = _mm512_fmadd_pd(k, AG_W(0x1.34413509f8000p-2), top);
        low = _mm512_fmadd_pd(k, AG_W(-0x1.80433b83b532ap-44), low);
        low = _mm512_fmadd_pd(r, AG_W(0x1.95355baaafad3p-57), low);
    } else {
        top = _mm512_add_pd(k, top);
        low = _mm512_fmadd_pd(r, AG_W(0x1.777d0ffda0d24p-56), low);
    }
    low = _mm512_fmadd_pd(r2, _mm512_fmadd_pd(r, ag_log_rest_wide(r), AG_W(-0.5)), low);
    sum = _mm512_fmadd_pd(r, unit, top);
    low = _mm512_add_pd(low, _mm512_fmadd_pd(r, unit, _mm512_sub_pd(top, sum)));
    return _mm512_mask_add_pd(sum, _mm512_cmp_pd_mask(_mm512_abs_pd(sum), AG_W(1e4), _CMP_LT_OQ),
                              sum, low);
}
AG_FN __m512d ag_log2_wide_f64(__m512d x) { return ag_log_base_wide_f64(x, 0); }
AG_FN __m512d ag_log10_wide_f64(__m512d x) { return ag_log_base_wide_f64(x, 1); }

/* ---- tanh and sigmoid ---- */

/* h / (h + 2) with h = e^2a - 1; for tiny a, h is exactly 2 a */
AG_FN __m512 ag_tanh_wide_f32(__m512 x) {
    const __m512 a = _mm512_min_ps(AG_V(20.0f), _mm512_abs_ps(_mm512_add_ps(x, x)));
    __m512 n, r = ag_reduce_wide_f32(a, &n), s = _mm512_scalef_ps(AG_V(1.0f), n), h;
    r = _mm512_fmadd_ps(_mm512_mul_ps(r, r), ag_exp_rest_wide(r), r);
    h = _mm512_fmadd_ps(s, r, _mm512_sub_ps(s, AG_V(1.0f)));
    return AG_SIGNED_PS(_mm512_div_ps(h, _mm512_add_ps(h, AG_V(2.0f))), x);
}
AG_FN __m512d ag_tanh_wide_f64(__m512d x) {
    const __m512d a = _mm512_min_pd(AG_W(40.0), _mm512_abs_pd(_mm512_add_pd(x, x)));
    __m512d z, n, r = ag_reduce_wide_f64(a, &z, &n), t, low, h;
    t = _mm512_scalef_pd(ag_look_up(z, ag_exp_table), n);
    low = _mm512_scalef_pd(ag_look_up(z, ag_exp_table + 16), n);
    h = _mm512_mul_pd(t, _mm512_mul_pd(r, r));
    h = _mm512_fmadd_pd(t, r, _mm512_fmadd_pd(h, ag_exp_rest_wide_f64(r), low));
    h = _mm512_add_pd(h, _mm512_sub_pd(t, AG_W(1.0)));
    return AG_SIGNED_PD(_mm512_div_pd(h, _mm512_add_pd(h, AG_W(2.0))), x);
}
/* from e^-|x|, as in activation.h */
AG_FN __m512 ag_sigmoid_wide_f32(__m512 x) {
    const __m512 one = AG_V(1.0f), t = AG_SIGNED_PS(x, AG_V(-0.0f));
    __m512 n, r = ag_reduce_wide_f32(_mm512_max_ps(AG_V(-110.0f), t), &n), e;
    e = ag_exp_end_wide(r, n);
    return _mm512_div_ps(_mm512_mask_mov_ps(one, _mm512_movepi32_mask(_mm512_castps_si512(x)), e),
                         _mm512_add_ps(one, e));
}
AG_FN __m512d ag_sigmoid_wide_f64(__m512d x) {
    const __m512d one = AG_W(1.0);
    const __m512d e = ag_exp_wide_f64(AG_SIGNED_PD(x, AG_W(-0.0)));
    return _mm512_div_pd(_mm512_mask_mov_pd(one, _mm512_movepi64_mask(_mm512_castpd_si512(x)), e),
                         _mm512_add_pd(one, e));
}

/* ---- the normal distribution: formulas of special.h ---- */

/* exp(-z^2) */
AG_FN __m512 ag_gauss_wide(__m512 z) {
    const __m512 h = _mm512_mul_ps(z, z), low = _mm512_fmsub_ps(z, z, h);
    __m512 n, r = ag_reduce_wide_f32(_mm512_sub_ps(_mm512_setzero_ps(), h), &n);
    return ag_exp_end_wide(_mm512_sub_ps(r, low), n);
}
AG_FN __m512 ag_erfcx_wide(__m512 z) {
    __m512 n = AG_V(4.4089014883855276e-06f), d = AG_V(0.039212753466123074f);
    n = AG_MULADD_PS(n, z, 0.034605328804300464f);
    n = AG_MULADD_PS(n, z, 0.2317201039651256f);
    n = AG_MULADD_PS(n, z, 0.65260485332184659f);
    n = AG_MULADD_PS(n, z, 1.0f);
    d = AG_MULADD_PS(d, z, 0.25917743589229769f);
    d = AG_MULADD_PS(d, z, 0.793658321638958f);
    d = AG_MULADD_PS(d, z, 1.2966782630661209f);
    d = AG_MULADD_PS(d, z, 1.0f);
    return _mm512_div_ps(d, _mm512_fmadd_ps(_mm512_mul_ps(AG_V(1.77245390f), z), d, n));
}
AG_FN __m512 ag_erf_wide_f32(__m512 x) {
    const __m512 one = AG_V(1.0f), a = _mm512_abs_ps(x), z = _mm512_mul_ps(x, x);
    const __m512 b = _mm512_min_ps(AG_V(5.0f), a);
    __m512 p = AG_V(-0.000634851865f), far;
    p = AG_MULADD_PS(z, p, 0.0050577037f);
    p = AG_MULADD_PS(z, p, -0.0268072877f);
    p = AG_MULADD_PS(z, p, 0.11282865f);
    p = AG_MULADD_PS(z, p, -0.376125902f);
    p = AG_MULADD_PS(z, p, 0.128379166f);
    far = _mm512_fnmadd_ps(ag_gauss_wide(b), ag_erfcx_wide(b), one);
    far = AG_SIGNED_PS(far, x);
    return _mm512_mask_mov_ps(far, _mm512_cmp_ps_mask(a, AG_V(0.85f), _CMP_LT_OQ),
                              _mm512_fmadd_ps(x, p, x));
}
/* The formulas above for b = z sqrt(2), with factors and powers of 2 put into the coefficients: what
 * bounds the loop is the number of multiplications. ratio = erfcx(z) / 2; r = -2 (exponent's rest). */
AG_FN __m512 ag_gelu_wide_f32(__m512 x) {
    const __m512 a = _mm512_abs_ps(x), b = _mm512_min_ps(AG_V(14.4205f), a);
    const __m512 most = AG_SIGNED_PS(_mm512_min_ps(AG_V(AG_NORMAL_END_f32), a), x);
    const __m512 shift = AG_V(0x1.8p+23f);
    const __m512 h = _mm512_mul_ps(b, b), low = _mm512_fmsub_ps(b, b, h);
    __m512 d, w, n, r, e, tail;
    d = AG_V(0.00980318836653077f);
    d = AG_MULADD_PS(d, b, 0.09163306122499272f);
    d = AG_MULADD_PS(d, b, 0.3968291608194791f);
    d = AG_MULADD_PS(d, b, 0.9168899928312481f);
    d = AG_MULADD_PS(d, b, 1.0f);
    w = AG_V(2.2044507441927642e-06f);
    w = AG_MULADD_PS(w, b, 0.024469662662711025f);
    w = AG_MULADD_PS(w, b, 0.23172010396512566f);
    w = AG_MULADD_PS(w, b, 0.92292263443826f);
    w = AG_MULADD_PS(w, b, 2.0f);
    w = _mm512_fmadd_ps(_mm512_mul_ps(AG_V(2.5066282746310002f), b), d, w);
    n = _mm512_sub_ps(_mm512_fmadd_ps(h, AG_V(-0x1.715476p-1f), shift), shift);
    r = _mm512_fmadd_ps(n, AG_V(2 * AG_LN2_HI_F32), h);
    r = _mm512_add_ps(_mm512_fmadd_ps(n, AG_V(2 * AG_LN2_LO_F32), r), low);
    e = AG_V(2.162346203125e-05f);
    e = AG_MULADD_PS(e, r, -0.0002614709375f);
    e = AG_MULADD_PS(e, r, 0.00260423403125f);
    e = AG_MULADD_PS(e, r, -0.02083317375f);
    e = AG_MULADD_PS(e, r, 0.1249999925f);
    e = AG_MULADD_PS(e, r, -0.5f);
    e = AG_MULADD_PS(e, r, 1.0f);
    tail = _mm512_mul_ps(_mm512_mul_ps(most, _mm512_div_ps(d, w)), _mm512_scalef_ps(e, n));
    return _mm512_mask_sub_ps(tail, _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_GT_OQ), x, tail);
}

/* ---- square roots ---- */

/* Newton's steps for g = sqrt(x) and h = 1 / (2 g) from a guess of 14 bits, with exact remainders:
 * the last one rounds correctly (see test_square_roots), in half the time of the instruction. To
 * that are left numbers whose remainder could be subnormal, 0, inf and negative ones. */
AG_FN __m512 ag_sqrt_wide_f32(__m512 x) {
    const __m512 y = _mm512_rsqrt14_ps(x);
    __m512 g = _mm512_mul_ps(x, y), h = _mm512_mul_ps(y, AG_V(0.5f)), e;
    const __m512i far = _mm512_sub_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x10000000));
    e = _mm512_fnmadd_ps(g, h, AG_V(0.5f));
    g = _mm512_fmadd_ps(g, e, g);
    h = _mm512_fmadd_ps(h, e, h);
    g = _mm512_fmadd_ps(_mm512_fnmadd_ps(g, g, x), h, g);
    if (__builtin_expect(_mm512_cmpgt_epu32_mask(far, _mm512_set1_epi32(0x6F000000)), 0))
        return _mm512_sqrt_ps(x);
    return g;
}
AG_FN __m512d ag_sqrt_wide_f64(__m512d x) {
    const __m512d y = _mm512_rsqrt14_pd(x);
    __m512d g = _mm512_mul_pd(x, y), h = _mm512_mul_pd(y, AG_W(0.5)), e;
    const __m512i far =
        _mm512_sub_epi64(_mm512_castpd_si512(x), _mm512_set1_epi64(0x1000000000000000));
    e = _mm512_fnmadd_pd(g, h, AG_W(0.5));
    g = _mm512_fmadd_pd(g, e, g);
    h = _mm512_fmadd_pd(h, e, h);
    e = _mm512_fnmadd_pd(g, h, AG_W(0.5));
    g = _mm512_fmadd_pd(g, e, g);
    h = _mm512_fmadd_pd(h, e, h);
    g = _mm512_fmadd_pd(_mm512_fnmadd_pd(g, g, x), h, g);
    if (__builtin_expect(_mm512_cmpgt_epu64_mask(far, _mm512_set1_epi64(0x6FE0000000000000)), 0))
        return _mm512_sqrt_pd(x);
    return g;
}

/* ---- powers ---- */

/* Classes of numbers: 0, infinite, negative, NaN; infinite, NaN. */
#define AG_NOT_PLAIN 0xDF
#define AG_NOT_FINITE 0x99

/* A constant that compilers take as an immediate without optimisation, too. */
#define AG_NEAREST (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)

/* What pow gives for bases that are not positive and finite, given that of |base|, and for NaN. */
AG_FN_COLD __m512 ag_pow_outside_f32(__m512 x, __m512 y, __m512 result) {
    const __m512 zero = _mm512_setzero_ps(), top = AG_V(INFINITY), half = AG_V(0.5f);
    const __m512 a = _mm512_abs_ps(x), yh = _mm512_mul_ps(y, half);
    const __mmask16 negative = _mm512_movepi32_mask(_mm512_castps_si512(x));
    const __mmask16 whole = _mm512_cmp_ps_mask(_mm512_roundscale_ps(y, AG_NEAREST), y, _CMP_EQ_OQ);
    const __mmask16 odd = _mm512_mask_cmp_ps_mask(
        whole, _mm512_roundscale_ps(yh, AG_NEAREST), yh, _CMP_NEQ_UQ);
    const __mmask16 up = _mm512_cmp_ps_mask(y, zero, _CMP_GT_OQ);
    const __mmask16 nil = _mm512_cmp_ps_mask(a, zero, _CMP_EQ_OQ);
    const __mmask16 vast = _mm512_cmp_ps_mask(a, top, _CMP_EQ_OQ);
    const __mmask16 nan = _mm512_cmp_ps_mask(x, y, _CMP_UNORD_Q);
    result = _mm512_mask_mov_ps(result, nil | vast, _mm512_maskz_mov_ps(nil ^ up, top));
    result = _mm512_mask_mov_ps(result, nan, AG_V(NAN));
    result = _mm512_mask_mov_ps(result, negative & ~whole & ~nil & ~vast, AG_V(NAN));
    result = _mm512_mask_xor_ps(result, negative & odd, result, AG_V(-0.0f));
    return _mm512_mask_mov_ps(result,
                              _mm512_cmp_ps_mask(y, zero, _CMP_EQ_OQ) |
                                  _mm512_cmp_ps_mask(x, AG_V(1.0f), _CMP_EQ_OQ) |
                                  (_mm512_cmp_ps_mask(a, AG_V(1.0f), _CMP_EQ_OQ) &
                                   _mm512_cmp_ps_mask(_mm512_abs_ps(y), top, _CMP_EQ_OQ)),
                              AG_V(1.0f));
}
AG_FN_COLD __m512d ag_pow_outside_f64(__m512d x, __m512d y, __m512d result) {
    const __m512d zero = _mm512_setzero_pd(), top = AG_W((double)INFINITY), half = AG_W(0.5);
    const __m512d a = _mm512_abs_pd(x), yh = _mm512_mul_pd(y, half);
    const __mmask8 negative = _mm512_movepi64_mask(_mm512_castpd_si512(x));
    const __mmask8 whole = _mm512_cmp_pd_mask(_mm512_roundscale_pd(y, AG_NEAREST), y, _CMP_EQ_OQ);
    const __mmask8 odd = _mm512_mask_cmp_pd_mask(
        whole, _mm512_roundscale_pd(yh, AG_NEAREST), yh, _CMP_NEQ_UQ);
    const __mmask8 up = _mm512_cmp_pd_mask(y, zero, _CMP_GT_OQ);
    const __mmask8 nil = _mm512_cmp_pd_mask(a, zero, _CMP_EQ_OQ);
    const __mmask8 vast = _mm512_cmp_pd_mask(a, top, _CMP_EQ_OQ);
    const __mmask8 nan = _mm512_cmp_pd_mask(x, y, _CMP_UNORD_Q);
    result = _mm512_mask_mov_pd(result, nil | vast, _mm512_maskz_mov_pd(nil ^ up, top));
    result = _mm512_mask_mov_pd(result, nan, AG_W((double)NAN));
    result = _mm512_mask_mov_pd(result, negative & ~whole & ~nil & ~vast, AG_W((double)NAN));
    result = _mm512_mask_xor_pd(result, negative & odd, result, AG_W(-0.0));
    return _mm512_mask_mov_pd(result,
                              _mm512_cmp_pd_mask(y, zero, _CMP_EQ_OQ) |
                                  _mm512_cmp_pd_mask(x, AG_W(1.0), _CMP_EQ_OQ),
                              AG_W(1.0));
}

/* |x|^y of eight floats in double, where plain log2 and exp2 are exact enough */
AG_FN __m512d ag_pow_eight_floats(__m256 x, __m256 y) {
    const __m512d shift = AG_W(0x1.8p+48);
    __m512d k, z, m, r, q, t, n;
    m = ag_split_wide_f64(_mm512_abs_pd(_mm512_cvtps_pd(x)), &k);
    r = ag_near_one_wide(m, &z);
    q = AG_W(0.20679769351304406);
    q = AG_MULADD_PD(q, r, -0.24114700588515212);
    q = AG_MULADD_PD(q, r, 0.28853806479753824);
    q = AG_MULADD_PD(q, r, -0.36067298986848656);
    q = AG_MULADD_PD(q, r, 0.48089834736608356);
    q = AG_MULADD_PD(q, r, -0.7213475206569999);
    q = AG_MULADD_PD(q, r, 1.4426950408889372);
    t = _mm512_fmadd_pd(q, r, _mm512_add_pd(k, ag_look_up(z, ag_log2_table)));
    t = AG_CLAMP_PD(_mm512_mul_pd(_mm512_cvtps_pd(y), t), -300.0, 300.0);
    z = _mm512_add_pd(t, shift);
    n = _mm512_sub_pd(z, shift);
    r = _mm512_sub_pd(t, n);
    q = AG_W(0.009618354792616978);
    q = AG_MULADD_PD(q, r, 0.05550541110696792);
    q = AG_MULADD_PD(q, r, 0.24022650688562064);
    q = AG_MULADD_PD(q, r, 0.6931471804008853);
    t = ag_look_up(z, ag_exp_table);
    return _mm512_scalef_pd(_mm512_fmadd_pd(_mm512_mul_pd(q, r), t, t), n);
}
AG_FN __m512 ag_pow_wide_f32(__m512 x, __m512 y) {
    const __m256 low = _mm512_cvtpd_ps(
        ag_pow_eight_floats(_mm512_castps512_ps256(x), _mm512_castps512_ps256(y)));
    const __m256 high = _mm512_cvtpd_ps(
        ag_pow_eight_floats(_mm512_extractf32x8_ps(x, 1), _mm512_extractf32x8_ps(y, 1)));
    const __m512 result = _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
    if (__builtin_expect(
            _mm512_fpclass_ps_mask(x, AG_NOT_PLAIN) | _mm512_fpclass_ps_mask(y, AG_NOT_FINITE), 0))
        return ag_pow_outside_f32(x, y, result);
    return result;
}

/* the same to 2^-66 */
AG_FN __m512d ag_log_rest_of_pow(__m512d r) {
    __m512d q = AG_W(-0.08383303498352442);
    q = AG_MULADD_PD(q, r, 0.09141082094480123);
    q = AG_MULADD_PD(q, r, -0.0999986760534963);
    q = AG_MULADD_PD(q, r, 0.1111098969555531);
    q = AG_MULADD_PD(q, r, -0.12500000164175334);
    q = AG_MULADD_PD(q, r, 0.1428571441894338);
    q = AG_MULADD_PD(q, r, -0.16666666666573152);
    q = AG_MULADD_PD(q, r, 0.19999999999936277);
    q = AG_MULADD_PD(q, r, -0.25000000000000017);
    return AG_MULADD_PD(q, r, 0.3333333333333334);
}
/* A double needs its logarithm to some 65 bits, so that is a sum of two here, as in ag_pow_f64. */
AG_FN __m512d ag_pow_wide_f64(__m512d x, __m512d y) {
    const __m512d shift = AG_W(0x1.8p+48), unit = AG_W(0x1.71547652b82fep+0);
    __m512d k, z, r, n, h, h_lo, a, a_lo, top, lg, lg_lo, t, t_lo, p, whole;
    const __m512d m = ag_split_wide_f64(_mm512_abs_pd(x), &k);
    __mmask8 inside;
    r = ag_near_one_wide(m, &z);
    /* log(1 + r) = r - r^2 / 2 + r^3 (...) */
    h = _mm512_mul_pd(r, r);
    h_lo = _mm512_fmsub_pd(r, r, h);
    a = _mm512_fnmadd_pd(AG_W(0.5), h, r);
    a_lo = _mm512_fnmadd_pd(AG_W(0.5), h, _mm512_sub_pd(r, a));
    a_lo = _mm512_fnmadd_pd(AG_W(0.5), h_lo, a_lo);
    a_lo = _mm512_fmadd_pd(_mm512_mul_pd(h, r), ag_log_rest_of_pow(r), a_lo);
    /* / ln 2, and the rest of log2 |x|, whose first part is a sum without rounding */
    top = _mm512_add_pd(k, ag_look_up(z, ag_log2_table));
    lg = _mm512_fmadd_pd(a, unit, top);
    lg_lo = _mm512_fmadd_pd(a, AG_W(0x1.777d0ffda0d24p-56), ag_look_up(z, ag_log2_table + 16));
    lg_lo = _mm512_fmadd_pd(a_lo, unit, lg_lo);
    lg_lo = _mm512_add_pd(lg_lo, _mm512_fmadd_pd(a, unit, _mm512_sub_pd(top, lg)));
    top = lg;
    lg = _mm512_add_pd(top, lg_lo);
    lg_lo = _mm512_add_pd(lg_lo, _mm512_sub_pd(top, lg));
    /* times y, limited to where all but 1 is 0 or infinite */
    y = AG_CLAMP_PD(y, -0x1p+65, 0x1p+65);
    t = _mm512_mul_pd(y, lg);
    inside = _mm512_cmp_pd_mask(_mm512_abs_pd(t), AG_W(1100.0), _CMP_LT_OQ);
    t_lo = _mm512_maskz_fmadd_pd(inside, y, lg_lo, _mm512_fmsub_pd(y, lg, t));
    t = AG_CLAMP_PD(t, -1100.0, 1100.0);
    z = _mm512_add_pd(t, shift);
    n = _mm512_sub_pd(z, shift);
    r = _mm512_add_pd(_mm512_sub_pd(t, n), t_lo);
    p = AG_W(0.00015403788561875836);
    p = AG_MULADD_PD(p, r, 0.0013333781633711893);
    p = AG_MULADD_PD(p, r, 0.0096181291061298);
    p = AG_MULADD_PD(p, r, 0.055504108656634604);
    p = AG_MULADD_PD(p, r, 0.24022650695910094);
    p = AG_MULADD_PD(p, r, 0.6931471805599457);
    t = ag_look_up(z, ag_exp_table);
    p = _mm512_fmadd_pd(_mm512_mul_pd(p, r), t, ag_look_up(z, ag_exp_table + 16));
    whole = _mm512_scalef_pd(_mm512_add_pd(t, p), n);
    if (__builtin_expect(
            _mm512_fpclass_pd_mask(x, AG_NOT_PLAIN) | _mm512_fpclass_pd_mask(y, AG_NOT_FINITE), 0))
        return ag_pow_outside_f64(x, y, whole);
    return whole;
}

/* How far ahead operands are fetched, in bytes: the processor has too few of these long formulas
 * under way at once to wait for memory meanwhile. */
#define AG_AHEAD 1024
#define AG_RUN(name, T, S, W)                                                                    \
    AG_FN void ag_run_##name##_##T(const ag_##T *a, ag_##T *o, ptrdiff_t n) {                    \
        for (ptrdiff_t i = 0; i < n; i += W) {                                                   \
            _mm_prefetch((const char *)(a + i) + AG_AHEAD, _MM_HINT_T0);                         \
            _mm512_storeu_##S(o + i, ag_##name##_wide_##T(_mm512_loadu_##S(a + i)));             \
        }                                                                                        \
    }
#define AG_RUN2(name, T, S, W)                                                                   \
    AG_FN void ag_run_##name##_##T(const ag_##T *a, const ag_##T *b, ag_##T *o, ptrdiff_t n) {   \
        for (ptrdiff_t i = 0; i < n; i += W) {                                                   \
            _mm_prefetch((const char *)(a + i) + AG_AHEAD, _MM_HINT_T0);                         \
            _mm_prefetch((const char *)(b + i) + AG_AHEAD, _MM_HINT_T0);                         \
            _mm512_storeu_##S(o + i, ag_##name##_wide_##T(_mm512_loadu_##S(a + i),               \
                                                          _mm512_loadu_##S(b + i)));             \
        }                                                                                        \
    }
#else
#define AG_HAS_WIDE 0
#define AG_RUN(name, T, S, W)                                                                    \
    AG_FN void ag_run_##name##_##T(const ag_##T *a, ag_##T *o, ptrdiff_t n) {                    \
        for (ptrdiff_t i = 0; i < n; i++) o[i] = ag_##name##_##T(a[i]);                          \
    }
#define AG_RUN2(name, T, S, W)                                                                   \
    AG_FN void ag_run_##name##_##T(const ag_##T *a, const ag_##T *b, ag_##T *o, ptrdiff_t n) {   \
        for (ptrdiff_t i = 0; i < n; i++) o[i] = ag_##name##_##T(a[i], b[i]);                    \
    }
#endif

#define AG_RUNS(name) AG_RUN(name, f32, ps, 16) AG_RUN(name, f64, pd, 8)
AG_RUNS(exp)
AG_RUNS(log)
AG_RUNS(log2)
AG_RUNS(log10)
AG_RUNS(tanh)
AG_RUNS(sigmoid)
AG_RUNS(sqrt)
AG_RUN(erf, f32, ps, 16)
AG_RUN(gelu, f32, ps, 16)
AG_RUN2(pow, f32, ps, 16)
AG_RUN2(pow, f64, pd, 8)
/* exp of numbers that are at most 0, or NaN */
#if AG_HAS_WIDE
#define ag_run_exp_falling_f32 ag_run_exp_f32
#define ag_run_exp_falling_f64 ag_run_exp_f64
#else
AG_FN void ag_run_exp_falling_f32(const float *a, float *o, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) o[i] = ag_exp_falling_f32(AG_AT_LEAST(a[i], -104.0f), 0);
}
AG_FN void ag_run_exp_falling_f64(const double *a, double *o, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) o[i] = ag_exp_falling_f64(AG_AT_LEAST(a[i], -746.0), 0);
}
#endif
#undef AG_NEAREST
#undef AG_RUNS
#undef AG_RUN2
#undef AG_RUN

#endif
