"""Micro: operators of all families once each, on 10^5 elements: a look for stragglers.

Other groups measure what programs spend their time in, at several sizes. Here one size of all
shows what is out of line. Where results may differ, statements take what can't: how many
random numbers there are, and values without vectors whose sign is free.
"""

from __future__ import annotations

from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import integers, normal, uniform

_N = 100_000
_ROWS = 1000


def _names(torch: Any) -> dict[str, Any]:
    """Return vectors of n elements, matrices m and q of 1000 x 100, and small square ones."""
    f, g = normal(torch, _N), normal(torch, _N, seed=1)
    s = normal(torch, 64, 64, seed=2)
    m = normal(torch, _ROWS, 100, seed=3)
    return {
        "torch": torch,
        "F": torch.nn.functional,
        "n": _N,
        "f": f,
        "g": g,
        "p": uniform(torch, _N, low=0.01, high=0.99, seed=4),
        "d": normal(torch, _N, seed=5, dtype="float64"),
        "i": integers(torch, _N, high=1000),
        "j": integers(torch, _N, high=999, seed=1) + 1,
        "b": f > 0,
        "u": integers(torch, _N, high=255).to(torch.uint8),
        "c": torch.complex(f, g),
        "h": f.to(torch.float16),
        "t": f.to(torch.bfloat16),
        "m": m,
        "q": normal(torch, _ROWS, 100, seed=6),
        "row": normal(torch, 100, seed=7),
        "column": normal(torch, _ROWS, 1, seed=8),
        "edges": torch.sort(normal(torch, 100, seed=9))[0],
        "order": torch.argsort(g),
        "rows": integers(torch, _ROWS, high=_ROWS, seed=2),
        "some": integers(torch, 50, high=100, seed=3),
        "places": integers(torch, _ROWS, 100, high=100, seed=4),
        "classes": integers(torch, _ROWS, high=100, seed=5),
        "s": s,
        "spd": s @ s.t() + 64 * torch.eye(64),
        "many": normal(torch, 200, 8, 8, seed=10) + 4 * torch.eye(8),
        "image": normal(torch, 4, 8, 62, 50, seed=11),
        "filter": normal(torch, 4, 8, 3, 3, seed=12),
        "signal": normal(torch, 8, 16, 781, seed=13),
        "grid": uniform(torch, 4, 62, 50, 2, low=-1.0, high=1.0, seed=14),
    }


_STATEMENTS = """
torch.add(f, g)
torch.add(i, j)
torch.add(u, u)
torch.add(f, d)
torch.add(h, h)
torch.add(t, t)
torch.mul(h, 2.0)
torch.mul(c, c)
torch.div(f, g)
torch.div(i, j)
torch.floor_divide(f, g)
torch.floor_divide(i, j)
torch.remainder(f, g)
torch.remainder(d, 0.7)
torch.remainder(i, j)
torch.fmod(f, g)
torch.fmod(d, 0.7)
torch.pow(f, 2)
torch.pow(f, 3)
torch.pow(p, g)
torch.pow(p, 0.5)
torch.float_power(p, 2.0)
torch.sqrt(p)
torch.rsqrt(p)
torch.reciprocal(f)
torch.square(f)
torch.exp(f)
torch.exp(h)
torch.exp(t)
torch.exp2(f)
torch.expm1(f)
torch.log(p)
torch.log2(p)
torch.log10(p)
torch.log1p(p)
torch.sin(f)
torch.cos(f)
torch.tan(f)
torch.asin(p)
torch.acos(p)
torch.atan(f)
torch.sinh(f)
torch.cosh(f)
torch.tanh(f)
torch.asinh(f)
torch.atanh(p)
torch.sigmoid(f)
torch.erf(f)
torch.erfc(f)
torch.lgamma(p)
torch.digamma(p)
torch.polygamma(1, p)
torch.special.i0(f)
torch.special.i1e(f)
torch.atan2(f, g)
torch.hypot(f, g)
torch.copysign(f, g)
torch.logaddexp(f, g)
torch.xlogy(f, p)
torch.abs(f)
torch.abs(c)
torch.angle(c)
torch.neg(f)
torch.sign(f)
torch.sgn(c)
torch.floor(f)
torch.round(f)
torch.round(f, decimals=2)
torch.trunc(f)
torch.frac(f)
torch.clamp(f, -1, 1)
torch.minimum(f, g)
torch.maximum(i, j)
torch.fmin(f, g)
torch.where(b, f, g)
torch.where(b, f, 0.0)
torch.lerp(f, g, 0.3)
torch.addcmul(f, g, p)
torch.addcdiv(f, g, p)
torch.nan_to_num(f)
torch.isnan(f)
torch.isfinite(f)
torch.isclose(f, g)
torch.eq(f, g)
torch.lt(i, j)
torch.logical_and(b, b)
torch.logical_not(f)
torch.bitwise_and(i, j)
torch.bitwise_not(b)
torch.heaviside(f, g)
torch.polar(p, f)
torch.complex(f, g)
f.to(torch.float64)
f.to(torch.float16)
f.to(torch.bfloat16)
f.to(torch.int64)
f.to(torch.bool)
h.to(torch.float32)
t.to(torch.float32)
i.to(torch.float32)
i.to(torch.int32)
u.to(torch.float32)
torch.sum(f)
torch.sum(d)
torch.sum(i)
torch.sum(c)
torch.sum(b)
torch.sum(u)
torch.sum(h)
torch.mean(t)
torch.prod(p)
torch.var(f)
torch.std(d)
torch.norm(f)
torch.norm(f, 1)
torch.norm(f, 3)
torch.amax(f)
torch.amin(i)
torch.argmax(f)
torch.aminmax(f)
torch.any(b)
torch.all(b)
torch.count_nonzero(f)
torch.nonzero(b)
torch.median(f)
torch.kthvalue(f, 5)[0]
torch.logsumexp(f, 0)
torch.nansum(f)
torch.nanmean(f)
torch.dist(f, g)
torch.dot(f, g)
torch.vdot(c, c)
torch.sum(m, 0)
torch.sum(m, 1)
torch.var(m, 0)
torch.var(m, 1)
torch.var_mean(m, 1)
torch.amax(m, 0)
torch.amax(m, 1)
torch.max(m, 0)
torch.max(m, 1)
torch.argmax(m, 0)
torch.argmax(m, 1)
torch.prod(m, 0)
torch.prod(m, 1)
torch.norm(m, dim=0)
torch.norm(m, dim=1)
torch.median(m, 0)[0]
torch.median(m, 1)[0]
torch.cumsum(f, 0)
torch.cumsum(i, 0)
torch.cumsum(m, 0)
torch.cumsum(m, 1)
torch.cumprod(m, 0)
torch.cumprod(m, 1)
torch.cummax(m, 0)
torch.cummax(m, 1)
torch.logcumsumexp(m, 1)
torch.logsumexp(m, 0)
torch.softmax(m, 0)
torch.log_softmax(m, 1)
torch.sort(f)
torch.sort(i)[0]
torch.sort(m, 0)
torch.sort(m, 1)
torch.argsort(f)
torch.topk(f, 10)
torch.topk(m, 5, 1)
torch.unique(i)
torch.unique(f)
torch.unique(i, return_inverse=True, return_counts=True)
torch.unique_consecutive(i)
torch.bincount(i)
torch.histc(f, 50)
torch.bucketize(f, edges)
torch.isin(i, j[:100])
torch.diff(f)
f.clone()
m.t().contiguous()
torch.cat((f, g))
torch.cat((m, q), 1)
torch.stack((f, g), 1)
torch.flip(f, (0,))
torch.flip(m, (1,))
torch.roll(f, 7)
torch.roll(m, 3, 1)
torch.rot90(m)
torch.repeat_interleave(f, 2)
m.repeat(2, 2)
torch.tril(m)
torch.diag(row)
torch.index_select(m, 0, rows)
torch.index_select(m, 1, some)
m[rows]
f[order]
f[b]
torch.masked_fill(f, b, 0.0)
torch.take(f, order)
torch.gather(m, 1, places)
torch.scatter_add(m, 1, places, q)
torch.scatter_reduce(m, 1, places, q, "amax")
torch.index_add(m, 0, rows, q)
torch.index_put(f, (order,), g)
torch.index_put(f, (order,), g, accumulate=True)
torch.take_along_dim(m, places, 1)
torch.masked_scatter(f, b, g)
m + row
m * column
m.t() + q.t()
m.t() + row.unsqueeze(1)
m[:, ::2] + q[:, ::2]
m[:, 1:] * q[:, :-1]
f[::3].exp()
m.t().sum(0)
torch.linspace(0, 1, n)
torch.arange(n)
torch.zeros(n)
torch.rand(n).numel()
torch.randn(n).numel()
torch.randint(0, 10, (n,)).numel()
torch.randperm(n).numel()
torch.bernoulli(p).numel()
torch.normal(f, p).numel()
torch.tril_indices(300, 300)
torch.cartesian_prod(row, row)
torch.combinations(row, 2)
torch.block_diag(s, s)
s @ s
torch.mv(m, row)
torch.outer(row, row)
torch.kron(row, row)
torch.bmm(many, many)
torch.einsum("ij,kj->ik", m[:64], q[:64])
torch.cdist(m[:100], q[:100])
torch.cdist(m[:100], q[:100], 1.0)
torch.linalg.cross(m[:, :3], q[:, :3])
torch.linalg.cholesky(spd)
torch.linalg.inv(spd)
torch.linalg.inv(many)
torch.linalg.solve(spd, s)
torch.linalg.solve(many, many)
torch.linalg.svd(s)[1]
torch.linalg.eigh(spd)[0]
torch.linalg.vector_norm(m, 2, 1)
torch.fft.fft(c)
torch.fft.rfft(f)
F.relu(f)
F.gelu(f)
F.gelu(f, approximate="tanh")
F.silu(f)
F.mish(f)
F.elu(f)
F.selu(f)
F.leaky_relu(f)
F.softplus(f)
F.hardtanh(f)
F.hardswish(f)
F.logsigmoid(f)
F.softsign(f)
F.tanhshrink(f)
F.softshrink(f)
F.prelu(m, row[:1])
F.glu(m, 1)
F.dropout(f).numel()
F.normalize(m)
F.layer_norm(m, (100,))
F.rms_norm(m, (100,))
F.batch_norm(m, None, None, training=True)
F.group_norm(image, 4)
F.local_response_norm(image, 3)
F.mse_loss(f, g)
F.smooth_l1_loss(f, g)
F.binary_cross_entropy(p, p)
F.binary_cross_entropy_with_logits(f, p)
F.kl_div(f, p)
F.cross_entropy(m, classes)
F.poisson_nll_loss(f, p)
F.gaussian_nll_loss(f, g, p)
F.cosine_similarity(m, q)
F.pairwise_distance(m, q)
F.triplet_margin_loss(m, q, m)
F.multi_margin_loss(m, classes)
F.max_pool1d(signal, 3)
F.avg_pool1d(signal, 3)
F.max_pool2d(image, 2)
F.avg_pool2d(image, 2)
F.adaptive_avg_pool2d(image, 5)
F.adaptive_max_pool2d(image, 5)
F.lp_pool2d(image, 2, 2)
F.pad(image, (1, 1, 1, 1))
F.pad(image, (1, 1, 1, 1), mode="reflect")
F.interpolate(image, scale_factor=2)
F.interpolate(image, scale_factor=2, mode="bilinear")
F.interpolate(image, scale_factor=2, mode="bicubic")
F.unfold(image, 3)
F.one_hot(i)
F.embedding(rows, m)
F.conv1d(signal, signal[:, :, :3])
F.conv2d(image, filter)
F.conv_transpose2d(image, filter.transpose(0, 1))
F.grid_sample(image, grid)
F.scaled_dot_product_attention(image, image, image)
"""

CASES = [Case(line, _names, statement=line) for line in _STATEMENTS.strip().splitlines()]
