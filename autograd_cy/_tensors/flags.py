"""Questions whose answers are the same for all tensors here: kinds and places of torch's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograd_cy._C import ops_copying as _copying
from autograd_cy._C.creation import _can_pin, _is_pinned
from autograd_cy._C.placement import _ON_PINNED
from autograd_cy._C.tensor import Tensor, _install

if TYPE_CHECKING:
    from autograd_cy._C.streams import Stream

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
    """Tell whether the tensor is in memory of the host that an accelerator copies from directly."""
    return _is_pinned(self)


def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """
    Copy to memory of the host that an accelerator copies from directly, and while the host goes on.

    Parameters
    ----------
    device : optional
        Not used, as in torch.

    Returns
    -------
    Tensor
        The tensor itself if it is in such memory.

    Raises
    ------
    RuntimeError
        If no accelerator pins memory, or the tensor isn't on the CPU.
    """
    if not self.is_cpu:
        raise RuntimeError(
            f"pin_memory: cannot pin a tensor on {self.device}: only dense CPU tensors can be "
            "pinned; call .cpu() before"
        )
    if not _can_pin():
        raise RuntimeError(
            "pin_memory: Cannot access accelerator device when none is available. Data on the CPU "
            "is used as it is."
        )
    return self if _is_pinned(self) else _copying._to_device(self, _ON_PINNED)


def record_stream(self: Tensor, stream: Stream) -> None:
    """
    Tell that work on another stream uses this tensor.

    When the tensor goes, its memory is used again only after what is on that stream then.

    Parameters
    ----------
    stream : Stream
        Of the device that the tensor is on.

    Raises
    ------
    RuntimeError
        If the stream is of another device.
    """
    from autograd_cy._C.streams import _record_stream

    _record_stream(self, stream)


def is_distributed(self: Tensor) -> bool:
    """False: all of a tensor is in this process."""
    return False


_install("is_pinned", is_pinned)
_install("pin_memory", pin_memory)
_install("record_stream", record_stream)
_install("is_distributed", is_distributed)
