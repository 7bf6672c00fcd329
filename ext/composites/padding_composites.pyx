# cython: language_level=3
"""Composites of the family padding: records in autograd_cy/ops/padding.py name them."""
from autograd_cy._C.dtypes cimport DT_BOOL
from autograd_cy._C.padding cimport PAD_CIRCULAR, PAD_REFLECT, PAD_REPLICATE
from autograd_cy._C.tensor cimport Tensor, sizes_of, wrap_double, wrap_int
include "operators_of_padding_composites.pxi"

cdef str SUPPORTED = (
    "Supported combinations for non-constant padding:\n"
    "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
    "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
    "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)")


cdef Tensor crop(Tensor a, tuple pad):
    """Without what constant padding has added."""
    return T.constant_pad_nd(a, tuple([-n for n in pad]), wrap_int(0))


cdef Tensor pad_form(Tensor a, tuple pad, str mode, object value):
    cdef int n = <int>(len(pad) // 2)
    cdef int code
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if n > a.nd:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(pad)} and input of dimension {a.nd}")
    if mode == "constant":
        return T.constant_pad_nd(a, pad, wrap_int(0) if value is None else wrap_double(value))
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise RuntimeError(f"Padding mode \"{mode}\" doesn't take in value argument")
    for k in pad:
        if not -1e18 < <double><Py_ssize_t>k < 1e18:
            raise RuntimeError(f"{mode} padding: {list(pad)} is too large")
    if n < 1 or n > 3 or a.nd < n + 1 or a.nd > n + 2:
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {a.nd}D input tensor.\n{SUPPORTED}")
    if mode == "circular":
        return circular(a, pad, n)
    code = PAD_REFLECT if mode == "reflect" else PAD_REPLICATE
    if a.dt == DT_BOOL:
        raise NotImplementedError(
            f"\"{'reflection' if code == PAD_REFLECT else 'replication'}_pad{n}d\" not implemented "
            "for 'Bool'; pad x.to(uint8), and convert back")
    check_edges(a, pad, n, code)
    return T._pad(a, pad, code)


cdef int check_edges(Tensor a, tuple pad, int n, int code) except -1:
    """Return whether there are elements to repeat, and enough of them."""
    cdef int d
    cdef Py_ssize_t k, left, right, size
    for d in range(1 if a.nd == n + 2 else 0, a.nd):
        if a.sizes[d] == 0:
            raise RuntimeError(
                f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with possibly 0 batch size and "
                f"other non-zero dimensions for input, but got: {list(sizes_of(a))}")
    for k in range(n):
        d = <int>(a.nd - 1 - k)
        left, right, size = pad[2 * k], pad[2 * k + 1], a.sizes[d]
        if code == PAD_REFLECT and (left >= size or right >= size):
            raise RuntimeError(
                f"Argument #{4 + 2 * k}: Padding size should be less than the corresponding input "
                f"dimension, but got: padding ({left}, {right}) at dimension {d} of input "
                f"{list(sizes_of(a))}")
        # What is repeated are elements of the whole input, as in torch: they may be cut away.
        if size + left + right < 1:
            names = [("W", "H", "D")[i] for i in range(n - 1, -1, -1)]
            sizes = [a.sizes[a.nd - n + i] for i in range(n)]
            padded = [sizes[i] + pad[2 * (n - 1 - i)] + pad[2 * (n - 1 - i) + 1] for i in range(n)]
            were = (", " if n == 2 else " ").join([f"{x}: {y}" for x, y in zip(names, sizes)])
            raise RuntimeError(
                f"input ({were}) is too small. "
                f"Calculated output {' '.join([f'{x}: {y}' for x, y in zip(names, padded)])}")
    return 0


cdef Tensor circular(Tensor a, tuple pad, int n):
    """Pad in a circle, of which elements removed by negative numbers are no part."""
    cdef Py_ssize_t k, left, right, size
    cdef bint shorter = False
    for k in range(n):
        left, right, size = pad[2 * k], pad[2 * k + 1], a.sizes[a.nd - 1 - k]
        if left > size or right > size:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if size > 0 and (left < 0 or right < 0) and max(left, right) > size + min(left, right):
            raise RuntimeError(
                f"pad: circular padding ({left}, {right}) of a dimension of size {size} takes away "
                "what it would repeat; leave more of it, or pad less")
        if size + left + right < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
        shorter = shorter or left < 0 or right < 0
    if shorter:
        a = T.constant_pad_nd(a, tuple([min(k, 0) for k in pad]), wrap_int(0))
        return circular(a, tuple([max(k, 0) for k in pad]), n)
    return T._pad(a, pad, PAD_CIRCULAR)
