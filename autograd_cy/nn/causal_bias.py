"""Causal masks of attention by the corner at which they begin: ``torch.nn.attention.bias``."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from autograd_cy import Tensor, bool, ones
from autograd_cy._C._warned import warn as _warn
from autograd_cy._tensors.overriding import DisableTorchFunctionSubclass

from . import functional

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    """The corner at which the diagonal of a causal mask begins, where it isn't square."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """A causal mask, for ``attn_mask`` of ``scaled_dot_product_attention``.

    `causal_upper_left` and `causal_lower_right` make it. Other functions refuse it.

    Parameters
    ----------
    variant : CausalVariant
    seq_len_q, seq_len_kv : int
        Lengths of queries and of keys.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.attention.bias import causal_lower_right
    >>> causal_lower_right(2, 3)
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    >>> q, k = torch.ones(1, 2, 4), torch.ones(1, 3, 4)
    >>> y = torch.nn.functional.scaled_dot_product_attention(q, k, k, causal_lower_right(2, 3))
    >>> y.shape
    autograd_cy.Size([1, 2, 4])
    """

    variant: CausalVariant
    seq_len_q: int
    seq_len_kv: int

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> CausalBias:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, not {type(variant).__name__}")
        low = variant is CausalVariant.LOWER_RIGHT
        mask = ones(seq_len_q, seq_len_kv, dtype=bool).tril(seq_len_kv - seq_len_q if low else 0)
        return Tensor._make_subclass(cls, mask)

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        self.variant = variant
        self.seq_len_q = seq_len_q
        self.seq_len_kv = seq_len_kv
        if seq_len_q > seq_len_kv and variant is CausalVariant.LOWER_RIGHT:
            _warn(
                "Lower right causal bias will produce NaNs in the output when seq_len_q > "
                "seq_len_kv!"
            )

    def _materialize(self, device: Any = None) -> Tensor:
        """Return the mask as a plain tensor."""
        with DisableTorchFunctionSubclass():
            mask = self.as_subclass(Tensor)
            return mask if device is None else mask.to(device)

    def __repr__(self) -> str:
        return repr(self._materialize())

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        if type(func).__name__ == "method-wrapper":  # an attribute
            with DisableTorchFunctionSubclass():
                return func(*args, **(kwargs or {}))
        if func is not functional.scaled_dot_product_attention:
            raise NotImplementedError("CausalBias only supports scaled_dot_product_attention")
        device = args[0].device if args else (kwargs or {})["query"].device
        args = tuple(_plain(x, device) for x in args)
        return func(*args, **{name: _plain(x, device) for name, x in (kwargs or {}).items()})


def _plain(x: Any, device: Any) -> Any:
    return x._materialize(device) if isinstance(x, CausalBias) else x


def causal_upper_left(*size: int) -> CausalBias:
    """Return a causal mask whose diagonal begins at the first query and the first key.

    Parameters
    ----------
    *size : int
        Lengths of queries and of keys.

    Returns
    -------
    CausalBias

    Examples
    --------
    >>> from autograd_cy.nn.attention.bias import causal_upper_left
    >>> causal_upper_left(2, 3)
    tensor([[ True, False, False],
            [ True,  True, False]])
    """
    return CausalBias(CausalVariant.UPPER_LEFT, *_lengths("causal_upper_left", size))


def causal_lower_right(*size: int) -> CausalBias:
    """Return a causal mask whose diagonal ends at the last query and the last key.

    Parameters
    ----------
    *size : int
        Lengths of queries and of keys.

    Returns
    -------
    CausalBias

    Examples
    --------
    >>> from autograd_cy.nn.attention.bias import causal_lower_right
    >>> causal_lower_right(2, 2)
    tensor([[ True, False],
            [ True,  True]])
    """
    return CausalBias(CausalVariant.LOWER_RIGHT, *_lengths("causal_lower_right", size))


def _lengths(name: str, size: Any) -> tuple[int, int]:
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = size[0]
    if len(size) != 2:
        raise AssertionError(f"{name} only supports 2D tensors, got {len(size)} sizes")
    return size[0], size[1]
