"""Numbers of heads that fit each other, and those that don't."""

import pytest

import autograd_cy as ag
from autograd_cy.nn import functional as F


def test_heads_that_fit_and_that_do_not():
    def attend(q, k, v, **options):
        shapes = ((*shape, 3, 5) for shape in (q, k, v))
        return F.scaled_dot_product_attention(*map(ag.ones, shapes), **options).shape

    assert attend((2, 4), (2, 2), (2, 2), enable_gqa=True) == (2, 4, 3, 5)
    assert attend((2, 4), (2, 2), (2, 4), enable_gqa=True) == (2, 4, 3, 5)
    assert attend((2, 8), (2, 4), (2, 2), enable_gqa=True) == (2, 8, 3, 5)
    assert attend((4,), (2,), (2,), enable_gqa=True) == (4, 3, 5)
    assert attend((2, 4), (1, 4), (1, 4)) == (2, 4, 3, 5)
    assert attend((2, 4), (2, 1), (2, 1)) == (2, 4, 3, 5)
    for shapes in (((2, 4), (2, 2), (2, 2)), ((2, 4), (2, 4), (2, 2))):
        with pytest.raises(RuntimeError, match="must match the size"):
            attend(*shapes)
    with pytest.raises(RuntimeError, match="must divide the number of heads"):
        attend((2, 4), (2, 3), (2, 3), enable_gqa=True)
    for shapes in (((), (2,), (2,)), ((4,), (), (2,)), ((4,), (2,), ())):
        with pytest.raises(RuntimeError, match="enable_gqa needs a dimension of heads in query, k"):
            attend(*shapes, enable_gqa=True)


@pytest.mark.parametrize("lead", [(), (2,), (2, 1)])
@pytest.mark.parametrize("heads", [(8, 8), (8, 4), (8, 1)])
def test_heads_of_any_layout_go_by_the_kernel(lead, heads):
    many, few = heads
    query = ag.ones(*lead, many, 3, 5, requires_grad=True)
    for keys in (ag.ones(*lead, few, 4, 5), ag.ones(*lead, few, 5, 4).mT):
        for values in (keys, ag.ones(*lead, 4, few, 5).transpose(-2, -3)):
            result = F.scaled_dot_product_attention(query, keys, values, enable_gqa=many != few)
            node = result.grad_fn
            if len(lead) != 1:  # the kernel has four dimensions
                (node, _), *_ = node.next_functions
            assert node.name() == "ScaledDotProductFlashAttentionForCpuBackward0"
            assert result.shape == query.shape and result.allclose(ag.ones(()))


def attended(query, keys, values, **options):
    layer = ag.nn.MultiheadAttention(4, 2, **options)
    return layer(*(ag.ones(*shape) for shape in (query, keys, values)))[0].shape


@pytest.mark.parametrize("options", [{}, {"kdim": 4, "vdim": 6}, {"add_bias_kv": True}])
@pytest.mark.parametrize("keys", [1, 3])
def test_batches_of_keys_are_those_of_queries(options, keys):
    size = options.get("vdim", 4)
    assert attended((3, 2, 4), (5, 2, 4), (5, 2, size), **options) == (3, 2, 4)
    with pytest.raises(RuntimeError, match=rf"\[3, 2, 4\] .* of 2,.*\[5, {keys}, 4\].* of {keys};"):
        attended((3, 2, 4), (5, keys, 4), (5, keys, size), **options)
    with pytest.raises(RuntimeError, match=rf"\[2, 3, 4\] .* of 2,.*\[{keys}, 5, 4\].* of {keys};"):
        attended((2, 3, 4), (keys, 5, 4), (keys, 5, size), batch_first=True, **options)
    for batches in ((2, 1), (1, 2)):
        with pytest.raises(AssertionError, match="match value"):
            attended((3, 2, 4), (5, batches[0], 4), (5, batches[1], size), **options)


def test_keys_that_are_not_used_have_any_batch():
    x, weight = ag.ones(3, 2, 4), ag.ones(12, 4)
    other = ag.ones(5, 1, 4)
    args = (4, 2, weight, None, None, None, False, 0.0, ag.eye(4), None)
    one, both = (
        {"static_k": ag.ones(4, 5, 2)},
        {n: ag.ones(4, 5, 2) for n in ("static_k", "static_v")},
    )
    assert F.multi_head_attention_forward(x, other, other, *args, **both)[0].shape == (3, 2, 4)
    for given in ({}, one):
        with pytest.raises(RuntimeError, match="batch of 2, but key"):
            F.multi_head_attention_forward(x, other, other, *args, **given)


@pytest.mark.parametrize("dtype", [ag.float16, ag.bfloat16, ag.float64])
@pytest.mark.parametrize("records", [False, True])
def test_a_projection_takes_a_bias_of_another_dtype_where_the_batch_comes_first(dtype, records):
    """As in torch, whose products of such sequences promote."""
    layer = ag.nn.MultiheadAttention(8, 2, batch_first=True).eval()
    bias = ag.linspace(-1, 1, 24).to(dtype)
    x = ag.rand(2, 3, 8)
    with ag.set_grad_enabled(records):
        layer.in_proj_bias = ag.nn.Parameter(bias)
        found = layer(x, x, x)[0]
        if records:
            found.sum().backward()
            assert layer.in_proj_bias.grad.dtype == dtype
        layer.in_proj_bias = ag.nn.Parameter(bias.float())
        wanted = layer(x, x, x)[0]
        assert found.dtype == ag.float32 and ag.equal(found, wanted)
        layer.batch_first = False
        layer.in_proj_bias = ag.nn.Parameter(bias)
        with pytest.raises(RuntimeError, match="bias must have the dtype of input"):
            layer(x, x, x)
