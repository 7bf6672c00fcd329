"""Attention of several heads, as a function of all its parameters."""

from __future__ import annotations

import math
from typing import NamedTuple

import autograd_cy as _operators
import autograd_cy.nn.functional as _functional
from autograd_cy import Tensor
from autograd_cy._C._warned import warn as _warn
from autograd_cy._tensors.public import names_errors, public
from autograd_cy.nn.functional._from_records import dropout

__all__ = ["multi_head_attention_forward"]


class Options(NamedTuple):
    """The weights and options of an attention of several heads."""

    embed_dim: int
    num_heads: int
    in_weight: Tensor | tuple[Tensor, Tensor, Tensor]
    in_bias: Tensor | None
    out_weight: Tensor
    out_bias: Tensor | None
    bias_k: Tensor | None
    bias_v: Tensor | None
    add_zero_attn: bool
    dropout_p: float
    key_padding_mask: Tensor | None
    attn_mask: Tensor | None
    need_weights: bool
    average_attn_weights: bool
    is_causal: bool
    batch_first: bool = False
    static_k: Tensor | None = None
    static_v: Tensor | None = None


def _check_ranks(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    padding: Tensor | None,
    mask: Tensor | None,
    heads: int,
) -> bool:
    """Return whether there is a batch; raises unless all operands agree in that."""
    if query.dim() not in (2, 3):
        raise AssertionError(
            "query should be unbatched 2D or batched 3D tensor but received "
            f"{query.dim()}-D query tensor"
        )
    batched = query.dim() == 3
    what = f"For {'batched (3-D)' if batched else 'unbatched (2-D)'} `query`, expected "
    if key.dim() != query.dim() or value.dim() != query.dim():
        raise AssertionError(
            f"{what}`key` and `value` to be {query.dim()}-D but found {key.dim()}-D and "
            f"{value.dim()}-D tensors respectively"
        )
    if padding is not None and padding.dim() != query.dim() - 1:
        raise AssertionError(
            f"{what}`key_padding_mask` to be `None` or {query.dim() - 1}-D but found "
            f"{padding.dim()}-D tensor instead"
        )
    if mask is not None and mask.dim() not in (2, 3):
        raise AssertionError(
            f"{what}`attn_mask` to be `None`, 2-D or 3-D but found {mask.dim()}-D tensor instead"
        )
    if not batched and mask is not None and mask.dim() == 3:
        expected = (heads, query.shape[0], key.shape[0])
        if tuple(mask.shape) != expected:
            raise AssertionError(
                f"Expected `attn_mask` shape to be {expected} but got {mask.shape}"
            )
    return batched


def as_addend(mask: Tensor | None, name: str, like: Tensor) -> Tensor | None:
    """A mask of truth values, true where a key is hidden, as numbers that are added."""
    if mask is None or mask.is_floating_point():
        return mask
    if mask.dtype != _operators.bool:
        raise AssertionError(f"only bool and floating types of {name} are supported")
    return _operators.zeros_like(mask, dtype=like.dtype).masked_fill_(mask, -math.inf)


def _widened(mask: Tensor | None) -> Tensor | None:
    """A mask with one more key that is seen."""
    if mask is None:
        return None
    return _operators.cat([mask, mask.new_zeros((*mask.shape[:-1], 1))], -1)


def _in_projection(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    weight: Tensor | tuple[Tensor, Tensor, Tensor],
    bias: Tensor | None,
) -> tuple[Tensor, ...]:
    """Query, key and value, each multiplied by its part of the weight."""
    width = query.shape[-1]
    for x in () if isinstance(weight, tuple) else (weight, bias):
        if x is not None and (x.ndim == 0 or x.shape[0] != 3 * width):
            raise RuntimeError(
                f"multi_head_attention_forward: rows of in_proj_weight and in_proj_bias must be "
                f"{3 * width}, three times those of the query, but one has shape {x.shape}"
            )
    parts = (None, None, None) if bias is None else bias.split(width)
    if isinstance(weight, tuple):
        return tuple(
            _operators.linear(x, w, b)
            for x, w, b in zip((query, key, value), weight, parts, strict=True)
        )
    if query is key and key is value:
        joined = _operators.linear(query, weight, bias)
        return tuple(joined.split(width, -1))
    if key is value:
        rows = [width, 2 * width]
        w_q, w_kv = weight.split(rows)
        b_q, b_kv = (None, None) if bias is None else bias.split(rows)
        return (
            _operators.linear(query, w_q, b_q),
            *_operators.linear(key, w_kv, b_kv).split(width, -1),
        )
    return tuple(
        _operators.linear(x, w, b)
        for x, w, b in zip((query, key, value), weight.split(width), parts, strict=True)
    )


def _with_more_key(x: Tensor, more: Tensor, time: int) -> Tensor:
    """One more row in each sequence."""
    shape = list(x.shape)
    shape[time] = 1
    return _operators.cat([x, more.expand(shape)], time)


def _joined_mask(
    mask: Tensor | None, padding: Tensor | None, columns: int, batch: int, heads: int
) -> Tensor | None:
    """One addend for the scores of shape ``(batch, heads, L, columns)``."""
    if padding is not None:
        for i, (size, expected) in enumerate(zip(padding.shape, (batch, columns), strict=True)):
            if size != expected:
                raise AssertionError(
                    f"Expected key_padded_mask.shape[{i}] to be {expected}, but got {size}"
                )
    if mask is not None and mask.dim() == 3:
        mask = mask.reshape(batch, heads, *mask.shape[1:])
    if padding is None:
        return mask
    padding = padding.reshape(batch, 1, 1, padding.shape[-1])
    return padding if mask is None else mask + padding


def _static(x: Tensor, batch: int, heads: int, head_dim: int, name: str) -> Tensor:
    """Keys or values that are given for each head, of shape ``(batch * heads, S, head_dim)``."""
    if x.shape[0] != batch * heads:
        raise AssertionError(f"expecting {name}.size(0) of {batch * heads}, but got {x.shape[0]}")
    if x.shape[2] != head_dim:
        raise AssertionError(f"expecting {name}.size(2) of {head_dim}, but got {x.shape[2]}")
    return x.reshape(batch, heads, x.shape[1], head_dim)


@public
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Return the attention of several heads, and its weights (https://arxiv.org/abs/1706.03762).

    Parameters
    ----------
    query : Tensor
        Of shape ``(L, N, E)``, or ``(L, E)`` without a batch.
    key, value : Tensor
        Of shapes ``(S, N, *)``.
    embed_dim_to_check : int
        What the last size of `query` has to be.
    num_heads : int
        The number of heads.
    in_proj_weight, in_proj_bias : Tensor or None
        The weights of query, key and value in one matrix, and what is added.
    bias_k, bias_v : Tensor or None
        One more key and value for each sequence.
    add_zero_attn : bool
        Whether a key and a value of zeros are added, too.
    dropout_p : float
        The probability with which a weight is dropped in training.
    out_proj_weight, out_proj_bias : Tensor
        Of the affine map of the result.
    training : bool, optional
        Whether weights are dropped.
    key_padding_mask : Tensor, optional
        Of shape ``(N, S)``: truth values, which keys are hidden, or numbers to add.
    need_weights : bool, optional
        Whether weights are returned; without them it is faster.
    attn_mask : Tensor, optional
        Of shape ``(L, S)`` or ``(N * num_heads, L, S)``: truth values, which keys are hidden, or
        numbers to add.
    use_separate_proj_weight : bool, optional
        Whether the three weights below are used in place of `in_proj_weight`.
    q_proj_weight, k_proj_weight, v_proj_weight : Tensor, optional
        The weights of query, key and value.
    static_k, static_v : Tensor, optional
        Used in place of the projected keys and values.
    average_attn_weights : bool, optional
        Whether the weights that are returned are the mean over the heads.
    is_causal : bool, optional
        A hint that `attn_mask` hides all keys behind each place.

    Returns
    -------
    tuple of Tensor and (Tensor or None)
        The result, of shape ``(L, N, E)``, and the weights, of shape ``(N, L, S)``.

    Raises
    ------
    AssertionError, RuntimeError
        If shapes don't fit together.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x, weight = torch.ones(3, 1, 2), torch.eye(2)
    >>> one = torch.cat([weight] * 3)
    >>> args = (one, None, None, None, False, 0.0, weight, None)
    >>> y, weights = torch.nn.functional.multi_head_attention_forward(x, x, x, 2, 1, *args)
    >>> y[0], weights[0, 0]
    (tensor([[1., 1.]]), tensor([0.3333, 0.3333, 0.3333]))
    """
    weight: Tensor | tuple[Tensor, Tensor, Tensor]
    if use_separate_proj_weight:
        if q_proj_weight is None or k_proj_weight is None or v_proj_weight is None:
            raise AssertionError("use_separate_proj_weight is True but a weight is None")
        weight = (q_proj_weight, k_proj_weight, v_proj_weight)
    elif in_proj_weight is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    else:
        weight = in_proj_weight
    options = Options(
        embed_dim_to_check,
        num_heads,
        weight,
        in_proj_bias,
        out_proj_weight,
        out_proj_bias,
        bias_k,
        bias_v,
        add_zero_attn,
        dropout_p if training else 0.0,
        key_padding_mask,
        attn_mask,
        need_weights,
        average_attn_weights,
        is_causal,
        static_k=static_k,
        static_v=static_v,
    )
    return attend(query, key, value, options)


@names_errors(multi_head_attention_forward)
def attend(
    query: Tensor, key: Tensor, value: Tensor, options: Options
) -> tuple[Tensor, Tensor | None]:
    """Compute `multi_head_attention_forward`, which `MultiheadAttention` does, too."""
    padding = options.key_padding_mask
    batched = _check_ranks(query, key, value, padding, options.attn_mask, options.num_heads)
    time = 1 if options.batch_first and batched else 0
    if not batched:
        same = query is key, key is value
        query = query.unsqueeze(1)
        key = query if same[0] else key.unsqueeze(1)
        value = key if same[1] else value.unsqueeze(1)
        padding = None if padding is None else padding.unsqueeze(0)
    mask, padding, is_hint = _masks(query, padding, options)
    _check_shapes(query, key, value, mask, time, options)
    q, k, v, mask, padding = _heads(
        query, key, value, None if is_hint else mask, padding, time, options
    )
    mask = _joined_mask(mask, padding, k.shape[2], q.shape[0], options.num_heads)
    mixed, weights = _mix(q, k, v, mask, is_hint, options)
    mixed = mixed.transpose(1, 2) if time else mixed.permute(2, 0, 1, 3)
    joined = mixed.reshape(*mixed.shape[:2], options.embed_dim)
    result = _operators.linear(joined, options.out_weight, options.out_bias)
    if weights is not None and options.average_attn_weights:
        weights = weights.mean(dim=1)
    if not batched:
        result = result.squeeze(1)
        weights = weights if weights is None else weights.squeeze(0)
    return result, weights


def _masks(
    query: Tensor, padding: Tensor | None, options: Options
) -> tuple[Tensor | None, Tensor | None, bool]:
    """Return both masks as addends, and True if the causal hint says all of the first one."""
    mask, is_causal = options.attn_mask, options.is_causal
    if padding is not None and mask is not None and padding.dtype != mask.dtype:
        _warn(
            "Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type "
            "for both instead.",
        )
    if is_causal and mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
            "method `generate_square_subsequent_mask` to create this mask."
        )
    is_hint = is_causal and padding is None and not options.need_weights
    padding = as_addend(padding, "key_padding_mask", query)
    return mask if is_hint else as_addend(mask, "attn_mask", query), padding, is_hint


def _check_shapes(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, time: int, options: Options
) -> None:
    """Raise unless the shapes of all operands fit together."""
    embed_dim, num_heads = options.embed_dim, options.num_heads
    if query.shape[-1] != embed_dim:
        raise AssertionError(
            f"was expecting embedding dimension of {embed_dim}, but got {query.shape[-1]}"
        )
    if embed_dim // num_heads * num_heads != embed_dim:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    if isinstance(options.in_weight, tuple):
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {key.shape[:2]} do not match value's "
                f"{value.shape[:2]}"
            )
    elif key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
    batch, rows, columns = query.shape[1 - time], query.shape[time], key.shape[time]
    is_static = options.static_k is not None and options.static_v is not None
    if key.shape[1 - time] != batch and not is_static:
        raise RuntimeError(
            f"query of shape {list(query.shape)} is a batch of {batch}, but key of shape "
            f"{list(key.shape)} and value of shape {list(value.shape)} are batches of "
            f"{key.shape[1 - time]}; expand() what is one for all"
        )
    if mask is not None:
        expected = (rows, columns) if mask.dim() == 2 else (batch * num_heads, rows, columns)
        if tuple(mask.shape) != expected:
            raise RuntimeError(
                f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should "
                f"be {expected}."
            )


def _heads(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    padding: Tensor | None,
    time: int,
    options: Options,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]:
    """Project query, key and value for each head; the masks are widened by keys that are added."""
    _, num_heads, weight, bias = options[:4]
    batch, head_dim = query.shape[1 - time], options.embed_dim // num_heads
    static_k, static_v = options.static_k, options.static_v
    bias_k, bias_v = options.bias_k, options.bias_v
    if time and bias is not None and bias.is_floating_point() and query.is_floating_point():
        bias = bias.to(query.dtype)  # another dtype is taken if the batch comes first
    q, k, v = _in_projection(query, key, value, weight, bias)
    if (bias_k is None) != (bias_v is None):
        raise AssertionError("bias_k and bias_v must be given together, or neither of them")
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError("bias cannot be added to static key or value.")
        k, v = _with_more_key(k, bias_k, time), _with_more_key(v, bias_v, time)
        mask, padding = _widened(mask), _widened(padding)

    def heads(x: Tensor) -> Tensor:
        x = x.reshape(*x.shape[:2], num_heads, head_dim)
        return x.transpose(1, 2) if time else x.permute(1, 2, 0, 3)

    q = heads(q)
    k = heads(k) if static_k is None else _static(static_k, batch, num_heads, head_dim, "static_k")
    v = heads(v) if static_v is None else _static(static_v, batch, num_heads, head_dim, "static_v")
    if options.add_zero_attn:
        zero = k.new_zeros((batch, num_heads, 1, head_dim))
        k, v = _operators.cat([k, zero], 2), _operators.cat([v, zero], 2)
        mask, padding = _widened(mask), _widened(padding)
    return q, k, v, mask, padding


def _mix(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, is_hint: bool, options: Options
) -> tuple[Tensor, Tensor | None]:
    """Return the values mixed by the weights of each head, and the weights if they are needed."""
    dropout_p = options.dropout_p
    if not options.need_weights:
        mixed = _functional.scaled_dot_product_attention(q, k, v, mask, dropout_p, is_hint)
        return mixed, None
    scores = _operators.matmul(q * math.sqrt(1.0 / q.shape[-1]), k.transpose(-2, -1))
    weights = (scores if mask is None else scores + mask).softmax(-1)
    if dropout_p > 0.0:
        weights = dropout(weights, dropout_p)
    return _operators.matmul(weights, v), weights
