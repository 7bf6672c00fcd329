"""Shapes and the order of elements: views, repeating, reversing, diagonals, triangles."""

from autograd_cy.ops._schema import (
    arg,
    by_hand,
    by_test,
    call,
    composite,
    nondiff,
    one,
    op,
    sample,
    view,
)

# --- sizes -------------------------------------------------------------------------------------

op(
    "view(self, size: sizes)",
    kernel=view("shapes.view_plain"),
    function=False,
    vjp={"self": "grad.reshape(self.shape)"},
    jvp={"self": "reshape(self_t, size)"},
    vmap="_view_each(self, size)",
    samples=[
        one((3, 4), (4, 3)),
        one((3, 4), (-1,)),
        one((), (1, 1)),
        one((0, 3), (3, 0)),
        one((2, 6), (2, 3, -1)),
    ],
    reference="self.reshape(size)",
    doc="A view in another shape; -1 is inferred.",
    example=">>> ag.arange(4).view(2, 2)\ntensor([[0, 1],\n        [2, 3]])",
    raises={"RuntimeError": "The strides don't allow it, or the number of elements differs."},
)

op(
    "view.dtype(self, dtype: dtype?)",
    dtypes="biuhfc",
    kernel=call("shapes.view_dtype_plain", lazy=True, anywhere=True),
    function=False,
    out=False,
    vjp=nondiff("the bits are read as another type"),
    when="'dtype' in kwargs or (len(args) == 2 and type(args[1]) is _dtype)",
    vmap="_view_dtype(self, dtype)",
    samples=[],
    reference=by_test(
        "tests/engine/test_views_across_dtypes.py::"
        "test_view_of_another_dtype_shares_memory_and_version_but_no_history"
    ),
    doc=(
        "A view of the memory as elements of another dtype; the last dimension absorbs a change "
        "of size."
    ),
    raises={"RuntimeError": "The strides don't allow it, or the number of elements differs."},
)

op(
    "_view_dtype(self, dtype: dtype?)",
    event="view",
    kernel=call("shapes.view_dtype_plain", lazy=True, anywhere=True),
    out=False,
    vjp=nondiff("the bits are read as another type"),
    vmap="_view_dtype(self, dtype)",
    dtypes="biuhfc",
    doc="view.dtype as one operation.",
)

op(
    "_unsafe_view(self, size: sizes)",
    shown_as="view",
    event="_unsafe_view",
    kernel=call("shapes.view_plain", lazy=True, anywhere=True),
    node="UnsafeViewBackward0",
    out=False,
    vjp={"self": "grad.reshape(self.shape)"},
    jvp={"self": "reshape(self_t, size)"},
    vmap="reshape(self, (B,) + size)",
    dtypes="biuhfc",
    doc="view of what nobody else will see, so that the result is no view.",
)

op(
    "reshape(self, shape: sizes)",
    kernel=composite("shape.reshape"),
    samples=[one((3, 4), (4, 3)), one((3, 4), (-1,)), one((), (1,)), one((0, 3), (3, 0))],
    reference="self.reshape(shape)",
    doc="Another shape; a view where the strides allow it, else a copy.",
    example=">>> ag.reshape(ag.arange(4), (2, -1))\ntensor([[0, 1],\n        [2, 3]])",
    raises={"RuntimeError": "The number of elements differs."},
)

op(
    "ravel(self)",
    kernel=composite("shape.ravel"),
    samples=[one((3, 4)), one((5,)), one(())],
    reference="np.ravel(self)",
    doc="All elements as a vector; a view where the strides allow it.",
    example=">>> ag.ravel(ag.tensor([[1, 2], [3, 4]]))\ntensor([1, 2, 3, 4])",
)

op(
    "view_as(self, other)",
    function=False,
    kernel=composite("view(self, other.shape)"),
    samples=[sample((arg((3, 4)), arg((4, 3), None, False)))],
    reference="self.reshape(other.shape)",
    doc="A view in the shape of `other`.",
    example=">>> ag.arange(4).view_as(ag.ones(2, 2))\ntensor([[0, 1],\n        [2, 3]])",
)

op(
    "reshape_as(self, other)",
    function=False,
    kernel=composite("reshape(self, other.shape)"),
    samples=[sample((arg((3, 4)), arg((2, 6), None, False)))],
    reference="self.reshape(other.shape)",
    doc="`self` in the shape of `other`.",
    example=">>> ag.arange(4).reshape_as(ag.ones(2, 2))\ntensor([[0, 1],\n        [2, 3]])",
)

op(
    "flatten(self, start_dim: int = 0, end_dim: int = -1)",
    kernel=composite("shape.flatten"),
    samples=[one((2, 3, 4)), one((2, 3, 4), 1), one((2, 3, 4), 0, 1), one(())],
    reference=(
        "self.reshape(self.shape[:start_dim] + (-1,) + self.shape[end_dim % self.ndim + 1:]) "
        "if self.ndim else self.reshape(1)"
    ),
    doc="A range of dimensions joined into one.",
    example=">>> ag.flatten(ag.ones(2, 3, 4), 1).shape\nautograd_cy.Size([2, 12])",
)

op(
    "unflatten(self, dim: dim, sizes: ints)",
    kernel=composite("shape.unflatten"),
    samples=[one((2, 6), 1, (2, 3)), one((6, 2), 0, (-1, 3)), one((4,), -1, (2, 2))],
    reference=(
        "self.reshape(self.shape[:dim % self.ndim] + tuple(sizes) + self.shape[dim % self.ndim "
        "+ 1:])"
    ),
    doc="One dimension split into several; -1 is inferred.",
    example=">>> ag.unflatten(ag.arange(4), 0, (2, 2))\ntensor([[0, 1],\n        [2, 3]])",
)

op(
    "expand(self, size: sizes)",
    options={"implicit: bool = False": "_expand_implicit"},
    kernel=view("shapes.expand_sizes", by_shape=True),
    function=False,
    vjp={"self": "grad"},
    shows={"self_sym_sizes": "self.shape"},
    jvp="linear",
    vmap="expand(_insert_dims(self, len(size)), (B,) + size)",
    samples=[
        one((3, 1), (3, 4)),
        one((3,), (2, 3)),
        one((), (2, 2)),
        one((1, 3), (-1, 3)),
        one((0, 1), (0, 3)),
    ],
    reference="np.broadcast_to(self, tuple(self.shape[i - len(size) + self.ndim] if s == -1 else s "
    "for i, s in enumerate(size)))",
    doc="Dimensions of size 1 repeated without copying; -1 keeps a size.",
    example=">>> ag.tensor([[1], [2]]).expand(2, 3)\ntensor([[1, 1, 1],\n        [2, 2, 2]])",
)

op(
    "_expand_implicit(self, size: sizes, implicit: bool)",
    kernel=composite("expand(self, size)"),
    samples=[one((3, 1), (3, 4), True)],
    reference="np.broadcast_to(self, size)",
    doc="expand; torch takes a word that changes nothing.",
)

op(
    "expand_as(self, other)",
    function=False,
    kernel=composite("expand(self, other.shape)"),
    samples=[sample((arg((3, 1)), arg((3, 4), None, False)))],
    reference="np.broadcast_to(self, other.shape)",
    doc="`self` expanded to the shape of `other`.",
    example=(
        ">>> ag.tensor([[1], [2]]).expand_as(ag.ones(2, 3))\n"
        "tensor([[1, 1, 1],\n"
        "        [2, 2, 2]])"
    ),
)

op(
    "broadcast_to(self, size: sizes)",
    kernel=composite("expand(self, size)"),
    samples=[one((3, 1), (2, 3, 4))],
    reference="np.broadcast_to(self, size)",
    doc="`self` expanded to a shape.",
    example=">>> ag.broadcast_to(ag.tensor([1, 2]), (2, 2))\ntensor([[1, 2],\n        [1, 2]])",
)

op(
    "squeeze(self)",
    kernel=view("shapes.squeeze_all_plain"),
    vjp={"self": "grad.reshape(self.shape)"},
    jvp="linear",
    vmap="squeeze(self, shifted(normal_dims(None, self.ndim - 1)) if self.ndim > 1 else ())",
    samples=[one((3, 1, 4)), one((1,)), one((3,)), one((0, 1))],
    reference="np.squeeze(self)",
    doc="Without the dimensions of size 1.",
    example=">>> ag.squeeze(ag.ones(1, 3, 1)).shape\nautograd_cy.Size([3])",
)

op(
    "squeeze.dim(self, dim: dims)",
    kernel=view("shapes.squeeze_plain", by_shape=True),
    vjp={"self": "grad.reshape(self.shape)"},
    jvp="linear",
    vmap=(
        "squeeze(self, shifted(normal_dims(dim, self.ndim - 1)) if dim != () and self.ndim > 1 "
        "else ())"
    ),
    when="len(args) > 1 or 'dim' in kwargs",
    node="SqueezeBackward1",
    samples=[one((3, 1, 4), 1), one((3, 1), 0), one((1, 3, 1), (0, 2)), one((1, 3), -2)],
    reference=(
        "np.squeeze(self, tuple(d for d in (dim if isinstance(dim, tuple) else (dim,)) "
        "if self.shape[d] == 1))"
    ),
    doc="Without those of the given dimensions that have size 1.",
)

op(
    "unsqueeze(self, dim: int)",
    kernel=view("shapes.unsqueeze_plain", by_shape=True),
    vjp={"self": "grad.reshape(self.shape)"},
    keeps=("dim",),
    jvp="linear",
    vmap="unsqueeze(self, dim + 1 if dim >= 0 else dim)",
    samples=[one((3, 4), 0), one((3, 4), -1), one((), 0), one((3,), 1), one((0,), 1)],
    reference="np.expand_dims(self, dim)",
    doc="A new dimension of size 1.",
    example=">>> ag.unsqueeze(ag.tensor([1, 2]), 1)\ntensor([[1],\n        [2]])",
)

op(
    "_view_each(self, size: sizes)",
    kernel=composite("shape.view_each"),
    doc="view of each example of a batch-first tensor.",
)

op(
    "_reshape_each(self, size: sizes)",
    kernel=composite("shape.reshape_each"),
    doc="reshape of each example of a batch-first tensor.",
)

op(
    "_insert_dims(self, ndim: int)",
    kernel=composite("shape.insert_dims"),
    doc=(
        "A batch-first tensor with dimensions of size 1 after the batch, up to `ndim` logical ones."
    ),
)

op(
    "_trailing_dims(self, ndim: int)",
    kernel=composite("shape.trailing_dims"),
    doc="With dimensions of size 1 appended, up to `ndim`.",
)

op(
    "_alias(self)",
    event="alias",
    kernel=view("shapes.alias_plain"),
    node="AliasBackward0",
    vjp={"self": "grad"},
    jvp="linear",
    vmap="_alias(self)",
    samples=[one((3, 4))],
    reference="self",
    doc="A view of everything.",
)

# --- order of dimensions -----------------------------------------------------------------------

op(
    "transpose(self, dim0: dim, dim1: dim)",
    kernel=view("shapes.transpose_plain"),
    vjp={"self": "grad.transpose(dim0, dim1)"},
    jvp="linear",
    vmap="dims",
    samples=[
        one((3, 4), 0, 1),
        one((2, 3, 4), -1, 0),
        one((0, 3), 0, 1),
        one((3,), 0, 0),
        one((), 0, -1),
    ],
    reference="np.swapaxes(self, dim0, dim1) if self.ndim else self",
    doc="Two dimensions exchanged.",
    example=(
        ">>> ag.transpose(ag.tensor([[1, 2, 3]]), 0, 1)\ntensor([[1],\n        [2],\n        [3]])"
    ),
)

op(
    "swapaxes(self, axis0: dim, axis1: dim)",
    kernel=composite("transpose(self, axis0, axis1)"),
    samples=[one((2, 3, 4), 0, -1)],
    reference="np.swapaxes(self, axis0, axis1)",
    doc="Two dimensions exchanged: transpose by another name.",
    example=">>> ag.swapaxes(ag.ones(2, 3, 4), 0, 2).shape\nautograd_cy.Size([4, 3, 2])",
)

op(
    "swapdims(self, dim0: dim, dim1: dim)",
    kernel=composite("transpose(self, dim0, dim1)"),
    samples=[one((2, 3, 4), 0, -1)],
    reference="np.swapaxes(self, dim0, dim1)",
    doc="Two dimensions exchanged: transpose by another name.",
    example=">>> ag.swapdims(ag.ones(2, 3, 4), 0, 2).shape\nautograd_cy.Size([4, 3, 2])",
)

op(
    "t(self)",
    kernel=composite("_t(_up_to_2d(self))"),
    samples=[one((3, 4)), one((3,)), one(())],
    reference="self.T",
    doc="Transpose of a matrix; fewer dimensions stay.",
    example=">>> ag.t(ag.tensor([[1, 2, 3]]))\ntensor([[1],\n        [2],\n        [3]])",
)

op(
    "_t(self)",
    event="t",
    kernel=view("shapes.t_plain"),
    node="TBackward0",
    vjp={"self": "grad.t()"},
    jvp="linear",
    vmap="transpose(self, 1, 2) if self.ndim == 3 else _alias(self)",
    samples=[one((3, 4)), one((3,)), one(())],
    reference="self.T",
    doc="Transpose of a matrix; fewer dimensions stay.",
)

op(
    "_up_to_2d(self)",
    kernel=composite("shape.up_to_2d"),
    doc="The tensor itself, refused beyond 2 dimensions.",
)

op(
    "permute(self, dims: sizes)",
    kernel=view("shapes.permute_plain", by_shape=True),
    vjp={"self": "grad.permute(inverse_permutation(dims))"},
    jvp="linear",
    vmap="permute(self, (0,) + shifted(normal_dims(dims, self.ndim - 1)))",
    samples=[one((2, 3, 4), (2, 0, 1)), one((2, 3), (-1, 0)), one((0, 3), (1, 0)), one((3,), (0,))],
    reference="np.transpose(self, dims)",
    doc="Dimensions in another order.",
    example=">>> ag.permute(ag.ones(2, 3, 4), (2, 0, 1)).shape\nautograd_cy.Size([4, 2, 3])",
    params={"dims": "The dimensions in their new order."},
)

op(
    "movedim(self, source: dims, destination: dims)",
    kernel=composite("shape.movedim"),
    aliases=("moveaxis",),
    samples=[one((2, 3, 4), 0, 2), one((2, 3, 4), (0, 1), (1, 2)), one((2, 3, 4), -1, 0)],
    reference="np.moveaxis(self, source, destination)",
    doc="Dimensions moved to other places.",
    example=">>> ag.movedim(ag.ones(2, 3, 4), 0, -1).shape\nautograd_cy.Size([3, 4, 2])",
    params={"source": "Where the dimensions are."},
)

# --- strides and windows -----------------------------------------------------------------------

op(
    "as_strided(self, size: ints, stride: ints, storage_offset: int? = None)",
    kernel=view("shapes.as_strided_plain"),
    attrs={"base_stride": "strides_of(self)", "base_offset": "offset_of(self)"},
    vjp={
        "self": "_as_strided_backward(grad, self.shape, base_stride, base_offset, size,"
        " stride, storage_offset)"
    },
    jvp={
        "self": (
            "_as_strided_gather(self_t, self.shape, strides_of(self), offset_of(self), size, "
            "stride, storage_offset)"
        )
    },
    vmap="as_strided(self, (B,) + size, (strides_of(self)[0],) + stride, storage_offset)",
    samples=[one((3, 4), (2, 2), (4, 1)), one((6,), (3, 2), (1, 2), 1)],
    reference=(
        "np.lib.stride_tricks.as_strided(self.ravel()[(storage_offset or 0):], size, [s * "
        "self.itemsize for s in stride])"
    ),
    doc="Any window on the storage, by sizes and strides in elements.",
    example=(
        ">>> ag.as_strided(ag.arange(4), (3, 2), (1, 1))\n"
        "tensor([[0, 1],\n"
        "        [1, 2],\n"
        "        [2, 3]])"
    ),
)

op(
    "_as_strided_backward(grad_output, base_size: sizes, base_stride: ints, base_offset: int, "
    "size: sizes, stride: ints, storage_offset: int?)",
    kernel=call("shapes.as_strided_backward_plain", anywhere=True),
    out=False,
    vjp={
        "grad_output": (
            "_as_strided_gather(grad, base_size, base_stride, base_offset, size, stride, "
            "storage_offset)"
        )
    },
    jvp="linear",
    vmap=by_hand("batching_rules.strided_backward_each"),
    samples=[one((3, 2), (6,), (1,), 0, (3, 2), (1, 2), 1)],
    doc="Gradient of as_strided with respect to its base.",
)

op(
    "_as_strided_gather(self, base_size: sizes, base_stride: ints, base_offset: int, size: sizes, "
    "stride: ints, storage_offset: int?)",
    kernel=call("shapes.as_strided_gather_plain", anywhere=True),
    out=False,
    vjp={
        "self": (
            "_as_strided_backward(grad, base_size, base_stride, base_offset, size, stride, "
            "storage_offset)"
        )
    },
    jvp="linear",
    vmap=by_hand("batching_rules.strided_gather_each"),
    dtypes="biuhfc",
    samples=[one((6,), (6,), (1,), 0, (3, 2), (1, 2), 1)],
    doc="The window's values of a tensor in the geometry of the base.",
)

op(
    "as_strided_scatter(self, src, size: ints, stride: ints, storage_offset: int? = None)",
    method=True,
    kernel=call("shapes.as_strided_scatter_plain", anywhere=True),
    out=False,
    attrs={"base_stride": "strides_of(self)", "base_offset": "offset_of(self)"},
    # The window is one of the memory of `self`, whatever the strides of a gradient or tangent are.
    vjp={
        "self": (
            "where(eq(_as_strided_backward(new_zeros(grad, size) + 1, self.shape, base_stride, "
            "base_offset, size, stride, storage_offset), 0), grad, 0)"
        ),
        "src": (
            "_as_strided_gather(grad, self.shape, base_stride, base_offset, size, stride, "
            "storage_offset)"
        ),
    },
    jvp={
        "self": (
            "where(eq(_as_strided_backward(new_zeros(self_t, size) + 1, self.shape, "
            "strides_of(self), offset_of(self), size, stride, storage_offset), 0), self_t, 0)"
        ),
        "src": (
            "_as_strided_backward(src_t, self.shape, strides_of(self), offset_of(self), size, "
            "stride, storage_offset)"
        ),
    },
    vmap=by_hand("batching_rules.strided_scatter_each"),
    dtypes="biuhfc",
    samples=[sample((arg((3, 4)), arg((2, 2)), (2, 2), (4, 1)))],
    reference=by_test(
        "tests/ops/test_shape_and_indexing.py::test_a_window_of_the_memory_is_written"
    ),
    doc="A copy of `self` in which a window holds `src`.",
    example=(
        ">>> ag.as_strided_scatter(ag.zeros(4), ag.ones(2), (2,), (2,))\ntensor([1., 0., 1., 0.])"
    ),
)

op(
    "_dense_window(self, size: sizes, stride: ints, storage_offset: int?)",
    kernel=composite("shape.dense_window"),
    doc="as_strided on a gradient, counted from its first element.",
)

op(
    "unfold(self, dimension: dim, size: int, step: int)",
    function=False,
    kernel=view("shapes.unfold_plain"),
    vjp={"self": "_unfold_backward(grad, self.shape, dimension, size, step)"},
    jvp="linear",
    vmap="dims",
    samples=[one((7,), 0, 3, 2), one((3, 5), -1, 2, 1), one((4, 3), 0, 4, 1)],
    reference=(
        "np.moveaxis(np.lib.stride_tricks.sliding_window_view(self, size, dimension), dimension, "
        "0)[::step].swapaxes(0, 0) if self.ndim == 1 "
        "else np.moveaxis(np.moveaxis(np.lib.stride_tricks.sliding_window_view(self, size, "
        "dimension), dimension % self.ndim, 0)[::step], 0, dimension % self.ndim)"
    ),
    doc=(
        "Windows of `size` elements, every `step` of them along a dimension, as a view with a "
        "last dimension for the window."
    ),
    example=">>> ag.arange(5).unfold(0, 3, 2)\ntensor([[0, 1, 2],\n        [2, 3, 4]])",
)

op(
    "_unfold_backward(grad_output, sizes: sizes, dimension: int, size: int, step: int)",
    kernel=call("shapes.unfold_backward_plain", anywhere=True),
    out=False,
    vjp={"grad_output": "unfold(grad, dimension, size, step)"},
    jvp="linear",
    vmap=(
        "_unfold_backward(grad_output, (B,) + sizes, normal_dim(dimension, len(sizes)) + 1, size, "
        "step) if len(sizes) > 0 else sum(grad_output, 1)"
    ),
    samples=[one((3, 3), (7,), 0, 3, 2), one((3, 4, 2), (3, 5), 1, 2, 1)],
    doc="The windows of unfold added up where they came from.",
)

# --- diagonals and triangles -------------------------------------------------------------------

op(
    "diagonal(self, offset: int = 0, dim1: dim = 0, dim2: dim = 1)",
    kernel=view("shapes.diagonal_plain"),
    vjp={"self": "_diagonal_backward(grad, self.shape, offset, dim1, dim2)"},
    jvp="linear",
    vmap="dims",
    samples=[one((3, 4)), one((3, 4), 1), one((2, 3, 4), -1, 0, 2), one((3, 3), 5)],
    reference="np.diagonal(self, offset, dim1, dim2)",
    doc="Diagonal of two dimensions, as last dimension.",
    example=">>> ag.diagonal(ag.tensor([[1, 2], [3, 4]]))\ntensor([1, 4])",
)

op(
    "_diagonal_backward(grad_output, size: sizes, offset: int, dim1: int, dim2: int)",
    kernel=call("shapes.diagonal_backward_plain", anywhere=True),
    out=False,
    vjp={"grad_output": "grad.diagonal(offset, dim1, dim2)"},
    jvp="linear",
    vmap=(
        "_diagonal_backward(grad_output, (B,) + size, offset, normal_dim(dim1, len(size)) + 1, "
        "normal_dim(dim2, len(size)) + 1)"
    ),
    samples=[one((3,), (3, 4), 0, 0, 1), one((3, 2), (2, 3, 4), 0, 0, -1)],
    dtypes="biuhfc",
    doc="Zeros of `size` with `grad_output` on the diagonal.",
)

op(
    "diag(self, diagonal: int = 0)",
    kernel=composite("shape.diag", into=True),
    out="exact",
    samples=[one((3,)), one((3,), 1), one((3, 4)), one((3, 4), -1)],
    reference="np.diag(self, diagonal)",
    doc="The matrix with a vector as diagonal, or the diagonal of a matrix.",
    example=">>> ag.diag(ag.tensor([1, 2]))\ntensor([[1, 0],\n        [0, 2]])",
)

op(
    "diag_embed(self, offset: int = 0, dim1: int = -2, dim2: int = -1)",
    kernel=composite("shape.diag_embed"),
    samples=[one((2, 3)), one((3,), -1)],
    reference=by_test("tests/ops/test_shape_and_indexing.py::test_diag_embed_and_its_inverse"),
    doc="Matrices with the vectors of the last dimension as diagonals.",
    example=">>> ag.diag_embed(ag.tensor([[1, 2]]))\ntensor([[[1, 0],\n         [0, 2]]])",
)

op(
    "diagflat(self, offset: int = 0)",
    kernel=composite("diag(reshape(self, (-1,)), offset)"),
    samples=[one((2, 2)), one((3,), 1)],
    reference="np.diagflat(self, offset)",
    doc="The matrix with all elements on a diagonal.",
    example=">>> ag.diagflat(ag.tensor([[1], [2]]))\ntensor([[1, 0],\n        [0, 2]])",
)

for _name, _doc in (
    ("tril", "Lower triangle; zeros above diagonal `diagonal`."),
    ("triu", "Upper triangle; zeros below diagonal `diagonal`."),
):
    op(
        f"{_name}(self, diagonal: int = 0)",
        out="exact",
        dtypes="biuhfc",
        kernel=call(f"indexing.{_name}", shape="rules_indexing.triangle(self)", over="self"),
        inplace=True,
        vjp={"self": f"{_name}(grad, diagonal)"},
        jvp="linear",
        vmap=f"{_name}(self, diagonal)",
        samples=[sample((arg((3, 4)),)), sample((arg((3, 3)), 1)), sample((arg((2, 3, 3)), -1))],
        reference=f"np.{_name}(self, diagonal)",
        doc=_doc,
        example={
            "tril": ">>> ag.tril(ag.tensor([[1, 2], [3, 4]]))\ntensor([[1, 0],\n        [3, 4]])",
            "triu": ">>> ag.triu(ag.tensor([[1, 2], [3, 4]]))\ntensor([[1, 2],\n        [0, 4]])",
        }[_name],
    )

# --- order of elements -------------------------------------------------------------------------

op(
    "flip(self, dims: sizes)",
    kernel=call("shapes.flip", shape="rules_common.reversed_dims(self, dims)"),
    out=False,
    vjp={"self": "flip(grad, dims)"},
    jvp="linear",
    vmap=(
        "flip(self, shifted(normal_dims(dims, self.ndim - 1)) if len(dims) > 0 and self.ndim > 1 "
        "else ())"
    ),
    dtypes="biuhfc",
    samples=[one((3, 4), (0,)), one((3, 4), (0, -1)), one((5,), (0,)), one((0, 3), (0,))],
    reference="np.flip(self, dims)",
    doc="A copy with the order of elements reversed along dimensions.",
    example=">>> ag.flip(ag.tensor([1, 2, 3]), (0,))\ntensor([3, 2, 1])",
    params={"dims": "The dimensions to turn round."},
)

op(
    "fliplr(self)",
    kernel=composite("shape.fliplr"),
    samples=[one((3, 4))],
    reference="np.fliplr(self)",
    doc="flip of the second dimension.",
    example=">>> ag.fliplr(ag.tensor([[1, 2, 3]]))\ntensor([[3, 2, 1]])",
)

op(
    "flipud(self)",
    kernel=composite("shape.flipud"),
    samples=[one((3, 4))],
    reference="np.flipud(self)",
    doc="flip of the first dimension.",
    example=">>> ag.flipud(ag.tensor([1, 2, 3]))\ntensor([3, 2, 1])",
)

op(
    "rot90(self, k: int = 1, dims: ints = (0, 1))",
    kernel=composite("shape.rot90"),
    samples=[one((3, 4)), one((2, 3, 4), 3, (1, 2)), one((3, 2), 2)],
    reference="np.rot90(self, k, dims)",
    doc="Rotated by `k` quarter turns in the plane of two dimensions.",
    example=">>> ag.rot90(ag.tensor([[1, 2], [3, 4]]))\ntensor([[2, 4],\n        [1, 3]])",
    params={"k": "The number of quarter turns.", "dims": "The two dimensions of the plane."},
)

op(
    "roll(self, shifts: sizes, dims: sizes? = ())",
    kernel=composite("shape.roll"),
    samples=[one((3, 4), 1, 0), one((3, 4), (1, -2), (0, 1)), one((5,), 7), one((2, 3), -1)],
    reference="np.roll(self, shifts, dims if dims != () else None)",
    doc="Elements moved along dimensions, those beyond the end to the front.",
    example=">>> ag.roll(ag.tensor([1, 2, 3]), 1)\ntensor([3, 1, 2])",
    params={"dims": "The dimensions; none for all elements in their order."},
)

# --- repeating ---------------------------------------------------------------------------------

op(
    "repeat(self, repeats: sizes)",
    function=False,
    kernel=composite("shape.repeat"),
    samples=[one((3,), (2, 2)), one((2, 3), (1, 2)), one((), (3,))],
    reference="np.tile(self, repeats)",
    doc="Copies side by side: `repeats` times along each dimension.",
    example=">>> ag.tensor([1, 2]).repeat(2)\ntensor([1, 2, 1, 2])",
)

op(
    "tile(self, dims: sizes)",
    kernel=composite("shape.tile"),
    samples=[one((3,), (2, 2)), one((2, 3), (2,))],
    reference="np.tile(self, dims)",
    doc="repeat, where missing leading numbers are 1.",
    example=">>> ag.tile(ag.tensor([1, 2]), (2,))\ntensor([1, 2, 1, 2])",
    params={"dims": "How often, along each dimension."},
)

op(
    "repeat_interleave(self, repeats: int | Tensor, dim: dim? = None, *, output_size: int? = None)",
    kernel=composite("shape.repeat_interleave"),
    samples=[one((3, 2), 2), one((3, 2), 2, 0)],
    reference="np.repeat(self, repeats, dim)",
    doc=(
        "Each element (or slice along `dim`) repeated, a number of times of its own if `repeats` "
        "is a tensor."
    ),
    example=">>> ag.repeat_interleave(ag.tensor([1, 2]), 2)\ntensor([1, 1, 2, 2])",
)

op(
    "repeat_interleave.counts(repeats, *, output_size: int? = None)",
    kernel=composite("shape.repeat_counts"),
    method=False,
    when=(
        "len(args) + ('input' in kwargs) + ('self' in kwargs) + ('repeats' in kwargs) == 1 and "
        "not ('input' in kwargs or 'self' in kwargs)"
    ),
    samples=[],
    dtypes="i",
    reference=by_test("tests/tensor/test_combining.py::test_numbers_repeated_by_counts"),
    doc="Each number from 0 on, as often as `repeats` says.",
)
