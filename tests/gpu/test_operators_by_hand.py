"""Operators of which the table has no samples, on CUDA: results and gradients as on the CPU."""

import numpy as np
import pytest
from borrowed import NAME, generators, near  # noqa: F401

import autograd_cy as ag

F = ag.nn.functional
FEW, L = ag.tensor([2, 0]), ag.tensor([[1, 0, 2], [0, 3, 1]])
MASK = ag.tensor([[True, False, True, True]] * 3)


def spd(x):
    y = x[:, :3]
    return y @ y.mT + ag.eye(3, dtype=x.dtype, device=x.device)


def at(t, x):
    return t.to(x.device)


# Functions of a matrix of 3 by 4, or of what they make of it.
CALLS = {
    "x[i]": lambda x: x[at(FEW, x)],
    "x[i, j]": lambda x: x[at(FEW, x), at(FEW, x)],
    "x[:, i]": lambda x: x[:, at(FEW, x)],
    "x[i, None, ::2]": lambda x: x[at(FEW, x), None, ::2],
    "x[mask]": lambda x: x[at(MASK, x)],
    "x[mask of rows]": lambda x: x[at(MASK[:, 0], x)],
    "x[i] = y": lambda x: put(x, at(FEW, x), x[:2] * 2),
    "x[mask] = y": lambda x: put(x, at(MASK, x), x[at(MASK, x)] * 3),
    "x[mask] = 2": lambda x: put(x, at(MASK, x), 2.0),
    "x[1:, ::2] = y": lambda x: put(x, (slice(1, None), slice(None, None, 2)), x[:2, :2]),
    "index_put": lambda x: x.index_put((at(FEW, x), at(FEW, x)), x[0, :2]),
    "index_put of sums": lambda x: x.index_put((at(FEW * 0, x),), x[:2], accumulate=True),
    "masked_scatter": lambda x: x.masked_scatter(at(MASK, x), x.flatten() * 2),
    "masked_select": lambda x: x.masked_select(at(MASK, x)),
    "nonzero": lambda x: (x > 0.5).nonzero(),
    "nonzero as a tuple": lambda x: (x > 0.5).nonzero(as_tuple=True),
    "bincount": lambda x: ag.bincount((x * 5).long().flatten()),
    "bincount of weights": lambda x: ag.bincount((x * 5).long()[0], x[1]),
    "histc": lambda x: x.histc(4, 0, 1),
    "one_hot": lambda x: F.one_hot((x * 4).long(), 5),
    "unique": lambda x: (x.detach() * 3).round().unique(return_inverse=True, return_counts=True),
    "unique of rows": lambda x: x.detach().round().unique(dim=0),
    "unique_consecutive": lambda x: (x.detach() * 2).round().unique_consecutive(return_counts=True),
    "repeat_interleave": lambda x: x.repeat_interleave(ag.tensor([2, 0, 1], device=x.device), 0),
    "put": lambda x: x.put(at(ag.tensor([1, 5]), x), x[0, :2]),
    "take": lambda x: x.take(at(L, x)),
    "take_along_dim": lambda x: x[:2].take_along_dim(at(L, x), 1),
    "embedding": lambda x: F.embedding(at(L % 3, x), x, padding_idx=0),
    "embedding of frequencies": lambda x: F.embedding(at(L % 3, x), x, scale_grad_by_freq=True),
    "embedding_bag": lambda x: F.embedding_bag(at(L % 3, x), x, mode="sum"),
    "embedding_bag of means": lambda x: F.embedding_bag(at(L % 3, x), x, mode="mean"),
    "embedding_bag of the largest": lambda x: F.embedding_bag(at(L % 3, x), x, mode="max"),
    "ctc_loss": lambda x: F.ctc_loss(
        x[:, None].log_softmax(2),
        at(ag.tensor([[1, 2]]), x),
        at(ag.tensor([3]), x),
        at(ag.tensor([2]), x),
    ),
    "view of bytes": lambda x: x.detach().view(ag.uint8),
    "linalg.inv": lambda x: ag.linalg.inv(spd(x)),
    "logdet": lambda x: ag.logdet(spd(x)),
    "linalg.cholesky": lambda x: ag.linalg.cholesky(spd(x)),
    "linalg.eigh": lambda x: ag.linalg.eigh(spd(x))[0],
    "linalg.eigvalsh": lambda x: ag.linalg.eigvalsh(spd(x)),
    "linalg.svdvals": lambda x: ag.linalg.svdvals(x),
    "linalg.svd": lambda x: ag.linalg.svd(x, full_matrices=False)[1],
    "linalg.solve": lambda x: ag.linalg.solve(spd(x), x),
    "linalg.matrix_power": lambda x: ag.linalg.matrix_power(spd(x), -2),
    "linalg.norm": lambda x: ag.linalg.norm(x, "nuc"),
    "linalg.vector_norm": lambda x: ag.linalg.vector_norm(x, 3, dim=1),
    "fft": lambda x: ag.view_as_real(ag.fft.fft(x)),
    "rfft and back": lambda x: ag.fft.irfft(ag.fft.rfft(x), n=4),
    "ifft": lambda x: ag.view_as_real(ag.fft.ifft(x + 0j)),
    "vdot": lambda x: ag.vdot(x[0], x[1]),
    "cdist": lambda x: ag.cdist(x, x * 2 + 1),
    "special.i0": lambda x: ag.special.i0(x),
    "special.i1e": lambda x: ag.special.i1e(x),
    "affine_grid": lambda x: F.affine_grid(x[None, :2, :3], (1, 1, 2, 3), align_corners=False),
    "grid_sample": lambda x: F.grid_sample(
        x[None, None], x[None, :2, :, None].expand(1, 2, 4, 2), align_corners=False
    ),
    "interpolate": lambda x: F.interpolate(x[None, None], scale_factor=2, mode="bicubic"),
    "max_unpool": lambda x: F.max_unpool1d(*F.max_pool1d(x, 2, return_indices=True), kernel_size=2),
    "unfold and fold": lambda x: F.fold(F.unfold(x[None, None], 2), (3, 4), 2),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "layer_norm": lambda x: F.layer_norm(x, (4,)),
    "group_norm": lambda x: F.group_norm(x[None], 3),
    "rms_norm": lambda x: F.rms_norm(x, (4,)),
    "local_response_norm": lambda x: F.local_response_norm(x[None], 2),
    "attention": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None]),
    "rnn": lambda x: cells("RNN", x),
    "gru": lambda x: cells("GRU", x),
    "lstm": lambda x: cells("LSTM", x),
    "einsum": lambda x: ag.einsum("ij,kj->ik", x, x),
    "tensordot": lambda x: ag.tensordot(x, x, ([0], [0])),
    "cummax": lambda x: x.cummax(1)[0],
    "logcumsumexp": lambda x: x.logcumsumexp(0),
    "searchsorted": lambda x: ag.searchsorted(x.sort(1)[0], x),
    "multinomial": lambda x: ag.multinomial(x, 3),
    "meshgrid": lambda x: ag.meshgrid(x[0], x[1], indexing="ij"),
    "pad by reflection": lambda x: F.pad(x[None], (1, 2), mode="reflect"),
    "float_power": lambda x: x.float_power(2.5),
    "allclose": lambda x: ag.tensor(ag.allclose(x, x + 1e-12)),
    "equal": lambda x: ag.tensor(ag.equal(x, x.clone())),
}


def put(x, place, value):
    y = x * 1
    y[place] = value
    return y


def cells(kind, x):
    ag.manual_seed(3)
    return getattr(ag.nn, kind)(4, 3, 2, dtype=x.dtype).to(x.device)(x[:, None])[0]


def run(name, place):
    """All results of a call, and the gradients and second derivatives where it has some."""
    rng = np.random.default_rng(2)
    x = ag.tensor(rng.random((3, 4))).to(place).requires_grad_()
    ag.manual_seed(9)
    made = CALLS[name](x)
    made = list(made) if isinstance(made, (tuple, list)) else [made]
    found = [t for t in made if t.requires_grad]
    if not found:
        return made
    total = sum((t * t * t).sum() for t in found)
    (first,) = ag.autograd.grad(total, x, create_graph=True)
    if not first.requires_grad:
        return [*made, first]
    (second,) = ag.autograd.grad((first * x.detach()).sum(), x, allow_unused=True)
    return [*made, first, *([] if second is None else [second])]


@pytest.mark.parametrize("name", CALLS)
def test_results_and_derivatives(name):
    expected, found = run(name, "cpu"), run(name, NAME)
    for t, other in zip(found, expected, strict=True):
        if name not in ("allclose", "equal"):  # made of answers
            assert t.device == ag.device(NAME, 0)
        assert near(t) == near(other)
        assert (t.dtype, t.stride()) == (other.dtype, other.stride()) or t.requires_grad


def test_numpys_operators_take_out_and_work_in_place():
    x = ag.tensor([0.5, 1.5], device=NAME)
    out = ag.empty(2, device=NAME)
    assert ag.special.i0(x, out=out) is out
    assert near(out) == near(ag.special.i0(x.cpu()))
    y = ag.eye(2, device=NAME) * 2
    inverse = ag.empty(2, 2, device=NAME)
    ag.linalg.inv(y, out=inverse)
    assert inverse.tolist() == [[0.5, 0.0], [0.0, 0.5]]


def test_errors_of_numpy_are_those_of_the_cpu():
    x = ag.zeros(2, 2, device=NAME)
    for call in (ag.linalg.inv, ag.linalg.cholesky, ag.linalg.eigh):
        found = []
        for place in ("cpu", NAME):
            try:
                found.append(near(ag.Tensor(call(x.to(place))[0].cpu())))
            except Exception as error:
                found.append((type(error), str(error)))
        assert found[0] == found[1]
    with pytest.raises(RuntimeError, match="found at least two devices"):
        ag.vdot(ag.ones(2), ag.ones(2, device=NAME))
    assert x.tolist() == [[0.0, 0.0], [0.0, 0.0]]
