"""Attention: by hand in NumPy, by differences, and beside torch."""

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy.autograd import gradcheck, gradgradcheck

attention = torch.nn.functional.scaled_dot_product_attention


def tensors(shapes, dtype=torch.float64, seed=0, requires_grad=False):
    rng = np.random.default_rng(seed)
    return [
        torch.tensor(rng.normal(size=s)).to(dtype).requires_grad_(requires_grad) for s in shapes
    ]


def by_hand(q, k, v, mask=None, causal=False, scale=None):
    q, k, v = (x.detach().double().numpy() for x in (q, k, v))
    heads = q.shape[-3] if q.ndim > 2 else 1
    if q.ndim > 2 and k.shape[-3] != heads:
        k, v = (np.repeat(x, heads // x.shape[-3], axis=-3) for x in (k, v))
    z = q @ np.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if causal:
        z = np.where(np.tril(np.ones(z.shape[-2:], bool)), z, -np.inf)
    if mask is not None:
        mask = mask.detach()
        mask = (mask if mask.dtype == torch.bool else mask.double()).numpy()
        z = np.where(mask, z, -np.inf) if mask.dtype == bool else z + mask
    top = np.max(z, axis=-1, keepdims=True, initial=-np.inf)
    e = np.exp(z - np.where(np.isfinite(top), top, 0))
    total = e.sum(-1, keepdims=True)
    return e / np.where(total == 0, 1, total) @ v


SHAPES = {
    "small": ((2, 3, 4, 8), (2, 3, 5, 8), (2, 3, 5, 6)),
    "tiles": ((1, 2, 150, 16), (1, 2, 301, 16), (1, 2, 301, 24)),
    "one": ((1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1)),
    "groups": ((2, 6, 7, 4), (2, 2, 9, 4), (2, 2, 9, 3)),
    "long": ((1, 1, 3, 5), (1, 1, 1100, 5), (1, 1, 1100, 5)),
    "wide": ((1, 2, 10, 600), (1, 2, 12, 600), (1, 2, 12, 530)),
    "three": ((3, 4, 8), (3, 5, 8), (3, 5, 6)),
    "two": ((4, 8), (5, 8), (5, 6)),
    "five": ((2, 1, 3, 4, 8), (2, 1, 3, 5, 8), (2, 1, 3, 5, 6)),
}


def options(shapes, dtype, rng):
    """Masks and flags that fit."""
    rows, columns = shapes[0][-2], shapes[1][-2]
    seen = rng.random((rows, columns)) < 0.6
    seen[0] = False  # a row that sees nothing
    batch = shapes[0][:-2]
    yield {}
    yield {"is_causal": True}
    yield {"scale": -0.7}
    yield {"attn_mask": torch.tensor(seen)}
    yield {"attn_mask": torch.tensor(rng.normal(size=(*batch, rows, columns))).to(dtype)}
    yield {"attn_mask": torch.tensor(rng.normal(size=(rows, 1))).to(dtype)}
    yield {
        "attn_mask": torch.tensor(
            rng.random((*batch[:-1], *(1,) * min(len(batch), 1), 1, columns)) < 0.7
        )
    }
    yield {"attn_mask": torch.tensor(np.where(seen, 0, -np.inf)).to(dtype)}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_values_are_those_of_the_formula(name, dtype):
    close = {torch.float64: 1e-10, torch.float32: 2e-5, torch.float16: 4e-3}.get(dtype, 4e-2)
    shapes = SHAPES[name]
    q, k, v = tensors(shapes, dtype)
    for kwargs in options(shapes, dtype, np.random.default_rng(3)):
        result = attention(q, k, v, **kwargs, enable_gqa=name == "groups")
        assert result.dtype == dtype
        expected = by_hand(
            q, k, v, kwargs.get("attn_mask"), kwargs.get("is_causal"), kwargs.get("scale")
        )
        found = result.double().numpy()
        np.testing.assert_allclose(
            found, expected, rtol=close, atol=close, err_msg=str(list(kwargs))
        )


@pytest.mark.parametrize("name", ["small", "groups", "two"])
def test_all_derivatives(name):
    shapes = SHAPES[name]
    q, k, v = tensors(shapes, requires_grad=True)
    for kwargs in options(shapes, torch.float64, np.random.default_rng(3)):

        def call(q, k, v, kwargs=kwargs):
            return attention(q, k, v, **kwargs, enable_gqa=name == "groups")

        assert gradcheck(call, (q, k, v), check_forward_ad=True, fast_mode=True)
        assert gradgradcheck(call, (q, k, v), check_fwd_over_rev=True, fast_mode=True)
    mask = tensors([(shapes[0][-2], shapes[1][-2])], seed=5, requires_grad=True)[0]
    assert gradcheck(
        lambda m: attention(q, k, v, m, enable_gqa=name == "groups"), (mask,), check_forward_ad=True
    )


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_are_those_of_torch(name, dtype):
    other = pytest.importorskip("torch")
    close = 1e-9 if dtype == "float64" else 2e-5
    shapes = SHAPES[name]
    rng = np.random.default_rng(6)
    arrays = [rng.normal(size=s).astype(dtype) for s in shapes]
    for kwargs in options(shapes, getattr(torch, dtype), rng):
        found = []
        for library in (torch, other):

            def given_to(x, library=library):
                # torch's own float32 is off by more than the tolerance on some processors.
                return library.tensor(
                    x.astype("f8") if library is other and x.dtype.kind == "f" else x
                )

            given = {
                key: given_to(x.numpy()) if isinstance(x, torch.Tensor) else x
                for key, x in kwargs.items()
            }
            qkv = [given_to(x).requires_grad_() for x in arrays]
            y = library.nn.functional.scaled_dot_product_attention(
                *qkv, **given, enable_gqa=name == "groups"
            )
            (y * y.detach().cos()).sum().backward()
            found.append([y.detach(), *(x.grad for x in qkv)])
        for a, b in zip(*found, strict=True):
            np.testing.assert_allclose(
                a.numpy(), b.numpy(), rtol=close, atol=close, err_msg=str(list(kwargs))
            )


def test_rows_that_see_nothing_have_no_gradient():
    q, k, v = tensors([(1, 1, 3, 4), (1, 1, 5, 4), (1, 1, 5, 4)], requires_grad=True)
    mask = torch.ones(3, 5, dtype=torch.bool)
    mask[1] = False
    result = attention(q, k, v, mask)
    assert result[0, 0, 1].tolist() == [0.0] * 4
    result.sum().backward()
    assert q.grad[0, 0, 1].tolist() == [0.0] * 4
    for x in (q, k, v):
        assert bool(torch.isfinite(x.grad).all())
    assert attention(q, k[:, :, :0], v[:, :, :0]).tolist() == [[[[0.0] * 4] * 3]]


def test_nan_stays_in_its_row():
    q, k, v = tensors([(1, 1, 3, 4), (1, 1, 5, 4), (1, 1, 5, 4)])
    q[0, 0, 1, 2] = float("nan")
    result = attention(q, k, v)
    assert bool(torch.isnan(result[0, 0, 1]).all()) and not bool(
        torch.isnan(result[0, 0, ::2]).any()
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("place", [3, 299])
def test_nan_shows_though_all_else_is_hidden(dtype, place):
    # One tile has nothing but NaN, the other nothing at all, or numbers.
    q, k, v = tensors([(1, 1, 6, 4), (1, 1, 300, 4), (1, 1, 300, 5)], dtype)
    k[0, 0, place] = float("nan")
    seen = torch.zeros(6, 300, dtype=torch.bool)
    seen[1, place] = True
    seen[2, place] = seen[2, 298] = True
    seen[3, 298] = True
    result = attention(q, k, v, seen)
    assert torch.isnan(result).all(-1)[0, 0].tolist() == [False, True, True, False, False, False]
    torch.testing.assert_close(result[0, 0, 3], v[0, 0, 298])
    assert not bool(result[0, 0, [0, 4, 5]].any())


@pytest.mark.parametrize(("dtype", "low"), [(torch.float32, -104.0), (torch.float64, -746.0)])
def test_weights_that_would_be_subnormal_are_zero(dtype, low):
    q = torch.ones((1, 1, 5, 1), dtype=dtype)
    k = torch.linspace(low, 0.0, 60, dtype=dtype).reshape(1, 1, 60, 1)
    v = torch.eye(60, dtype=dtype).reshape(1, 1, 60, 60)
    found = attention(q, k, v, scale=1.0)[0, 0, 4]
    wanted = np.exp(np.asarray(k.double().tolist()).ravel())
    wanted /= wanted.sum()
    tiny = torch.finfo(dtype).tiny
    np.testing.assert_allclose(found.double().numpy(), wanted, rtol=1e-5, atol=4 * tiny)
    assert all(x == 0 or x >= 0.5 * tiny for x in found.tolist())


@pytest.mark.parametrize("rows", [16, 47, 48, 49, 97, 260])
@pytest.mark.parametrize("columns", [16, 40, 255, 257, 300])
def test_causal_tiles_of_any_size(rows, columns):
    q, k, v = tensors([(1, 1, rows, 8), (1, 1, columns, 8), (1, 1, columns, 40)], seed=rows)
    q, k, v = (x.requires_grad_() for x in (q, k, v))
    result = attention(q, k, v, is_causal=True)
    np.testing.assert_allclose(result.detach().numpy(), by_hand(q, k, v, causal=True), atol=1e-12)
    seen = torch.tensor(np.tril(np.ones((rows, columns), bool)))
    grad = tensors([result.shape], seed=5)[0]
    found = torch.autograd.grad(result, (q, k, v), grad)
    wanted = torch.autograd.grad(attention(q, k, v, seen), (q, k, v), grad)
    for a, b in zip(found, wanted, strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("layout", ["heads inside", "steps", "shared"])
def test_operands_lie_anyhow(layout):
    q, k, v = tensors([(2, 3, 20, 8)] * 3, seed=8)
    if layout == "heads inside":
        q, k, v = (x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v))
    elif layout == "steps":
        q, k, v = (torch.stack([x, x], -1)[..., 0] for x in (q, k, v))
    else:
        k, v = k[:, :1].expand(2, 3, 20, 8), v[:1].expand(2, 3, 20, 8)
    q, k, v = (x.detach().requires_grad_() for x in (q, k, v))
    result = attention(q, k, v, is_causal=True)
    np.testing.assert_allclose(result.detach().numpy(), by_hand(q, k, v, causal=True), atol=1e-12)
    grad = tensors([(2, 3, 20, 8)], seed=9)[0].transpose(-1, -2).contiguous().transpose(-1, -2)
    found = torch.autograd.grad(result, (q, k, v), grad)
    dense = [x.detach().clone().contiguous().requires_grad_() for x in (q, k, v)]
    wanted = torch.autograd.grad(attention(*dense, is_causal=True), dense, grad.contiguous())
    for a, b in zip(found, wanted, strict=True):
        torch.testing.assert_close(a.contiguous(), b.contiguous())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("columns", "deep"), [(60, 16), (128, 64), (300, 16), (513, 32)])
def test_values_read_as_they_lie_give_the_same_bits(dtype, causal, columns, deep):
    q, k, v = tensors([(1, 2, 130, 8), (1, 2, columns, 8), (1, 2, columns, deep)], dtype)
    room = torch.zeros(1, 2, columns, deep + 5, dtype=dtype)
    room[..., :deep] = v
    apart = room[..., :deep]  # these rows have gaps, so they are packed
    assert torch.equal(
        attention(q, k, v, is_causal=causal), attention(q, k, apart, is_causal=causal)
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("sizes", [(40, 300, 1), (300, 40, 2), (97, 600, 2), (1, 9, 4)])
def test_gradients_of_keys_that_some_queries_or_none_see(sizes, dtype):
    # Their first part is written, not added to what is there: the memory held something before.
    rows, cols, heads = sizes
    shapes = ((1, heads, rows, 8), (1, 1, cols, 8), (1, 1, cols, 8))
    operands = tensors(shapes, dtype, seed=rows, requires_grad=True)
    grad = tensors([(1, heads, rows, 8)], dtype, seed=3)[0]
    seen = torch.ones(rows, cols, dtype=torch.bool).tril()
    for causal in (True, False):
        result = attention(*operands, is_causal=causal, enable_gqa=True)
        held = [torch.full(s, float("nan"), dtype=dtype) for s in shapes]
        del held
        found = torch.autograd.grad(result, operands, grad)
        q, k, v = (x.detach().double().requires_grad_() for x in operands)
        scores = q @ k.transpose(-1, -2) * 8**-0.5
        if causal:
            scores = torch.where(seen, scores, -torch.inf)
        wanted = torch.autograd.grad(scores.softmax(-1) @ v, (q, k, v), grad.double())
        for a, b in zip(found, wanted, strict=True):
            torch.testing.assert_close(a.double(), b, rtol=1e-4, atol=1e-5)


def test_results_are_the_same_for_any_number_of_threads():
    before = torch.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            each = []
            for shapes in (
                ((1, 1, 500, 32),) * 3,
                ((2, 4, 300, 32), (2, 2, 300, 32), (2, 2, 300, 32)),
            ):
                q, k, v = tensors(shapes, torch.float32, seed=1, requires_grad=True)
                y = attention(q, k, v, is_causal=True, enable_gqa=True)
                each += [y.detach(), *torch.autograd.grad(y.cos().sum(), (q, k, v))]
            found.append(each)
    finally:
        torch.set_num_threads(before)
    for other in found[1:]:
        assert all(torch.equal(a, b) for a, b in zip(found[0], other, strict=True))


def test_dropped_weights_are_scaled():
    torch.manual_seed(0)
    q, k = torch.zeros(1, 1, 1, 4), torch.zeros(1, 1, 4000, 4)
    values = attention(q, k, torch.ones(1, 1, 4000, 1), dropout_p=0.25)
    assert abs(float(values) - 1) < 0.05 and float(values) != 1
    torch.manual_seed(0)
    assert torch.equal(values, attention(q, k, torch.ones(1, 1, 4000, 1), dropout_p=0.25))
    assert attention(q, k, torch.ones(1, 1, 4000, 1), dropout_p=1.0).tolist() == [[[[0.0]]]]


@pytest.mark.parametrize("masked", ["all", "causal", "seen"])
@pytest.mark.parametrize("sizes", [(2, 4, 2, 5, 7, 4, 6), (1, 2, 2, 100, 300, 8, 16)])
def test_weights_are_dropped_within_tiles(sizes, masked):
    """As of the formula with the same draws, by numbers and gradients; and differentiated again."""
    batch, heads, own, rows, cols, width, deep = sizes
    q, k, v = tensors(
        [(batch, heads, rows, width), (batch, own, cols, width), (batch, own, cols, deep)]
    )
    options = {"is_causal": masked == "causal"}
    seen = torch.ones(rows, cols, dtype=torch.bool)
    if masked == "causal":
        seen = seen.tril()
    elif masked == "seen":
        seen = options["attn_mask"] = torch.rand(rows, cols) < 0.7
    found = []
    for tiles in (True, False):
        leaves = [t.detach().double().requires_grad_() for t in (q, k, v)]
        torch.manual_seed(3)
        if tiles:
            y = attention(*leaves, dropout_p=0.4, enable_gqa=True, **options)
        else:
            a, b, c = leaves[0], *(t.repeat_interleave(heads // own, 1) for t in leaves[1:])
            scores = (a @ b.mT / width**0.5).masked_fill(~seen, -float("inf"))
            weights = torch.where(seen.any(-1, keepdim=True), scores.softmax(-1), 0.0)
            y = torch.nn.functional.dropout(weights, 0.4) @ c
        (y * y.detach().sin()).sum().backward()
        found.append([y, *(t.grad for t in leaves)])
    for a, b in zip(*found):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-12)


def test_dropped_weights_are_differentiated_again():
    def dropped(*operands):
        torch.manual_seed(5)
        return attention(*operands, dropout_p=0.3)

    leaves = [
        t.double().requires_grad_() for t in tensors([(1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 2)])
    ]
    assert torch.autograd.gradcheck(dropped, leaves, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(dropped, leaves)


def test_vmap_goes_over_any_operand():
    q, k, v = tensors([(3, 2, 4, 8), (3, 2, 5, 8), (3, 2, 5, 6)])
    mask = torch.tensor(np.random.default_rng(2).random((3, 4, 5)) < 0.8)

    def call(q, k, v, m):
        def loss(q):
            return (attention(q, k, v, m) ** 2).sum()

        return attention(q, k, v, m), torch.func.grad(loss)(q)

    for dims in [(0, 0, 0, 0), (0, None, None, None), (None, 0, None, None), (None, None, None, 0)]:
        args = [x if d == 0 else x[0] for x, d in zip((q, k, v, mask), dims, strict=True)]
        result = torch.func.vmap(call, dims)(*args)
        each = [
            call(*[x[i] if d == 0 else x for x, d in zip(args, dims, strict=True)])
            for i in range(3)
        ]
        for found, wanted in zip(result, zip(*each, strict=True), strict=True):
            torch.testing.assert_close(found, torch.stack(wanted))


@pytest.mark.parametrize(
    ("shapes", "kwargs", "text"),
    [
        (((8,), (5, 8), (5, 8)), {}, "at least 2 dimensional"),
        (((4, 8), (5, 7), (5, 8)), {}, "size|shapes"),
        (((4, 8), (5, 8), (4, 8)), {}, "size|shapes"),
        (((4, 8), (5, 8), (5, 8)), {"attn_mask": "int"}, "Expected attn_mask dtype"),
        (((4, 8), (5, 8), (5, 8)), {"attn_mask": "double"}, "Expected attn_mask dtype"),
        (((2, 4, 8), (2, 5, 8), (2, 5, 8)), {"attn_mask": "shape"}, "size"),
        (((1, 4, 4, 8), (1, 3, 5, 8), (1, 3, 5, 8)), {"enable_gqa": True}, "must divide"),
        (((1, 4, 4, 8), (1, 3, 5, 8), (1, 3, 5, 8)), {}, "must match"),
        (((4, 8), (5, 8), (5, 8)), {"dropout_p": 1.5}, "between 0 and 1"),
    ],
)
def test_refusals_are_those_of_torch(shapes, kwargs, text):
    other = pytest.importorskip("torch")
    for library in (torch, other):
        masks = {
            "int": library.zeros(4, 5, dtype=library.int64),
            "double": library.zeros(4, 5, dtype=library.float64),
            "shape": library.zeros(3, 5),
        }
        given = {key: masks[x] if isinstance(x, str) else x for key, x in kwargs.items()}
        with pytest.raises(RuntimeError, match=text):
            library.nn.functional.scaled_dot_product_attention(
                *[library.ones(s) for s in shapes], **given
            )


def test_results_lie_as_the_operands_do():
    def operand(places):
        return torch.ones(2, places, 3, 4).transpose(1, 2).requires_grad_()

    operands = operand(5), operand(6), operand(6)
    y = torch.nn.functional.scaled_dot_product_attention(*operands)
    assert [y.stride(), *(g.stride() for g in torch.autograd.grad(y.sum(), operands))] == [
        (60, 4, 12, 1), (60, 4, 12, 1), (72, 4, 12, 1), (72, 4, 12, 1)
    ]  # fmt: skip
    dense = torch.ones(2, 3, 5, 4)
    y = torch.nn.functional.scaled_dot_product_attention(dense, dense, dense)
    assert y.stride() == (60, 20, 4, 1)


def test_rows_of_scores_at_minus_infinity_are_zero_with_and_without_a_mask():
    q, v = torch.ones(1, 2, 1), torch.ones(3, 1)
    k = torch.full((3, 1), -float("inf"))
    assert attention(q, k[None], v[None]).flatten().tolist() == [0.0, 0.0]
    assert torch.vmap(lambda q: attention(q, k, v))(q).flatten().tolist() == [0.0, 0.0]
