"""What hooks are removed with."""

from autograd_cy._hooks import RemovableHandle

__all__ = ["RemovableHandle"]
