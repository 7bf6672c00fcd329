"""Derivatives of functions: Jacobians, Hessians, and their products with vectors.

Plain Python over :func:`autograd_cy.autograd.grad`, forward mode and vmap. Nothing is added to
``.grad``, and inputs stay as they are. Arguments are checked in ``_arguments.py``; functions
that can be composed to any depth are in :mod:`autograd_cy.func`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from autograd_cy._C.creation import eye as _eye
from autograd_cy._C.creation import zeros as _zeros
from autograd_cy._C.creation import zeros_like as _zeros_like
from autograd_cy._C.ops_joining import stack as _stack
from autograd_cy._C.tensor import Tensor
from autograd_cy._lazy import attach as _attach
from autograd_cy.autograd._arguments import (
    OUTPUTS,
    as_tuple,
    filled,
    gradients,
    inputs_of,
    leaves,
    need_derivative,
    need_graph,
    need_real,
    need_second,
    restored,
    scalar_function,
    single_output,
    standard_basis,
    unit_vectors,
    vector_for,
)
from autograd_cy.autograd._pushforward import pushforward, pushforwards
from autograd_cy.autograd.grad_mode import enable_grad, no_grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

_STRATEGIES = ("reverse-mode", "forward-mode")
_ONE_INPUT = "the input to the user-provided function is a single Tensor with a single element"
_ONE_OUTPUT = "the user-provided function returns a single Tensor with a single element"
_INDEPENDENT = (
    "The output of the user-provided function is independent of input {}. This is not allowed in "
    "strict mode."
)
_CONSTANT = (
    "The jacobian of the user-provided function is independent of input {}. This is not allowed in "
    "strict mode."
)
_UNTOUCHED = (
    "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. "
    "This is not allowed in strict mode as it prevents from using the double backward trick to "
    "replace forward mode AD."
)

# The name by which programs use it.
_construct_standard_basis_for = standard_basis


# --- products with vectors ----------------------------------------------------------------------


def vjp(
    func: Callable[..., Any],
    inputs: Tensor | tuple[Tensor, ...],
    v: Tensor | tuple[Tensor, ...] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    r"""
    Return the product :math:`v^T J` of a vector and the Jacobian of a function; one backward pass.

    Parameters
    ----------
    func : callable
        Takes the inputs and returns a Tensor or a tuple of Tensors.
    inputs : Tensor or tuple of Tensors
        Floating or complex, of any shape.
    v : Tensor or tuple of Tensors, optional
        The vector, of the shapes of the outputs. May be left out if there is one output with one
        element; it is then one.
    create_graph : bool, default False
        Make the results differentiable.
    strict : bool, default False
        Raise where an output doesn't depend on the inputs, instead of giving zeros.

    Returns
    -------
    outputs : Tensor or tuple of Tensors
        What `func` returned.
    product : Tensor or tuple of Tensors
        Of the shapes and dtypes of the inputs.

    Raises
    ------
    TypeError
        If inputs, outputs or `v` are not tensors or tuples of them.
    RuntimeError
        If `v` is missing or has other shapes than the outputs, or as `strict` says.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.autograd.functional import vjp
    >>> x = ag.tensor([1.0, 2.0])
    >>> vjp(lambda x: x * x.sum(), x, ag.tensor([1.0, 0.0]))
    (tensor([3., 6.]), tensor([4., 1.]))
    """
    with enable_grad():
        in_tuple, primals = inputs_of(inputs, "vjp")
        primals = leaves(primals, create_graph)
        out_tuple, outputs = as_tuple(func(*primals), OUTPUTS, "vjp")
        if strict:
            need_graph(outputs)
        vectors = vector_for(v, outputs, out_tuple, create_graph, "vjp", _ONE_OUTPUT)
        if v is None:
            need_real(outputs[0], "vjp")
        grads = gradients(outputs, primals, vectors, create_graph)
        product = filled(grads, primals, strict, create_graph, _INDEPENDENT, "jacobian")
        return (
            restored(outputs, create_graph, out_tuple),
            restored(product, create_graph, in_tuple),
        )


def jvp(
    func: Callable[..., Any],
    inputs: Tensor | tuple[Tensor, ...],
    v: Tensor | tuple[Tensor, ...] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    r"""
    Return the product :math:`J v` of the Jacobian of a function and a vector.

    Backward is linear in the vector that it starts from: it computes :math:`u^T J`. Differentiating
    that with respect to `u` gives :math:`J v` from two backward passes, for any operator that can
    be differentiated twice. Forward mode (:mod:`autograd_cy.autograd.forward_ad`) needs a single
    pass and no graph.

    Parameters
    ----------
    func : callable
        Takes the inputs and returns a Tensor or a tuple of Tensors.
    inputs : Tensor or tuple of Tensors
        Floating or complex, of any shape.
    v : Tensor or tuple of Tensors, optional
        The vector, of the shapes of the inputs. May be left out if there is one input with one
        element; it is then one.
    create_graph : bool, default False
        Make the results differentiable.
    strict : bool, default False
        Raise where an output doesn't depend on the inputs, instead of giving zeros.

    Returns
    -------
    outputs : Tensor or tuple of Tensors
        What `func` returned.
    product : Tensor or tuple of Tensors
        Of the shapes and dtypes of the outputs.

    Raises
    ------
    TypeError
        If inputs, outputs or `v` are not tensors or tuples of them.
    RuntimeError
        If `v` is missing or has other shapes than the inputs, or as `strict` says.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.autograd.functional import jvp
    >>> x = ag.tensor([1.0, 2.0])
    >>> jvp(lambda x: x * x.sum(), x, ag.tensor([1.0, 0.0]))
    (tensor([3., 6.]), tensor([4., 2.]))
    """
    with enable_grad():
        in_tuple, primals = inputs_of(inputs, "jvp")
        primals = leaves(primals, create_graph)
        vectors = vector_for(v, primals, in_tuple, create_graph, "jvp", _ONE_INPUT)
        out_tuple, outputs = as_tuple(func(*primals), OUTPUTS, "jvp")
        if strict:
            need_graph(outputs)
        # The value doesn't matter, as backward is linear in it.
        seeds = tuple(_zeros_like(out).requires_grad_(out.requires_grad) for out in outputs)
        backward = gradients(outputs, primals, seeds, create_graph=True)
        backward = filled(backward, primals, strict, False, _INDEPENDENT, "jacobian")
        live = [i for i, seed in enumerate(seeds) if seed.requires_grad]
        tangents: list[Tensor | None] = [None] * len(seeds)
        for i, t in zip(live, gradients(backward, [seeds[i] for i in live], vectors, create_graph)):
            tangents[i] = t
        product = filled(
            tangents,
            outputs,
            strict,
            create_graph,
            "Output {} of the user-provided function is independent of the inputs.",
            "jacobian",
        )
        return (
            restored(outputs, create_graph, out_tuple),
            restored(product, create_graph, out_tuple),
        )


def vhp(
    func: Callable[..., Tensor],
    inputs: Tensor | tuple[Tensor, ...],
    v: Tensor | tuple[Tensor, ...] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, Any]:
    r"""
    Return the product :math:`v^T H` of a vector and the Hessian of a scalar function.

    The gradient is differentiated once more in reverse mode. The Hessian of a function with
    continuous second derivatives is symmetric, so this is :func:`hvp`, at less cost.

    Parameters
    ----------
    func : callable
        Takes the inputs and returns a Tensor with one element.
    inputs : Tensor or tuple of Tensors
        Floating, of any shape.
    v : Tensor or tuple of Tensors, optional
        The vector, of the shapes of the inputs. May be left out if there is one input with one
        element; it is then one.
    create_graph : bool, default False
        Make the results differentiable.
    strict : bool, default False
        Raise where the gradient doesn't depend on the inputs, instead of giving zeros.

    Returns
    -------
    output : Tensor
        What `func` returned.
    product : Tensor or tuple of Tensors
        Of the shapes and dtypes of the inputs.

    Raises
    ------
    TypeError
        If inputs or `v` are not tensors or tuples of them.
    RuntimeError
        If `func` returns anything but one element, if `v` is missing or has other shapes than the
        inputs, or as `strict` says.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.autograd.functional import vhp
    >>> x = ag.tensor([1.0, 2.0])
    >>> vhp(lambda x: (x ** 3).sum(), x, ag.tensor([1.0, 1.0]))
    (tensor(9.), tensor([ 6., 12.]))
    """
    with enable_grad():
        in_tuple, primals = inputs_of(inputs, "vhp")
        primals = leaves(primals, create_graph)
        vectors = vector_for(v, primals, in_tuple, create_graph, "vhp", _ONE_INPUT)
        output = single_output(func(*primals), "vhp")
        first = _first_derivative(output, primals, strict)
        grads = gradients(first, primals, vectors, create_graph)
        product = filled(grads, primals, strict, create_graph, _CONSTANT, "hessian")
        return restored([output], create_graph, False), restored(product, create_graph, in_tuple)


def hvp(
    func: Callable[..., Tensor],
    inputs: Tensor | tuple[Tensor, ...],
    v: Tensor | tuple[Tensor, ...] | None = None,
    create_graph: bool = False,
    strict: bool = False,
    strategy: str = "reverse-mode",
) -> tuple[Tensor, Any]:
    r"""
    Return the product :math:`H v` of the Hessian of a scalar function and a vector.

    Parameters
    ----------
    func : callable
        Takes the inputs and returns a Tensor with one element.
    inputs : Tensor or tuple of Tensors
        Floating, of any shape.
    v : Tensor or tuple of Tensors, optional
        The vector, of the shapes of the inputs. May be left out if there is one input with one
        element; it is then one.
    create_graph : bool, default False
        Make the results differentiable.
    strict : bool, default False
        Raise where the gradient doesn't depend on the inputs, instead of giving zeros.
    strategy : {"reverse-mode", "forward-mode", "auto"}, default "reverse-mode"
        ``"reverse-mode"`` differentiates the gradient twice in reverse mode (see :func:`jvp`), for
        which `func` needs second and third derivatives. ``"forward-mode"`` carries the tangent `v`
        through `func` and its backward pass: about two gradients' cost, and no graph of the
        gradient is recorded. ``"auto"`` is that wherever it is possible: reverse mode with
        `create_graph` or `strict`, or if an operator has no rule for forward mode (`func` is then
        called a second time). What `func` computes under ``no_grad`` is a constant in reverse mode
        only; tangents go through it.

    Returns
    -------
    output : Tensor
        What `func` returned.
    product : Tensor or tuple of Tensors
        Of the shapes and dtypes of the inputs.

    Raises
    ------
    TypeError
        If inputs or `v` are not tensors or tuples of them.
    RuntimeError
        If `func` returns anything but one element, if `v` is missing or has other shapes than the
        inputs, or as `strict` says; for `strict` with forward mode.
    NotImplementedError
        For `create_graph` with forward mode.
    ValueError
        For an unknown strategy.

    Notes
    -----
    Forward over reverse: the tangent of the gradient :math:`\nabla f(x + \epsilon v)` at
    :math:`\epsilon = 0` is :math:`H v`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.autograd.functional import hvp
    >>> x = ag.tensor([1.0, 2.0])
    >>> hvp(lambda x: (x ** 3).sum(), x, ag.tensor([1.0, 1.0]), strategy="auto")
    (tensor(9.), tensor([ 6., 12.]))
    """
    if strategy not in (*_STRATEGIES, "auto"):
        raise ValueError(
            'hvp: expected strategy to be "reverse-mode", "forward-mode" or "auto", got '
            f"{strategy!r}"
        )
    if strategy == "forward-mode":
        _refuse_with_forward("hvp", create_graph, strict)
    with enable_grad():
        in_tuple, primals = inputs_of(inputs, "hvp")
        primals = leaves(primals, create_graph)
        vectors = vector_for(v, primals, in_tuple, create_graph, "hvp", _ONE_INPUT)
        if strategy == "forward-mode" or (strategy == "auto" and not create_graph and not strict):
            try:
                return _hvp_forward(func, primals, vectors, in_tuple)
            except NotImplementedError:
                if strategy == "forward-mode":
                    raise
        return _hvp_reverse(func, primals, vectors, in_tuple, create_graph, strict)


def _hvp_forward(func, inputs, vectors, in_tuple):
    def value_and_gradient(*duals):
        # Leaves inside of forward mode: gradients are wanted at the values that move.
        for x in duals:
            x.requires_grad_(True)
        output = single_output(func(*duals), "hvp")
        return (output, *_filled_gradient(output, duals))

    (output, *_), (_, *product) = pushforward(
        value_and_gradient, [x.detach() for x in inputs], vectors
    )
    return restored([output], False, False), restored(product, False, in_tuple)


def _hvp_reverse(func, primals, vectors, in_tuple, create_graph, strict):
    output = single_output(func(*primals), "hvp")
    first = _first_derivative(output, primals, strict)
    seeds = tuple(_zeros_like(x).requires_grad_(True) for x in primals)
    second = gradients(first, primals, seeds, create_graph=True)
    second = filled(second, primals, False, False, "", "")
    tangents = gradients(second, seeds, vectors, create_graph)
    product = filled(tangents, primals, strict, create_graph, _UNTOUCHED, "hessian")
    return restored([output], create_graph, False), restored(product, create_graph, in_tuple)


def _first_derivative(output, inputs, strict, constant=False):
    """Return the gradient of a scalar with its graph; see `need_second`."""
    if strict:
        need_graph([output])
    first = gradients([output], inputs, create_graph=True)
    if strict:
        need_second(first, constant)
    return filled(first, inputs, strict, False, _INDEPENDENT, "jacobian")


def _filled_gradient(output, inputs):
    """Return the gradient of a scalar without a graph, zeros where it has none."""
    return filled(gradients([output], inputs), inputs, False, False, "", "")


def _refuse_with_forward(name, create_graph, strict, vectorize=True):
    if create_graph:
        raise NotImplementedError(
            f"autograd_cy.autograd.functional.{name}: `create_graph=True` and "
            '`strategy="forward-mode"` are not supported together (yet). Please either set '
            '`create_graph=False` or `strategy="reverse-mode"`.'
        )
    if strict:
        raise RuntimeError(
            f'autograd_cy.autograd.functional.{name}: `strict=True` and `strategy="forward-mode"` '
            "are not supported together (yet). Please either set `strict=False` or "
            '`strategy="reverse-mode"`.'
        )
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only "
            "implemented for `vectorize=True`."
        )


# --- Jacobians ----------------------------------------------------------------------------------


def jacobian(
    func: Callable[..., Any],
    inputs: Tensor | tuple[Tensor, ...],
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    r"""
    Return the Jacobian of a function: derivatives of all elements of outputs by those of inputs.

    Parameters
    ----------
    func : callable
        Takes the inputs and returns a Tensor or a tuple of Tensors.
    inputs : Tensor or tuple of Tensors
        Floating or complex, of any shape.
    create_graph : bool, default False
        Make the Jacobian differentiable.
    strict : bool, default False
        Raise where an output doesn't depend on an input, instead of giving zeros.
    vectorize : bool, default False
        All rows (columns in forward mode) at once, by vmap, instead of one backward pass for each.
    strategy : {"reverse-mode", "forward-mode"}, default "reverse-mode"
        Reverse mode costs a backward pass for each element of the outputs, forward mode one for
        each element of the inputs; the latter needs ``vectorize=True``.

    Returns
    -------
    Tensor, tuple of Tensors, or tuple of tuples
        ``jacobian[i][j]`` has the shape of output i followed by that of input j, and the dtype of
        the input (in forward mode, of the output). The first level is there if `func` returns a
        tuple, the second if `inputs` is one.

    Raises
    ------
    TypeError
        If inputs or outputs are not tensors or tuples of them.
    RuntimeError
        As `strict` says; for `strict` with `vectorize` or forward mode; for complex outputs, whose
        rows have no gradient of their own, without `vectorize`.
    NotImplementedError
        For forward mode without `vectorize` or with `create_graph`.

    Notes
    -----
    For complex inputs or outputs, reverse mode gives what a gradient is: with
    ``vectorize=True`` the rows are :math:`\overline{J}` for a holomorphic function. Forward mode
    gives the derivative along the real direction, which is :math:`J`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.autograd.functional import jacobian
    >>> jacobian(lambda x: x * x.sum(), ag.tensor([1.0, 2.0]))
    tensor([[4., 1.],
            [2., 5.]])
    """
    if strategy not in _STRATEGIES:
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your '
            'function has more outputs than inputs, "forward-mode" tends to be more performant. '
            'Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        _refuse_with_forward("jacobian", create_graph, strict, vectorize)
    _refuse_strict_vectorized("jacobian", strict, vectorize)
    with enable_grad():
        in_tuple, primals = inputs_of(inputs, "jacobian")
        if strategy == "forward-mode":
            return _jacobian_forward(func, [x.detach() for x in primals], in_tuple, "jacobian")
        primals = leaves(primals, create_graph)
        out_tuple, outputs = as_tuple(func(*primals), OUTPUTS, "jacobian")
        if strict:
            need_graph(outputs)
        rows = tuple(
            _blocks(out, primals, create_graph, strict, vectorize, i)
            for i, out in enumerate(outputs)
        )
        return _nested(rows, create_graph, out_tuple, in_tuple)


def _refuse_strict_vectorized(name, strict, vectorize):
    if strict and vectorize:
        raise RuntimeError(
            f"autograd_cy.autograd.functional.{name}: `strict=True` and `vectorized=True` are not "
            "supported together. Please either set `strict=False` or `vectorize=False`."
        )


def _nested(rows, create_graph, out_tuple, in_tuple):
    blocks = tuple(restored(row, create_graph, in_tuple) for row in rows)
    return blocks if out_tuple else blocks[0]


def _blocks(output, primals, create_graph, strict, vectorize, number):
    """Return the derivatives of one output by each input."""
    if not output.requires_grad or not output.numel():
        return tuple(
            _zeros((*output.shape, *x.shape), dtype=x.dtype, device=x.device) for x in primals
        )
    if vectorize:
        basis = _eye(output.numel(), dtype=output.dtype, device=output.device).view(
            (output.numel(), *output.shape)
        )
        grads = gradients([output], primals, [basis], create_graph, batched=True)
        return tuple(
            _zeros((*output.shape, *x.shape), dtype=x.dtype, device=x.device)
            if g is None
            else g.reshape((*output.shape, *x.shape))
            for g, x in zip(grads, primals)
        )
    need_real(output, "jacobian")
    if create_graph:
        return _recorded_rows(output, primals, strict, number)
    return _plain_rows(output, primals, strict, number)


def _unit(output: Tensor, element: int) -> Tensor:
    # A new one for each row: hooks and nodes may keep it.
    vector = output.new_zeros(output.shape)
    vector.view((-1,))[element] = 1
    return vector


def _independent(number: int, place: int) -> RuntimeError:
    return RuntimeError(
        f"Output {number} of the user-provided function is independent of input {place}. This is "
        "not allowed in strict mode."
    )


def _plain_rows(output: Tensor, primals: Sequence[Tensor], strict: bool, number: int) -> tuple:
    """Take one backward pass for each element, and copy rows to their place."""
    count = output.numel()
    blocks: list[Tensor | None] = [None] * len(primals)
    for element in range(count):
        grads = gradients([output], primals, [_unit(output, element)])
        with no_grad():
            for place, g in enumerate(grads):
                if g is not None:
                    block = blocks[place]
                    if block is None:  # made of g: within vmap a block for each example
                        block = blocks[place] = g.new_zeros((count, g.numel()))
                    block[element] = g.reshape((-1,))
                elif strict:
                    raise _independent(number, place)
    return tuple(
        _zeros((*output.shape, *x.shape), dtype=x.dtype, device=x.device)
        if b is None
        else b.view((*output.shape, *x.shape))
        for b, x in zip(blocks, primals)
    )


def _recorded_rows(output: Tensor, primals: Sequence[Tensor], strict: bool, number: int) -> tuple:
    """Like :func:`_plain_rows`, with the graph of each row."""
    columns: list[list[Tensor]] = [[] for _ in primals]
    for element in range(output.numel()):
        grads = gradients([output], primals, [_unit(output, element)], create_graph=True)
        for place, g in enumerate(grads):
            if strict:
                if g is None:
                    raise _independent(number, place)
                need_derivative("jacobian", place, g, True)
            columns[place].append(_zeros_like(primals[place]) if g is None else g)
    return tuple(
        _stack(column).view((*output.shape, *x.shape)) for column, x in zip(columns, primals)
    )


def _jacobian_forward(func, inputs, in_tuple, name):
    """Return the Jacobian by columns: one tangent for each element of the inputs, all at once."""
    was_tuple = False

    def listed(*duals):
        nonlocal was_tuple
        was_tuple, outputs = as_tuple(func(*duals), OUTPUTS, name)
        return outputs

    outputs, tangents = pushforwards(listed, inputs, unit_vectors(inputs))
    rows = []
    for out, t in zip(outputs, tangents):
        row, start = [], 0
        for x in inputs:
            columns = t.narrow(0, start, x.numel())
            row.append(columns.movedim(0, -1).reshape((*out.shape, *x.shape)))
            start += x.numel()
        rows.append(tuple(row))
    return _nested(rows, False, was_tuple, in_tuple)


def hessian(
    func: Callable[..., Tensor],
    inputs: Tensor | tuple[Tensor, ...],
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    r"""
    Return the Hessian of a scalar function: the Jacobian of its gradient.

    Parameters
    ----------
    func : callable
        Takes the inputs and returns a Tensor with one element.
    inputs : Tensor or tuple of Tensors
        Floating, of any shape.
    create_graph : bool, default False
        Make the Hessian differentiable.
    strict : bool, default False
        Raise where the gradient doesn't depend on an input, instead of giving zeros.
    vectorize : bool, default False
        All rows at once, by vmap, instead of one backward pass for each.
    outer_jacobian_strategy : {"reverse-mode", "forward-mode", "auto"}, default "reverse-mode"
        How the gradient is differentiated. ``"forward-mode"`` (forward over reverse) needs
        ``vectorize=True``. ``"auto"`` is vectorised forward over reverse wherever that is possible;
        with `create_graph` or `strict`, or if an operator has no rule for it, reverse mode as
        `vectorize` says (`func` is then called a second time). What `func` computes under
        ``no_grad`` is a constant in reverse mode only; tangents go through it.

    Returns
    -------
    Tensor or tuple of tuples of Tensors
        ``hessian[i][j]`` has the shape of input i followed by that of input j; a Tensor if `inputs`
        is one.

    Raises
    ------
    TypeError
        If inputs are not tensors or tuples of them.
    RuntimeError
        If `func` returns anything but one element, or as in :func:`jacobian`.
    NotImplementedError
        For forward mode without `vectorize` or with `create_graph`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.autograd.functional import hessian
    >>> hessian(lambda x: (x[0] * x[1]) ** 2, ag.tensor([1.0, 2.0]))
    tensor([[8., 8.],
            [8., 2.]])
    """
    strategy = outer_jacobian_strategy
    if strategy not in (*_STRATEGIES, "auto"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode" (or "auto").'
        )
    _, primals = inputs_of(inputs, "hessian")
    if strategy == "forward-mode":
        _refuse_with_forward("jacobian", create_graph, strict, vectorize)
    _refuse_strict_vectorized("hessian", strict, vectorize)
    scalar = scalar_function(func, "hessian")
    if strategy == "forward-mode" or (strategy == "auto" and not create_graph and not strict):
        try:
            with enable_grad():
                return _hessian_forward(scalar, primals, isinstance(inputs, tuple))
        except NotImplementedError:
            if strategy == "forward-mode":
                raise

    def gradient(*x):
        first = _first_derivative(scalar(*x), x, strict, constant=True)
        return first if isinstance(inputs, tuple) else first[0]

    return jacobian(gradient, inputs, create_graph, strict, vectorize)


def _hessian_forward(scalar, inputs, in_tuple):
    def gradient(*duals):
        # Leaves inside of vmap and forward mode: gradients are wanted at the values that move.
        for x in duals:
            x.requires_grad_(True)
        first = _filled_gradient(scalar(*duals), duals)
        return first if in_tuple else first[0]

    inputs = [x.detach() for x in inputs]
    return _jacobian_forward(gradient, inputs, in_tuple, "hessian")


def _find(name: str) -> Any:
    from autograd_cy.autograd import _of_others

    return getattr(_of_others, name) if name in _of_others.__all__ else None


if not TYPE_CHECKING:  # type checkers name what isn't there themselves
    __getattr__, __dir__ = _attach(__name__, find=_find)
