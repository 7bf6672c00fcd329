/* Modified Bessel functions of the first kind, of orders 0 and 1.
 *
 * exp(-|x|) I(x) is a Chebyshev series in x on [0, 8] (of I1(x) / x for order 1), and divided by
 * sqrt(x) one in 1 / x beyond (Abramowitz and Stegun, 9.6 and 9.7). Coefficients are those of the
 * functions on these intervals, computed with 60 digits; sums are Clenshaw's. */
#ifndef AG_SCALAR_BESSEL_H
#define AG_SCALAR_BESSEL_H

#include "exp_log.h"

/* One step of Clenshaw's recurrence; t is twice the argument of the series. */
#define AG_CHEBYSHEV(T, c) (e = ag_fma_##T(t, b, (c) - d), d = b, b = e)

AG_FN float ag_i0e_near_f32(float t) {
    float b = -1.30002501e-08f, d = 0.0f, e;
    AG_CHEBYSHEV(f32, 6.04699502e-08f);
    AG_CHEBYSHEV(f32, -2.67079385e-07f);
    AG_CHEBYSHEV(f32, 1.11738754e-06f);
    AG_CHEBYSHEV(f32, -4.41673836e-06f);
    AG_CHEBYSHEV(f32, 1.64484481e-05f);
    AG_CHEBYSHEV(f32, -5.75419501e-05f);
    AG_CHEBYSHEV(f32, 0.000188502885f);
    AG_CHEBYSHEV(f32, -0.000576375575f);
    AG_CHEBYSHEV(f32, 0.00163947562f);
    AG_CHEBYSHEV(f32, -0.00432431f);
    AG_CHEBYSHEV(f32, 0.0105464604f);
    AG_CHEBYSHEV(f32, -0.0237374148f);
    AG_CHEBYSHEV(f32, 0.0493052842f);
    AG_CHEBYSHEV(f32, -0.094901097f);
    AG_CHEBYSHEV(f32, 0.171620902f);
    AG_CHEBYSHEV(f32, -0.304682672f);
    return ag_fma_f32(0.5f * t, b, 0.338397637f - d);
}
AG_FN double ag_i0e_near_f64(double t) {
    double b = 3.3307945188222384e-17, d = 0.0, e;
    AG_CHEBYSHEV(f64, -2.431279846547955e-16);
    AG_CHEBYSHEV(f64, 1.715391285555133e-15);
    AG_CHEBYSHEV(f64, -1.1685332877993451e-14);
    AG_CHEBYSHEV(f64, 7.676185498604936e-14);
    AG_CHEBYSHEV(f64, -4.856446783111929e-13);
    AG_CHEBYSHEV(f64, 2.95505266312964e-12);
    AG_CHEBYSHEV(f64, -1.726826291441556e-11);
    AG_CHEBYSHEV(f64, 9.675809035373237e-11);
    AG_CHEBYSHEV(f64, -5.189795601635263e-10);
    AG_CHEBYSHEV(f64, 2.6598237246823866e-09);
    AG_CHEBYSHEV(f64, -1.300025009986248e-08);
    AG_CHEBYSHEV(f64, 6.046995022541919e-08);
    AG_CHEBYSHEV(f64, -2.670793853940612e-07);
    AG_CHEBYSHEV(f64, 1.1173875391201037e-06);
    AG_CHEBYSHEV(f64, -4.4167383584587505e-06);
    AG_CHEBYSHEV(f64, 1.6448448070728896e-05);
    AG_CHEBYSHEV(f64, -5.754195010082104e-05);
    AG_CHEBYSHEV(f64, 0.00018850288509584165);
    AG_CHEBYSHEV(f64, -0.0005763755745385824);
    AG_CHEBYSHEV(f64, 0.0016394756169413357);
    AG_CHEBYSHEV(f64, -0.004324309995050576);
    AG_CHEBYSHEV(f64, 0.010546460394594998);
    AG_CHEBYSHEV(f64, -0.02373741480589947);
    AG_CHEBYSHEV(f64, 0.04930528423967071);
    AG_CHEBYSHEV(f64, -0.09490109704804764);
    AG_CHEBYSHEV(f64, 0.17162090152220877);
    AG_CHEBYSHEV(f64, -0.3046826723431984);
    return ag_fma_f64(0.5 * t, b, 0.33839763720473803 - d);
}
AG_FN float ag_i0e_far_f32(float t) {
    float b = 2.26666899e-08f, d = 0.0f, e;
    AG_CHEBYSHEV(f32, 2.04891859e-07f);
    AG_CHEBYSHEV(f32, 2.89137052e-06f);
    AG_CHEBYSHEV(f32, 6.88975835e-05f);
    AG_CHEBYSHEV(f32, 0.00336911648f);
    return ag_fma_f32(0.5f * t, b, 0.402245206f - d);
}
AG_FN double ag_i0e_far_f64(double t) {
    double b = 4.46562142029676e-17, d = 0.0, e;
    AG_CHEBYSHEV(f64, 3.461222867697461e-17);
    AG_CHEBYSHEV(f64, -2.8276239805165836e-16);
    AG_CHEBYSHEV(f64, -3.425485619677219e-16);
    AG_CHEBYSHEV(f64, 1.7725601330565263e-15);
    AG_CHEBYSHEV(f64, 3.8116806693526224e-15);
    AG_CHEBYSHEV(f64, -9.554846698828307e-15);
    AG_CHEBYSHEV(f64, -4.150569347287222e-14);
    AG_CHEBYSHEV(f64, 1.54008621752141e-14);
    AG_CHEBYSHEV(f64, 3.8527783827421426e-13);
    AG_CHEBYSHEV(f64, 7.180124451383666e-13);
    AG_CHEBYSHEV(f64, -1.7941785315068062e-12);
    AG_CHEBYSHEV(f64, -1.3215811840447713e-11);
    AG_CHEBYSHEV(f64, -3.1499165279632416e-11);
    AG_CHEBYSHEV(f64, 1.1889147107846439e-11);
    AG_CHEBYSHEV(f64, 4.94060238822497e-10);
    AG_CHEBYSHEV(f64, 3.3962320257083865e-09);
    AG_CHEBYSHEV(f64, 2.266668990498178e-08);
    AG_CHEBYSHEV(f64, 2.0489185894690638e-07);
    AG_CHEBYSHEV(f64, 2.8913705208347567e-06);
    AG_CHEBYSHEV(f64, 6.889758346916825e-05);
    AG_CHEBYSHEV(f64, 0.0033691164782556943);
    return ag_fma_f64(0.5 * t, b, 0.4022452055070544 - d);
}
AG_FN float ag_i1e_near_f32(float t) {
    float b = 9.38153739e-09f, d = 0.0f, e;
    AG_CHEBYSHEV(f32, -4.44505913e-08f);
    AG_CHEBYSHEV(f32, 2.00329475e-07f);
    AG_CHEBYSHEV(f32, -8.56872026e-07f);
    AG_CHEBYSHEV(f32, 3.47025131e-06f);
    AG_CHEBYSHEV(f32, -1.32731637e-05f);
    AG_CHEBYSHEV(f32, 4.78156511e-05f);
    AG_CHEBYSHEV(f32, -0.000161760816f);
    AG_CHEBYSHEV(f32, 0.000512285956f);
    AG_CHEBYSHEV(f32, -0.00151357245f);
    AG_CHEBYSHEV(f32, 0.00415642294f);
    AG_CHEBYSHEV(f32, -0.0105640849f);
    AG_CHEBYSHEV(f32, 0.024726449f);
    AG_CHEBYSHEV(f32, -0.0529459812f);
    AG_CHEBYSHEV(f32, 0.102643659f);
    AG_CHEBYSHEV(f32, -0.176416518f);
    return ag_fma_f32(0.5f * t, b, 0.126293593f - d);
}
AG_FN double ag_i1e_near_f64(double t) {
    double b = -2.111421214358166e-17, d = 0.0, e;
    AG_CHEBYSHEV(f64, 1.5536319577362005e-16);
    AG_CHEBYSHEV(f64, -1.1055969477353862e-15);
    AG_CHEBYSHEV(f64, 7.600684294735408e-15);
    AG_CHEBYSHEV(f64, -5.042185504727912e-14);
    AG_CHEBYSHEV(f64, 3.223793365945575e-13);
    AG_CHEBYSHEV(f64, -1.9839743977649436e-12);
    AG_CHEBYSHEV(f64, 1.1736186298890901e-11);
    AG_CHEBYSHEV(f64, -6.663489723502027e-11);
    AG_CHEBYSHEV(f64, 3.625590281552117e-10);
    AG_CHEBYSHEV(f64, -1.8872497517228294e-09);
    AG_CHEBYSHEV(f64, 9.381537386495773e-09);
    AG_CHEBYSHEV(f64, -4.445059128796328e-08);
    AG_CHEBYSHEV(f64, 2.0032947535521353e-07);
    AG_CHEBYSHEV(f64, -8.568720264695455e-07);
    AG_CHEBYSHEV(f64, 3.4702513081376785e-06);
    AG_CHEBYSHEV(f64, -1.3273163656039436e-05);
    AG_CHEBYSHEV(f64, 4.781565107550054e-05);
    AG_CHEBYSHEV(f64, -0.00016176081582589674);
    AG_CHEBYSHEV(f64, 0.0005122859561685758);
    AG_CHEBYSHEV(f64, -0.0015135724506312532);
    AG_CHEBYSHEV(f64, 0.004156422944312888);
    AG_CHEBYSHEV(f64, -0.010564084894626197);
    AG_CHEBYSHEV(f64, 0.024726449030626516);
    AG_CHEBYSHEV(f64, -0.05294598120809499);
    AG_CHEBYSHEV(f64, 0.1026436586898471);
    AG_CHEBYSHEV(f64, -0.17641651835783406);
    return ag_fma_f64(0.5 * t, b, 0.12629359322181682 - d);
}
AG_FN float ag_i1e_far_f32(float t) {
    float b = -2.63146885e-08f, d = 0.0f, e;
    AG_CHEBYSHEV(f32, -2.51223624e-07f);
    AG_CHEBYSHEV(f32, -3.88256481e-06f);
    AG_CHEBYSHEV(f32, -0.000110588939f);
    AG_CHEBYSHEV(f32, -0.00976109749f);
    return ag_fma_f32(0.5f * t, b, 0.389288118f - d);
}
AG_FN double ag_i1e_far_f64(double t) {
    double b = -4.6503053684893586e-17, d = 0.0, e;
    AG_CHEBYSHEV(f64, -3.209525921993424e-17);
    AG_CHEBYSHEV(f64, 2.96262899764595e-16);
    AG_CHEBYSHEV(f64, 3.3082023109209285e-16);
    AG_CHEBYSHEV(f64, -1.8803547755107825e-15);
    AG_CHEBYSHEV(f64, -3.8144030724370075e-15);
    AG_CHEBYSHEV(f64, 1.0420276984128802e-14);
    AG_CHEBYSHEV(f64, 4.272440016711951e-14);
    AG_CHEBYSHEV(f64, -2.1015418427726643e-14);
    AG_CHEBYSHEV(f64, -4.0835511110921974e-13);
    AG_CHEBYSHEV(f64, -7.198551776245908e-13);
    AG_CHEBYSHEV(f64, 2.0356285441470896e-12);
    AG_CHEBYSHEV(f64, 1.4125807436613782e-11);
    AG_CHEBYSHEV(f64, 3.2526035830154884e-11);
    AG_CHEBYSHEV(f64, -1.8974958123505413e-11);
    AG_CHEBYSHEV(f64, -5.589743462196584e-10);
    AG_CHEBYSHEV(f64, -3.835380385964237e-09);
    AG_CHEBYSHEV(f64, -2.6314688468895196e-08);
    AG_CHEBYSHEV(f64, -2.512236237870209e-07);
    AG_CHEBYSHEV(f64, -3.882564808877691e-06);
    AG_CHEBYSHEV(f64, -0.00011058893876262371);
    AG_CHEBYSHEV(f64, -0.009761097491361469);
    return ag_fma_f64(0.5 * t, b, 0.38928811750914005 - d);
}
#undef AG_CHEBYSHEV

#define AG_BESSEL(T, S)                                                                          \
    AG_FN ag_##T ag_i0e_##T(ag_##T x) {                                                          \
        const ag_##T a = fabs##S(x), top = AG_AT_MOST(a, (ag_##T)8);                             \
        const ag_##T low = AG_AT_LEAST(a, (ag_##T)8);                                            \
        const ag_##T near = ag_i0e_near_##T(top / 2 - 2);                                        \
        const ag_##T far = ag_i0e_far_##T(32 / low - 2) / sqrt##S(low);                          \
        return ag_pick_##T(a <= 8, near, far);                                                   \
    }                                                                                            \
    AG_FN ag_##T ag_i1e_##T(ag_##T x) {                                                          \
        const ag_##T a = fabs##S(x), top = AG_AT_MOST(a, (ag_##T)8);                             \
        const ag_##T low = AG_AT_LEAST(a, (ag_##T)8);                                            \
        const ag_##T near = ag_i1e_near_##T(top / 2 - 2) * a;                                    \
        const ag_##T far = ag_i1e_far_##T(32 / low - 2) / sqrt##S(low);                          \
        const ag_##T y = ag_pick_##T(a <= 8, near, far);                                         \
        return ag_pick_##T(x < 0, -y, y); /* 0 of -0, as torch */                                \
    }                                                                                            \
    /* i1e(x) / x, which is 1/2 at 0 */                                                          \
    AG_FN ag_##T ag_i1e_quotient_##T(ag_##T x) {                                                 \
        const ag_##T a = fabs##S(x), top = AG_AT_MOST(a, (ag_##T)8);                             \
        const ag_##T low = AG_AT_LEAST(a, (ag_##T)8);                                            \
        const ag_##T near = ag_i1e_near_##T(top / 2 - 2);                                        \
        const ag_##T far = ag_i1e_far_##T(32 / low - 2) / sqrt##S(low) / low;                    \
        return ag_pick_##T(a <= 8, near, far);                                                   \
    }                                                                                            \
    /* in two steps, since exp(|x|) overflows before the result. At 1000 the result is infinite   \
     * in both dtypes; much further out the product would be infinity times 0, NaN */            \
    AG_FN ag_##T ag_i0_##T(ag_##T x) {                                                           \
        const ag_##T a = fabs##S(x), e = ag_exp_##T(a / 2);                                      \
        return ag_pick_##T(a > (ag_##T)1000, (ag_##T)INFINITY, ag_i0e_##T(x) * e * e);           \
    }                                                                                            \
    AG_FN ag_##T ag_i1_##T(ag_##T x) {                                                           \
        const ag_##T a = fabs##S(x), e = ag_exp_##T(a / 2);                                      \
        const ag_##T far = copysign##S((ag_##T)INFINITY, x);                                     \
        return ag_pick_##T(a > (ag_##T)1000, far, ag_i1e_##T(x) * e * e);                        \
    }
AG_FOR_FLOATS(AG_BESSEL)
#undef AG_BESSEL

#endif
