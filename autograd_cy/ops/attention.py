"""Attention: mixtures of values by the likeness of queries and keys."""

from autograd_cy.ops._schema import (
    arg,
    booleans,
    by_test,
    call,
    composite,
    error,
    fixed,
    loop,
    nondiff,
    op,
    sample,
)

LOADED = "at first use"
HERE = "tests/ops/test_attention.py::"


def three(batch, rows, columns, width, deep):
    """Query, key and value."""
    return arg((*batch, rows, width)), arg((*batch, columns, width)), arg((*batch, columns, deep))


op(
    "scaled_dot_product_attention(query, key, value, attn_mask: Tensor? = None, dropout_p: float "
    "= 0.0, is_causal: bool = False, *, scale: float? = None, enable_gqa: bool = False)",
    namespace="nn.functional",
    kernel=composite("attention.scaled_dot_product"),
    autocast="lower",
    samples=[
        sample(three((2, 2), 3, 4, 5, 5)),
        sample(three((2, 2), 3, 4, 5, 2), {"is_causal": True}),
        sample((*three((2, 2), 3, 4, 5, 2), fixed((3, 4), booleans()))),
        sample((*three((2,), 3, 4, 2, 3), arg((3, 1))), {"scale": 0.3}),
        sample(three((), 3, 4, 2, 3)),
        sample((arg((1, 4, 3, 2)), arg((1, 2, 3, 2)), arg((1, 2, 3, 2))), {"enable_gqa": True}),
        sample(three((0, 2), 3, 4, 5, 5)),
        sample(three((1, 2), 3, 0, 5, 5)),
        sample(three((1, 2), 0, 3, 5, 5)),
    ],
    dtypes="hf",
    tolerance=1e-4,
    reference=by_test(HERE + "test_values_are_those_of_the_formula"),
    doc=(
        "``softmax(query @ key.T * scale + mask) @ value`` (https://arxiv.org/abs/1706.03762, "
        "equation 1).\nRows that see no key are zero."
    ),
    params={
        "query": "Of shape ``(*, L, E)``.",
        "key": "Of shape ``(*, S, E)``.",
        "value": "Of shape ``(*, S, Ev)``.",
        "attn_mask": (
            "Truth values, which keys each query sees, or numbers (of the dtype of `query` or "
            "float32) that are added to the scores; broadcasts to ``(*, L, S)``."
        ),
        "dropout_p": "The probability with which each weight is dropped.",
        "is_causal": "No query sees keys behind its own place.",
        "scale": "The factor of the scores; None for ``1 / sqrt(E)``.",
        "enable_gqa": (
            "Several heads of the query, the third dimension from the end, share one of key and "
            "value."
        ),
    },
    raises={"RuntimeError": "Shapes or dtypes don't fit together."},
    errors=(
        error(
            sample((arg((2,)), arg((3, 2)), arg((3, 2)))), RuntimeError, "at least 2 dimensional"
        ),
        error(sample((arg((3, 2)), arg((3, 4)), arg((3, 2)))), RuntimeError, "same last size"),
    ),
    example=(
        ">>> x = ag.tensor([[1.0, 0.0], [0.0, 1.0]])\n"
        ">>> ag.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)\n"
        "tensor([[1.0000, 0.0000],\n"
        "        [0.3302, 0.6698]])"
    ),
)

op(
    "_attention(query, key, value, mask: Tensor?, is_causal: bool, scale: float, dropped: Tensor? "
    "= None) -> (output, logsumexp, exact)",
    event="_scaled_dot_product_flash_attention_for_cpu",
    flops=(
        "2 * key[len(key) - 2] * (elements(query) + elements(query[:len(query) - 1]) "
        "* value[len(value) - 1])"
    ),
    shown_as="scaled_dot_product_attention",
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    named=False,
    out=False,
    nondiff_outputs=("logsumexp", "exact"),
    shows={"dropout_p": "0.0"},
    dtypes="hf",
    kernel=call(
        "attention.attention_into",
        shape="rules_attention.attended(query, key, value, mask, dropped)",
    ),
    vjp={
        (
            "query",
            "key",
            "value",
        ): (
            "_attention_backward(grad_output, query, key, value, mask, output, logsumexp, exact, "
            "is_causal, scale, dropped)"
        )
    },
    stays={"value": ("value",)},
    jvp={
        "output": {
            "query": (
                "_attention_jvp(query, key, value, mask, query_t, None, None, is_causal, scale)"
            ),
            "key": "_attention_jvp(query, key, value, mask, None, key_t, None, is_causal, scale)",
            "value": (
                "_attention_jvp(query, key, value, mask, None, None, value_t, is_causal, scale)"
            ),
        }
    },
    vmap=loop("examples of a vmap take plain operators"),
    doc=(
        "Attention of four-dimensional operands, the logarithm of each row's sum of "
        "exponentials,\nand of half types the result before it is rounded. Weights are multiplied "
        "by `dropped`,\na mask of dropout."
    ),
)

op(
    "_attention_backward(grad, query, key, value, mask: Tensor?, output, logsumexp, exact, "
    "is_causal: bool, scale: float, dropped: Tensor?) -> Tensor[]",
    kernel=composite("attention.attention_backward"),
    doc="Gradients of query, key and value.",
)

op(
    "_attention_jvp(query, key, value, mask: Tensor?, query_t: Tensor?, key_t: Tensor?, "
    "value_t: Tensor?, is_causal: bool, scale: float)",
    kernel=composite("attention.attention_jvp"),
    doc="Tangent of attention by one operand.",
)

op(
    "_attention_gradients(grad, query, key, value, mask: Tensor?, output, logsumexp, exact, "
    "is_causal: bool, scale: float, dropped: Tensor?) -> (query_gradient, key_gradient, "
    "value_gradient)",
    flops=(
        "2 * key[len(key) - 2] * (3 * elements(query) + 2 * elements(query[:len(query) - 1]) "
        "* value[len(value) - 1])"
    ),
    shown_as="scaled_dot_product_attention",
    named=False,
    out=False,
    dtypes="hf",
    kernel=call(
        "attention.attention_gradients_into", shape="rules_attention.gradients(query, key, value)"
    ),
    vjp=nondiff("what is differentiated again is made of plain operators"),
    vmap=loop("examples of a vmap take plain operators"),
    doc="Gradients of attention, tile by tile.",
)
