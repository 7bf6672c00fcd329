"""
Names that torch has replaced and still knows: they warn, or raise and say what to use instead.

Functions are found here when a program asks for them; methods are on every tensor. One name is
Python's: that of division in Python 2.
"""

from __future__ import annotations

from typing import Any, NoReturn

from autograd_cy._C import creation as _creation
from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.tensor import Size, Tensor, _install

__all__ = ["range", "solve", "symeig"]

_REMOVED = "This function was deprecated since version 1.9 and is now removed."


def range(
    start: Any,
    end: Any,
    step: Any = 1,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """
    Equally spaced numbers, `end` included; :func:`arange`, which replaces it, leaves `end` out.

    Parameters
    ----------
    start, end : number
    step : number, default 1
    out : Tensor, optional
        Where the result goes.
    dtype : dtype, optional
        Default: the default dtype.
    layout : layout, optional
        Strided; there is no other.
    device : device, optional
    requires_grad : bool, default False

    Returns
    -------
    Tensor
        Of ``floor((end - start) / step) + 1`` elements.

    Raises
    ------
    RuntimeError
        If `step` is 0 or leads away from `end`.

    Warns
    -----
    UserWarning
        Always: the function is deprecated.

    Examples
    --------
    >>> import autograd_cy as ag, warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     ag.range(1, 3)
    tensor([1., 2., 3.])
    """
    _warn(
        "torch.range is deprecated and will be removed in a future release because its behavior "
        "is inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
        "values in [start, end).",
        UserWarning,
    )
    return _creation._closed_range(start, end, step, out, dtype, layout, device, requires_grad)


def symeig(*args: Any, **kwargs: Any) -> NoReturn:
    """Removed: :func:`linalg.eigh` and :func:`linalg.eigvalsh` took its place."""
    raise RuntimeError(
        f"{_REMOVED} The default behavior has changed from using the upper triangular portion of "
        "the matrix by default to using the lower triangular portion.\n\n"
        "L, _ = torch.symeig(A, upper=upper) should be replaced with:\n"
        "L = torch.linalg.eigvalsh(A, UPLO='U' if upper else 'L')\n\nand\n\n"
        "L, V = torch.symeig(A, eigenvectors=True) should be replaced with:\n"
        "L, V = torch.linalg.eigh(A, UPLO='U' if upper else 'L')"
    )


def solve(*args: Any, **kwargs: Any) -> NoReturn:
    """Removed: :func:`linalg.solve` took its place, with the arguments the other way round."""
    raise RuntimeError(
        f"{_REMOVED} `torch.solve` is deprecated in favor of `torch.linalg.solve`. "
        "`torch.linalg.solve` has its arguments reversed and does not return the LU "
        "factorization.\n\nX = torch.solve(B, A).solution should be replaced with:\n"
        "X = torch.linalg.solve(A, B)"
    )


def _reinforce(self: Tensor, reward: Any) -> NoReturn:
    """Removed: the log probability of a sample, times its reward, is a loss like any other."""
    raise RuntimeError(
        "reinforce() was removed.\nUse the log probability of the sample.\n\nInstead of:\n\n"
        "probs = policy_network(state)\naction = probs.multinomial()\n"
        "next_state, reward = env.step(action)\naction.reinforce(reward)\naction.backward()\n\n"
        "Use:\n\nprobs = policy_network(state)\n"
        "action = torch.tensor([numpy.random.choice(len(probs), p=probs.detach().numpy())])\n"
        "next_state, reward = env.step(action)\n"
        "loss = -probs.gather(-1, action).log() * reward\nloss.backward()\n\n"
        "Programs of that time run with autograd_cy.legacy."
    )


def _resize(self: Tensor, *sizes: Any) -> Tensor:
    """Return the elements in another shape; :meth:`reshape` took its place."""
    _warn("non-inplace resize is deprecated", UserWarning)
    return _resized(self, sizes[0] if len(sizes) == 1 and isinstance(sizes[0], tuple) else sizes)


def _resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """Return the elements in the shape of another tensor; :meth:`view_as` took its place."""
    _warn("non-inplace resize_as is deprecated", UserWarning)
    return _resized(self, tensor.size())


def _resized(t: Tensor, sizes: Any) -> Tensor:
    count = Size(sizes).numel()
    if count != t.numel():
        raise RuntimeError(
            f"requested resize to {'x'.join(map(str, sizes))} ({count} elements in total), but "
            f"the given tensor has a size of {'x'.join(map(str, t.shape))} ({t.numel()} elements). "
            "autograd's resize can only change the shape of a given tensor, while preserving the "
            "number of elements."
        )
    return t.contiguous().view(sizes)


for _name, _method in (
    ("reinforce", _reinforce),
    ("resize", _resize),
    ("resize_as", _resize_as),
    ("solve", solve),
    ("symeig", symeig),
):
    _install(_name, _method)


def _divided_into(self: Tensor, other: Any) -> Tensor:
    """Return ``other / self``, by the name that Python 2 had for it."""
    return self.reciprocal() * other


_install("__rdiv__", _divided_into)
