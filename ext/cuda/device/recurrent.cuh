// Steps of recurrent cells: what is done with each element between two products, forward and
// backward, in one launch. Formulas are those of the CPU's rows, on rows of one element.
#pragma once
#include "kernel.cuh"
#include "recurrent_arguments.h"
#include "reductions.cuh"
#include "recurrent_rows.h"

// recurrent_rows.h by type.
#define AG_ROWS(T, F)                                                                              \
    template <> struct ag_row<T> {                                                                 \
        AG_R void lstm(T *g, T c, T *cell, T *h) { ag_lstm_row_##F(1, g, &c, cell, h); }           \
        AG_R void lstm_back(const T *g, T c, T dh, T *dc, T *d, T *h) {                            \
            ag_lstm_back_##F(1, g, &c, &dh, dc, d, h);                                             \
        }                                                                                          \
        AG_R void gru(T *g, const T *s, T h, T *y) {                                               \
            T state;                                                                               \
            ag_gru_row_##F(1, g, s, &h, &state, y);                                                \
        }                                                                                          \
        AG_R void gru_back(const T *g, T h, T *dh, T *d, T *s) {                                   \
            ag_gru_back_##F(1, g, &h, dh, d, s);                                                   \
        }                                                                                          \
        AG_R void plain(bool relu, T *g) {                                                         \
            T state;                                                                               \
            if (relu)                                                                              \
                ag_relu_row_##F(1, g, &state);                                                     \
            else                                                                                   \
                ag_tanh_row_##F(1, g, &state);                                                     \
        }                                                                                          \
        AG_R void plain_back(bool relu, T h, T dh, T *d) {                                         \
            if (relu)                                                                              \
                ag_relu_back_row_##F(1, &h, &dh, d);                                               \
            else                                                                                   \
                ag_tanh_back_row_##F(1, &h, &dh, d);                                               \
        }                                                                                          \
    };
template <class T> struct ag_row;
AG_ROWS(float, f32)
AG_ROWS(double, f64)

#define AG_ELEMENTS_OF_ROWS(a) AG_EACH(i, a.rows * a.n.size)

template <class T> AG_R T ag_bias(const void *b, uint64_t at) {
    return b ? ((const T *)b)[at] : (T)0;
}

template <class T> AG_R T ag_of_two(const ag_two_places &p, uint64_t row, uint64_t column,
                                    uint64_t i) {
    if (row < p.count) return ((const T *)p.first)[row * p.apart + column];
    return p.rest ? ((const T *)p.rest)[i] : (T)0;
}

// --- forward -------------------------------------------------------------------------------------

template <class T> AG_R void ag_lstm_forward(const ag_cell_args &a) {
    AG_ELEMENTS_OF_ROWS(a) {
        const uint64_t n = a.n.size, row = ag_quotient(i, a.n), column = i - row * n;
        T *const sums = (T *)a.sums + row * a.ld + column;
        T g[5], cell, h;
        AG_UNROLL
        for (int k = 0; k < 4; k++)
            g[k] = sums[k * n]
                 + (ag_bias<T>(a.b_ih, k * n + column) + ag_bias<T>(a.b_hh, k * n + column));
        ag_row<T>::lstm(g, ((const T *)a.before)[i], &cell, &h);
        AG_UNROLL
        for (int k = 0; k < 5; k++) sums[k * n] = g[k];
        ((T *)a.cell)[i] = cell;
        ((T *)a.h)[i] = h;
        if (a.state) ((T *)a.state)[i] = h;
    }
}

template <class T> AG_R void ag_gru_forward(const ag_cell_args &a) {
    AG_ELEMENTS_OF_ROWS(a) {
        const uint64_t n = a.n.size, row = ag_quotient(i, a.n), column = i - row * n;
        T *const sums = (T *)a.sums + row * a.ld + column;
        const T *const others = (const T *)a.others + row * 3 * n + column;
        T g[4], s[3], h;
        AG_UNROLL
        for (int k = 0; k < 3; k++) {
            g[k] = sums[k * n] + ag_bias<T>(a.b_ih, k * n + column);
            s[k] = others[k * n] + ag_bias<T>(a.b_hh, k * n + column);
        }
        ag_row<T>::gru(g, s, ((const T *)a.before)[i], &h);
        AG_UNROLL
        for (int k = 0; k < 4; k++) sums[k * n] = g[k];
        ((T *)a.h)[i] = h;
        if (a.state) ((T *)a.state)[i] = h;
    }
}

template <class T> AG_R void ag_plain_forward(const ag_cell_args &a) {
    AG_ELEMENTS_OF_ROWS(a) {
        const uint64_t n = a.n.size, column = i - ag_quotient(i, a.n) * n;
        T g = ((const T *)a.sums)[i] + (ag_bias<T>(a.b_ih, column) + ag_bias<T>(a.b_hh, column));
        ag_row<T>::plain(a.relu, &g);
        ((T *)a.h)[i] = g;
        if (a.state) ((T *)a.state)[i] = g;
    }
}

// --- backward ------------------------------------------------------------------------------------

template <class T>
AG_R T ag_grad_of_state(const ag_cell_back_args &a, uint64_t row, uint64_t column, uint64_t i) {
    const T dh = ag_of_two<T>(a.grad, row, column, i);
    return a.grad_out ? dh + ((const T *)a.grad_out)[i] : dh;
}

template <class T> AG_R void ag_lstm_backward(const ag_cell_back_args &a) {
    AG_ELEMENTS_OF_ROWS(a) {
        const uint64_t n = a.n.size, row = ag_quotient(i, a.n), column = i - row * n;
        const T *const gates = (const T *)a.gates + row * a.ld + column;
        T *const to = (T *)a.grad_sums + row * 4 * n + column;
        T g[5], d[4], h, dc = ag_of_two<T>(a.grad_cell, row, column, i);
        AG_UNROLL
        for (int k = 0; k < 5; k++) g[k] = gates[k * n];
        ag_row<T>::lstm_back(g, ag_of_two<T>(a.before, row, column, i),
                             ag_grad_of_state<T>(a, row, column, i), &dc, d, &h);
        AG_UNROLL
        for (int k = 0; k < 4; k++) to[k * n] = d[k];
        ((T *)a.grad_before)[i] = dc;
        if (a.h) ((T *)a.h)[i] = h;
        if (a.last) ((T *)a.last)[i] = ag_of_two<T>(a.state, row, column, i);
    }
}

template <class T> AG_R void ag_gru_backward(const ag_cell_back_args &a) {
    AG_ELEMENTS_OF_ROWS(a) {
        const uint64_t n = a.n.size, row = ag_quotient(i, a.n), column = i - row * n;
        const T *const gates = (const T *)a.gates + row * a.ld + column;
        const uint64_t to = row * 3 * n + column;
        const T before = ag_of_two<T>(a.state, row, column, i);
        T g[4], d[3], s[3], dh = ag_grad_of_state<T>(a, row, column, i);
        AG_UNROLL
        for (int k = 0; k < 4; k++) g[k] = gates[k * n];
        ag_row<T>::gru_back(g, before, &dh, d, s);
        AG_UNROLL
        for (int k = 0; k < 3; k++) {
            ((T *)a.grad_sums)[to + k * n] = d[k];
            ((T *)a.grad_others)[to + k * n] = s[k];
        }
        ((T *)a.grad_before)[i] = dh;
        if (a.last) ((T *)a.last)[i] = before;
    }
}

template <class T> AG_R void ag_plain_backward(const ag_cell_back_args &a) {
    AG_ELEMENTS_OF_ROWS(a) {
        const uint64_t row = ag_quotient(i, a.n), column = i - row * a.n.size;
        T d;
        ag_row<T>::plain_back(a.relu, ((const T *)a.gates)[i],
                              ag_grad_of_state<T>(a, row, column, i), &d);
        ((T *)a.grad_sums)[i] = d;
        if (a.last) ((T *)a.last)[i] = ag_of_two<T>(a.state, row, column, i);
    }
}

template <class T> AG_R void ag_state_rows(const ag_state_rows_args &a) {
    AG_ELEMENTS_OF_ROWS(a) {
        const uint64_t row = ag_quotient(i, a.n), column = i - row * a.n.size;
        const T x = ag_of_two<T>(a.a, row, column, i);
        ((T *)a.out)[i] = a.b ? x + ((const T *)a.b)[i] : x;
        if (a.last) ((T *)a.last)[i] = ag_of_two<T>(a.state, row, column, i);
    }
}
