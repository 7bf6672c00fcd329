"""Numbers that carry their derivatives: exact derivatives of NumPy programs that write in place.

A jet is an array of shape ``(2**k, n, *shape)``: for each set of k directions (a bit mask) the
mixed derivative along them, mask 0 the value; n programs run at once, along other directions or for
other examples. What NumPy does to the other axes it does to all of these, so views are NumPy's
views, and writes through them NumPy's writes; nothing of the library or of its graph takes part.
Directions are real, components may be complex.
"""

import functools
import math

import numpy as np


@functools.cache
def splits(k):
    """For each mask the pairs (part, rest) that it falls into."""
    return [[(a, m ^ a) for a in range(m + 1) if a & m == a] for m in range(2**k)]


@functools.cache
def partitions(mask):
    """The ways to take a mask apart into disjoint parts."""
    if not mask:
        return [()]
    low = mask & -mask
    rest = part = mask ^ low
    found = []
    while True:
        found += [(low | part, *others) for others in partitions(rest ^ part)]
        if not part:
            return found
        part = (part - 1) & rest


def order(a):
    """The number of directions."""
    return len(a).bit_length() - 1


def times(a, b):
    """The product."""
    return np.stack([sum(a[p] * b[r] for p, r in pairs) for pairs in splits(order(a))])


def through(derivatives, a):
    """A function of one number; ``derivatives(value, k)`` gives it and its k derivatives."""
    found = derivatives(a[0], order(a))
    rows = [found[0]]
    for m in range(1, len(a)):
        rows.append(sum(found[len(p)] * math.prod(a[part] for part in p) for p in partitions(m)))
    return np.stack(rows)


def sine(x, k):
    s, c = np.sin(x), np.cos(x)
    return [s, c, -s, -c, s][: k + 1]


def exponential(x, k):
    return [np.exp(0.3 * x) * 0.3**i for i in range(k + 1)]


def tangent(x, k):
    """The hyperbolic one."""
    t = np.tanh(x)
    d = 1 - t * t
    return [t, d, -2 * t * d, d * (6 * t * t - 2), d * t * (16 - 24 * t * t)][: k + 1]


def square(x, k):
    return [x**2, 2 * x, 2 + 0 * x, 0 * x, 0 * x][: k + 1]


def cube(x, k):
    return [x**3, 3 * x**2, 6 * x, 6 + 0 * x, 0 * x][: k + 1]


def constant(value, like):
    """A number or array without derivatives, for as many programs as `like` is."""
    value = np.asarray(value)
    made = np.zeros((*like.shape[:2], *value.shape), value.dtype)
    made[0] = value
    return made


# --- transformations of functions of jets -----------------------------------------------------


def along(f, x, directions):
    """f at x + e * directions, for a new e: the part that e multiplies."""
    other = np.zeros_like(x)
    other[0] = directions
    y = f(np.concatenate([x, other]))
    return y[len(y) // 2 :]


def jvp(f, u):
    return lambda x: along(f, x, np.broadcast_to(u, x.shape[1:]))


def jacobian(f):

    def found(x):
        k, n, *shape = x.shape
        count = math.prod(shape)
        units = np.eye(count).reshape(1, count, *shape)
        each = np.broadcast_to(x[:, :, None], (k, n, count, *shape)).reshape(k, -1, *shape)
        y = along(f, each, np.broadcast_to(units, (n, count, *shape)).reshape(-1, *shape))
        y = np.moveaxis(y.reshape(k, n, count, *y.shape[2:]), 2, -1)
        return y.reshape(*y.shape[:-1], *shape)

    return found


def vjp(f, w):
    """The rows of the Jacobian, weighted with w."""
    rows = jacobian(f)

    def found(x):
        j = rows(x)
        return np.tensordot(j, w, (range(2, 2 + w.ndim), range(w.ndim))) if w.ndim else j * w

    return found


def scaled(f, factors):
    """f times each of several numbers, which go into a new first dimension."""

    def found(x):
        y = f(x)[:, :, None]
        return y * factors.reshape(-1, *[1] * (y.ndim - 3))

    return found


def vmap(f, in_dim, out_dim):
    def found(x):
        x = np.moveaxis(x, 2 + in_dim, 2)
        k, n, count, *shape = x.shape
        y = f(x.reshape(k, n * count, *shape))
        return np.moveaxis(y.reshape(k, n, count, *y.shape[2:]), 2, 2 + out_dim)

    return found
