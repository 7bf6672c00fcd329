"""Functions that make tensors of the default type, and join or part tensors."""

from __future__ import annotations

from typing import Any

import autograd_cy as ag

from . import _dispatch
from .tensors.classes import EraTensor
from .tensors.wrapping import CLASSES, dims_of, era, refuse, typename, wrap

__all__ = [
    "cat",
    "chunk",
    "default_type",
    "eye",
    "from_numpy",
    "into",
    "linspace",
    "logspace",
    "normal",
    "ones",
    "rand",
    "randn",
    "randperm",
    "range",
    "set_default_tensor_type",
    "split",
    "stack",
    "unbind",
    "zeros",
]


def default_type() -> type:
    """The tensor class of the default dtype; ``legacy.Tensor`` is this."""
    dtype = ag.get_default_dtype()
    if dtype not in CLASSES:
        raise TypeError(f"the default dtype is {dtype}, which had no tensor type; set another one")
    return CLASSES[dtype]


def set_default_tensor_type(t: Any) -> None:
    """
    Set the default type, and with it the default dtype of the modern API.

    Parameters
    ----------
    t : type or str
        Such as ``"torch.DoubleTensor"``.

    Raises
    ------
    TypeError
        If the type is no floating one.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> torch.set_default_tensor_type("torch.FloatTensor")
    >>> torch.Tensor is torch.FloatTensor
    True
    """
    from .tensors.memory import class_of

    cls, on_gpu = class_of(t)
    if on_gpu:
        raise TypeError("the default type is one of the CPU; move tensors with .cuda()")
    if not cls.kind.is_floating_point:
        raise TypeError(f"only floating-point types can be the default, not torch.{cls.__name__}")
    ag.set_default_dtype(cls.kind)


def into(out: Any, result: Any, name: str) -> Any:
    """A result, or `out` with the result in it."""
    if out is None:
        return result
    if isinstance(out, tuple):
        if not isinstance(result, tuple) or len(out) != len(result):
            raise TypeError(f"{name}: out= has {len(out)} tensors, which the results are not")
        return tuple(into(o, r, name) for o, r in zip(out, result))
    if not isinstance(result, ag.Tensor):
        raise TypeError(f"{name}: the result is a {type(result).__name__}, which out= can't hold")
    if type(out) is not type(result):
        refuse(name, (out,), f"out= of type {typename(result)}")
    return out.resize_as_(result).copy_(result)


def _filled(compute):
    def function(*sizes, out=None):
        return into(out, wrap(compute(dims_of(sizes))), compute.__name__)

    function.__name__ = function.__qualname__ = compute.__name__
    function.__doc__ = (
        f"A tensor of the default type from ``{compute.__name__}``; sizes one by one or as a Size."
    )
    return function


ones, zeros = _filled(ag.ones), _filled(ag.zeros)
rand, randn = _filled(ag.rand), _filled(ag.randn)


def eye(n: int, m: int | None = None, *, out: Any = None) -> Any:
    """
    A matrix with ones on its diagonal.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> torch.eye(1, 2)
    <BLANKLINE>
     1  0
    [torch.FloatTensor of size 1x2]
    <BLANKLINE>
    """
    return into(out, wrap(ag.eye(n, n if m is None else m)), "eye")


def range(start: float, end: float, step: float = 1, *, out: Any = None) -> Any:
    """
    The numbers from `start` to `end`, which is included.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> torch.range(1, 2).tolist()
    [1.0, 2.0]
    """
    if step == 0:
        raise RuntimeError("range: step must not be 0")
    if (end - start) / step < 0:
        raise RuntimeError("range: upper bound and lower bound inconsistent with step sign")
    try:
        count = int((end - start) / step + 1)
    except (OverflowError, ValueError):  # infinity and NaN
        raise RuntimeError(f"range: unsupported range: {start} -> {end} by {step}") from None
    if count >= 2**60:
        raise RuntimeError(f"range: {start} -> {end} by {step} has too many elements for memory")
    numbers = ag.arange(count, dtype=ag.float64) * step + start
    return into(out, wrap(numbers.to(ag.get_default_dtype())), "range")


def linspace(start: float, end: float, steps: int = 100, *, out: Any = None) -> Any:
    """
    Numbers in equal steps, both ends included.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> torch.linspace(0, 1, 3).tolist()
    [0.0, 0.5, 1.0]
    """
    return into(out, wrap(ag.linspace(start, end, steps)), "linspace")


def logspace(start: float, end: float, steps: int = 100, *, out: Any = None) -> Any:
    """
    Powers of ten whose exponents are in equal steps, both ends included.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> torch.logspace(0, 2, 3).tolist()
    [1.0, 10.0, 100.0]
    """
    return into(out, wrap(ag.logspace(start, end, steps)), "logspace")


def randperm(n: int, *, out: Any = None) -> Any:
    """
    A LongTensor of the integers below `n` in a random order.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> sorted(torch.randperm(3))
    [0, 1, 2]
    """
    return into(out, wrap(ag.randperm(n)), "randperm")


def from_numpy(ndarray: Any) -> Any:
    """
    A tensor on the memory of an array.

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_cy.legacy as torch
    >>> torch.from_numpy(np.zeros(2)).type()
    'torch.DoubleTensor'
    """
    result = ag.from_numpy(ndarray)
    if result.dim() == 0:
        raise RuntimeError("from_numpy: the array must have at least one dimension")
    if result.dtype not in CLASSES:
        raise RuntimeError(f"from_numpy: there is no tensor type for arrays of {ndarray.dtype}")
    return wrap(result)


def _sequence(name, seq):
    if not isinstance(seq, (list, tuple)) or not seq:
        got = f"{'an empty' if isinstance(seq, (list, tuple)) else 'a'} {type(seq).__name__}"
        raise TypeError(f"{name}: expected a list or tuple of tensors, got {got}")
    tensors = [era(t, name) for t in seq]
    for t in tensors:
        if type(t) is not type(tensors[0]):
            refuse(name, tuple(tensors), f"tensors of one type, as {typename(tensors[0])}")
    return tensors


def cat(seq: Any, dim: int = 0, *, out: Any = None) -> Any:
    """
    Tensors, or Variables, one after the other along a dimension.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> torch.cat([torch.ones(1), torch.zeros(2)]).tolist()
    [1.0, 0.0, 0.0]
    """
    if _dispatch.variable_among((seq,)) is not None:
        return _dispatch.FUNCTIONS["cat"](seq, dim)
    return into(out, wrap(ag.cat(_sequence("cat", seq), dim)), "cat")


def stack(seq: Any, dim: int = 0, *, out: Any = None) -> Any:
    """
    Tensors, or Variables, of one size in a new dimension.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> torch.stack([torch.ones(2), torch.zeros(2)]).size()
    autograd_cy.Size([2, 2])
    """
    if _dispatch.variable_among((seq,)) is not None:
        return _dispatch.FUNCTIONS["stack"](seq, dim)
    return into(out, wrap(ag.stack(_sequence("stack", seq), dim)), "stack")


def split(tensor: Any, split_size: int, dim: int = 0) -> tuple:
    """
    Parts of a size along a dimension; the last may be smaller.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> [len(part) for part in torch.split(torch.ones(5), 2)]
    [2, 2, 1]
    """
    return _method(tensor, "split", split_size, dim)


def chunk(tensor: Any, n_chunks: int, dim: int = 0) -> tuple:
    """
    About equal parts along a dimension.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> [len(part) for part in torch.chunk(torch.ones(5), 2)]
    [3, 2]
    """
    return _method(tensor, "chunk", n_chunks, dim)


def unbind(tensor: Any, dim: int = 0) -> tuple:
    """
    All slices along a dimension.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> len(torch.unbind(torch.ones(3, 2)))
    3
    """
    return _method(tensor, "unbind", dim)


def _method(tensor, name, *args):
    if _dispatch.is_variable(tensor):
        if name in _dispatch.FUNCTIONS:
            return _dispatch.FUNCTIONS[name](tensor, *args)
        return getattr(tensor, name)(*args)
    return getattr(EraTensor, name)(era(tensor, name), *args)


def normal(means: Any, std: Any = 1, *, out: Any = None) -> Any:
    """
    Numbers drawn from normal distributions; means and deviations are tensors, or one is a number.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> torch.normal(torch.zeros(3)).size()
    autograd_cy.Size([3])
    """
    if _dispatch.variable_among((means, std)) is not None:
        return _dispatch.FUNCTIONS["normal"](means, std)
    tensors = [x for x in (means, std) if isinstance(x, ag.Tensor)]
    if not tensors:
        refuse("normal", (means, std), "a tensor of means or of deviations")
    if len(tensors) == 2:
        from .tensors.wrapping import operand

        std = operand(means, std, "normal")
    return into(out, wrap(ag.normal(means, std)), "normal")
