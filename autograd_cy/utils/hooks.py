"""What hooks are removed with."""

from autograd_cy._tensors.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
