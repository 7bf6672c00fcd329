"""Questions whose answers are the same for all tensors here: kinds and places of torch's."""

from __future__ import annotations

from typing import Any

from autograd_cy._C.tensor import Tensor, _install

__all__: list[str] = []


def _on(kind: str) -> property:
    return property(
        lambda self: self.device.type == kind, doc=f"Whether the tensor is on a device {kind!r}."
    )


for _kind in ("ipu", "maia", "mps", "mtia", "vulkan", "xla", "xpu"):
    _install(f"is_{_kind}", _on(_kind))
for _name in ("is_mkldnn", "is_nested", "is_sparse_csr"):
    _install(_name, property(lambda self: False, doc="False: tensors are plain and dense."))


def is_pinned(self: Tensor, device: Any = None) -> bool:
    """False: there is no device for which memory would be pinned."""
    return False


def is_distributed(self: Tensor) -> bool:
    """False: all of a tensor is in this process."""
    return False


_install("is_pinned", is_pinned)
_install("is_distributed", is_distributed)
