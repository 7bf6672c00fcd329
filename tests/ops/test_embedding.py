"""embedding and embedding_bag by hand, in NumPy and by differences."""

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy.autograd import gradcheck, gradgradcheck
from autograd_cy.nn import functional


def table(rows=5, columns=3, seed=0):
    values = np.random.default_rng(seed).normal(size=(rows, columns))
    return torch.tensor(values, requires_grad=True)


def added(grad, indices, rows, padding, scale):
    """The gradient of the table, row by row."""
    out = np.zeros((rows, grad.shape[-1]))
    for k, g in zip(indices.ravel(), grad.reshape(-1, grad.shape[-1]), strict=True):
        if k != padding:
            out[k] += g / (np.sum(indices == k) if scale else 1)
    return out


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_gradients_of_rows_are_added(dtype):
    rng = np.random.default_rng(1)
    for shape in [(), (0,), (9,), (2, 3, 4)]:
        indices = rng.integers(0, 5, shape)
        grad = torch.tensor(rng.normal(size=(*shape, 3))).to(dtype)
        for padding, scale in [(-1, False), (2, False), (-1, True), (0, True)]:
            weight = torch.zeros(5, 3, dtype=dtype, requires_grad=True)
            result = torch.embedding(weight, torch.tensor(indices), padding, scale)
            result.backward(grad)
            expected = added(
                np.array(grad.double().tolist()).reshape(*shape, 3), indices, 5, padding, scale
            )
            close = 1e-6 if dtype in (torch.float32, torch.float64) else 1e-2
            np.testing.assert_allclose(
                np.array(weight.grad.double().tolist()), expected, close, close
            )


def test_gradients_are_the_same_for_any_number_of_threads():
    rng = np.random.default_rng(2)
    indices = torch.tensor(rng.integers(0, 300, 20000))
    grad = torch.tensor(rng.normal(size=(20000, 40)).astype("float32"))
    before = torch.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            weight = torch.zeros(300, 40, requires_grad=True)
            torch.embedding(weight, indices, 7, True).backward(grad)
            found.append(weight.grad)
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(found[0], other) for other in found[1:])


def test_second_derivatives_leave_out_the_padding_and_scale():
    weight, indices = table(), torch.tensor([[1, 2, 1], [0, 4, 1]])
    for padding, scale in [(-1, False), (1, False), (2, True)]:

        def cubes(w, padding=padding, scale=scale):
            # Differences see the padding too, so its row is constant for them.
            keep = torch.ones(5, 1, dtype=torch.float64)
            if padding >= 0:
                keep[padding] = 0
            return torch.embedding(w * keep, indices, padding, False) ** 3

        assert gradcheck(cubes, (weight,)) and gradgradcheck(cubes, (weight,))
        grad = torch.ones(2, 3, 3, dtype=torch.float64, requires_grad=True)

        def back(g, padding=padding, scale=scale):
            leaf = weight.detach().requires_grad_()
            y = torch.embedding(leaf, indices, padding, scale)
            return torch.autograd.grad(y, leaf, g, create_graph=True)[0]

        assert gradcheck(back, (grad,)) and gradgradcheck(back, (grad,))


def test_examples_of_vmap_have_their_own_tables_and_indices():
    rng = np.random.default_rng(3)
    weights = torch.tensor(rng.normal(size=(4, 5, 3)))
    indices = torch.tensor(rng.integers(0, 5, (4, 2, 6)))

    def grad_of(w, k):
        def loss(w):
            return (torch.embedding(w, k, 1, True) ** 3).sum()

        return torch.func.grad(loss)(w)

    for dims in [(0, 0), (0, None), (None, 0)]:
        w = weights if dims[0] == 0 else weights[0]
        k = indices if dims[1] == 0 else indices[0]
        for function in (grad_of, lambda w, k: torch.embedding(w, k, 1)):
            each = [
                function(w[i] if dims[0] == 0 else w, k[i] if dims[1] == 0 else k) for i in range(4)
            ]
            result = torch.func.vmap(function, dims)(w, k)
            torch.testing.assert_close(result, torch.stack(each))


def test_padding_has_no_gradient_below_vmap():
    weights = torch.ones(2, 4, 3, dtype=torch.float64, requires_grad=True)
    indices = torch.tensor([1, 2, 2])
    result = torch.func.vmap(lambda w: torch.embedding(w, indices, 1))(weights)
    assert bool((result == 1).all())
    result.sum().backward()
    assert weights.grad[0, :, 0].tolist() == [0.0, 0.0, 2.0, 0.0]


def bags(weight, indices, bounds, mode, samples=None, padding=-1):
    out = np.zeros((len(bounds) - 1, weight.shape[1]))
    for b in range(len(bounds) - 1):
        used = [i for i in range(bounds[b], bounds[b + 1]) if indices[i] != padding]
        if used:
            rows = weight[indices[used]] * (1 if samples is None else samples[used][:, None])
            out[b] = {"sum": np.sum, "mean": np.mean, "max": np.max}[mode](rows, axis=0)
    return out


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding", [None, 3])
def test_bags_are_sums_means_and_maxima(mode, padding):
    weight = table()
    indices, bounds = np.array([1, 2, 3, 3, 0, 4, 1]), [0, 2, 2, 4, 7]
    expected = bags(
        weight.detach().numpy(), indices, bounds, mode, padding=-1 if padding is None else padding
    )
    for last in (False, True):
        offsets = torch.tensor(bounds if last else bounds[:-1])

        def bag(w, last=last, offsets=offsets):
            return functional.embedding_bag(
                torch.tensor(indices),
                w,
                offsets,
                mode=mode,
                include_last_offset=last,
                padding_idx=padding,
            )

        np.testing.assert_allclose(bag(weight).detach().numpy(), expected)
        if padding is None or mode != "max":
            assert gradcheck(bag, (weight,), check_forward_ad=True)
            assert gradgradcheck(lambda w, bag=bag: bag(w) ** 2, (weight,))
    half = functional.embedding_bag(
        torch.tensor(indices),
        weight.detach().half(),
        torch.tensor(bounds[:-1]),
        mode=mode,
        padding_idx=padding,
    )
    np.testing.assert_allclose(half.double().numpy(), expected, atol=5e-3)


def test_factors_of_bags():
    weight, indices = table(), np.array([[1, 2, 3], [3, 0, 1]])
    factors = torch.tensor(np.random.default_rng(4).normal(size=(2, 3)), requires_grad=True)

    def bag(w, f):
        return functional.embedding_bag(
            torch.tensor(indices), w, mode="sum", per_sample_weights=f, padding_idx=0
        )

    expected = bags(
        weight.detach().numpy(),
        indices.ravel(),
        [0, 3, 6],
        "sum",
        factors.detach().numpy().ravel(),
        0,
    )
    np.testing.assert_allclose(bag(weight, factors).detach().numpy(), expected)
    assert gradcheck(bag, (weight, factors), check_forward_ad=True)
    assert gradgradcheck(bag, (weight, factors))


def test_long_rows_are_shortened_in_place():
    weight = torch.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]])
    version = weight._version
    functional.embedding(torch.tensor([0, 1, 0]), weight, max_norm=1.0)
    np.testing.assert_allclose(weight.numpy(), [[0.6, 0.8], [0.3, 0.4], [6, 8]], rtol=1e-6)
    assert weight._version > version
    functional.embedding_bag(torch.tensor([[2]]), weight, max_norm=7.0, norm_type=1.0)
    np.testing.assert_allclose(weight.numpy()[2], [3, 4], rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda f, t, w, i: f.embedding_bag(i, w, t.tensor([0])), ValueError, "input is 2D"),
        (lambda f, t, w, i: f.embedding_bag(i.view(-1), w), ValueError, "1D Tensor but got None"),
        (lambda f, t, w, i: f.embedding_bag(i, w, mode="x"), ValueError, "mode has to be one of"),
        (
            lambda f, t, w, i: f.embedding_bag(i.view(-1), w, t.tensor([1, 2])),
            RuntimeError,
            "has to be 0",
        ),
        (
            lambda f, t, w, i: f.embedding_bag(i.view(-1), w, t.tensor([0, 7])),
            RuntimeError,
            "can not be greater",
        ),
        (
            lambda f, t, w, i: f.embedding_bag(i + 5, w),
            RuntimeError,
            "value.* 6|idx to|index_size",
        ),
        (
            lambda f, t, w, i: f.embedding_bag(i, w, per_sample_weights=t.ones(2, 2)),
            NotImplementedError,
            "per_sample_weights",
        ),
        (
            lambda f, t, w, i: f.embedding_bag(i, w, per_sample_weights=t.ones(3, 2), mode="sum"),
            ValueError,
            "same shape as the input",
        ),
        (
            lambda f, t, w, i: f.embedding_bag(i, w, mode="max", scale_grad_by_freq=True),
            ValueError,
            "max mode",
        ),
        (lambda f, t, w, i: f.embedding_bag(i.view(1, 2, 2), w), ValueError, "1D or 2D"),
        (lambda f, t, w, i: f.embedding(i, w, padding_idx=5), AssertionError, "Padding_idx"),
        (lambda f, t, w, i: f.embedding(i + 5, w), IndexError, "index out of range in self"),
        (lambda f, t, w, i: f.embedding(i - 2, w), IndexError, "index out of range in self"),
    ],
)
def test_refusals_are_those_of_torch(call, kind, text):
    indices = [[1, 2], [3, 3]]
    with pytest.raises(kind, match=text):
        call(functional, torch, torch.ones(5, 3), torch.tensor(indices))
    other = pytest.importorskip("torch")
    with pytest.raises(kind, match=text):
        call(other.nn.functional, other, other.ones(5, 3), other.tensor(indices))


def test_sparse_gradients_are_refused_clearly():
    for call in (functional.embedding, functional.embedding_bag):
        with pytest.raises(NotImplementedError, match="sparse=True"):
            call(torch.tensor([[1]]), torch.ones(2, 2), sparse=True)
