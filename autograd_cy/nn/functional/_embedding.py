"""Rows of tables by index, and bags of them."""

from __future__ import annotations

import autograd_cy as _operators
from autograd_cy import Tensor, no_grad
from autograd_cy._C import overrides as _overrides
from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.arguments import _check_arguments
from autograd_cy._tensors.public import forward_to, names_errors, public

__all__ = ["embedding", "embedding_bag"]

MODES = {"sum": 0, "mean": 1, "max": 2}


@names_errors("embedding")
def _row_of(padding_idx: int, rows: int) -> int:
    """The row that a padding index means."""
    if not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx + rows if padding_idx < 0 else padding_idx


@names_errors("embedding")
def _renorm(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    """Shorten the rows that are looked up and longer than `max_norm`, in place."""
    if not isinstance(indices, Tensor):
        raise TypeError(
            "embedding(): argument 'input' (position 1) must be Tensor, not "
            f"{type(indices).__name__}"
        )
    with no_grad():
        if indices.dtype not in (_operators.int64, _operators.int32):
            raise RuntimeError(
                "Expected tensor for argument #2 'indices' to have one of the following scalar "
                f"types: Long, Int; but got {indices.dtype._scalar}"
            )
        if type(max_norm) is not float:
            _check_arguments("embedding_renorm_", (max_norm, "float", "max_norm", 3))
            max_norm = float(max_norm)
        if weight.ndim != 2:
            raise RuntimeError(f"embedding_renorm_: weight must be a matrix, got {weight.shape}")
        # Elsewhere a row that is looked up twice is written twice, so that nobody waits.
        used = _operators.unique(indices) if indices.is_cpu else indices.reshape(-1)
        used = used.to(_operators.int64)
        rows = weight.detach()[used]
        norms = _operators.linalg.vector_norm(rows, norm_type, dim=1, keepdim=True)
        # The addend keeps rounding from leaving a row a little too long.
        factors = _operators.where(norms > max_norm, max_norm / (norms + 1e-7), 1.0)
        weight.index_copy_(0, used, rows * factors.to(rows.dtype))


@public(forwards="embedding", renames={"indices": "input"}, unset={"padding_idx": -1})
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Return the rows of a table with the given indices.

    Parameters
    ----------
    input : Tensor
        Indices of int32 or int64, of any shape.
    weight : Tensor
        The table, of shape ``(num_embeddings, embedding_dim)``.
    padding_idx : int, optional
        An index whose row gets no gradient; negative ones count from the end.
    max_norm : float, optional
        Rows that are looked up and whose norm is larger are shortened to it, in place.
    norm_type : float, optional
        The order of that norm.
    scale_grad_by_freq : bool, optional
        Whether the gradient of a row is divided by how often its index occurs.
    sparse : bool, optional
        Must be False: there are no sparse gradients.

    Returns
    -------
    Tensor
        Of shape ``(*, embedding_dim)``.

    Raises
    ------
    IndexError
        If an index is out of range.
    NotImplementedError
        If `sparse` is true.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.functional.embedding(torch.tensor([1, 0]), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[3., 4.],
            [1., 2.]])
    """
    if max_norm is not None and _overrides._has_override(input, weight):  # before rows are changed
        options = {
            "padding_idx": padding_idx,
            "max_norm": max_norm,
            "norm_type": norm_type,
            "scale_grad_by_freq": scale_grad_by_freq,
            "sparse": sparse,
        }
        return _overrides._dispatch(embedding, (input, weight), (input, weight), options)
    padding = -1 if padding_idx is None else _row_of(padding_idx, weight.size(0))
    if max_norm is not None:
        _renorm(weight, input, max_norm, norm_type)
    return forward_to.embedding(weight, input, padding, scale_grad_by_freq, sparse)


@public
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Return sums, means or maxima of bags of rows of a table.

    Parameters
    ----------
    input : Tensor
        Indices of int32 or int64: of shape ``(bags, n)``, or of shape ``(N,)`` with `offsets`.
    weight : Tensor
        The table, of shape ``(num_embeddings, embedding_dim)``.
    offsets : Tensor, optional
        Where in a one-dimensional `input` each bag begins; the first is 0.
    max_norm : float, optional
        Rows that are looked up and whose norm is larger are shortened to it, in place.
    norm_type : float, optional
        The order of that norm.
    scale_grad_by_freq : bool, optional
        Whether the gradient of a row is divided by how often its index occurs.
    mode : {"sum", "mean", "max"}, optional
        What becomes of the rows of a bag.
    sparse : bool, optional
        Must be False: there are no sparse gradients.
    per_sample_weights : Tensor, optional
        A factor for each index, with ``mode="sum"`` only.
    include_last_offset : bool, optional
        Whether the last offset is the end of the last bag.
    padding_idx : int, optional
        An index that counts for nothing; negative ones count from the end.

    Returns
    -------
    Tensor
        Of shape ``(bags, embedding_dim)``; zeros for empty bags.

    Raises
    ------
    ValueError
        If shapes and options don't fit together.
    RuntimeError
        If an index or offset is out of range.
    NotImplementedError
        If `sparse` is true, or with factors in another mode than ``"sum"``.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> torch.nn.functional.embedding_bag(torch.tensor([[0, 1], [1, 1]]), table)
    tensor([[2., 3.],
            [3., 4.]])
    """
    if weight.dtype in (_operators.int64, _operators.int32) and input.is_floating_point():
        _warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage "
            "`embedding_bag(weight, input, ...)` is deprecated, and should now be "
            "`embedding_bag(input, weight, ...)`.",
        )
        input, weight = weight, input
    if per_sample_weights is not None and input.shape != per_sample_weights.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then "
            f"it must have the same shape as the input ({input.shape})"
        )
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch "
                f"of fixed length sequences. However, found offsets of type {type(offsets)}"
            )
        bags, length = input.shape
        where = input.device
        if length:
            offsets = _operators.arange(0, bags * length, length, device=where)
        else:
            offsets = _operators.zeros(bags, dtype=_operators.int64, device=where)
        input = input.reshape(-1)
        if include_last_offset:  # as the end is no offset of its own here
            end = _operators.tensor([bags * length], device=where)
            offsets = _operators.cat([offsets, end])
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    elif input.dim() != 1:
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}"
        )
    elif offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    elif not isinstance(offsets, Tensor):
        _check_arguments("embedding_bag", (offsets, "Tensor", "offsets", 3))
    elif offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    if mode not in MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
            f"for mode='sum' (got mode='{mode}'); multiply the rows of embedding instead."
        )
    if weight.dim() != 2:
        raise ValueError(
            f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}"
        )
    if max_norm is not None:
        _renorm(weight, input, max_norm, norm_type)
    return _operators.embedding_bag(
        weight,
        input,
        offsets,
        scale_grad_by_freq,
        MODES[mode],
        sparse,
        per_sample_weights,
        include_last_offset,
        padding_idx,
    )[0]
