"""backward() and grad(): arguments, checks and messages; the walk itself is in ext/engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

from autograd_cy._C import engine as _engine
from autograd_cy._C import overrides as _overrides
from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.creation import ones as _ones
from autograd_cy._C.creation import ones_like as _ones_like
from autograd_cy._C.creation import zeros_like as _zeros_like
from autograd_cy._C.node import Node, _name_of
from autograd_cy._C.tensor import Tensor, _is_grad_enabled
from autograd_cy.autograd.graph import GradientEdge

_CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter "
    "and its gradient which can cause a memory leak. We recommend using autograd.grad when "
    "creating the graph to avoid this. If you have to use this function, make sure to reset the "
    ".grad fields of your parameters to None after use to break the cycle and avoid the leak."
)


# What can be differentiated, or differentiated with respect to.
_Roots = Tensor | GradientEdge | Sequence[Tensor] | Sequence[GradientEdge] | Iterable[Any]
_Inputs = _Roots | Mapping[str, Tensor]


def _flag(function, name, value, optional=False):
    """Return the value of a flag: a bool, an integer or a tensor of one, as torch takes them."""
    if value is True or value is False or (optional and value is None):
        return value
    if isinstance(value, int):
        return bool(value)
    if isinstance(value, Tensor) and value.numel() == 1 and not value.is_floating_point():
        return bool(value)
    raise TypeError(f"{function}(): argument '{name}' must be bool, not {type(value).__name__}")


def _as_tuple(x, name):
    if isinstance(x, (Tensor, GradientEdge)):
        return (x,)
    if hasattr(x, "__iter__"):
        return tuple(x)
    raise TypeError(f"{name} must be a Tensor or a sequence of Tensors, not {type(x).__name__}")


def _initial_gradients(outputs, grads, batched=False):
    """Return one gradient per output: given, or ones for a real output of one element."""
    seeds = []
    for i, (out, grad) in enumerate(zip(outputs, grads)):
        if grad is None:
            if isinstance(out, GradientEdge):
                seeds.append(_ones_for_edge(out, i))
                continue
            if not isinstance(out, Tensor):
                raise TypeError(
                    f"element {i} of outputs must be a Tensor or a GradientEdge, not "
                    f"{type(out).__name__}"
                )
            if out.requires_grad:
                if out.numel() != 1:
                    raise RuntimeError(
                        f"grad can be implicitly created only for scalar outputs, but output {i} "
                        f"has shape {list(out.shape)}; give its gradient"
                    )
                if out.is_complex():
                    raise RuntimeError(
                        "grad can be implicitly created only for real scalar outputs but got "
                        f"{out.dtype}"
                    )
            seeds.append(_ones_like(out.detach()))
            continue
        if not isinstance(grad, Tensor):
            raise TypeError(
                f"gradients can be either Tensors or None, but got {type(grad).__name__}"
            )
        meta = _edge_metadata(out) if isinstance(out, GradientEdge) else out
        if meta is not None:
            expected = meta.shape
            if batched and grad.shape != expected:
                raise RuntimeError(
                    "If `is_grads_batched=True`, we interpret the first dimension of each "
                    "grad_output as the batch dimension. The sizes of the remaining dimensions are "
                    "expected to match the shape of corresponding output, but a mismatch was "
                    f"detected: grad_output[{i}] has a shape of {grad.shape} and output[{i}] has a "
                    f"shape of {expected}."
                )
            if grad.shape != expected:
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{i}] has a shape of {grad.shape} and "
                    f"output[{i}] has a shape of {expected}."
                )
            if grad.is_complex() != meta.dtype.is_complex:
                raise RuntimeError(
                    "For complex Tensors, both grad_output and output are required to have the "
                    f"same dtype. Mismatch in dtype: grad_output[{i}] has a dtype of {grad.dtype} "
                    f"and output[{i}] has a dtype of {meta.dtype}."
                )
        seeds.append(grad)
    return tuple(seeds)


def _edge_metadata(edge):
    """Shape and dtype of what an edge stands for."""
    if not isinstance(edge.node, Node):
        raise TypeError(
            "the node of a GradientEdge must be a Node of a graph, not "
            f"{type(edge.node).__name__}; get_gradient_edge(tensor) makes edges"
        )
    outputs = edge.node._input_metadata
    if not isinstance(edge.output_nr, int) or not 0 <= edge.output_nr < len(outputs):
        raise RuntimeError(
            f"a gradient edge names output {edge.output_nr!r} of {edge.node.name()}, which has "
            f"{len(outputs)} outputs"
        )
    return outputs[edge.output_nr]


def _calculate_shape(output, grad, is_grads_batched):
    """Return the shapes of an output and its gradient, without the dimension of vectors."""
    meta = output
    if isinstance(output, GradientEdge):
        meta = _edge_metadata(output)
    return meta.shape, grad.shape[1:] if is_grads_batched else grad.shape


def _ones_for_edge(edge, i):
    meta = _edge_metadata(edge)
    if meta is None or meta.shape.numel() != 1:
        raise RuntimeError(
            f"grad can be implicitly created only for scalar outputs, but output {i} is an edge "
            f"of shape {None if meta is None else list(meta.shape)}; give its gradient"
        )
    if meta.dtype.is_complex:
        raise RuntimeError(
            f"grad can be implicitly created only for real scalar outputs but got {meta.dtype}"
        )
    return _ones(meta.shape, dtype=meta.dtype, device=meta.device)


def _as_overrides_see(inputs):
    """Return the arguments as a tuple, as overrides get them; a look-alike counts as one tensor."""
    if isinstance(inputs, Mapping):
        return tuple(inputs.values())
    if isinstance(inputs, (Tensor, GradientEdge)) or hasattr(inputs, "__torch_function__"):
        return (inputs,)
    return tuple(inputs)


def _inputs_of(inputs):
    """`inputs` as a tuple; of a dict its values."""
    items = tuple(inputs.values()) if isinstance(inputs, Mapping) else _as_tuple(inputs, "inputs")
    for x in items:
        if not isinstance(x, (Tensor, GradientEdge)):
            raise RuntimeError(
                f"all inputs have to be Tensors or GradientEdges, but got {type(x).__name__}"
            )
    return items


def _edges(items):
    """Edges as the engine takes them: (node, output number)."""
    return tuple([x[:2] if isinstance(x, GradientEdge) else x for x in items])


def backward(
    tensors: _Roots,
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Tensor | Sequence[Tensor | None] | None = None,
    inputs: _Inputs | None = None,
) -> None:
    """
    Accumulate the gradients of `tensors` with respect to the leaves of the graph.

    Parameters
    ----------
    tensors : Tensor, GradientEdge or sequence of them
        What to differentiate.
    grad_tensors : Tensor or sequence of (Tensor or None), optional
        The vector of the vector-Jacobian product, one per tensor, of its shape. May be left out for
        real tensors of one element.
    retain_graph : bool, optional
        Keep what the graph has saved, so that backward may run again. Default: `create_graph`.
    create_graph : bool, default False
        Record the computation of the gradients, for higher derivatives.
    inputs : Tensor, GradientEdge, or sequence or dict of them, optional
        Accumulate into these only; tensors that are no leaves then retain their gradient.

    Raises
    ------
    RuntimeError
        If a tensor has no graph, a gradient has the wrong shape, or the graph was freed.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.tensor([1.0, 2.0], requires_grad=True)
    >>> ag.autograd.backward((x * x).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    if _overrides._has_override(tensors, inputs):
        shown = _as_overrides_see(tensors)
        wanted = None if inputs is None else _as_overrides_see(inputs)
        result: None = _overrides._dispatch(
            backward,
            (*shown, *(wanted or ())),
            (shown,),
            {
                "grad_tensors": grad_tensors,
                "retain_graph": retain_graph,
                "create_graph": create_graph,
                "inputs": wanted,
            },
        )
        return result
    if grad_variables is not None:
        _warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.",
            FutureWarning,
        )
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                "`backward()`. Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    retain_graph = _flag("backward", "retain_graph", retain_graph, optional=True)
    create_graph = _flag("backward", "create_graph", create_graph)
    outputs = _as_tuple(tensors, "tensors")
    targets = () if inputs is None else _inputs_of(inputs)
    if inputs is not None and not targets:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    seeds = (
        (None,) * len(outputs) if grad_tensors is None else _as_tuple(grad_tensors, "grad_tensors")
    )
    if len(seeds) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(seeds)} gradients")
    if create_graph:
        _warn(_CYCLE, UserWarning)
    grads = _initial_gradients(outputs, seeds)
    keep = create_graph if retain_graph is None else retain_graph
    _engine.run_backward(_edges(outputs), grads, keep, create_graph, _edges(targets), True, True)
    return None


@overload
def grad(  # type: ignore[overload-overlap]
    outputs: _Roots,
    inputs: Mapping[str, Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = ...,
    retain_graph: bool | None = ...,
    create_graph: bool = ...,
    only_inputs: bool = ...,
    allow_unused: bool | None = ...,
    is_grads_batched: bool = ...,
    materialize_grads: bool = ...,
) -> dict[str, Tensor]: ...


@overload
def grad(
    outputs: _Roots,
    inputs: _Roots,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = ...,
    retain_graph: bool | None = ...,
    create_graph: bool = ...,
    only_inputs: bool = ...,
    allow_unused: bool | None = ...,
    is_grads_batched: bool = ...,
    materialize_grads: bool = ...,
) -> tuple[Tensor, ...]: ...


def grad(
    outputs: _Roots,
    inputs: _Inputs,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...] | dict[str, Tensor]:
    """
    Return the gradients of `outputs` with respect to `inputs`; nothing is accumulated.

    Parameters
    ----------
    outputs : Tensor, GradientEdge or sequence of them
    inputs : Tensor, GradientEdge, or sequence or dict of them
    grad_outputs : Tensor or sequence of (Tensor or None), optional
        The vector of the vector-Jacobian product, one per output.
    retain_graph : bool, optional
        Keep the graph. Default: `create_graph`.
    create_graph : bool, default False
        Record the computation of the gradients.
    only_inputs : bool, default True
        Ignored, as nothing else is ever accumulated; False warns.
    allow_unused : bool, optional
        Give None for inputs that the outputs don't depend on; otherwise that is an error.
        Default: `materialize_grads`.
    is_grads_batched : bool, default False
        The first dimension of each of `grad_outputs` counts vectors; each gradient gets that
        dimension.
    materialize_grads : bool, default False
        Zeros instead of None for unused inputs.

    Returns
    -------
    tuple of Tensors
        For a dict of inputs a dict with the same keys.

    Raises
    ------
    RuntimeError
        If an input wasn't used (see `allow_unused`), or as in :func:`backward`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.tensor(3.0, requires_grad=True)
    >>> (g,) = ag.autograd.grad(x ** 3, x, create_graph=True)
    >>> ag.autograd.grad(g, x)
    (tensor(18.),)
    """
    if _overrides._has_override(outputs, inputs, grad_outputs):
        return _overrides._dispatch(
            grad,
            (outputs, inputs, grad_outputs),
            (outputs, inputs, grad_outputs),
            {
                "retain_graph": retain_graph,
                "create_graph": create_graph,
                "only_inputs": only_inputs,
                "allow_unused": allow_unused,
                "is_grads_batched": is_grads_batched,
                "materialize_grads": materialize_grads,
            },
        )
    if not only_inputs:
        _warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To "
            "accumulate gradient for other parts of the graph, please use autograd.backward.",
            FutureWarning,
        )
    retain_graph = _flag("grad", "retain_graph", retain_graph, optional=True)
    create_graph = _flag("grad", "create_graph", create_graph)
    allow_unused = _flag("grad", "allow_unused", allow_unused, optional=True)
    materialize_grads = _flag("grad", "materialize_grads", materialize_grads)
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    unused_ok = materialize_grads if allow_unused is None else allow_unused
    outs = _as_tuple(outputs, "outputs")
    ins = _inputs_of(inputs)
    if not ins:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    given_grads = (
        (None,) * len(outs) if grad_outputs is None else _as_tuple(grad_outputs, "grad_outputs")
    )
    if len(given_grads) != len(outs):
        raise RuntimeError(f"got {len(outs)} outputs and {len(given_grads)} gradients")
    keep = create_graph if retain_graph is None else retain_graph
    roots, targets = _edges(outs), _edges(ins)
    if is_grads_batched:
        from autograd_cy._vmap import vmap_passing_none

        if all(g is None for g in given_grads):
            _initial_gradients(outs, given_grads)
            raise RuntimeError(
                "is_grads_batched=True needs grad_outputs whose first dimension counts vectors"
            )

        def one(*vectors):
            seeds = _initial_gradients(outs, vectors, batched=True)
            return _engine.run_backward(roots, seeds, keep, create_graph, targets, True, False)

        batched = vmap_passing_none(
            one, in_dims=tuple(None if g is None else 0 for g in given_grads)
        )
        result = _check_unused(ins, batched(*given_grads), unused_ok)
    else:
        seeds = _initial_gradients(outs, given_grads)
        result = _check_unused(
            ins,
            _engine.run_backward(roots, seeds, keep, create_graph, targets, True, False),
            unused_ok,
        )
    if materialize_grads:
        result = tuple(
            [_zeros_of(i, create_graph) if g is None else g for g, i in zip(result, ins)]
        )
    if isinstance(inputs, Mapping):
        return dict(zip(inputs, result))
    return result


def _described(x):
    return _name_of(x.node) if isinstance(x, GradientEdge) else f"shape {list(x.shape)}"


def _zeros_of(x, requires_grad):
    if isinstance(x, GradientEdge):
        raise RuntimeError(
            "materialize_grads cannot be used when the given input is a GradientEdge (to "
            f"{_name_of(x.node)}, which the outputs don't depend on); give the tensor itself, or "
            "allow_unused=True"
        )
    zeros = _zeros_like(x)
    return zeros.requires_grad_() if requires_grad else zeros


def _check_unused(ins, grads, unused_ok):
    if not unused_ok:
        for i, g in enumerate(grads):
            if g is None:
                raise RuntimeError(
                    f"The differentiated Tensor at index {i} appears to not have been used in the "
                    "graph. Set allow_unused=True if this is the desired behavior. "
                    f"({_described(ins[i])})"
                )
    return grads


def is_grad_enabled() -> bool:
    """
    Return whether operations are recorded in this thread.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.is_grad_enabled()
    True
    """
    return _is_grad_enabled()


_engine._set_backward(backward)
