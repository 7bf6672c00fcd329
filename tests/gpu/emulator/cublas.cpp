// A stand-in for libcublas.so.13: the products that autograd_cy asks for, as late work of the
// emulated driver. It is as strict as the documentation: leading dimensions, types, the context of
// a handle. float32 is summed in float32; TF32, where it is asked for, rounds operands to 10 bits,
// so that tests can tell.
#include <cuda.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "scalar/scalar.h"

#define BLAS extern "C" __attribute__((visibility("default"))) int
#define BLAS_CALLS_DRIVER extern "C"

BLAS_CALLS_DRIVER int emu_queue(void *stream, const char *name,
                                void (*run)(void *const *, const void *), const void *data,
                                size_t data_bytes, const void *const *operands, const size_t *sizes,
                                int count);

enum {
    SUCCESS = 0,
    NOT_INITIALIZED = 1,
    INVALID_VALUE = 7,
    EXECUTION_FAILED = 13,
    NOT_SUPPORTED = 15
};
enum { R_32F = 0, R_64F = 1, R_16F = 2, C_32F = 4, C_64F = 5, R_16BF = 14 };
enum {
    COMPUTE_32F = 68,
    COMPUTE_64F = 70,
    COMPUTE_32F_TF32 = 77,
    COMPUTE_32F_PEDANTIC = 69,
    COMPUTE_64F_PEDANTIC = 71
};
enum { OP_N, OP_T, OP_C };
enum { TF32_MATH = 3 };

namespace {

struct Handle {
    CUcontext context;
    void *stream = nullptr;
    void *workspace = nullptr;
    size_t workspace_bytes = 0;
    int math_mode = 0;
};

std::mutex lock;
std::map<uintptr_t, Handle> &handles() {
    static auto *const all = new std::map<uintptr_t, Handle>;
    return *all;
}

// Copies it: another thread may add one meanwhile.
bool find(void *handle, Handle *found) {
    std::lock_guard<std::mutex> held(lock);
    auto at = handles().find((uintptr_t)handle);
    if (at == handles().end()) return false;
    *found = at->second;
    return true;
}

template <class Change> int change(void *handle, Change how) {
    std::lock_guard<std::mutex> held(lock);
    auto at = handles().find((uintptr_t)handle);
    if (at == handles().end()) return NOT_INITIALIZED;
    how(at->second);
    return SUCCESS;
}

struct Matrix {
    int op, type, leading;
    long long stride;
};

struct Product {
    int m, n, k, batch, type_of_product;
    Matrix a, b, c;
    bool tf32, beta_is_zero, alpha_is_zero;
    double alpha[2], beta[2];
};

size_t size_of(int type) {
    switch (type) {
    case R_32F: return 4;
    case R_64F:
    case C_32F: return 8;
    case R_16F:
    case R_16BF: return 2;
    case C_64F: return 16;
    }
    return 0;
}

// Bytes from the first to the last element that is touched.
size_t extent(const Matrix &matrix, int rows, int columns, int batch) {
    if (rows <= 0 || columns <= 0 || batch <= 0) return 0;
    size_t last =
        (size_t)(batch - 1) * matrix.stride + (size_t)(columns - 1) * matrix.leading + rows;
    return last * size_of(matrix.type);
}

float to_tf32(float x) {
    uint32_t bits = ag_bits_f32(x);
    if ((bits & 0x7f800000u) == 0x7f800000u) return x;
    return ag_from_bits_f32((bits + 0x1000u) & ~0x1fffu);
}

template <class T> T load(const char *p, int type);
template <> float load(const char *p, int type) {
    uint16_t half;
    float x;
    if (type == R_32F) return memcpy(&x, p, 4), x;
    memcpy(&half, p, 2);
    return type == R_16F ? ag_f16_to_f32(half) : ag_bf16_to_f32(half);
}
template <> double load(const char *p, int) {
    double x;
    return memcpy(&x, p, 8), x;
}
template <> std::complex<float> load(const char *p, int) {
    std::complex<float> x;
    return memcpy(&x, p, 8), x;
}
template <> std::complex<double> load(const char *p, int) {
    std::complex<double> x;
    return memcpy(&x, p, 16), x;
}

template <class T> void store(char *p, T x, int) { memcpy(p, &x, sizeof x); }
template <> void store(char *p, float x, int type) {
    uint16_t half = type == R_16F ? ag_f32_to_f16(x) : ag_f32_to_bf16(x);
    if (type == R_32F) memcpy(p, &x, 4);
    else memcpy(p, &half, 2);
}

template <class T> T conjugate(T x) { return x; }
template <class T> std::complex<T> conjugate(std::complex<T> x) { return std::conj(x); }
template <class T> T rounded(T x, bool) { return x; }
template <> float rounded(float x, bool tf32) { return tf32 ? to_tf32(x) : x; }
template <> std::complex<float> rounded(std::complex<float> x, bool tf32) {
    return tf32 ? std::complex<float>(to_tf32(x.real()), to_tf32(x.imag())) : x;
}
template <class T> T scalar(const double *x) { return (T)x[0]; }
template <> std::complex<float> scalar(const double *x) { return {(float)x[0], (float)x[1]}; }
template <> std::complex<double> scalar(const double *x) { return {x[0], x[1]}; }

// op(M) as `rows` x `columns` in row order.
template <class T>
std::vector<T> taken(const char *p, const Matrix &matrix, int rows, int columns, bool tf32) {
    std::vector<T> out((size_t)rows * columns);
    size_t size = size_of(matrix.type);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            size_t at =
                matrix.op == OP_N ? i + (size_t)j * matrix.leading : j + (size_t)i * matrix.leading;
            T x = load<T>(p + at * size, matrix.type);
            out[(size_t)i * columns + j] = rounded(matrix.op == OP_C ? conjugate(x) : x, tf32);
        }
    return out;
}

template <class T> void multiply(void *const *operands, const Product &p) {
    T alpha = scalar<T>(p.alpha), beta = scalar<T>(p.beta);
    for (int i = 0; i < p.batch; i++) {
        char *c = static_cast<char *>(operands[2]) + i * p.c.stride * size_of(p.c.type);
        std::vector<T> sum((size_t)p.m * p.n);
        if (!p.alpha_is_zero && p.k > 0) {
            auto a = taken<T>(static_cast<char *>(operands[0]) + i * p.a.stride * size_of(p.a.type),
                              p.a, p.m, p.k, p.tf32);
            auto b = taken<T>(static_cast<char *>(operands[1]) + i * p.b.stride * size_of(p.b.type),
                              p.b, p.k, p.n, p.tf32);
            for (int row = 0; row < p.m; row++)
                for (int l = 0; l < p.k; l++) {
                    T x = a[(size_t)row * p.k + l], *to = &sum[(size_t)row * p.n];
                    const T *from = &b[(size_t)l * p.n];
                    for (int column = 0; column < p.n; column++) to[column] += x * from[column];
                }
        }
        for (int row = 0; row < p.m; row++)
            for (int column = 0; column < p.n; column++) {
                char *at = c + (row + (size_t)column * p.c.leading) * size_of(p.c.type);
                T x = sum[(size_t)row * p.n + column];
                x = alpha == T(1) ? x : alpha * x;
                if (p.alpha_is_zero) x = T(0);
                if (!p.beta_is_zero) x += beta * load<T>(at, p.c.type);
                store<T>(at, x, p.c.type);
            }
    }
}

void run(void *const *operands, const void *data) {
    const Product &p = *static_cast<const Product *>(data);
    switch (p.type_of_product) {
    case R_64F: return multiply<double>(operands, p);
    case C_32F: return multiply<std::complex<float>>(operands, p);
    case C_64F: return multiply<std::complex<double>>(operands, p);
    default: return multiply<float>(operands, p);
    }
}

bool types_fit(int a, int b, int c, int compute) {
    if (a != b) return false;
    bool wide = compute == COMPUTE_64F || compute == COMPUTE_64F_PEDANTIC;
    bool narrow =
        compute == COMPUTE_32F || compute == COMPUTE_32F_PEDANTIC || compute == COMPUTE_32F_TF32;
    switch (a) {
    case R_64F:
    case C_64F: return wide && c == a;
    case C_32F: return narrow && c == a;
    case R_32F: return narrow && c == a;
    case R_16F:
    case R_16BF: return narrow && compute != COMPUTE_32F_TF32 && (c == a || c == R_32F);
    }
    return false;
}

void read_scalar(const void *at, int type, double to[2]) {
    const float *f = static_cast<const float *>(at);
    const double *d = static_cast<const double *>(at);
    to[0] = type == R_64F || type == C_64F ? d[0] : f[0];
    to[1] = type == C_64F ? d[1] : type == C_32F ? f[1] : 0;
}

} // namespace

BLAS cublasCreate_v2(void **handle) {
    static uintptr_t next = 0xb1a500000000;
    CUcontext context = nullptr;
    if (cuCtxGetCurrent(&context) || !context) return NOT_INITIALIZED;
    std::lock_guard<std::mutex> held(lock);
    next += 16;
    handles()[next].context = context;
    *handle = reinterpret_cast<void *>(next);
    return SUCCESS;
}

BLAS cublasDestroy_v2(void *handle) {
    std::lock_guard<std::mutex> held(lock);
    return handles().erase((uintptr_t)handle) ? SUCCESS : NOT_INITIALIZED;
}

BLAS cublasGetVersion_v2(void *handle, int *version) {
    return change(handle, [&](Handle &) { *version = 130000; });
}

// A new stream brings back the library's own workspace, as documented.
BLAS cublasSetStream_v2(void *handle, void *stream) {
    return change(handle, [&](Handle &h) {
        h.stream = stream, h.workspace = nullptr, h.workspace_bytes = 0;
    });
}

BLAS cublasGetStream_v2(void *handle, void **stream) {
    return change(handle, [&](Handle &h) { *stream = h.stream; });
}

BLAS cublasSetWorkspace_v2(void *handle, void *workspace, size_t bytes) {
    if ((uintptr_t)workspace % 256) return INVALID_VALUE;
    return change(handle, [&](Handle &h) { h.workspace = workspace, h.workspace_bytes = bytes; });
}

BLAS cublasSetMathMode(void *handle, int mode) {
    return change(handle, [&](Handle &h) { h.math_mode = mode; });
}

BLAS cublasGetMathMode(void *handle, int *mode) {
    return change(handle, [&](Handle &h) { *mode = h.math_mode; });
}

BLAS cublasGemmStridedBatchedEx(void *handle, int op_a, int op_b, int m, int n, int k,
                                const void *alpha, const void *a, int type_a, int lda,
                                long long stride_a, const void *b, int type_b, int ldb,
                                long long stride_b, const void *beta, void *c, int type_c, int ldc,
                                long long stride_c, int batch, int compute, int) {
    static const bool empty = getenv("EMU_EMPTY") != nullptr; // as launches
    if (empty) return SUCCESS;
    Handle h;
    CUcontext context = nullptr;
    if (!find(handle, &h)) return NOT_INITIALIZED;
    if (cuCtxGetCurrent(&context) || context != h.context) return EXECUTION_FAILED;
    if (m < 0 || n < 0 || k < 0 || batch < 0) return INVALID_VALUE;
    if (op_a < 0 || op_a > 2 || op_b < 0 || op_b > 2 || !alpha || !beta) return INVALID_VALUE;
    int rows_a = op_a == OP_N ? m : k, rows_b = op_b == OP_N ? k : n;
    if (lda < std::max(1, rows_a) || ldb < std::max(1, rows_b) || ldc < std::max(1, m))
        return INVALID_VALUE;
    if (!types_fit(type_a, type_b, type_c, compute)) return NOT_SUPPORTED;
    if (m == 0 || n == 0 || batch == 0) return SUCCESS;
    Product p{m,
              n,
              k,
              batch,
              type_a,
              {op_a, type_a, lda, stride_a},
              {op_b, type_b, ldb, stride_b},
              {OP_N, type_c, ldc, stride_c},
              compute == COMPUTE_32F_TF32 ||
                  (compute == COMPUTE_32F && h.math_mode == TF32_MATH && size_of(type_a) > 2),
              false,
              false,
              {0, 0},
              {0, 0}};
    read_scalar(alpha, type_a, p.alpha);
    read_scalar(beta, type_a, p.beta);
    p.alpha_is_zero = p.alpha[0] == 0 && p.alpha[1] == 0;
    p.beta_is_zero = p.beta[0] == 0 && p.beta[1] == 0;
    bool reads = !p.alpha_is_zero && k > 0;
    // Products of a batch run side by side: they must not write to one place. They may lie behind
    // each other, or interleaved.
    bool apart = stride_c >= (long long)(n - 1) * ldc + m;
    bool interleaved = stride_c >= m && ldc >= stride_c * (batch - 1) + m;
    if (batch > 1 && !apart && !interleaved) return INVALID_VALUE;
    const void *operands[] = {a, b, c, h.workspace};
    const size_t sizes[] = {reads ? extent(p.a, rows_a, op_a == OP_N ? k : m, batch) : 0,
                            reads ? extent(p.b, rows_b, op_b == OP_N ? n : k, batch) : 0,
                            extent(p.c, m, n, batch), h.workspace ? h.workspace_bytes : 0};
    return emu_queue(h.stream, "cublas product", run, &p, sizeof p, operands, sizes, 4)
               ? EXECUTION_FAILED
               : SUCCESS;
}

BLAS cublasGemmEx(void *handle, int op_a, int op_b, int m, int n, int k, const void *alpha,
                  const void *a, int type_a, int lda, const void *b, int type_b, int ldb,
                  const void *beta, void *c, int type_c, int ldc, int compute, int algorithm) {
    return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, 0, b,
                                      type_b, ldb, 0, beta, c, type_c, ldc, 0, 1, compute,
                                      algorithm);
}
