// Losses of classes, bags of embeddings, and checks of values: what looks a few numbers up for each
// index. Sums are taken in double, in an order that depends on shapes alone.
#pragma once
#include "gathers.cuh"
#include "lookup_arguments.h"
#include "reduction_operations.cuh"

enum { AG_RED_NONE, AG_RED_MEAN, AG_RED_SUM };

template <class M> AG_R double ag_number_at(const void *p, uint64_t i) {
    return (double)ag_plain(((const M *)p)[i]);
}

// --- negative log-likelihood ---------------------------------------------------------------------

// Where the input has the class of target i; -1 where the target is to be ignored, or bad.
AG_R int64_t ag_place_of_class(const ag_nll_args &a, uint64_t i, bool noted) {
    const int64_t t = a.target[i];
    if (t == a.ignore) return -1;
    if (t < 0 || t >= a.classes) {
        if (noted) ag_note_fault(a.fault, AG_FAULT_TARGET, a.op, t, a.classes, 0);
        return -1;
    }
    const uint64_t sample = ag_quotient(i, a.inner);
    return (int64_t)((sample * a.classes + t) * a.inner.size + i - sample * a.inner.size);
}

// The sums of two numbers over the block, in the first thread.
AG_R void ag_add_in_block(double *loss, double *total, double (*shared)[2]) {
    const uint32_t t = threadIdx.x;
    shared[t][0] = *loss, shared[t][1] = *total;
    __syncthreads();
    AG_ROLLED
    for (uint32_t half = AG_LOOKUP_THREADS / 2; half; half >>= 1) {
        if (t < half) {
            shared[t][0] += shared[t + half][0];
            shared[t][1] += shared[t + half][1];
        }
        __syncthreads();
    }
    *loss = shared[0][0], *total = shared[0][1];
}

AG_R void ag_nll_finish(const ag_nll_args &a, double loss, double total) {
    if (a.reduction == AG_RED_MEAN) loss = loss / total;
    if (a.reduction != AG_RED_NONE) ag_store((char *)a.out, a.dt, loss);
    ag_store((char *)a.total, a.dt, a.reduction == AG_RED_NONE ? 0 : total);
}

template <class M> AG_R void ag_nll(const ag_nll_args &a) {
    __shared__ double shared[AG_LOOKUP_THREADS][2];
    double loss = 0, total = 0;
    AG_EACH(i, a.count) {
        const int64_t at = ag_place_of_class(a, i, true);
        double w = 1, x = 0;
        if (at >= 0) {
            x = -ag_number_at<M>(a.in, at);
            if (a.weight) w = ag_number_at<M>(a.weight, a.target[i]);
            total += w;
        }
        if (a.reduction == AG_RED_NONE)
            ag_store((char *)a.out + i * sizeof(M), a.dt, at >= 0 ? x * w : 0.0);
        else if (at >= 0)
            loss += x * w;
    }
    ag_add_in_block(&loss, &total, shared);
    if (threadIdx.x) return;
    if (a.partial) {
        a.partial[2 * blockIdx.x] = loss;
        a.partial[2 * blockIdx.x + 1] = total;
    } else {
        ag_nll_finish(a, loss, total);
    }
}

// One block adds up what others have left.
AG_R void ag_nll_total(const ag_nll_args &a) {
    __shared__ double shared[AG_LOOKUP_THREADS][2];
    double loss = 0, total = 0;
    AG_ROLLED
    for (uint64_t k = threadIdx.x; k < a.parts; k += AG_LOOKUP_THREADS) {
        loss += a.partial[2 * k];
        total += a.partial[2 * k + 1];
    }
    ag_add_in_block(&loss, &total, shared);
    if (threadIdx.x == 0) ag_nll_finish(a, loss, total);
}

// The gradient, zeros before.
template <class M> AG_R void ag_nll_backward(const ag_nll_args &a) {
    AG_EACH(i, a.count) {
        const int64_t at = ag_place_of_class(a, i, false);
        if (at < 0) continue;
        double g = ag_number_at<M>(a.grad, a.reduction == AG_RED_NONE ? i : 0);
        if (a.reduction == AG_RED_MEAN) g /= ag_number_at<M>(a.total, 0);
        if (a.weight) g *= ag_number_at<M>(a.weight, a.target[i]);
        ag_store((char *)a.out + at * (int64_t)sizeof(M), a.dt, -g);
    }
}

// --- bags ---------------------------------------------------------------------------------------

enum { AG_BAG_SUM, AG_BAG_MEAN, AG_BAG_MAX };

// Bags begin at 0, end before the indices do, and don't go backwards.
AG_R void ag_bag_check(const ag_bag_args &a) {
    AG_EACH(i, a.bounds) {
        const int64_t at = a.offsets[i];
        if (i == 0 && at != 0) ag_note_fault(a.fault, AG_FAULT_BAG_FIRST, a.op, at, 0, 0);
        if (i > 0 && at < a.offsets[i - 1])
            ag_note_fault(a.fault, AG_FAULT_BAG_ORDER, a.op, at, a.offsets[i - 1], (int64_t)i);
        if (i + 1 == a.bounds && at > a.n)
            ag_note_fault(a.fault, AG_FAULT_BAG_LAST, a.op, at, a.n, 0);
    }
}

template <class M> AG_R void ag_bag(const ag_bag_args &a) {
    typedef decltype(ag_plain(M())) P;
    AG_EACH(i, a.bags * a.columns.size) {
        const uint64_t bag = ag_quotient(i, a.columns), column = i - bag * a.columns.size;
        int64_t first = a.offsets[bag], stop = bag + 1 < a.bags ? a.offsets[bag + 1] : a.n;
        int64_t used = 0, where = 0;
        double sum = 0;
        first = first < 0 ? 0 : first;
        stop = stop > a.n ? a.n : stop;
        AG_ROLLED
        for (int64_t j = first; j < stop; j++) {
            const int64_t k = a.index[j];
            if (column == 0) a.bag_of[j] = (int64_t)bag;
            if (k < 0 || k >= a.rows) {
                ag_note_fault(a.fault, AG_FAULT_BAG_INDEX, a.op, k, a.rows, j);
                continue;
            }
            if (k == a.padding) continue;
            used++;
            if (a.width == 0) continue;
            const double x = (double)ag_plain(*(const M *)(
                (const char *)a.in + k * a.row_stride + (int64_t)column * a.column_stride));
            if (a.mode == AG_BAG_MAX) {
                if (used > 1 && !(x > sum)) continue;
                sum = x;
                where = k;
            } else {
                sum += a.samples ? (double)((const P *)a.samples)[j] * x : x;
            }
        }
        if (column == 0) a.sizes[bag] = used;
        if (a.width == 0) continue;
        if (a.mode == AG_BAG_MEAN && used > 1) sum /= (double)used;
        if (a.mode == AG_BAG_MAX) a.places[i] = where;
        ag_store_sum((M *)a.out + i, sum);
    }
}

// --- checks -------------------------------------------------------------------------------------

// The value that the text names: the lowest and the largest of some faults.
static __device__ __noinline__ void ag_note_worst(const ag_check_args &a, uint64_t at) {
    const int64_t *p = (const int64_t *)a.in;
    int64_t value = p[at], high = p[at];
    if (atomicCAS(&a.fault->kind, 0, -1) != 0) return;
    for (uint64_t i = 0; i < a.n; i++) {
        const int64_t x = p[i];
        bool worse = !(x >= a.low && x < a.high) && value >= a.low && value < a.high;
        if (a.kind == AG_FAULT_CLASS_BELOW || a.kind == AG_FAULT_SPAN) worse = x < value;
        if (a.kind == AG_FAULT_CLASS_ABOVE) worse = x > value;
        if (a.kind >= AG_FAULT_INPUT_LENGTH)
            worse = x < 0 || value < 0 ? x < value : x > value;
        if (worse) value = x;
        if (x > high) high = x;
    }
    a.fault->op = a.op;
    a.fault->value = value;
    a.fault->size = a.high;
    a.fault->dim = a.kind == AG_FAULT_SPAN ? high : a.dim;
    __threadfence_system();
    *(volatile int *)&a.fault->kind = a.kind;
}

AG_R void ag_check_range(const ag_check_args &a) {
    AG_EACH(i, a.n) {
        const int64_t x = ((const int64_t *)a.in)[i];
        if (!(x >= a.low && x < a.high)) ag_note_worst(a, i);
    }
}

AG_R void ag_check_signs(const ag_check_args &a) {
    AG_EACH(i, a.n) {
        const double x = a.dt == AG_DT_F32 ? ((const float *)a.in)[i] : ((const double *)a.in)[i];
        if (x < 0) ag_note_fault(a.fault, a.kind, a.op, 0, 0, 0);
    }
}
