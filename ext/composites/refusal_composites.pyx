# cython: language_level=3
"""Composites of the family refusal: records in autograd_cy/ops/refusal.py name them."""
from autograd_cy._C.tensor cimport Tensor


cdef Tensor not_implemented(Tensor grad, str name):
    if name.startswith("aten::"):       # an operator that has none at all
        raise NotImplementedError(f"derivative for {name} is not implemented")
    raise NotImplementedError(f"the derivative for '{name}' is not implemented.")


cdef Tensor not_forward(Tensor tangent, str name):
    raise NotImplementedError(
        f"Trying to use forward AD with {name} that does not support it because it has not been "
        "implemented yet. Use reverse mode, or detach the argument.")
