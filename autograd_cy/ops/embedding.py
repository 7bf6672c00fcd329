"""Embeddings: rows of a table by index, and bags of them."""

from autograd_cy.ops._schema import (
    arg,
    by_test,
    call,
    composite,
    error,
    fixed,
    integers,
    loop,
    nondiff,
    op,
    sample,
)

LOADED = "at first use"
HERE = "tests/ops/test_embedding.py::"
WEIGHT = arg((5, 3))


def at(*shape):
    """Indices into the table of the samples."""
    return fixed(shape, integers(0, 5))


# --- rows --------------------------------------------------------------------------------------

op(
    "embedding(weight, indices, padding_idx: int = -1, scale_grad_by_freq: bool = False, "
    "sparse: bool = False)",
    method=False,
    out="exact",
    kernel=call(
        "embedding.embedding_into",
        ("weight", "indices"),
        shape="rules_embedding.looked_up(weight, indices, sparse)",
    ),
    vjp={
        "weight": (
            "embedding_dense_backward(grad, indices, weight.shape[0], padding_idx, "
            "scale_grad_by_freq)"
        )
    },
    jvp={"weight": "embedding(weight_t, indices)"},
    shows={"sparse": "False", "weight_sym_argsize_0": "weight.shape[0]"},
    vmap={
        "indices": "embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse)",
        "weight": (
            "_embedding_each(weight, unsqueeze(indices, 0), padding_idx, scale_grad_by_freq, "
            "sparse)"
        ),
        (
            "weight",
            "indices",
        ): "_embedding_each(weight, indices, padding_idx, scale_grad_by_freq, sparse)",
    },
    samples=[
        sample((WEIGHT, at(4))),
        sample((WEIGHT, at(2, 3))),
        sample((WEIGHT, at())),
        sample((WEIGHT, at(0))),
        sample((WEIGHT, at(2, 0, 3))),
        sample((arg((5, 0)), at(2))),
        sample((arg((5, 1)), at(7))),
    ],
    dtypes="biuhfc",
    reference="weight[indices]",
    doc="The rows of a table with the given indices.\nGradients leave out rows of `padding_idx`; "
    "with `scale_grad_by_freq` each is divided by\nhow often its index occurs.",
    params={
        "weight": "The table.",
        "indices": "Indices of rows, of any shape.",
        "padding_idx": "An index whose row has no gradient, or -1.",
    },
    raises={"IndexError": "An index is out of range.", "NotImplementedError": "`sparse` is true."},
    errors=(error(sample((WEIGHT, arg((2,)))), RuntimeError, "Long, Int"),),
    example=(
        ">>> ag.embedding(ag.tensor([[1.0, 2.0], [3.0, 4.0]]), ag.tensor([1, 0, 1]))\n"
        "tensor([[3., 4.],\n"
        "        [1., 2.],\n"
        "        [3., 4.]])"
    ),
)

op(
    "embedding_dense_backward(grad_output, indices, num_weights: int, padding_idx: int, "
    "scale_grad_by_freq: bool)",
    method=False,
    function=False,
    kernel=call(
        "embedding.embedding_dense_backward_into",
        shape="rules_embedding.gathered_back(grad_output, indices, num_weights)",
    ),
    out=False,
    vjp={"grad_output": "_embedding_rows(grad, indices, padding_idx, scale_grad_by_freq)"},
    jvp="linear",
    vmap={
        "grad_output": (
            "_embedding_dense_backward_shared(grad_output, indices, num_weights, padding_idx, "
            "scale_grad_by_freq)"
        ),
        "indices": (
            "_embedding_dense_backward_each(expand(grad_output, (B,) + grad_output.shape), "
            "indices, num_weights, padding_idx, scale_grad_by_freq)"
        ),
        (
            "grad_output",
            "indices",
        ): (
            "_embedding_dense_backward_each(grad_output, indices, num_weights, padding_idx, "
            "scale_grad_by_freq)"
        ),
    },
    samples=[
        sample((arg((4, 3)), at(4), 5, -1, False)),
        sample((arg((4, 3)), at(4), 5, 2, True)),
        sample((arg((2, 4, 3)), at(2, 4), 5, 0, False)),
        sample((arg((0, 3)), at(0), 5, -1, True)),
        sample((arg((3,)), at(), 5, -1, False)),
    ],
    dtypes="hfc",
    tolerance=1e-4,
    reference=by_test(HERE + "test_gradients_of_rows_are_added"),
    doc="Gradient of the table of embedding.",
)

op(
    "_embedding_rows(rows, indices, padding_idx: int, scale_grad_by_freq: bool)",
    shown_as="embedding_dense_backward",
    kernel=call(
        "embedding.embedding_rows_into", shape="rules_embedding.embedding_rows(rows, indices)"
    ),
    out=False,
    vjp={
        "rows": (
            "embedding_dense_backward(grad, indices, rows.shape[0], padding_idx, "
            "scale_grad_by_freq)"
        )
    },
    jvp="linear",
    vmap=loop("only second derivatives of batched tables come here"),
    doc="The adjoint of embedding_dense_backward.",
)

op(
    "_embedding_each(weight, indices, padding_idx: int, scale_grad_by_freq: bool, sparse: bool)",
    kernel=composite("embedding.embedding_each"),
    doc="embedding with one table per example.",
)

op(
    "_embedding_dense_backward_each(grad_output, indices, num_weights: int, padding_idx: int, "
    "scale_grad_by_freq: bool)",
    kernel=composite("embedding.dense_backward_each"),
    doc="embedding_dense_backward with indices of each example.",
)

op(
    "_embedding_dense_backward_shared(grad_output, indices, num_weights: int, padding_idx: int, "
    "scale_grad_by_freq: bool)",
    kernel=composite("embedding.dense_backward_shared"),
    doc="embedding_dense_backward with the same indices in all examples.",
)

op(
    "_without_history(self)",
    kernel=call("shapes.clone_with", ("self", "-1"), lazy=True, anywhere=True),
    out=False,
    vjp=nondiff("the padding has no gradient"),
    vmap="elementwise",
    dtypes="biuhfc",
    doc="A copy without derivative.",
)

# --- bags --------------------------------------------------------------------------------------

op(
    "embedding_bag(weight, indices, offsets, scale_grad_by_freq: bool = False, mode: int = 0, "
    "sparse: bool = False, per_sample_weights: Tensor? = None, include_last_offset: bool = False, "
    "padding_idx: int? = None) -> (output, offset2bag, bag_size, max_indices)",
    named=False,
    method=False,
    kernel=composite("embedding.embedding_bag"),
    samples=[
        sample((WEIGHT, at(4), fixed((1,), integers(0, 1)), False, mode)) for mode in (0, 1, 2)
    ]
    + [
        sample((WEIGHT, at(4), fixed((1,), integers(0, 1)), True, 0, False, arg((4,)), False, 1)),
        sample(
            (WEIGHT, at(0), fixed((2,), integers(0, 1)), False, 1), {"include_last_offset": True}
        ),
    ],
    dtypes="hf",
    reference=by_test(HERE + "test_bags_are_sums_means_and_maxima"),
    doc="Sums, means or maxima (`mode` 0, 1, 2) of bags of rows of a table,\n"
    "the bag of each index, the number of rows of each bag, and where maxima come from.",
    params={
        "weight": "The table.",
        "indices": "Indices of rows, of all bags one after the other.",
        "offsets": "Where in `indices` each bag begins.",
        "mode": "0 for sums, 1 for means, 2 for maxima.",
        "per_sample_weights": "A factor for each index, with sums.",
        "include_last_offset": "The last offset is the end of the last bag.",
        "padding_idx": "An index that counts for nothing.",
    },
    raises={
        "RuntimeError": "An index is out of range.",
        "NotImplementedError": "`sparse` is true.",
    },
    example=(
        ">>> table = ag.tensor([[1.0, 2.0], [3.0, 4.0]])\n"
        ">>> ag.embedding_bag(table, ag.tensor([0, 1, 1]), ag.tensor([0, 2]))[0]\n"
        "tensor([[4., 6.],\n"
        "        [3., 4.]])"
    ),
)

op(
    "_embedding_bag(weight, indices, offsets, per_sample_weights: Tensor?, mode: int, "
    "include_last_offset: bool, scale_grad_by_freq: bool, padding_idx: int) -> (output, "
    "offset2bag, bag_size, max_indices)",
    shown_as="embedding_bag",
    node="EmbeddingBagBackward0",
    named=False,
    out=False,
    kernel=call(
        "embedding.embedding_bag_into",
        (
            "weight",
            "indices",
            "offsets",
            "per_sample_weights",
            "mode",
            "padding_idx",
        ),
        shape=(
            "rules_embedding.bagged(weight, indices, offsets, per_sample_weights, mode, "
            "include_last_offset)"
        ),
    ),
    nondiff_outputs=("offset2bag", "bag_size", "max_indices"),
    vjp={
        "weight": (
            "_embedding_bag_weight(grad_output, indices, offset2bag, bag_size, max_indices, "
            "per_sample_weights, weight.shape[0], mode, scale_grad_by_freq, padding_idx)"
        ),
        "per_sample_weights": (
            "_embedding_bag_samples(grad_output, weight, indices, offset2bag, padding_idx)"
        ),
    },
    jvp={
        "output": {
            "weight": (
                "_embedding_bag_jvp(weight_t, indices, offset2bag, bag_size, max_indices, "
                "per_sample_weights, mode, padding_idx)"
            ),
            "per_sample_weights": (
                "_embedding_bag_jvp(weight, indices, offset2bag, bag_size, max_indices, "
                "per_sample_weights_t, mode, padding_idx)"
            ),
        }
    },
    vmap=loop("bags of each example begin elsewhere"),
    dtypes="hf",
    doc="embedding_bag with all arguments as they are used.",
)

op(
    "_embedding_bag_weight(grad, indices, offset2bag, bag_size, max_indices, "
    "per_sample_weights: Tensor?, num_weights: int, mode: int, scale_grad_by_freq: bool, "
    "padding_idx: int)",
    kernel=composite("embedding.embedding_bag_weight"),
    doc="Gradient of the table of embedding_bag.",
)

op(
    "_embedding_bag_samples(grad, weight, indices, offset2bag, padding_idx: int)",
    kernel=composite("embedding.embedding_bag_samples"),
    doc="Gradient of the factors of embedding_bag.",
)

op(
    "_embedding_bag_jvp(tangent, indices, offset2bag, bag_size, max_indices, "
    "per_sample_weights: Tensor?, mode: int, padding_idx: int)",
    kernel=composite("embedding.embedding_bag_jvp"),
    doc="Tangent of embedding_bag.",
)
