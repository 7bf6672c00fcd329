"""Reading and writing by index tensors.

Records of slices, masks and reductions at indices are of this family, too.
"""

from autograd_cy.ops import _masks, _reductions_at_indices, _slices  # noqa: F401  add records
from autograd_cy.ops._schema import (
    arg,
    by_hand,
    by_test,
    call,
    composite,
    error,
    fixed,
    host,
    integers,
    loop,
    nondiff,
    op,
    real,
    refuse,
    sample,
)

op(
    "index_select(self, dim: dim, index)",
    out="exact",
    kernel=call(
        "indexing.index_select",
        shape="rules_indexing.selected(self, dim, index)",
        from_host=("index",),
    ),
    vjp={"self": "index_add(new_zeros(grad, self.shape), dim, index, grad)"},
    jvp={"self": "index_select(self_t, dim, index)"},
    vmap=by_hand("batching_rules.index_select_each"),
    dtypes="biuhfc",
    samples=[
        sample((arg((3, 4)), 0, arg((5,), integers(0, 3), False))),
        sample((arg((3, 4)), -1, arg((2,), integers(0, 4), False))),
        sample((arg((3,)), 0, arg((0,), integers(0, 1), False))),
    ],
    reference="np.take(self, index, dim)",
    doc="The slices with the given indices along a dimension.",
    example=(
        ">>> ag.index_select(ag.tensor([[1, 2], [3, 4]]), 1, ag.tensor([1, 1, 0]))\n"
        "tensor([[2, 2, 1],\n"
        "        [4, 4, 3]])"
    ),
    raises={"IndexError": "An index is out of range."},
)

op(
    "index_add(self, dim: dim, index, source)",
    alpha=True,
    kernel=call(
        "indexing.index_add",
        shape="rules_indexing.rows_added(self, dim, index, source)",
        over="self",
        places=True,
    ),
    inplace=True,
    out="exact",
    vjp={"self": "grad", "source": "index_select(grad, dim, index)"},
    shows={"alpha": "1", "source_dim": "source.ndim"},
    jvp={"self": "self_t", "source": "index_add(zeros_like(self), dim, index, source_t)"},
    vmap=by_hand("batching_rules.index_add_each"),
    samples=[
        sample((arg((3, 4)), 0, arg((5,), integers(0, 3), False), arg((5, 4)))),
        sample((arg((3, 4)), 1, arg((2,), integers(0, 4), False), arg((3, 2)))),
    ],
    reference=by_test("tests/kernels/test_indexing.py::test_index_add"),
    tolerance=1e-4,
    doc="`source` added to the slices with the given indices; repeated indices add up.",
    example=(
        ">>> ag.index_add(ag.zeros(3), 0, ag.tensor([0, 2, 0]), ag.tensor([1.0, 2.0, 3.0]))\n"
        "tensor([4., 0., 2.])"
    ),
)

op(
    "index_copy(self, dim: dim, index, source)",
    kernel=composite("scatter(self, dim, _index_copy_places(self, dim, index, source), source)"),
    inplace=True,
    out="exact",
    autocast="widest",
    samples=[sample((arg((3, 4)), 0, fixed((1,), integers(0, 3)), arg((1, 4))))],
    reference=by_test("tests/ops/test_shape_and_indexing.py::test_index_copy_and_index_fill"),
    doc="A copy of `self` whose slices with the given indices are those of `source`.",
    example=(
        ">>> ag.index_copy(ag.zeros(3), 0, ag.tensor([2, 0]), ag.tensor([1.0, 2.0]))\n"
        "tensor([2., 0., 1.])"
    ),
)

op(
    "_index_copy_places(self, dim: dim, index, source)",
    kernel=composite("indexing.index_copy_places"),
    doc="The index of scatter that puts each slice of `source` where `index` says.",
)

op(
    "index_fill(self, dim: dim, index, value: operand)",
    kernel=composite(
        "_fill_where(self, _index_fill_mask(self, dim, index, value), _like(value, self))"
    ),
    inplace=True,
    samples=[
        sample((arg((3, 4)), 0, fixed((2,), integers(0, 3)), 2.0)),
        sample((arg((3, 4)), -1, fixed((1,), integers(0, 4)), 1)),
    ],
    reference=by_test("tests/ops/test_shape_and_indexing.py::test_index_copy_and_index_fill"),
    dtypes="hfc",
    doc="A copy of `self` whose slices with the given indices are `value`.",
    example=">>> ag.index_fill(ag.zeros(3), 0, ag.tensor([2, 0]), 5)\ntensor([5., 0., 5.])",
)

op(
    "_index_fill_mask(self, dim: dim, index, value)",
    kernel=composite("indexing.index_fill_mask"),
    doc="The mask of the elements that index_fill writes.",
)

op(
    "take(self, index)",
    kernel=composite("indexing.take", into=True),
    out="exact",
    samples=[sample((arg((3, 4)), fixed((2, 2), integers(0, 12))))],
    reference="np.take(self, index)",
    doc="Elements of the flattened tensor.",
    example=">>> ag.take(ag.tensor([[1, 2], [3, 4]]), ag.tensor([3, 0]))\ntensor([4, 1])",
    raises={"IndexError": "An index is out of range."},
)

op(
    "put(self, index, source, accumulate: bool = False)",
    tier="interpreted",
    kernel=host("indexing.put", "first"),
    checks="written",
    out=False,
    inplace=True,
    vjp={
        "self": "grad if accumulate else put(grad, index, zeros_like(source), False)",
        "source": "reshape(take(grad, index), source.shape)",
    },
    jvp={
        "self": "self_t if accumulate else put(self_t, index, zeros_like(source), False)",
        "source": "put(zeros_like(self), index, source_t, accumulate)",
    },
    vmap=loop("the places are those of the flattened example"),
    dtypes="bihfc",
    samples=[
        sample((arg((3, 4)), fixed((3,), integers(-12, -9)), arg((3,)), True)),
        sample((arg((3, 4)), fixed((2, 1), integers(3, 5)), arg((1, 2)), True)),
        sample((arg((5,)), fixed((1,), integers(1, 4)), arg(()))),
    ],
    reference=by_test("tests/ops/test_shape_and_indexing.py::test_put_writes_and_adds"),
    doc=(
        "A copy of `self` with the elements of `source` written (or added) at the places that "
        "`index` has in the flattened tensor."
    ),
    example=(
        ">>> ag.zeros(2, 2).put(ag.tensor([0, -1]), ag.tensor([1.0, 2.0]))\n"
        "tensor([[1., 0.],\n"
        "        [0., 2.]])"
    ),
    raises={
        "IndexError": (
            "An index is out of range, or there are more or fewer of them than elements of "
            "`source`."
        )
    },
)

op(
    "gather(self, dim: dim, index)",
    out="exact",
    options={"sparse_grad: bool = False": "_gather_sparse"},
    kernel=call(
        "indexing.gather", shape="rules_indexing.gathered(self, dim, index)", from_host=("index",)
    ),
    vjp={"self": "scatter_add(new_zeros(grad, self.shape), dim, index, grad)"},
    shows={"sparse_grad": "False"},
    jvp={"self": "gather(self_t, dim, index)"},
    vmap=(
        "gather(self, dim + 1, index) if self.ndim > 1 else (gather(unsqueeze(self, 1), 1, "
        "unsqueeze(index, 1)).reshape(index.shape) if index.ndim == 1 else gather(unsqueeze(self, "
        "1), 1, index))"
    ),
    dtypes="biuhfc",
    samples=[
        sample((arg((3, 4)), 0, arg((2, 4), integers(0, 3), False))),
        sample((arg((3, 4)), -1, arg((3, 2), integers(0, 4), False))),
    ],
    reference="np.take_along_axis(self, index, dim)",
    doc="One element per index along a dimension.",
    example=(
        ">>> ag.gather(ag.tensor([[1, 2], [3, 4]]), 1, ag.tensor([[1], [0]]))\n"
        "tensor([[2],\n"
        "        [3]])"
    ),
    raises={"RuntimeError": "An index is out of range."},
)

op(
    "take_along_dim(self, indices, dim: dim? = None)",
    tier="interpreted",
    kernel=composite("indexing.take_along_dim", into=True),
    out="exact",
    samples=[
        sample((arg((3, 4)), arg((3, 1), integers(0, 4), False), 1)),
        sample((arg((3, 4)), arg((2, 4), integers(0, 3), False), 0)),
        sample((arg((1, 4)), arg((3, 2), integers(0, 4), False), -1)),
        sample((arg((3, 4)), arg((5,), integers(0, 12), False))),
    ],
    reference=(
        "np.take(self, indices) if dim is None else np.take_along_axis(np.broadcast_to(self, "
        "[n if d == dim % self.ndim else max(n, m) for d, (n, m) in enumerate(zip(self.shape, "
        "indices.shape))]), np.broadcast_to(indices, [m if d == dim % self.ndim else max(n, m) "
        "for d, (n, m) in enumerate(zip(self.shape, indices.shape))]), dim)"
    ),
    errors=(
        error(sample((arg((3,)), arg((3,)), 0)), RuntimeError, "dtype of indices should be Long"),
    ),
    params={"indices": "Indices along the dimension; the other dimensions broadcast."},
    raises={"RuntimeError": "The indices have another number of dimensions."},
    doc=(
        "The elements at indices along a dimension, as `argsort` or `argmax` with "
        "``keepdim=True`` give them; without `dim`, of the flattened tensor."
    ),
    example=(
        ">>> ag.take_along_dim(ag.tensor([[10, 30, 20]]), ag.tensor([[1]]), dim=1)\ntensor([[30]])"
    ),
)

op(
    "_gather_sparse(self, dim: dim, index, sparse_grad: bool)",
    kernel=composite("indexing.gather_sparse"),
    out="exact",
    doc="gather with a choice of the gradient's layout, of which there is one.",
)

op(
    "scatter_add(self, dim: dim, index, src)",
    kernel=call(
        "indexing.scatter_add",
        shape="rules_indexing.scattered(self, dim, index, src)",
        from_host=("index", "src"),
        over="self",
        places=True,
    ),
    inplace=True,
    out="exact",
    vjp={"self": "grad", "src": "_pad_corner(gather(grad, dim, index), src.shape)"},
    jvp={"self": "self_t", "src": "scatter_add(zeros_like(self), dim, index, src_t)"},
    vmap="scatter_add(self, dim + 1, index, src) if self.ndim > 1 else "
    "scatter_add(unsqueeze(self, 1), 1, unsqueeze(index, 1) if index.ndim == 1 else index, "
    "unsqueeze(src, 1) if src.ndim == 1 else src).reshape(self.shape)",
    samples=[
        sample((arg((3, 4)), 0, arg((2, 4), integers(0, 3), False), arg((2, 4)))),
        sample((arg((3, 4)), 1, arg((3, 2), integers(0, 4), False), arg((3, 2)))),
    ],
    reference=by_test("tests/kernels/test_indexing.py::test_gather_and_scatter"),
    tolerance=1e-4,
    doc="`src` added at the indices along a dimension; repeated indices add up.",
    example=(
        ">>> ag.scatter_add(ag.zeros(3), 0, ag.tensor([0, 2, 0]), ag.tensor([1.0, 2.0, 3.0]))\n"
        "tensor([4., 0., 2.])"
    ),
)

op(
    "scatter.src(self, dim: dim, index, src)",
    options={"reduce: str? = None": "_scatter_by"},
    kernel=call(
        "indexing.scatter",
        shape="rules_indexing.scattered(self, dim, index, src)",
        from_host=("index", "src"),
        over="self",
        places=True,
    ),
    inplace=True,
    out="exact",
    node="ScatterBackward0",
    variants={"ScatterBackward1": "is_number(src)"},
    plain_numbers=("src",),
    vjp={
        "self": "_scatter_zero(grad, dim, index)",
        "src": "_pad_corner(gather(grad, dim, index), src.shape)",
    },
    jvp="linear",
    vmap="scatter(self, dim + 1, index, src) if self.ndim > 1 else "
    "scatter(unsqueeze(self, 1), 1, unsqueeze(index, 1) if index.ndim == 1 else index, "
    "unsqueeze(src, 1) if src.ndim == 1 else src).reshape(self.shape)",
    when="'src' in kwargs or (len(args) > 3 and isinstance(args[3], Tensor))",
    dtypes="biuhfc",
    samples=[sample((arg((3, 4)), 1, arg((3, 1), integers(0, 4), False), arg((3, 1))))],
    reference=by_test(
        "tests/ops/test_shape_and_indexing.py::test_scatter_in_place_with_tensors_and_numbers"
    ),
    doc="`src` (or a number) written at the indices along a dimension.",
    example=(
        ">>> ag.scatter(ag.zeros(3), 0, ag.tensor([2, 0]), ag.tensor([1.0, 2.0]))\n"
        "tensor([2., 0., 1.])"
    ),
)

op(
    "scatter(self, dim: dim, index, value: operand)",
    options={"reduce: str? = None": "_scatter_by"},
    kernel=composite("scatter(self, dim, index, _at_each(value, self, index))"),
    inplace=True,
    out="exact",
    dtypes="biuhfc",
    samples=[sample((arg((3, 4)), 1, arg((3, 1), integers(0, 4), False), 2.0))],
    reference=by_test(
        "tests/ops/test_shape_and_indexing.py::test_scatter_in_place_with_tensors_and_numbers"
    ),
    doc="A number written at the indices along a dimension.",
)

op(
    "_scatter_by(self, dim: dim, index, src: operand, reduce: str)",
    kernel=composite("indexing.scatter_by", into=True),
    inplace=True,
    out="exact",
    shown_as="scatter",
    doc="scatter that adds to what is there or multiplies it.",
)

op(
    "_at_each(self, other, index)",
    kernel=composite("indexing.at_each"),
    doc="A number of the dtype of `other`, for each index.",
)

op(
    "_scatter_zero(self, dim: int, index)",
    kernel=composite("scatter(self, dim, index, _at_each(0, self, index))"),
    doc="Zeros written at the indices along a dimension.",
)

op(
    "_pad_corner(self, size: object)",
    kernel=composite("indexing.pad_corner"),
    doc="Zeros of a shape with `self` in the leading corner.",
)

op(
    "_index(self, indices: indices)",
    shown_as="index",
    kernel=call(
        "indexing.index_elements",
        shape="rules_indexing.indexed(self, indices, sizes)",
        from_host=("indices",),
        sized="indexing.count_masks",
    ),
    out="exact",
    node="IndexBackward0",
    vjp={"self": "_index_put(new_zeros(grad, self.shape), indices, grad, True)"},
    jvp={"self": "_index(self_t, indices)"},
    vmap=by_hand("batching_rules.index_each"),
    dtypes="biuhfc",
    doc="Advanced indexing by a tuple of None, int64 and bool tensors.",
)

op(
    "_index_put(self, indices: indices, values, accumulate: bool)",
    shown_as="index_put",
    kernel=call(
        "indexing.put_elements",
        shape="rules_indexing.index_put(self, indices, values, accumulate, sizes)",
        over="self",
        places=True,
        from_host=("indices",),
        sized="indexing.count_put",
        shortcut="special.put_number",
    ),
    out=False,
    inplace=True,
    node="IndexPutBackward0",
    vjp={
        "self": "grad if accumulate else _index_put(grad, indices, new_zeros(grad, ()), False)",
        "values": "_index(grad, indices)",
    },
    jvp={
        "self": (
            "self_t if accumulate else _index_put(self_t, indices, new_zeros(self_t, ()), False)"
        ),
        "values": "_index_put(zeros_like(self), indices, values_t, accumulate)",
    },
    vmap=by_hand("batching_rules.index_put_each"),
    dtypes="biuhfc",
    doc="A copy with `values` written (or added) at advanced indices.",
)

op(
    "index_put(self, indices: indices, values, accumulate: bool = False)",
    kernel=composite("indexing.index_put"),
    samples=[],
    reference=by_test("tests/ops/test_shape_and_indexing.py::test_index_put_writes_and_adds"),
    doc=(
        "A copy of `self` with `values` written (or added) at the places that a tuple of index "
        "tensors gives."
    ),
    example=(
        ">>> ag.index_put(ag.zeros(3), (ag.tensor([0, 2]),), ag.tensor([1.0, 2.0]))\n"
        "tensor([1., 0., 2.])"
    ),
)

op(
    "_like(self, other)",
    kernel=composite("indexing.value_like"),
    doc="A value as 0-d tensor of another tensor's dtype.",
)

# --- counts and classes ------------------------------------------------------------------------

op(
    "_repeated_places(repeats, output_size: int? = None)",
    shown_as="repeat_interleave",
    out=False,
    kernel=call(
        "indexing.repeated_places",
        shape="rules_indexing.bins(repeats, sizes)",
        sized="indexing.count_repeats",
    ),
    vjp=nondiff("the result is indices"),
    vmap=refuse(
        "vmap: repeat_interleave is not possible with batched repeats: the examples would have "
        "different sizes"
    ),
    doc="The place of each count, as often as it says.",
)

op(
    "_bincount(self, minlength: int)",
    shown_as="bincount",
    out=False,
    kernel=call(
        "indexing.bincount", shape="rules_indexing.bins(self, sizes)", sized="indexing.count_bins"
    ),
    vjp=nondiff("the result is counts"),
    vmap=refuse(
        "vmap: We do not support batching operators that can output dynamic shape. Attempted to "
        "vmap over bincount; use one_hot() with num_classes, and sum() instead."
    ),
    dtypes="i",
    doc="Count how often each number from 0 to the largest occurs.",
)

op(
    "bincount(self, weights: Tensor? = None, minlength: int = 0)",
    tier="interpreted",
    kernel=composite("indexing.bincount"),
    dtypes="i",
    reference=by_test("tests/tensor/test_python_methods.py::test_bincount"),
    doc=(
        "Count how often each number from 0 to the largest occurs, or sum its `weights`.\n"
        "The result has at least `minlength` elements. Weights have gradients; in torch they have "
        "none."
    ),
    params={
        "weights": "What each number counts; 1 without them.",
        "minlength": "The least number of elements of the result.",
    },
    example=">>> ag.bincount(ag.tensor([0, 2, 2]))\ntensor([1, 0, 2])",
)

op(
    "_checked_values(self, low: int, high: int, fault: int)",
    out=False,
    dtypes="ihf",
    kernel=call("checked_values.checked_values", shape="rules_common.same(self)"),
    vjp=nondiff("what is checked is detached, or has no derivative"),
    vmap="elementwise",
    samples=[sample((arg((3, 4)), 0, 0, 18)), sample((arg((4,)), 0, 0, 18))],
    domain=real(0.5, 4),
    reference="self.copy()",
    doc=(
        "`self`, whose elements are at least `low` and below `high`; others are the error of that "
        "number in faults.pxd."
    ),
)

op(
    "one_hot(self, num_classes: int = -1)",
    namespace="nn.functional",
    tier="interpreted",
    kernel=composite("indexing.one_hot"),
    dtypes="i",
    reference=by_test("tests/tensor/test_python_methods.py::test_one_hot_vectors"),
    doc="For each class number a vector that is 1 there and 0 elsewhere, in a new last dimension.\n"
    "Without `num_classes` there are as many classes as the largest number asks for.",
    example=(
        ">>> ag.nn.functional.one_hot(ag.tensor([0, 2]))\ntensor([[1, 0, 0],\n        [0, 0, 1]])"
    ),
)
