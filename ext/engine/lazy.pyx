# cython: language_level=3
"""Conjugation and negation that are still to be done.

# Note [Lazy bits]
The conjugate of a complex tensor is a view with F_CONJ: the same memory, whose content is the
conjugate of the values. F_NEG says the same of the sign; the imaginary part of a conjugate has it.
Views keep the bits. What computes does not know them:

- elementwise drivers, copies and fills (iterate.pyx) resolve operands, and write the conjugate
  where the output has the bit;
- a `call` kernel gets resolved arguments from the generated operator, on the branch that batched
  tensors take too, unless its record says ``lazy=True``; products on devices that read conjugates
  as they lie get these operands as they are (``conjugates=...``, `unless_taken`);
- formulas conjugate at once, so gradients and tangents that they compute are plain;
- what leaves for the world outside (NumPy, DLPack, buffers) is refused.

F_RAW is a third such bit, of bools over memory that others write, too (NumPy, files, views of
bytes): any byte but 0 is true. Those who resolve look at the bytes, and copy only where one is
neither 0 nor 1. It says nothing about values, so it is not among F_TURNED, and such memory leaves
as it is. The bit is of tensors, not of their memory, as who reads bools must know without a look at
the storage: a view made before ``b.view(uint8)`` lacks it, and so does a tensor whose memory NumPy
or a consumer of DLPack has got from here. What others write there has to be 0 or 1.

A wrapper of vmap has no bits; the tensor below it may have them. Views of a base are related to it
by the bits that differ (`window_bits`); a real view of a complex base sees the parts of memory, so
the base's own conjugation comes first (`whole_bits`).
"""
from libc.stdint cimport uint32_t
from autograd_cy._C.dtypes cimport dt_is_complex
from autograd_cy._C.iterate cimport resolved
from autograd_cy._C.storage cimport MAX_DEVICE_TYPES, device_type
from autograd_cy._C.tensor cimport Tensor, F_CONJ, F_DEVICE, F_LAZY, F_NEG, lazy_bits
include "operators_of_lazy.pxi"


cdef uint32_t whole_bits(Tensor base, Tensor view) noexcept:
    """Return the bits to apply to the base before a window of the kind of `view` is taken."""
    return 0 if dt_is_complex(view.dt) else lazy_bits(base) & F_CONJ


cdef uint32_t window_bits(Tensor base, Tensor view) noexcept:
    """Return the bits to apply to that window to have the values of `view`."""
    cdef uint32_t bits = lazy_bits(base) ^ lazy_bits(view)
    return bits if dt_is_complex(view.dt) else bits & F_NEG


cdef Tensor turned(Tensor t, uint32_t bits):
    """New memory with what the bits say done, recorded; `t` itself without bits."""
    if bits & F_CONJ:
        t = T._conjugate(t)
    if bits & F_NEG:
        t = T.neg(t)
    return t


cdef Tensor turned_view(Tensor t, uint32_t bits):
    """A recorded view with the bits exchanged; `t` itself without bits."""
    if bits & F_CONJ:
        t = T._conj(t)
    if bits & F_NEG:
        t = T._neg_view(t)
    return t


cdef bint[MAX_DEVICE_TYPES] taken     # by type of device; none at first


def _take_conjugates(int type):
    """Let kernels of products on devices of this type have lazy conjugates."""
    if not 0 < type < MAX_DEVICE_TYPES:
        raise ValueError(f"{type} is no type of devices")
    taken[type] = True


cdef Tensor unless_taken(Tensor a):
    if a.flags & F_DEVICE and a.flags & F_LAZY == F_CONJ and taken[device_type(a.mem.device)]:
        return a
    return resolved(a)
