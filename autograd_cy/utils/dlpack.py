"""Memory shared with other libraries, by the functions of ``torch.utils.dlpack``."""

from typing import Any

from autograd_cy import Tensor, from_dlpack

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Tensor) -> Any:
    """
    Return the capsule that tells another library where a tensor's memory is.

    Parameters
    ----------
    tensor : Tensor

    Returns
    -------
    PyCapsule
        It can be used once.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.from_dlpack(torch.utils.dlpack.to_dlpack(torch.ones(2)))
    tensor([1., 1.])
    """
    return tensor.detach().__dlpack__()
