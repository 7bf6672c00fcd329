"""Functions beside modules: limits of gradients, packed sequences."""

from . import clip_grad, rnn
from .clip_grad import clip_grad_norm

__all__ = ["clip_grad", "clip_grad_norm", "rnn"]
