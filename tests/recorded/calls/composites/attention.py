"""Attention: calls of the composites (`ext/composites`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from autograd_cy.nn import functional as F
from tests.recorded.inputs import (
    complex_sines,
    differs,
    forward_over_reverse,
    gradients,
    iota,
    operator,
    second_gradients,
    sines,
    tangents,
)

F.scaled_dot_product_attention(sines(2, 3), sines(2, 3).float(), sines(2, 3))
F.scaled_dot_product_attention(sines(2, 3), sines(2, 3), sines(2, 3).float())
F.scaled_dot_product_attention(complex_sines(2, 3), complex_sines(2, 3), complex_sines(2, 3))
F.scaled_dot_product_attention(iota(2, 3, dtype=torch.int64), iota(2, 3, dtype=torch.int64),
    iota(2, 3, dtype=torch.int64))
F.scaled_dot_product_attention(sines(2, 3).float(), sines(4, 3).float(), sines(4, 2).float(),
    sines(2, 4))
gradients(lambda q, m: F.scaled_dot_product_attention(q, sines(1, 1, 4, 3), sines(1, 1, 4, 2), m),
    sines(1, 1, 2, 3), sines(2, 4).float())
gradients(lambda q: F.scaled_dot_product_attention(q, sines(1, 1, 4, 3), sines(1, 1, 4, 2),
    sines(2, 4).float()), sines(1, 1, 2, 3))
[x.dtype == y for x, y in zip(gradients(lambda q,
    m: F.scaled_dot_product_attention(q, sines(4, 3).to(torch.float16),
    sines(4, 2).to(torch.float16), m), sines(2, 3).to(torch.float16), sines(2, 4).float()),
    (torch.float16, torch.float32))]
F.scaled_dot_product_attention(sines(2, 3), sines(4, 3), sines(4, 2), iota(2, 4, dtype=torch.int64))
F.scaled_dot_product_attention(sines(2, 3), sines(4, 3), sines(4, 2), sines(2, 4), is_causal=True)
F.scaled_dot_product_attention(sines(2, 3), sines(4, 3), sines(4, 2), sines(2, 4) > 2)
F.scaled_dot_product_attention(sines(2, 3), sines(4, 3), sines(4, 2), sines(2, 1) > 0.5)
F.scaled_dot_product_attention(sines(2, 3), sines(4, 3), sines(4, 2), is_causal=True)
F.scaled_dot_product_attention(sines(2, 2, 3), sines(4, 3), sines(4, 2))
F.scaled_dot_product_attention(sines(2, 3), sines(2, 4, 3), sines(2, 4, 2))
F.scaled_dot_product_attention(sines(2, 1, 1, 2, 3), sines(2, 1, 1, 4, 3), sines(2, 1, 1, 4, 2),
    sines(2, 1, 1, 2, 4))
F.scaled_dot_product_attention(sines(2, 2, 1, 2, 3), sines(2, 2, 1, 4, 3), sines(2, 2, 1, 4, 2),
    sines(1, 2, 1, 2, 4))
F.scaled_dot_product_attention(sines(1, 4, 2, 3), sines(1, 3, 4, 3), sines(1, 3, 4, 2),
    enable_gqa=True)
with differs(
    "A RuntimeError, as of all shapes that don't fit; torch's IndexError is that of a step inside."):
    F.scaled_dot_product_attention(sines(2, 3), sines(4, 3), sines(4, 2), enable_gqa=True)
F.scaled_dot_product_attention(sines(1, 4, 2, 3), sines(1, 2, 4, 3), sines(1, 1, 4, 2),
    enable_gqa=True)
F.scaled_dot_product_attention(sines(1, 2, 3, 2).transpose(1, 2), sines(1, 4, 3, 2).transpose(1, 2),
    sines(1, 4, 3, 2).transpose(1, 2))
gradients(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, sines(2, 4) > 2), sines(2, 3),
    sines(4, 3), sines(4, 2))
gradients(lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
    sines(1, 1, 2, 3).to(torch.float16), sines(1, 1, 4, 3).to(torch.float16),
    sines(1, 1, 4, 2).to(torch.float16))
second_gradients(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
    sines(2, 4, 2, 3), sines(2, 2, 4, 3), sines(2, 2, 4, 2))
second_gradients(lambda q, k, v: F.scaled_dot_product_attention(q, k, v).float() ** 2,
    sines(1, 1, 2, 3).to(torch.float16), sines(1, 1, 4, 3).to(torch.float16),
    sines(1, 1, 4, 2).to(torch.float16))
tangents(lambda q, k: F.scaled_dot_product_attention(q, k, sines(1, 2, 4, 2), enable_gqa=True),
    sines(1, 4, 2, 3), sines(1, 2, 4, 3))
tangents(lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
    sines(1, 1, 2, 3).to(torch.float16), sines(1, 1, 4, 3).to(torch.float16),
    sines(1, 1, 4, 2).to(torch.float16))
forward_over_reverse(lambda q, k, v: F.scaled_dot_product_attention(q, k, v), sines(1, 1, 2, 3),
    sines(1, 1, 4, 3), sines(1, 1, 4, 2))
vmap(lambda q, k, v: F.scaled_dot_product_attention(q, k, v), in_dims=(0, None, 1))(sines(2, 2, 3),
    sines(4, 3), sines(4, 2, 2))
with differs("This package alone has it."):
    operator("_attention")(sines(1, 2, 3), sines(1, 4, 3), sines(1, 4, 2), None, False, 1.0)
    operator("_attention")(sines(1, 1, 2, 3), sines(1, 1, 4, 3), sines(1, 1, 4, 2), sines(2, 4),
        False, 1.0)
    operator("_attention")(sines(2, 2, 2, 3), sines(2, 1, 4, 3), sines(2, 1, 4, 2), None, True, 1.0)

# Which way it goes: by tiles, or by plain operators.
with differs("Torch goes another way: here by tiles where sizes allow, else by plain operators."):
    F.scaled_dot_product_attention(sines(2, 3).requires_grad_(), sines(4, 3), sines(4, 2),
        sines(1, 2, 4)).grad_fn.name()
    F.scaled_dot_product_attention(sines(2, 2, 3).requires_grad_(), sines(4, 3),
        sines(4, 2)).grad_fn.name()
    F.scaled_dot_product_attention(sines(1, 4, 2, 3).requires_grad_(), sines(1, 2, 4, 3),
        sines(1, 1, 4, 2), enable_gqa=True).grad_fn.name()
    F.scaled_dot_product_attention(sines(2, 1, 1, 2, 3).requires_grad_(), sines(2, 1, 1, 4, 3),
        sines(2, 1, 1, 4, 2), sines(2, 1, 1, 2, 4)).grad_fn.name()

# As many dimensions as the others, each by itself.
F.scaled_dot_product_attention(sines(1, 2, 4, 3), sines(1, 2, 5, 3), sines(1, 2, 5, 3), sines(3, 5))
F.scaled_dot_product_attention(sines(1, 2, 4, 3), sines(1, 2, 5, 3), sines(1, 2, 5, 3),
    sines(2, 1, 1) > 0)
