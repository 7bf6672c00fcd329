"""The sources of samples."""

from __future__ import annotations

from typing import Any

from ...tensors.wrapping import era

__all__ = ["Dataset", "TensorDataset"]


class Dataset:
    """The base of sets of samples by number: subclasses define ``__getitem__`` and ``__len__``."""

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} has no __len__")


class TensorDataset(Dataset):
    """
    Pairs of slices of two tensors.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> data = torch.utils.data.TensorDataset(torch.ones(3, 2), torch.zeros(3))
    >>> len(data), data[0][1]
    (3, 0.0)
    """

    def __init__(self, data_tensor: Any, target_tensor: Any):
        self.data_tensor = era(data_tensor, "TensorDataset")
        self.target_tensor = era(target_tensor, "TensorDataset")
        if self.data_tensor.size(0) != self.target_tensor.size(0):
            raise AssertionError(
                f"TensorDataset: {self.data_tensor.size(0)} samples, but "
                f"{self.target_tensor.size(0)} targets"
            )

    def __getitem__(self, index: int) -> Any:
        return self.data_tensor[index], self.target_tensor[index]

    def __len__(self) -> int:
        return self.data_tensor.size(0)
