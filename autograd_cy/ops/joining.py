"""Joining tensors and splitting them."""

from autograd_cy.ops._schema import arg, by_hand, call, composite, one, op, sample, view

PIECES = {"split_size": "sizes[0] if sizes else 0", "self_sym_sizes": "self.shape"}

# --- joining -----------------------------------------------------------------------------------

op(
    "cat(tensors: Tensor[], dim: dim = 0) -> result",
    method=False,
    kernel=call("indexing.cat", shape="rules_indexing.joined_shape(tensors, dim)"),
    aliases=("concat", "concatenate"),
    out="joined",
    autocast="widest",
    attrs={"sizes": "axis_sizes(tensors, dim)"},
    vjp={"tensors": "_cat_backward(grad, sizes, dim)"},
    jvp="linear",
    vmap=by_hand("batching_rules.cat_each"),
    dtypes="biuhfc",
    samples=[
        sample(((arg((2, 3)), arg((1, 3))), 0)),
        sample(((arg((2, 3)), arg((2, 2))), -1)),
        sample(((arg((2,)), arg((0,)), arg((3,))),)),
    ],
    reference="np.concatenate(tensors, dim)",
    doc="Tensors joined along a dimension.",
    example=">>> ag.cat([ag.tensor([1, 2]), ag.tensor([3])])\ntensor([1, 2, 3])",
    raises={"RuntimeError": "Sizes differ in another dimension."},
)

op(
    "_cat_backward(self, sizes: object, dim: int) -> Tensor[]",
    kernel=composite("joining.cat_backward"),
    doc="The pieces of a gradient that belong to the tensors of cat.",
)

op(
    "_place_blocks(self, blocks: Tensor[])",
    kernel=composite("joining.place_blocks"),
    doc="A matrix of zeros with blocks along its diagonal.",
)

op(
    "stack(tensors: Tensor[], dim: int = 0) -> result",
    method=False,
    kernel=call("indexing.stack", shape="rules_indexing.stacked(tensors, dim)"),
    out="joined",
    autocast="widest",
    vjp={"tensors": "unbind(grad, dim)"},
    jvp="linear",
    vmap="stack(tensors, dim + 1 if dim >= 0 else dim)",
    dtypes="biuhfc",
    samples=[
        sample(((arg((2, 3)), arg((2, 3))), 0)),
        sample(((arg((2, 3)), arg((2, 3))), -1)),
        sample(((arg(()), arg(())),)),
    ],
    reference="np.stack(tensors, dim)",
    doc="Tensors of one shape joined along a new dimension.",
    example=(
        ">>> ag.stack([ag.tensor([1, 2]), ag.tensor([3, 4])])\ntensor([[1, 2],\n        [3, 4]])"
    ),
    raises={"RuntimeError": "Shapes differ."},
)

# --- pieces ------------------------------------------------------------------------------------

op(
    "unbind(self, dim: dim = 0) -> Tensor[]",
    kernel=view("shapes.unbind_plain"),
    multi_view=True,
    vjp={"self": "stack(grads, dim)"},
    jvp="linear",
    vmap="dims",
    samples=[one((3, 4)), one((3, 4), 1), one((2, 0))],
    reference="tuple(np.moveaxis(self, dim, 0))",
    doc="The slices along a dimension, as a tuple of views.",
    example=">>> ag.unbind(ag.tensor([[1, 2], [3, 4]]))\n(tensor([1, 2]), tensor([3, 4]))",
)

op(
    "split(self, split_size_or_sections: int | ints, dim: dim = 0) -> Tensor[]",
    kernel=composite("joining.split"),
    samples=[one((5, 2), 2), one((2, 5), (1, 4), 1), one((4,), 4)],
    reference=(
        "tuple(np.split(self, np.cumsum(split_size_or_sections)[:-1] "
        "if isinstance(split_size_or_sections, tuple) else range(split_size_or_sections, "
        "self.shape[dim], split_size_or_sections), dim))"
    ),
    doc="Pieces of the given size, or sizes, along a dimension, as views.",
    example=">>> ag.split(ag.arange(5), 2)\n(tensor([0, 1]), tensor([2, 3]), tensor([4]))",
)

op(
    "split_with_sizes(self, split_sizes: ints, dim: dim = 0) -> Tensor[]",
    kernel=view("shapes.split_with_sizes_plain"),
    multi_view=True,
    keeps=("split_sizes",),
    shows={"self_sym_sizes": "self.shape"},
    vjp={"self": "cat(grads, dim)"},
    jvp="linear",
    vmap="dims",
    samples=[one((5, 2), (2, 3)), one((2, 5), (1, 0, 4), -1)],
    reference="tuple(np.split(self, np.cumsum(split_sizes)[:-1], dim))",
    doc="Pieces of the given sizes along a dimension, as views.",
    example=">>> ag.split_with_sizes(ag.arange(4), [1, 3])\n(tensor([0]), tensor([1, 2, 3]))",
)

op(
    "split.size(self, split_size: int | ints, dim: dim = 0) -> Tensor[]",
    when="'split_size' in kwargs",
    kernel=composite("split(self, split_size, dim)"),
    samples=[one((5, 2), 2)],
    reference="tuple(np.split(self, range(split_size, self.shape[dim], split_size), dim))",
    doc="The name of the argument in the method.",
)

op(
    "chunk(self, chunks: int, dim: dim = 0) -> Tensor[]",
    kernel=composite("joining.chunk"),
    samples=[one((6, 2), 3), one((2, 6), 2, 1)],
    reference="tuple(np.array_split(self, chunks, dim))",
    doc="At most `chunks` equal pieces along a dimension, as views.",
    example=">>> ag.chunk(ag.arange(5), 2)\n(tensor([0, 1, 2]), tensor([3, 4]))",
)

op(
    "_split(self, sizes: sizes, dim: dim) -> Tensor[]",
    event="split",
    kernel=view("shapes.split_plain"),
    multi_view=True,
    node="SplitBackward0",
    keeps=("sizes",),
    shows=PIECES,
    vjp={"self": "cat(grads, dim)"},
    jvp="linear",
    vmap="dims",
    samples=[one((5, 2), (2, 3), 0), one((2, 5), (1, 0, 4), -1)],
    reference="tuple(np.split(self, np.cumsum(sizes)[:-1], dim))",
    doc="Pieces of the given sizes along a dimension.",
)

op(
    "tensor_split(self, indices_or_sections: int | ints | Tensor, dim: dim = 0) -> Tensor[]",
    kernel=composite("joining.tensor_split"),
    samples=[one((7, 2), 3), one((2, 7), (1, 4), 1)],
    reference="tuple(np.array_split(self, indices_or_sections, dim))",
    doc="Nearly equal pieces, or pieces between indices, as views.",
    example=">>> ag.tensor_split(ag.arange(5), 2)\n(tensor([0, 1, 2]), tensor([3, 4]))",
)

# --- pieces for changes in place ---------------------------------------------------------------

op(
    "_unsafe_split(self, sizes: sizes, dim: dim) -> Tensor[]",
    event="unsafe_split",
    kernel=call("shapes.unsafe_split_plain", lazy=True, anywhere=True),
    node="UnsafeSplitBackward0",
    keeps=("sizes",),
    shows=PIECES,
    vjp={"self": "cat(grads, dim)"},
    jvp="linear",
    vmap="dims",
    out=False,
    dtypes="biuhfc",
    samples=[one((5, 2), (2, 3), 0)],
    reference="tuple(np.split(self, np.cumsum(sizes)[:-1], dim))",
    doc="Pieces that autograd takes for tensors of their own.",
)

op(
    "unsafe_split(self, split_size: int, dim: dim = 0) -> Tensor[]",
    kernel=composite("joining.unsafe_split"),
    samples=[one((5, 2), 2)],
    reference="tuple(np.split(self, range(split_size, self.shape[dim], split_size), dim))",
    doc=(
        "split for pieces that are changed in place, where neither `self` nor another piece on "
        "the same memory is used again."
    ),
    example=">>> ag.unsafe_split(ag.arange(4), 2)\n(tensor([0, 1]), tensor([2, 3]))",
)

op(
    "unsafe_split_with_sizes(self, split_sizes: ints, dim: dim = 0) -> Tensor[]",
    kernel=call("shapes.unsafe_split_with_sizes_plain", anywhere=True),
    keeps=("split_sizes",),
    shows={"self_sym_sizes": "self.shape"},
    vjp={"self": "cat(grads, dim)"},
    jvp="linear",
    vmap="dims",
    out=False,
    dtypes="biuhfc",
    samples=[one((5, 2), (2, 3))],
    reference="tuple(np.split(self, np.cumsum(split_sizes)[:-1], dim))",
    doc="split_with_sizes, see unsafe_split.",
    example=(
        ">>> ag.unsafe_split_with_sizes(ag.arange(4), [1, 3])\n(tensor([0]), tensor([1, 2, 3]))"
    ),
)

op(
    "unsafe_chunk(self, chunks: int, dim: dim = 0) -> Tensor[]",
    kernel=composite("joining.unsafe_chunk"),
    samples=[one((6, 2), 3)],
    reference="tuple(np.array_split(self, chunks, dim))",
    doc="chunk, see unsafe_split.",
    example=">>> ag.unsafe_chunk(ag.arange(4), 2)\n(tensor([0, 1]), tensor([2, 3]))",
)
