// Windows of images as columns, and columns added up to images: what convolutions make products of.
// Each result is moved, or summed, by one thread in a fixed order.
#pragma once
#include "kernel.cuh"
#include "reductions.cuh"
#include "window_arguments.h"

// --- places ------------------------------------------------------------------------------------

// The place of three dimensions with this number.
AG_R void ag_place_of(const ag_windows &w, uint64_t number, int64_t (&place)[3]) {
    const uint64_t row = ag_quotient(number, w.columns), layer = ag_quotient(row, w.rows);
    place[0] = (int64_t)layer;
    place[1] = (int64_t)(row - layer * w.rows.size);
    place[2] = (int64_t)(number - row * w.columns.size);
}

// Where tap `t` of a place is along dimension `d`, in bytes; false where there is no element.
AG_R bool ag_tap_at(const ag_windows &w, int d, int64_t place, uint64_t t, int64_t &at) {
    int64_t x = place * w.step[d] + w.begin[d] + (int64_t)t * w.tap[d];
    if (x < 0) return false;
    if (w.divided && w.apart[d] != 1) {
        const int64_t q = x / w.apart[d];
        if (q * w.apart[d] != x) return false;
        x = q;
    }
    at = x * w.stride[d];
    return x < w.size[d];
}

// A number in two parts: the image, and what is left.
struct ag_image_part { uint64_t image, channel, place; };
AG_R ag_image_part ag_split_number(uint64_t i, const ag_wide_divisor &places,
                                   const ag_wide_divisor &channels, bool channels_inner) {
    ag_image_part p;
    if (channels_inner) {
        const uint64_t q = ag_quotient(i, channels);
        p.channel = i - q * channels.size;
        p.image = ag_quotient(q, places);
        p.place = q - p.image * places.size;
    } else {
        const uint64_t q = ag_quotient(i, places);
        p.place = i - q * places.size;
        p.image = ag_quotient(q, channels);
        p.channel = q - p.image * channels.size;
    }
    return p;
}

// --- columns -----------------------------------------------------------------------------------

template <class T> AG_R void ag_columns(const ag_columns_args &a) {
    AG_EACH(i, a.n) {
        const ag_image_part p = ag_split_number(i, a.places, a.channels, a.channels_inner);
        const uint64_t group = ag_quotient(p.channel, a.each);
        int64_t place[3];
        ag_place_of(a.w, a.first + p.place, place);
        const char *in = (const char *)a.in + (int64_t)p.image * a.in_image
                       + (int64_t)p.channel * a.in_channel;
        char *out = (char *)a.out + (int64_t)p.image * a.out_image + (int64_t)p.place * a.out_place
                  + (int64_t)group * a.out_group
                  + (int64_t)(p.channel - group * a.each.size) * a.out_channel;
        AG_ROLLED
        for (uint64_t z = 0; z < a.w.taps[0]; z++) {
            int64_t at_z = 0, at_y = 0, at_x = 0;
            const bool in_z = ag_tap_at(a.w, 0, place[0], z, at_z);
            AG_ROLLED
            for (uint64_t y = 0; y < a.w.taps[1]; y++) {
                const bool in_y = ag_tap_at(a.w, 1, place[1], y, at_y) && in_z;
                AG_ROLLED
                for (uint64_t x = 0; x < a.w.taps[2]; x++) {
                    const bool there = ag_tap_at(a.w, 2, place[2], x, at_x) && in_y;
                    *(T *)out = there ? *(const T *)(in + at_z + at_y + at_x) : T();
                    out += a.out_tap;
                }
            }
        }
    }
}

// --- images ------------------------------------------------------------------------------------

AG_R ag_c64 ag_narrowed(ag_c64, ag_c64 x) { return x; }
AG_R ag_c128 ag_narrowed(ag_c128, ag_c128 x) { return x; }
struct ag_stored_bool { uint8_t bits; };
AG_R int32_t ag_plain(ag_stored_bool x) { return x.bits; }
AG_R ag_stored_bool ag_narrowed(ag_stored_bool, int32_t x) { return ag_stored_bool{x != 0}; }
AG_R int32_t ag_either(int32_t x, int32_t y) { return x | y; }
AG_R float ag_either(float x, float y) { return x + y; }
AG_R double ag_either(double x, double y) { return x + y; }
AG_R ag_c64 ag_either(ag_c64 x, ag_c64 y) { return ag_make_c64(x.re + y.re, x.im + y.im); }
AG_R ag_c128 ag_either(ag_c128 x, ag_c128 y) { return ag_make_c128(x.re + y.re, x.im + y.im); }

template <class M> AG_R void ag_fold(const ag_fold_args &a) {
    typedef decltype(ag_plain(M())) P;
    AG_EACH(i, a.n) {
        const ag_image_part p = ag_split_number(i, a.area, a.channels, a.channels_inner);
        int64_t place[3];
        ag_place_of(a.w, p.place, place);
        const char *in = (const char *)a.in + (int64_t)p.image * a.in_image
                       + (int64_t)p.channel * a.in_channel;
        P sum = P();
        AG_ROLLED
        for (uint64_t z = 0; z < a.w.taps[0]; z++) {
            int64_t at_z = 0, at_y = 0, at_x = 0;
            if (!ag_tap_at(a.w, 0, place[0], z, at_z)) continue;
            AG_ROLLED
            for (uint64_t y = 0; y < a.w.taps[1]; y++) {
                if (!ag_tap_at(a.w, 1, place[1], y, at_y)) continue;
                AG_ROLLED
                for (uint64_t x = 0; x < a.w.taps[2]; x++) {
                    if (!ag_tap_at(a.w, 2, place[2], x, at_x)) continue;
                    const int64_t tap =
                        (int64_t)((z * a.w.taps[1] + y) * a.w.taps[2] + x) * a.in_tap;
                    sum = ag_either(sum, ag_plain(*(const M *)(in + tap + at_z + at_y + at_x)));
                }
            }
        }
        if (a.bias)
            sum = ag_either(sum, ag_plain(*(const M *)((const char *)a.bias
                                                       + (int64_t)p.channel * a.bias_step)));
        *(M *)((char *)a.out + (int64_t)p.image * a.out_image + (int64_t)p.channel * a.out_channel
               + place[0] * a.out_stride[0] + place[1] * a.out_stride[1]
               + place[2] * a.out_stride[2]) = ag_narrowed(M(), sum);
    }
}
