"""Gradients compared with differences, in the manner of the Variable era."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import autograd_cy as ag
from autograd_cy import Tensor

from ..tensors.wrapping import wrap
from .variable import Variable

__all__ = [
    "contiguous",
    "get_analytical_jacobian",
    "get_numerical_jacobian",
    "gradcheck",
    "iter_tensors",
    "iter_variables",
    "make_jacobian",
    "zero_gradients",
]


def _leaves(x: Any) -> Iterator[Any]:
    """Variables and tensors in nested sequences."""
    if isinstance(x, (Variable, Tensor)):
        yield x
    elif isinstance(x, (list, tuple)):
        for part in x:
            yield from _leaves(part)


def iter_tensors(x: Any, only_requiring_grad: bool = False) -> Iterator[Any]:
    """The tensors in nested sequences, those of Variables too."""
    for leaf in _leaves(x):
        if isinstance(leaf, Tensor):
            yield leaf
        elif leaf._needs_grad or not only_requiring_grad:
            yield leaf._tensor


def iter_variables(x: Any) -> Iterator[Any]:
    """(gradient or None, data) of the Variables in nested sequences that require grad."""
    for leaf in _leaves(x):
        if isinstance(leaf, Variable) and leaf._needs_grad:
            yield (None if leaf._gradient is None else leaf._gradient._tensor), leaf._tensor


def zero_gradients(x: Any) -> None:
    """Fill with zeros the gradients of all Variables in nested sequences."""
    for leaf in _leaves(x):
        if isinstance(leaf, Variable) and leaf._gradient is not None:
            leaf._gradient._tensor.zero_()


def contiguous(x: Any) -> Any:
    """Make all tensors in nested sequences contiguous; Variables stay the same objects."""
    if isinstance(x, Variable):
        return x.contiguous()
    if isinstance(x, Tensor):
        return wrap(x).contiguous()
    if isinstance(x, (list, tuple)):
        return type(x)(contiguous(part) for part in x)
    return x


def make_jacobian(x: Any, num_out: int) -> Any:
    """Zeros of elements by outputs for each that needs a gradient, nested as the inputs are."""
    if isinstance(x, Variable):
        return _zeros(x._tensor, num_out) if x._needs_grad else None
    if isinstance(x, Tensor):
        return _zeros(x, num_out)
    if isinstance(x, (list, tuple)):
        all_parts = [make_jacobian(part, num_out) for part in x]
        parts = [part for part in all_parts if part is not None]
        return type(x)(parts) if parts else None
    return None


def _zeros(t: Tensor, num_out: int) -> Any:
    return wrap(ag.zeros((t.numel(), num_out), dtype=t.dtype, device=t.device))


def get_numerical_jacobian(
    fn: Callable[[Any], Any], input: Any, target: Any, eps: float = 1e-6
) -> Any:
    """
    Central differences of ``fn(input)`` with respect to each element of `target`.

    Parameters
    ----------
    fn : callable
        Of `input`; returns a Variable or tensor.
    input, target : nested sequences of Variables and tensors
        `target` is what is changed, and is part of `input`.
    eps : float

    Returns
    -------
    nested sequences of tensors
        Elements by outputs, nested as `target`.
    """
    contiguous(target)
    jacobian = make_jacobian(target, _values(fn(input)).size)
    rows = list(iter_tensors(jacobian))
    for t, of_t in zip(iter_tensors(target, only_requiring_grad=True), rows, strict=True):
        flat = ag.Tensor.view(t, (-1,))
        for i in range(flat.numel()):
            before = flat[i].item() if isinstance(flat[i], Tensor) else flat[i]
            flat[i] = before - eps
            low = _values(fn(input))
            flat[i] = before + eps
            high = _values(fn(input))
            flat[i] = before
            derivative = ag.from_numpy((high - low) / (2 * eps)).to(of_t.dtype)
            Tensor.copy_(Tensor.select(of_t, 0, i), derivative)
    return jacobian


def _values(output: Any) -> Any:
    """A flat copy of an output in double precision."""
    t = output._tensor if isinstance(output, Variable) else output
    return np.array(Tensor.numpy(t.detach()), dtype=np.float64).reshape(-1)


def get_analytical_jacobian(input: Any, output: Any) -> tuple[Any, bool]:
    """
    Elements by outputs as ``backward`` gives them, for each input that requires grad.

    Returns
    -------
    (nested sequences of tensors, bool)
        Whether a second backward gave the same.
    """
    first = make_jacobian(input, output._tensor.numel())
    second = make_jacobian(input, output._tensor.numel())
    count = output._tensor.numel()
    for jacobian in (first, second):
        columns = list(iter_tensors(jacobian))
        for i in range(count):
            weight = ag.zeros(count, dtype=output._tensor.dtype)
            weight[i] = 1
            zero_gradients(input)
            output.backward(wrap(ag.reshape(weight, output._tensor.shape)), retain_variables=True)
            for column, (grad, _) in zip(columns, iter_variables(input), strict=True):
                if grad is not None:
                    Tensor.copy_(Tensor.select(column, 1, i), ag.reshape(grad, (-1,)))
    pairs = zip(iter_tensors(first), iter_tensors(second), strict=True)
    same = all(bool(ag.equal(a, b)) for a, b in pairs)
    return first, same


def _close(analytical: Tensor, numerical: Tensor, atol: float, rtol: float) -> bool:
    a, n = (Tensor.numpy(t).astype(np.float64) for t in (analytical, numerical))
    return bool(np.all(np.abs(a - n) <= atol + rtol * np.abs(n)))


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
) -> bool:
    """
    Return whether gradients agree with differences, for all inputs that require grad.

    Parameters
    ----------
    func : callable
        Of Variables; returns one or a tuple of them.
    inputs : sequence of Variable
        Their data is changed meanwhile, and put back. Double precision is what differences need.
    eps : float
        Half the distance of differences.
    atol, rtol : float
        ``|a - n| <= atol + rtol |n|`` must hold of analytical a and numerical n.

    Returns
    -------
    bool
        Mismatches are no errors.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> from autograd_cy.legacy.autograd import Variable, gradcheck
    >>> x = Variable(torch.DoubleTensor([0.5, 2]), requires_grad=True)
    >>> gradcheck(lambda x: x.exp() * 2, (x,))
    True
    """
    outputs = func(*inputs)
    outputs = outputs if isinstance(outputs, (list, tuple)) else (outputs,)
    for place, output in enumerate(outputs):
        if not isinstance(output, Variable) or not output._needs_grad:
            continue

        def chosen(args: Any, place: int = place) -> Any:
            result = func(*args)
            return result[place] if isinstance(result, (list, tuple)) else result

        numerical = get_numerical_jacobian(chosen, inputs, inputs, eps)
        analytical, same = get_analytical_jacobian(inputs, output)
        pairs = zip(iter_tensors(analytical), iter_tensors(numerical), strict=True)
        if not same or not all(_close(a, n, atol, rtol) for a, n in pairs):
            return False
    return _weights_count(func, inputs)


def _weights_count(func: Callable[..., Any], inputs: Any) -> bool:
    """Return whether gradients are 0 where all weights of outputs are."""
    zero_gradients(inputs)
    outputs = func(*inputs)
    outputs = outputs if isinstance(outputs, (list, tuple)) else (outputs,)
    roots = [v for v in outputs if isinstance(v, Variable) and v._needs_grad]
    if not roots:
        return True
    from ._backward import backward

    backward(roots, [ag.zeros_like(v._tensor) for v in roots])
    grads = [grad for grad, _ in iter_variables(inputs) if grad is not None]
    return not any(bool(ag.any(ag.ne(grad, 0))) for grad in grads)
