"""Norms of half types are those of float32, rounded once."""

import numpy as np
from grouping import each

import autograd_cy as ag

inf = float("inf")
rng = np.random.default_rng(0)


@each("dtype", [ag.float16, ag.bfloat16])
def test_norms_of_halves_round_once(dtype):
    x = ag.from_numpy(rng.standard_normal((7, 300)).astype(np.float32)).to(dtype)
    for p in (0, 0.5, 1, 2, 3, inf, -inf):
        for dim in (None, 0, 1, (0, 1)):
            for norm in (ag.norm, ag.linalg.vector_norm):
                assert ag.equal(norm(x, p, dim), norm(x.float(), p, dim).to(dtype)), (p, dim)
