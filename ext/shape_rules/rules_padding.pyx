# cython: language_level=3
"""Shape rules of padding."""
from autograd_cy._C.outputs cimport result_dense

__all__: list[str] = []


cdef int padded(Result* r, Tensor a, tuple pad, str op) except -1:
    cdef Py_ssize_t k, size
    cdef int d
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * a.nd:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(pad)} and input of dimension {a.nd}")
    result_dense(r, a.dt, a.nd, a.sizes)
    for k in range(len(pad) // 2):
        d = <int>(a.nd - 1 - k)
        if not -1e18 < <double><Py_ssize_t>pad[2 * k] < 1e18 or not (
                -1e18 < <double><Py_ssize_t>pad[2 * k + 1] < 1e18):
            raise RuntimeError(f"{op}: padding {list(pad)} is too large")
        size = r.sizes[d] + <Py_ssize_t>pad[2 * k] + <Py_ssize_t>pad[2 * k + 1]
        if size < 0:
            raise RuntimeError(
                f"{op}: The input size {a.sizes[d]}, plus negative padding {pad[2 * k]} and "
                f"{pad[2 * k + 1]} resulted in a negative output size, which is invalid. Check "
                f"dimension {d} of your input.")
        r.sizes[d] = size
    return 0
