"""What programs use beside modules."""

from . import clip_grad
from .clip_grad import clip_grad_norm

__all__ = ["clip_grad", "clip_grad_norm"]
