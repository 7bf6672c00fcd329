# Entry points of tests and diagnosis: products of anything with a buffer.

def gemm_numpy(dtype, a, b, c, trans_a=0, trans_b=0, alpha=1.0, beta=0.0):
    """Compute ``c = alpha * op(a) @ op(b) + beta * c`` in place and return `c`.

    For tests and diagnosis: nothing is promoted, copied or checked beyond what keeps memory safe.

    Parameters
    ----------
    dtype : int
        The dtype code of `gemm.pxd`; the buffers only need items of that size.
    a, b, c : objects with a writable or readable buffer of 2 or 3 dimensions
        Rows must have unit stride.  With 3 dimensions the first one is the batch.
    trans_a, trans_b : int
        0, 1 (stored transposed) or 2 (stored conjugate transposed).
    """
    cdef Py_buffer va, vb, vc
    cdef int code = dtype, ta = trans_a, tb = trans_b, status
    cdef complex factor = alpha
    cdef double keep = beta
    cdef Py_ssize_t m, n, k, batch, sa, sb, sc, la, lb, lc
    if not UINT8 <= code <= COMPLEX128 or dt_is_limited(code):
        raise ValueError(f"gemm_numpy: unknown dtype code {code}.")
    ensure_gemm(code)
    PyObject_GetBuffer(a, &va, PyBUF_STRIDES)
    PyObject_GetBuffer(b, &vb, PyBUF_STRIDES)
    PyObject_GetBuffer(c, &vc, PyBUF_STRIDES | PyBUF_WRITABLE)
    try:
        if not (va.ndim == vb.ndim == vc.ndim and va.ndim in (2, 3)):
            raise ValueError("gemm_numpy: a, b and c must have 2 dimensions, or 3 with a batch.")
        la, sa = _layout(&va, itemsize(code), "a")
        lb, sb = _layout(&vb, itemsize(code), "b")
        lc, sc = _layout(&vc, itemsize(code), "c")
        batch = vc.shape[0] if vc.ndim == 3 else 1
        m, n = vc.shape[vc.ndim - 2], vc.shape[vc.ndim - 1]
        k = va.shape[va.ndim - 2] if ta else va.shape[va.ndim - 1]
        shapes = (
            (va.shape[va.ndim - 2], va.shape[va.ndim - 1]),
            (vb.shape[vb.ndim - 2], vb.shape[vb.ndim - 1]),
        )
        if shapes != ((k, m) if ta else (m, k), (n, k) if tb else (k, n)):
            raise ValueError(f"gemm_numpy: shapes {shapes} do not give {(m, n)}.")
        if vc.ndim == 3 and not (va.shape[0] == vb.shape[0] == batch):
            raise ValueError("gemm_numpy: the batches of a, b and c differ.")
        with nogil:
            if vc.ndim == 2:
                status = gemm(
                    code, ta, tb, m, n, k, factor.real, factor.imag,
                    va.buf, la, vb.buf, lb, keep, vc.buf, lc)
            else:
                status = gemm_batched(
                    code, ta, tb, batch, m, n, k, factor.real, factor.imag,
                    va.buf, la, sa, vb.buf, lb, sb, keep, vc.buf, lc, sc)
    finally:
        PyBuffer_Release(&va)
        PyBuffer_Release(&vb)
        PyBuffer_Release(&vc)
    if status == GEMM_INTERRUPTED:
        agc_pass_on()
    if status == GEMM_NO_MEMORY:
        raise MemoryError("gemm_numpy: no memory for the panels.")
    return c


cdef tuple _layout(Py_buffer* view, Py_ssize_t size, name):
    """Row and batch distances in elements."""
    cdef Py_ssize_t last = view.ndim - 1
    if view.itemsize != size:
        raise ValueError(f"gemm_numpy: {name} has items of {view.itemsize} bytes, not {size}.")
    if view.shape[last] > 1 and view.strides[last] != size:
        raise ValueError(f"gemm_numpy: the rows of {name} must have unit stride.")
    if view.shape[last - 1] > 1 and view.strides[last - 1] < view.shape[last] * size:
        raise ValueError(f"gemm_numpy: the rows of {name} overlap.")
    return view.strides[last - 1] // size, view.strides[0] // size if view.ndim == 3 else 0
