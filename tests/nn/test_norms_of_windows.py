"""Norms of windows of larger tensors, in any order of dimensions."""

import numpy as np
from grouping import each

import autograd_cy as ag
from autograd_cy.nn import functional as F

rng = np.random.default_rng(0)


@each("name", ["batch_norm", "instance_norm", "group_norm", "layer_norm"])
def test_norms_of_windows_of_one_channel(name):
    call = {
        "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
        "instance_norm": F.instance_norm,
        "group_norm": lambda x: F.group_norm(x, 1),
        "layer_norm": lambda x: F.layer_norm(x, x.shape[1:]),
    }[name]
    large = ag.from_numpy(rng.standard_normal((4, 3, 5, 6)))
    for x in (
        large[:, 1:2], large[1:2], large[1:2, 1:2], large[:, :, 2:3], large[::2, :1], large[:, ::2],
        large.permute(0, 2, 3, 1)[:, 1:2], large[:, 1:2].transpose(2, 3),
        large[:1].expand(3, -1, -1, -1),
    ):  # fmt: skip
        leaves = [t.detach().requires_grad_(True) for t in (x, x.contiguous())]
        outs = [call(t) for t in leaves]
        np.testing.assert_allclose(*(t.detach().numpy() for t in outs), rtol=1e-9, atol=1e-12)
        g = ag.from_numpy(rng.standard_normal(tuple(x.shape)))
        grads = [ag.autograd.grad(o, t, g)[0].numpy() for o, t in zip(outs, leaves)]
        np.testing.assert_allclose(*grads, rtol=1e-7, atol=1e-9)
