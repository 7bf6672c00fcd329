"""Arguments and results of :mod:`autograd_cy.autograd.functional`: checks, messages, zeros.

Tensors may be given alone or in a tuple; results have the form of what they belong to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_cy._C.batching import _wrap
from autograd_cy._C.creation import zeros as _zeros
from autograd_cy._C.creation import zeros_like as _zeros_like
from autograd_cy._C.levels import _batch_level
from autograd_cy._C.tensor import _M_VMAP_MASK, _M_VMAP_SHIFT, Tensor, _get_modes
from autograd_cy.autograd.gradients import _flag
from autograd_cy.autograd.gradients import grad as _grad

OUTPUTS = "outputs of the user-provided function"


def as_tuple(x: Any, what: str, name: str) -> tuple[bool, tuple[Tensor, ...]]:
    """(whether it was a tuple, the tensors); a TypeError says what of function `name` is wrong."""
    if isinstance(x, Tensor):
        return False, (x,)
    if not isinstance(x, tuple):
        wrong = f"the given {what} has type {type(x)}"
    else:
        at = next((i for i, t in enumerate(x) if not isinstance(t, Tensor)), None)
        if at is None:
            return True, x
        wrong = f"the value at index {at} has type {type(x[at])}"
    raise TypeError(
        f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but {wrong}."
    )


def inputs_of(inputs: Any, name: str) -> tuple[bool, tuple[Tensor, ...]]:
    """The inputs as a tuple; there must be one at least."""
    was_tuple, tensors = as_tuple(inputs, "inputs", name)
    if not tensors:
        raise RuntimeError(f"The inputs given to {name} must contain at least one Tensor.")
    return was_tuple, tensors


def leaves(inputs: Sequence[Tensor], create_graph: bool) -> tuple[Tensor, ...]:
    """
    The inputs as tensors that require grad.

    With `create_graph` one that already does stays connected to its graph: the result can be
    differentiated with respect to it.
    """
    create_graph = _flag("autograd.functional", "create_graph", create_graph)
    return tuple(
        x.view_as(x) if create_graph and x.requires_grad else _lifted(x.detach()).requires_grad_()
        for x in inputs
    )


def _lifted(x: Tensor) -> Tensor:
    """`x` as a tensor of the innermost vmap: transformations within the function see its graph."""
    level = (_get_modes() & _M_VMAP_MASK) >> _M_VMAP_SHIFT
    return _wrap(x, None, level) if level and _batch_level(x) < level else x


def restored(results: Sequence[Tensor], create_graph: bool, was_tuple: bool) -> Any:
    """Results in the form that they are returned in, detached unless a graph is wanted."""
    values = tuple(results) if create_graph else tuple(t.detach() for t in results)
    return values if was_tuple else values[0]


def vector_for(
    v: Any,
    tensors: Sequence[Tensor],
    in_tuple: bool,
    create_graph: bool,
    name: str,
    missing: str,
) -> tuple[Tensor, ...]:
    """The vector `v` of a product, which has the shapes of `tensors`; None only for one element."""
    if v is None:
        if len(tensors) != 1 or tensors[0].nelement() != 1:
            raise RuntimeError(f"The vector v can only be None if {missing}.")
        return (tensors[0].new_ones(tensors[0].shape),)
    _, vectors = as_tuple(v, "v", name)
    if not create_graph:
        vectors = tuple(t.detach() for t in vectors)
    if len(vectors) != len(tensors):
        if in_tuple:
            raise RuntimeError(
                f"v is a tuple of invalid length: should be {len(tensors)} but got {len(vectors)}."
            )
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (one, t) in enumerate(zip(vectors, tensors)):
        if one.shape != t.shape:
            where = f"Entry {i} in v" if in_tuple else "v"
            raise RuntimeError(
                f"{where} has invalid size: should be {t.shape} but got {one.shape}."
            )
    return vectors


def need_graph(outputs: Sequence[Tensor]) -> None:
    """Strict mode: all outputs are computed from the inputs."""
    for i, out in enumerate(outputs):
        if not out.requires_grad:
            raise RuntimeError(
                f"Output {i} of the user-provided function does not require gradients. The outputs "
                "must be computed in a differentiable manner from the input when running in strict "
                "mode."
            )


def need_second(gradients: Sequence[Tensor | None], constant: bool = False) -> None:
    """
    Strict mode of second derivatives: the gradients depend on the inputs.

    A gradient that doesn't exist counts as one of zeros with `constant`; otherwise it is another
    error, of an input that comes first.
    """
    for i, g in enumerate(gradients):
        if g is None and not constant:
            return
        if g is None or not g.requires_grad:
            raise RuntimeError(
                "While computing the hessian, found that the jacobian of the user-provided "
                f"function with respect to input {i} is independent of the input. This is not "
                "allowed in strict mode. You should ensure that your function is twice "
                "differentiable and that the jacobian depends on the inputs (this would be "
                "violated by a linear function for example)."
            )


def need_real(output: Tensor, name: str) -> None:
    """A gradient can be left out for a real output only."""
    if output.is_complex():
        way_out = {
            "jacobian": "use vectorize=True with strategy='forward-mode', or the "
            "real and imaginary parts as two outputs",
            "vjp": "give v",
        }
        raise RuntimeError(
            f"{name}: grad can be implicitly created only for real scalar outputs but got "
            f"{output.dtype}; {way_out[name]}"
        )


def need_derivative(what: str, i: int, value: Tensor, create_graph: bool) -> None:
    """Strict mode with `create_graph`: the result depends on the inputs in its turn."""
    if create_graph and not value.requires_grad:
        raise RuntimeError(
            f"The {what} of the user-provided function is independent of input {i}. This is not "
            "allowed in strict mode when create_graph=True."
        )


def gradients(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    vectors: Sequence[Tensor | None] | None = None,
    create_graph: bool = False,
    batched: bool = False,
    retain_graph: bool | None = True,
) -> tuple[Tensor | None, ...]:
    """Like :func:`autograd_cy.autograd.grad`, but leaves out outputs without a graph."""
    vectors = (None,) * len(outputs) if vectors is None else vectors
    live = [(out, v) for out, v in zip(outputs, vectors) if out is not None and out.requires_grad]
    if not live:
        return (None,) * len(inputs)
    return _grad(
        [out for out, _ in live],
        inputs,
        [v for _, v in live],
        retain_graph=retain_graph,
        create_graph=create_graph,
        allow_unused=True,
        is_grads_batched=batched,
    )


def filled(
    values: Sequence[Tensor | None],
    like: Sequence[Tensor],
    strict: bool,
    create_graph: bool,
    missing: str,
    what: str,
) -> tuple[Tensor, ...]:
    """Zeros for derivatives that don't exist, or in strict mode the error `missing`."""
    derivatives = []
    for i, (value, t) in enumerate(zip(values, like)):
        if strict:
            if value is None:
                raise RuntimeError(missing.format(i))
            need_derivative(what, i, value, create_graph)
        derivatives.append(_zeros_like(t) if value is None else value)
    return tuple(derivatives)


def unit_vectors(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """
    Return the standard basis of several tensors together, one tensor of vectors for each.

    The first dimension of each counts all n elements of all tensors: vector number i is one in
    element i and zero in the other elements and tensors.
    """
    blocks = _unit_columns(tensors, [t.numel() for t in tensors])
    return tuple(block.view((len(block), *t.shape)) for block, t in zip(blocks, tensors))


def standard_basis(tensors: Sequence[Tensor], numels: Sequence[int]) -> tuple[Tensor, ...]:
    """
    Return a unit matrix over the elements of several tensors, one block of columns for each.

    Each block has the dtype of its tensor; `numels` are the numbers of their elements.
    """
    if len(tensors) != len(numels) or not tensors:
        raise ValueError(
            f"standard_basis: {len(tensors)} tensors and {len(numels)} numbers of elements"
        )
    return _unit_columns(tensors, numels)


def _unit_columns(tensors: Sequence[Tensor], numels: Sequence[int]) -> tuple[Tensor, ...]:
    """Do what `standard_basis` does, without a check."""
    total, start, blocks = sum(numels), 0, []
    for t, size in zip(tensors, numels):
        block = _zeros(total, size, dtype=t.dtype, device=t.device)
        block.narrow(0, start, size).diagonal().fill_(1)
        blocks.append(block)
        start += size
    return tuple(blocks)


def scalar_function(func: Any, name: str) -> Any:
    """`func`, checked to return a single tensor with one element, which is returned as 0-d."""

    def checked(*inputs: Tensor) -> Tensor:
        return single_output(func(*inputs), name).reshape(())

    return checked


def single_output(result: Any, name: str) -> Tensor:
    """The one tensor with one element that a function returned, as it is."""
    was_tuple, outputs = as_tuple(result, OUTPUTS, name)
    if was_tuple:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if outputs[0].nelement() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {name} should contain a single element"
        )
    return outputs[0]
