"""Numbers in the state of a parameter: 0-d tensors, as files of PyTorch have them."""

from __future__ import annotations

from autograd_cy import Tensor, complex128, float32, float64, tensor


def number_of_state(value: float | Tensor, like: Tensor) -> Tensor:
    """The number as a 0-d tensor in double precision where the parameter has it, else in single.

    States that were saved as numbers become tensors with the next step; a tensor stays itself.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> number_of_state(0.5, torch.ones(2, dtype=torch.bfloat16))
    tensor(0.5000)
    """
    if isinstance(value, Tensor):
        return value
    return tensor(value, dtype=float64 if like.dtype in (float64, complex128) else float32)
