"""Programs that write through views, each with the same computation without aliasing.

A program makes a tensor of its first argument, takes a view, and writes either through the view or
into its base; it returns both. `without_aliasing` takes no view and changes nothing: positions say
which elements the view has, and each write makes a new flat tensor. It serves as the reference.
"""

import numpy as np

import autograd_cy as torch

SHAPE = (2, 3)

VIEWS = {
    "view": lambda z: z.view(3, 2),
    "view_as": lambda z: z.view_as(torch.empty(6)),
    "reshape": lambda z: z.reshape(6),
    "reshape_as": lambda z: z.reshape_as(torch.empty(3, 2)),
    "flatten": lambda z: z.flatten(),
    "ravel": lambda z: z.ravel(),
    "unflatten": lambda z: z.unflatten(1, (3, 1)),
    "t": lambda z: z.t(),
    "view of t": lambda z: z.t().unsqueeze(0),
    "reshape of a row": lambda z: z[1].reshape(3, 1),
    "row": lambda z: z[0],
    "columns": lambda z: z[:, 1:],
    "every second": lambda z: z[:, ::2],
    "select": lambda z: z.select(1, 2),
    "narrow": lambda z: z.narrow(1, 0, 2),
    "diagonal": lambda z: z.diagonal(),
    "permute": lambda z: z.permute(1, 0),
    "movedim": lambda z: z.movedim(0, 1),
    "unsqueeze": lambda z: z.unsqueeze(1),
    "squeeze": lambda z: z.unsqueeze(1).squeeze(1),
    "detached shape": lambda z: z.as_strided((2, 2), (3, 1), 0),
    "swapaxes": lambda z: z.swapaxes(0, 1)[1:],
}
# Writes into a tensor v of any shape, with the number of y; then the same as a new tensor. What is
# read of v must not be saved for backward, or the write would be refused.
WRITES = {
    "mul_": (lambda v, c: v.mul_(c), lambda v, c: v * c),
    "sin_": (lambda v, c: v.sin_(), lambda v, c: v.sin()),
    "add_ of itself": (lambda v, c: v.add_(v * 0.5), lambda v, c: v * 1.5),
    "fill_": (lambda v, c: v.fill_(c), lambda v, c: c.expand(v.shape)),
    "an item of itself": (
        lambda v, c: v.__setitem__(0, v[-1] * 2),
        lambda v, c: torch.cat([v[-1:] * 2, v[1:]]),
    ),
    "copy_": (lambda v, c: v.copy_(c * 2), lambda v, c: (c * 2).expand(v.shape)),
}
ORDERS = ("through the view", "into the base", "both")


def positions(view):
    """The places in the flat base of the elements of a view of it."""
    numbers = torch.arange(int(np.prod(SHAPE)), dtype=torch.float64).reshape(SHAPE)
    return view(numbers).long()


def program(view, write, order):
    """A function of a tensor of SHAPE and of one of another shape that writes as `order` says."""
    change, _ = write

    def f(x, y):
        z, c = x * 1.5, y.sum()
        v = view(z)
        if order != "into the base":
            change(v, c)
        if order != "through the view":
            change(z, c + 1)
        return z, v * v

    return f


def without_aliasing(view, write, order):
    """Compute the values by new tensors alone."""
    _, value = write
    places = positions(view)

    def f(x, y):
        z, c = (x * 1.5).reshape(-1), y.sum()
        if order != "into the base":
            changed = value(z[places], c)
            z = z.index_put((places.reshape(-1),), changed.reshape(-1))
        if order != "through the view":
            z = value(z.reshape(SHAPE), c + 1).reshape(-1)
        v = z[places]
        return z.reshape(SHAPE), v * v

    return f
