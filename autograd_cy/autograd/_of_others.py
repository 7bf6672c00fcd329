"""Private functions of ``torch.autograd.functional`` that other packages call, by torch's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_cy._C.tensor import Tensor
from autograd_cy.autograd._arguments import (
    as_tuple,
    filled,
    gradients,
    need_graph,
    need_second,
    vector_for,
)

__all__ = [
    "_as_tuple",
    "_as_tuple_nocheck",
    "_autograd_grad",
    "_check_requires_grad",
    "_fill_in_zeros",
    "_grad_postprocess",
    "_grad_preprocess",
    "_tuple_postprocess",
    "_validate_v",
]

_INDEPENDENT = (
    "The output of the user-provided function is independent of input {}. This is not allowed in "
    "strict mode."
)


def _as_tuple_nocheck(x: Any) -> tuple:
    """Return a tuple as it is, the elements of a list, and all else as a tuple of one."""
    return x if isinstance(x, tuple) else tuple(x) if isinstance(x, list) else (x,)


def _as_tuple(inp: Any, arg_name: str | None = None, fn_name: str | None = None) -> Any:
    """Return (whether it was a tuple, the tensors); without names of what is wrong, a tuple."""
    if arg_name is None and fn_name is None:
        return _as_tuple_nocheck(inp)
    return as_tuple(inp, str(arg_name), str(fn_name))


def _tuple_postprocess(res: Any, to_unpack: Any) -> Any:
    """Take the tuples of one element apart that stand for what was no tuple."""
    if not isinstance(to_unpack, tuple):
        return res if to_unpack else res[0]
    outer, inner = to_unpack
    if not inner:
        res = tuple(entry[0] for entry in res)
    return res if outer else res[0]


def _grad_preprocess(inputs: Sequence[Any], create_graph: bool, need_graph: bool) -> tuple:
    """Return tensors that a function can be differentiated in without a change of the inputs."""

    def prepared(x: Any) -> Any:
        if not isinstance(x, Tensor):
            return x
        if create_graph and x.requires_grad:
            return x.view_as(x)
        return x.detach().requires_grad_(need_graph)

    return tuple(map(prepared, inputs))


def _grad_postprocess(inputs: Sequence[Any], create_graph: bool) -> tuple:
    """Return results, also those of nested tuples, without their graph unless it is wanted."""
    if create_graph:
        return tuple(inputs)
    return tuple(
        x.detach() if isinstance(x, Tensor) else _grad_postprocess(x, create_graph) for x in inputs
    )


def _validate_v(v: Sequence[Tensor], other: Sequence[Tensor], is_other_tuple: bool) -> None:
    """Refuse vectors that have not the shapes of tensors."""
    vector_for(tuple(v), tuple(other), is_other_tuple, True, "the function", "")


def _check_requires_grad(inputs: Sequence[Any], input_type: str, strict: bool) -> None:
    """Refuse results without a graph in strict mode."""
    if not strict:
        return
    if input_type not in ("outputs", "grad_inputs", "jacobian", "hessian"):
        raise RuntimeError(f"Invalid input_type to _check_requires_grad: {input_type!r}")
    for i, value in enumerate(inputs):
        if value is None:
            raise RuntimeError(
                _INDEPENDENT.format(i)
                if input_type != "outputs"
                else f"The output {i} of the user-provided function is None."
            )
    if input_type == "outputs":
        need_graph(inputs)
    elif input_type == "hessian":
        filled(inputs, inputs, True, True, _INDEPENDENT, "hessian")
    else:
        need_second(inputs)


def _autograd_grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    create_graph: bool = False,
    retain_graph: bool | None = None,
    is_grads_batched: bool = False,
) -> tuple:
    """Like :func:`autograd_cy.autograd.grad`, but leaves out outputs without a graph."""
    return gradients(outputs, inputs, grad_outputs, create_graph, is_grads_batched, retain_graph)


def _fill_in_zeros(
    grads: Sequence[Tensor | None],
    refs: Sequence[Tensor],
    strict: bool,
    create_graph: bool,
    stage: str,
) -> tuple[Tensor, ...]:
    """Put zeros in the place of derivatives that don't exist; in strict mode they are errors."""
    if stage not in ("back", "back_trick", "double_back", "double_back_trick"):
        raise RuntimeError(f"Invalid stage argument '{stage}' to _fill_in_zeros")
    what = "jacobian" if stage.startswith("back") else "hessian"
    needed = create_graph and not stage.endswith("trick")
    return filled(grads, refs, strict, needed, _INDEPENDENT, what)
