"""Several gradients of one tensor: new, shared, stretched or kept by hooks, in every order."""

import itertools

import numpy as np
import pytest

import autograd_cy as torch

Y = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
KEPT = []


def kept(w):
    """A gradient that somebody else holds on to."""
    v = w * 3
    v.register_hook(KEPT.append)
    u = v + Y
    u.register_hook(KEPT.append)
    return (u * u).sum()


PARTS = {
    "new": (lambda w: (w * w).sum(), lambda a: 2 * a),
    "stretched": (lambda w: w.sum() * 2, lambda a: 2 + 0 * a),
    "passed on": (lambda w: ((w + Y) * Y).sum(), lambda a: Y.numpy() + 0 * a),
    "shared": (lambda w: ((w + w) * (w + Y)).sum(), lambda a: 4 * a + 2 * Y.numpy()),
    "kept": (kept, lambda a: 6 * (3 * a + Y.numpy())),
    "of one element": (lambda w: w[1] * 5, lambda a: np.array([0.0, 5.0, 0.0])),
    "of a wide dtype": (lambda w: (w.to(torch.complex128) * 2j).imag.sum(), lambda a: 2 + 0 * a),
}


@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize("count", [2, 3])
def test_their_sum_is_the_gradient(count, create):
    start = [0.3, -1.2, 2.0]
    wrong = []
    for names in itertools.permutations(PARTS, count):
        x = torch.tensor(start, dtype=torch.float64, requires_grad=True)
        w = x * 1
        KEPT.clear()
        total = sum(PARTS[name][0](w) for name in names)
        (g,) = torch.autograd.grad(total, x, create_graph=create)
        seen = [k.tolist() for k in KEPT]
        expected = sum(PARTS[name][1](np.array(start)) for name in names)
        if not np.allclose(g.detach().numpy(), expected, rtol=1e-12):
            wrong.append((names, g.tolist(), expected.tolist()))
        u = 3 * np.array(start) + Y.numpy()
        if seen and not np.allclose(seen, [2 * u, 2 * u]):
            wrong.append((names, "what a hook has got was changed", seen))
    assert not wrong
    KEPT.clear()
