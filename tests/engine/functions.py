"""Custom Functions that several test files use."""

import autograd_cy as torch
from autograd_cy.autograd import Function


def make(forward, backward=None, **more):
    """A Function class of plain functions."""
    members = {"forward": staticmethod(forward), **more}
    if backward is not None:
        members["backward"] = staticmethod(backward)
    return type("Made", (Function,), members)


def leaf(*values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


class Double_(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, grad):
        return grad * 2
