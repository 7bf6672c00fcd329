/* Checks the formulas of ext/kernels/scalar against libm in long double, in units of the last place.
 *
 * Prints a line for each function and type: the worst error, where it is and what is allowed, and a
 * digest of the bits of all results, which are the same on every processor with fused products.
 * Each function runs in a loop, as in a kernel, and for single numbers; both give the same bits.
 * Ends with 1 if a check fails. ext/build/aarch64.py compiles and runs it, under qemu for 64-bit Arm. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scalar/scalar.h"
#include "scalar/fused.h"
#include "scalar/philox.h"
#include "scalar/random.h"

typedef long double wide;
enum { COUNT = 4096 };

static int failures = 0;
static uint64_t state;

static uint64_t random_word(void) { /* splitmix64 */
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
static double random_between(double low, double high) {
    return low + (high - low) * ((double)(random_word() >> 11) * 0x1p-53);
}

static void fail(const char *what) {
    failures++;
    printf("FAILED: %s\n", what);
}
#define EXPECT(condition) ((condition) ? (void)0 : fail(#condition))

/* ---- digests: FNV-1a of the bits, with one NaN ---- */

static uint64_t digest;
static void add_bits(uint64_t bits, int bytes) {
    for (int i = 0; i < bytes; i++) digest = (digest ^ (bits >> 8 * i & 0xFF)) * 0x100000001B3u;
}
static void add_f32(float x) { add_bits(x == x ? ag_bits_f32(x) : 0x7FC00000u, 4); }
static void add_f64(double x) { add_bits(x == x ? ag_bits_f64(x) : 0x7FF8000000000000u, 8); }

/* ---- errors ---- */

#define DIGITS_f32 24
#define DIGITS_f64 53
#define LOWEST_f32 -126
#define LOWEST_f64 -1022
#define TOP_f32 0x1.fffffep+127L
#define TOP_f64 0x1.fffffffffffffp+1023L

/* Equal infinities and nan on both sides count as 0, a step across the edge of the range as 1. */
#define ULPS(T)                                                                                  \
    static double ulps_##T(ag_##T result, wide exact) {                                          \
        int e;                                                                                   \
        if (result == (ag_##T)exact || (result != result && exact != exact)) return 0;           \
        if (isinf(result) && fabsl(exact) >= TOP_##T && (result > 0) == (exact > 0)) return 1;   \
        if (result != result || exact != exact || isinf(result) || isinf(exact)) return INFINITY; \
        frexpl(exact, &e);                                                                       \
        if (e < LOWEST_##T + 1) e = LOWEST_##T + 1;                                              \
        return (double)fabsl(ldexpl((wide)result - exact, DIGITS_##T - e));                      \
    }                                                                                            \
    static double unit_##T(ag_##T x) { /* the distance of x and its neighbour */                 \
        int e;                                                                                   \
        frexp((double)x, &e);                                                                    \
        if (e < LOWEST_##T + 1) e = LOWEST_##T + 1;                                              \
        return ldexp(1, e - DIGITS_##T);                                                         \
    }
ULPS(f32)
ULPS(f64)

/* ---- points: several scales, around 1, whole numbers, all exponents and the ends ---- */

static float x_f32[COUNT], y_f32[COUNT];
static double x_f64[COUNT], y_f64[COUNT];

static double point(int i, int lowest, int highest) {
    static const double scales[] = {1, 3, 10, 40, 100, 750};
    static const double ends[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1, -1, 0.5, -0.5, 2, -2};
    /* One after the other: compilers choose the order within an expression. */
    const uint64_t word = random_word();
    const double sign = random_word() & 1 ? 1 : -1, share = random_between(0, 1);
    if (i < 11) return ends[i];
    switch (i % 4) {
    case 0: return sign * share * scales[word % 6];
    case 1: return sign * ldexp(1 + share, lowest + (int)(word % (uint64_t)(highest - lowest)));
    case 2: return 1 + sign * ldexp(share, -(int)(word % 24));
    default: return (double)((int64_t)(word % 2200) - 1100) * (sign > 0 ? 1 : 0.5);
    }
}
static void make_points(void) {
    state = 7;
    for (int i = 0; i < COUNT; i++) {
        x_f32[i] = (float)point(i, -149, 128);
        x_f64[i] = point(i, -1074, 1024);
    }
    for (int i = 0; i < COUNT; i++) { /* the ends of one meet the ends of the other */
        y_f32[i] = i < 121 ? x_f32[i / 11] : (float)point(i, -20, 8);
        y_f64[i] = i < 121 ? x_f64[i / 11] : point(i, -20, 8);
    }
    for (int i = 0; i < 121; i++) x_f32[i] = x_f32[i % 11], x_f64[i] = x_f64[i % 11];
}

static void report(const char *name, const char *type, double worst, double at, double allowed) {
    if (!(worst <= allowed)) {
        failures++;
        printf("FAILED: ");
    }
    printf("%s %s %.2f at %a, allowed %g, bits %016llx\n", name, type, worst, at, allowed,
           (unsigned long long)digest);
}

/* ---- functions of one number ---- */

/* In a loop, and alone: a compiler may make vectors of the first. */
#define LOOPS(name, T)                                                                           \
    __attribute__((noinline)) static void many_##name##_##T(const ag_##T *x, ag_##T *o) {        \
        for (int i = 0; i < COUNT; i++) o[i] = ag_##name##_##T(x[i]);                            \
    }                                                                                            \
    __attribute__((noinline)) static ag_##T one_##name##_##T(ag_##T x) {                         \
        return ag_##name##_##T(x);                                                               \
    }
#define RUN(name, T)                                                                             \
    static ag_##T o[COUNT];                                                                      \
    digest = 0xCBF29CE484222325u;                                                                \
    many_##name##_##T(x_##T, o);                                                                 \
    for (int i = 0; i < COUNT; i++) {                                                            \
        const ag_##T alone = one_##name##_##T(x_##T[i]);                                         \
        add_##T(o[i]);                                                                           \
        if (ag_bits_##T(alone) != ag_bits_##T(o[i]) && o[i] == o[i])                             \
            fail("a number alone has other bits than in a loop: " #name " " #T);                 \
    }
/* (Half a unit rounds twice, by way of long double.) Within `units` of the exact value where low <= x <= high; or of the argument's place (RELATIVE). */
#define CHECK(name, T, reference, units, low, high, error)                                       \
    LOOPS(name, T)                                                                               \
    static void check_##name##_##T(void) {                                                       \
        double worst = 0, at = 0;                                                                \
        RUN(name, T)                                                                             \
        for (int i = 0; i < COUNT; i++) {                                                        \
            const ag_##T x = x_##T[i];                                                           \
            if (x < (low) || x > (high)) continue;                                               \
            const double distance = error;                                                       \
            if (!(distance <= worst)) worst = distance, at = (double)x;                          \
        }                                                                                        \
        report(#name, #T, worst, at, units);                                                     \
    }
#define TO_EXACT(T, reference) ulps_##T(o[i], reference((wide)x))
#define TO_PLACE(T, reference)                                                                   \
    (isfinite(x) && fabs((double)x) < 1e30                                                       \
         ? (double)(fabsl((wide)o[i] - reference((wide)x)) / unit_##T(x)) : 0)
#define EXACT(name, reference, units, low, high)                                                 \
    CHECK(name, f32, reference, units, low, high, TO_EXACT(f32, reference))                      \
    CHECK(name, f64, reference, units, low, high, TO_EXACT(f64, reference))
#define PLACE(name, reference, units)                                                            \
    CHECK(name, f32, reference, units, -INFINITY, INFINITY, TO_PLACE(f32, reference))            \
    CHECK(name, f64, reference, units, -INFINITY, INFINITY, TO_PLACE(f64, reference))
/* Without a function of libm: the digest alone. */
#define BITS(name) CHECK(name, f32, 0, 0, 1, 0, 0) CHECK(name, f64, 0, 0, 1, 0, 0)

static wide sigmoid(wide x) {
    const wide e = expl(-fabsl(x));
    return (x < 0 ? e : 1) / (1 + e);
}
static wide log_sigmoid(wide x) { return (x < 0 ? x : x == x ? 0 : x) - log1pl(expl(-fabsl(x))); }
static wide reciprocal_root(wide x) { return 1 / sqrtl(x); }
static wide reciprocal(wide x) { return 1 / x; }
static wide gelu(wide x) { return x * erfcl(-x * sqrtl(0.5L)) / 2; }
static wide silu(wide x) { return x * sigmoid(x); }
static wide gelu_tanh(wide x) {
    const wide pi = acosl(-1);
    return x * sigmoid(2 * sqrtl(2 / pi) * (x + 0.044715L * x * x * x));
}
static wide log_gamma(wide x) { return lgammal(x); }
static wide square(wide x) { return x * x; }

#define FUNCTIONS(EXACT, PLACE, BITS)                                                            \
    EXACT(exp, expl, 1.1, -INFINITY, INFINITY)                                                   \
    EXACT(exp2, exp2l, 1.3, -INFINITY, INFINITY)                                                 \
    EXACT(expm1, expm1l, 2.2, -INFINITY, INFINITY)                                               \
    EXACT(log, logl, 1.0, -INFINITY, INFINITY)                                                   \
    EXACT(log2, log2l, 1.0, -INFINITY, INFINITY)                                                 \
    EXACT(log10, log10l, 1.0, -INFINITY, INFINITY)                                               \
    EXACT(log1p, log1pl, 1.6, -INFINITY, INFINITY)                                               \
    EXACT(sin_near, sinl, 1.8, -1e5, 1e5)                                                        \
    EXACT(cos_near, cosl, 1.8, -1e5, 1e5)                                                        \
    EXACT(tan_near, tanl, 3.0, -1e5, 1e5)                                                        \
    EXACT(asin, asinl, 2.5, -INFINITY, INFINITY)                                                 \
    EXACT(acos, acosl, 1.5, -INFINITY, INFINITY)                                                 \
    EXACT(atan, atanl, 3.5, -INFINITY, INFINITY)                                                 \
    EXACT(sinh, sinhl, 2.5, -INFINITY, INFINITY)                                                 \
    EXACT(cosh, coshl, 1.8, -INFINITY, INFINITY)                                                 \
    EXACT(tanh, tanhl, 2.5, -INFINITY, INFINITY)                                                 \
    EXACT(asinh, asinhl, 2.2, -INFINITY, INFINITY)                                               \
    EXACT(acosh, acoshl, 2.5, -INFINITY, INFINITY)                                               \
    EXACT(atanh, atanhl, 2.3, -INFINITY, INFINITY)                                               \
    EXACT(sigmoid, sigmoid, 2.5, -INFINITY, INFINITY)                                            \
    EXACT(log_sigmoid, log_sigmoid, 2.0, -INFINITY, INFINITY)                                    \
    EXACT(sqrt, sqrtl, 0.51, -INFINITY, INFINITY)                                                 \
    EXACT(rsqrt, reciprocal_root, 1.5, -INFINITY, INFINITY)                                      \
    EXACT(reciprocal, reciprocal, 0.51, -INFINITY, INFINITY)                                      \
    EXACT(square, square, 0.51, -INFINITY, INFINITY)                                              \
    EXACT(round, rintl, 0, -INFINITY, INFINITY)                                                  \
    EXACT(floor, floorl, 0, -INFINITY, INFINITY)                                                 \
    EXACT(trunc, truncl, 0, -INFINITY, INFINITY)                                                 \
    EXACT(erf, erfl, 1.6, -INFINITY, INFINITY)                                                   \
    EXACT(erfc, erfcl, 4.6, -INFINITY, INFINITY)                                                 \
    EXACT(lgamma, log_gamma, 6, 1e-3, 1e30)                                                      \
    PLACE(gelu, gelu, 4)                                                                         \
    PLACE(gelu_tanh, gelu_tanh, 4)                                                               \
    PLACE(silu, silu, 4)                                                                         \
    BITS(digamma)                                                                                \
    BITS(trigamma)                                                                               \
    BITS(i0)                                                                                     \
    BITS(i0e)                                                                                    \
    BITS(i1)                                                                                     \
    BITS(i1e)                                                                                    \
    BITS(mish)                                                                                   \
    BITS(hardswish)                                                                              \
    BITS(sign)                                                                                   \
    BITS(exp_minus_abs)
FUNCTIONS(EXACT, PLACE, BITS)

/* ---- functions of two numbers ---- */

#define TWO_OF(name, T, reference, units)                                                        \
    __attribute__((noinline)) static void many_##name##_##T(ag_##T *o) {                         \
        for (int i = 0; i < COUNT; i++) o[i] = ag_##name##_##T(x_##T[i], y_##T[i]);              \
    }                                                                                            \
    static void check_##name##_##T(void) {                                                       \
        static ag_##T o[COUNT];                                                                  \
        double worst = 0, at = 0;                                                                \
        digest = 0xCBF29CE484222325u;                                                            \
        many_##name##_##T(o);                                                                    \
        for (int i = 0; i < COUNT; i++) {                                                        \
            const double distance = ulps_##T(o[i], reference((wide)x_##T[i], (wide)y_##T[i]));   \
            add_##T(o[i]);                                                                       \
            if (!(distance <= worst)) worst = distance, at = (double)x_##T[i];                   \
        }                                                                                        \
        report(#name, #T, worst, at, units);                                                     \
    }
static wide larger(wide x, wide y) { return x != x || y != y ? x + y : x > y ? x : y; }
static wide smaller(wide x, wide y) { return x != x || y != y ? x + y : x < y ? x : y; }
static wide quotient(wide x, wide y) { return x / y; }
static wide product(wide x, wide y) { return x * y; }
#define TWO(name, reference, units)                                                              \
    TWO_OF(name, f32, reference, units)                                                          \
    TWO_OF(name, f64, reference, units)
#define PAIRS(TWO)                                                                               \
    TWO(pow, powl, 1.0)                                                                          \
    TWO(atan2, atan2l, 3.5)                                                                      \
    TWO(hypot, hypotl, 3.5)                                                                      \
    TWO(fmod, fmodl, 0)                                                                          \
    TWO(div, quotient, 0.51)                                                                      \
    TWO(mul, product, 0.51)                                                                       \
    TWO(maximum, larger, 0)                                                                      \
    TWO(minimum, smaller, 0)                                                                     \
    TWO(copysign, copysignl, 0)
PAIRS(TWO)

/* ---- storage types ---- */

static double half_value(uint16_t h) {
    const int exponent = h >> 10 & 31, mantissa = h & 1023;
    const double sign = h & 0x8000 ? -1 : 1;
    if (exponent == 31) return mantissa ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24));
}
static uint16_t nearest_half(double x) {
    const uint16_t sign = signbit(x) ? 0x8000 : 0;
    const double a = fabs(x);
    int e;
    if (x != x) return sign | 0x7E00;
    if (a >= 65520) return sign | 0x7C00;
    frexp(a, &e);
    e = e - 11 < -24 ? -24 : e - 11;
    const int units = (int)nearbyint(ldexp(a, -e)); /* half to even; up to 2048 */
    return sign | (uint16_t)(units + (units ? (e + 24) * 1024 : 0));
}
static uint16_t nearest_bfloat(float x) {
    const uint32_t low = ag_bits_f32(x) & 0xFFFF0000u;
    const double step = (double)ag_from_bits_f32(low) * 0 + (double)x - ag_from_bits_f32(low);
    const double whole = (double)ag_from_bits_f32(low + 0x8000u) - ag_from_bits_f32(low);
    const int up = fabs(step) > fabs(whole) || (step == whole && low & 0x10000u && step != 0);
    return (uint16_t)((low >> 16) + (uint32_t)up);
}
static void check_storage_types(void) {
    static float numbers[4 * 65536];
    static uint16_t halves[4 * 65536], all[65536];
    static float back[65536];
    int wrong = 0;
    for (int i = 0; i < 65536; i++) {
        const uint16_t h = (uint16_t)i;
        const double exact = half_value(h);
        const float value = ag_f16_to_f32(h);
        wrong += !(value == exact || (value != value && exact != exact));
        wrong += !signbit(value) != !signbit(exact) && exact == exact;
        all[i] = h;
        /* itself, the middle between it and the next one, and the neighbours of that */
        const float middle = (float)((exact + half_value((uint16_t)(h + 1))) / 2);
        numbers[4 * i] = (float)exact;
        numbers[4 * i + 1] = middle;
        numbers[4 * i + 2] = nextafterf(middle, INFINITY);
        numbers[4 * i + 3] = nextafterf(middle, -INFINITY);
    }
    if (wrong) fail("ag_f16_to_f32");
    ag_run_f16_f32(all, back, 65536);
    for (int i = wrong = 0; i < 65536; i++)
        wrong += ag_bits_f32(back[i]) != ag_bits_f32(ag_f16_to_f32(all[i])) && back[i] == back[i];
    if (wrong) fail("ag_run_f16_f32");
    ag_run_f32_f16(numbers, halves, 4 * 65536);
    digest = 0xCBF29CE484222325u;
    int wrong_run = 0, wrong_bfloat = 0;
    for (int i = wrong = 0; i < 4 * 65536; i++) {
        const float x = numbers[i];
        const uint16_t h = ag_f32_to_f16(x);
        wrong += x == x ? h != nearest_half(x) : (h & 0x7FFF) != 0x7E00;
        wrong_run += x == x && halves[i] != h;
        if (x == x) add_bits(h, 2);
    }
    for (int i = 0; i < 4 * 65536; i++) { /* middles of bfloat16 and their neighbours */
        const float x = ag_from_bits_f32(((uint32_t)(i >> 2) << 16) + 0x7FFFu + (uint32_t)(i & 3));
        if (isfinite(x)) wrong_bfloat += ag_f32_to_bf16(x) != nearest_bfloat(x);
        else wrong_bfloat += x != x && (ag_f32_to_bf16(x) & 0x7FFF) != 0x7FC0;
    }
    if (wrong) fail("ag_f32_to_f16");
    if (wrong_run) fail("ag_run_f32_f16");
    if (wrong_bfloat) fail("ag_f32_to_bf16");
    report("f32_to_f16", "f16", wrong, 0, 0);
}

/* ---- integers, casts, fused products, random words ---- */

static volatile int32_t least = INT32_MIN, minus_one = -1, zero = 0, seven = 7;

static void check_integers_and_casts(void) {
    EXPECT(ag_floor_divide_i32(-seven, 2) == -4 && ag_remainder_i32(-seven, 2) == 1);
    EXPECT(ag_trunc_divide_i32(-seven, 2) == -3 && ag_fmod_i32(-seven, 2) == -1);
    EXPECT(ag_floor_divide_i32(seven, zero) == ag_floor_divide_i32(seven, zero)); /* no trap */
    EXPECT(ag_remainder_i32(least, minus_one) == 0 && ag_neg_i32(least) == least);
    EXPECT(ag_add_i8(127, 1) == -128 && ag_mul_i64(INT64_MAX, 2) == -2);
    EXPECT(ag_pow_i32(3, 4) == 81 && ag_pow_u8(2, 8) == 0);
    EXPECT(ag_cast_f32_u8((float)minus_one) == 255 && ag_cast_f64_i16(-1.5) == -1);
    EXPECT(ag_cast_u32_f32(0xFFFFFFFFu) == 0x1p32f && ag_cast_u32_f32(16777217u) == 16777216.0f);
    EXPECT(ag_cast_f64_u64(0x1p63) == 0x8000000000000000u && ag_cast_u64_f32(UINT64_MAX) == 0x1p64f);
    EXPECT(ag_cast_f64_i64(-0x1p62) == -(INT64_C(1) << 62) && ag_cast_f32_b1(-0.0f) == 0);
    EXPECT(ag_cast_i8_f32(-1) == -1.0f && ag_cast_u8_i32(255) == 255 && ag_abs_i8(-1) == 1);
}

typedef ag_f32 four __attribute__((vector_size(16)));
typedef ag_f64 two __attribute__((vector_size(16)));

static void check_fused_products(void) {
    int wrong = 0;
    for (int i = 0; i + 4 <= COUNT; i += 4) {
        four a, b, c, r;
        two d, e, f, s;
        for (int k = 0; k < 4; k++) a[k] = x_f32[i + k], b[k] = y_f32[i + k], c[k] = x_f32[COUNT - 1 - i - k];
        for (int k = 0; k < 2; k++) d[k] = x_f64[i + k], e[k] = y_f64[i + k], f[k] = x_f64[COUNT - 1 - i - k];
        r = (four)AG_FMA(f32, 16)(a, b, c);
        s = (two)AG_FMA(f64, 16)(d, e, f);
        for (int k = 0; k < 4; k++) {
            const float one = ag_fma_f32(a[k], b[k], c[k]);
            wrong += one == one && ag_bits_f32(one) != ag_bits_f32(r[k]);
#if AG_HAS_FMA
            wrong += one == one && ag_bits_f32(one) != ag_bits_f32(fmaf(a[k], b[k], c[k]));
#endif
        }
        for (int k = 0; k < 2; k++) {
            const double one = ag_fma_f64(d[k], e[k], f[k]);
            wrong += one == one && ag_bits_f64(one) != ag_bits_f64(s[k]);
#if AG_HAS_FMA
            wrong += one == one && ag_bits_f64(one) != ag_bits_f64(fma(d[k], e[k], f[k]));
#endif
        }
    }
    if (wrong) fail("ag_fma of vectors and of numbers");
}

static void check_random_words(void) {
    /* The known answers of the generator's authors. */
    const ag_philox_words none = ag_philox(0, 0, 0, 0, 0, 0);
    const ag_philox_words pi = ag_philox(0x243F6A88u, 0x85A308D3u, 0x13198A2Eu, 0x03707344u,
                                         0xA4093822u, 0x299F31D0u);
    EXPECT(none.w0 == 0x6627E8D5u && none.w1 == 0xE169C58Du);
    EXPECT(none.w2 == 0xBC57AC4Cu && none.w3 == 0x9B00DBD8u);
    EXPECT(pi.w0 == 0xD16CFE09u && pi.w1 == 0x94FDCCEBu && pi.w2 == 0x5001E420u && pi.w3 == 0x24126EA1u);
    digest = 0xCBF29CE484222325u;
    for (uint32_t i = 0; i < 4096; i++) {
        const ag_philox_words w = ag_philox(i, 0, 0, 0, 1, 2);
        add_f32(ag_uniform_f32(w.w0));
        add_f64(ag_uniform_f64(w.w1, w.w2));
        add_f32(ag_minus_log_word_f32(w.w3));
        add_f64(ag_minus_log_word_f64(w.w0, w.w1));
    }
    report("random", "words", 0, 0, 0);
}

/* ---- complex numbers: bits, and the exponential of the logarithm ---- */

#define COMPLEX_OF(T, R, near)                                                                   \
    static void check_complex_##T(void) {                                                        \
        double worst = 0;                                                                        \
        digest = 0xCBF29CE484222325u;                                                            \
        for (int i = 0; i < COUNT; i++) {                                                        \
            const ag_##T z = ag_make_##T(x_##R[i], y_##R[i]);                                    \
            const ag_##T made[] = {ag_mul_##T(z, z), ag_div_##T(ag_make_##T(1, 2), z),           \
                                   ag_log_##T(z), ag_sqrt_##T(z), ag_acos_##T(z),                \
                                   ag_atan_##T(z)};                                              \
            for (int k = 0; k < 6; k++) add_##R(made[k].re), add_##R(made[k].im);                \
            const ag_##T root = ag_sqrt_##T(z), again = ag_mul_##T(root, root);                  \
            const double size = fabs((double)z.re) + fabs((double)z.im);                         \
            const double off = fabs((double)again.re - z.re) + fabs((double)again.im - z.im);    \
            if (size > 1e-30 && size < 1e30 && !(off / size <= worst)) worst = off / size;       \
        }                                                                                        \
        report("complex", #T, worst, 0, near);                                                   \
    }
COMPLEX_OF(c64, f32, 1e-6)
COMPLEX_OF(c128, f64, 1e-14)

int main(void) {
    make_points();
#define CALL_EXACT(name, reference, units, low, high) check_##name##_f32(), check_##name##_f64();
#define CALL_PLACE(name, reference, units) check_##name##_f32(), check_##name##_f64();
#define CALL_BITS(name) check_##name##_f32(), check_##name##_f64();
    FUNCTIONS(CALL_EXACT, CALL_PLACE, CALL_BITS)
#define CALL_TWO(name, reference, units) check_##name##_f32(), check_##name##_f64();
    PAIRS(CALL_TWO)
    check_storage_types();
    check_integers_and_casts();
    check_fused_products();
    check_random_words();
    check_complex_c64();
    check_complex_c128();
    return failures != 0;
}
