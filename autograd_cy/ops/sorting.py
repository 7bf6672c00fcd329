"""Sorting, places in sorted rows, members and unique elements."""

from autograd_cy.ops._schema import (
    INDEX,
    arg,
    by_test,
    call,
    composite,
    integers,
    loop,
    nondiff,
    one,
    op,
    refuse,
    sample,
)

LOADED = "at first use"

OWN_ROWS = loop("the examples have rows of their own")
DYNAMIC = (
    "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap "
    "over {}; the examples would have different sizes."
)

# --- sorting -----------------------------------------------------------------------------------

op(
    "sort(self, dim: dim = -1, descending: bool = False, *, stable: bool? = False) -> (values, "
    "indices)",
    kernel=call("indexing.sort", shape="rules_indexing.sorted_like(self, dim)"),
    nondiff_outputs=("indices",),
    vjp={"self": "scatter_add(new_zeros(grad_values, self.shape), dim, indices, grad_values)"},
    jvp={"values": {"self": "gather(self_t, dim, indices)"}},
    vmap="dims",
    samples=[sample((arg((3, 4)),)), sample((arg((3, 4)), 0)), sample((arg((5,)), 0))],
    dtypes="biuhf",
    refusal={"c": "Sort does not support complex dtypes on CPU"},
    reference="(np.sort(self, axis=dim), np.argsort(self, axis=dim, kind='stable'))",
    doc="Elements in order along a dimension, and where they were.",
    example=(
        ">>> ag.sort(ag.tensor([3, 1, 2]))\n"
        "autograd_cy.return_types.sort(\n"
        "values=tensor([1, 2, 3]),\n"
        "indices=tensor([1, 2, 0]))"
    ),
)

op(
    "topk(self, k: int, dim: dim = -1, largest: bool = True, sorted: bool = True) -> (values, "
    "indices)",
    kernel=call("indexing.topk", shape="rules_indexing.topk(self, k, dim)"),
    nondiff_outputs=("indices",),
    vjp={"self": "scatter_add(new_zeros(grad_values, self.shape), dim, indices, grad_values)"},
    jvp={"values": {"self": "gather(self_t, dim, indices)"}},
    vmap="dims",
    samples=[one((3, 4), 2), one((3, 4), 1, 0), one((5,), 3, 0, False)],
    dtypes="ihf",
    refusal={
        "b": "topk does not support bool dtypes on CPU",
        "c": "topk does not support complex dtypes on CPU",
    },
    reference=by_test("tests/ops/test_shape_and_indexing.py::test_topk"),
    doc="The `k` largest (or smallest) elements along a dimension, in order, and their indices.",
    example=(
        ">>> ag.topk(ag.tensor([3, 1, 2]), 2)\n"
        "autograd_cy.return_types.topk(\n"
        "values=tensor([3, 2]),\n"
        "indices=tensor([0, 2]))"
    ),
)

op(
    "argsort(self, dim: dim = -1, descending: bool = False, *, stable: bool = False)",
    kernel=composite("sort(self, dim, descending, stable)[1]"),
    out=True,
    samples=[one((3, 4)), one((5,), 0)],
    dtypes="bihf",
    reference="np.argsort(self, axis=dim, kind='stable')",
    doc="Indices that sort along a dimension.",
    example=">>> ag.argsort(ag.tensor([3, 1, 2]))\ntensor([1, 2, 0])",
)

op(
    "msort(self)",
    kernel=composite("sort(self, 0, False, False)[0]"),
    out="exact",
    samples=[one((3, 4)), one((5,)), one(())],
    dtypes="bihf",
    reference="np.sort(self, 0) if self.ndim else self",
    doc="Elements in order along the first dimension.",
    example=">>> ag.msort(ag.tensor([[3, 1], [2, 4]]))\ntensor([[2, 1],\n        [3, 4]])",
)

op(
    "kthvalue(self, k: int, dim: dim = -1, keepdim: bool = False) -> (values, indices)",
    kernel=call("indexing.kthvalue", shape="rules_indexing.kth_along(self, k, dim, keepdim)"),
    nondiff_outputs=("indices",),
    vjp={"self": "_put_reduced(grad_values, self.shape, dim, indices, keepdim)"},
    jvp={"values": {"self": "_take_reduced(self_t, dim, indices, keepdim)"}},
    vmap="dims",
    samples=[
        one((3, 4), 2),
        one((3, 4), 3, 0, True),
        one((5,), 1),
        one((2, 3, 40), 2, -1),
        one((), 1),
    ],
    dtypes="ihf",
    reference=(
        "tuple(np.take(x, [k - 1], dim) if keepdim else np.take(x, k - 1, dim) for x in "
        "(np.sort(self, dim), np.argsort(self, dim, kind='stable'))) if self.ndim else (self, "
        "np.zeros((), int))"
    ),
    doc=(
        "The `k`-th smallest element along a dimension, and its index: the first of equal ones "
        "counts first, NaN is the largest."
    ),
    example=(
        ">>> ag.kthvalue(ag.tensor([3, 1, 2]), 2)\n"
        "autograd_cy.return_types.kthvalue(\n"
        "values=tensor(2),\n"
        "indices=tensor(2))"
    ),
)

# --- places and members ------------------------------------------------------------------------

op(
    "searchsorted(sorted_sequence, input: operand, *, out_int32: bool = False, "
    "right: bool = False, side: str? = None, sorter: Tensor? = None)",
    out="exact",
    kernel=call(
        "indexing.searchsorted",
        shape="rules_indexing.searchsorted(sorted_sequence, input, out_int32, right, side, sorter)",
    ),
    method=False,
    vjp=nondiff(INDEX),
    vmap=OWN_ROWS,
    samples=[
        sample((arg((5,), integers(0, 1)), arg((2, 3)))),
        sample((arg((2, 5), integers(1, 2)), arg((2, 3))), {"right": True}),
    ],
    dtypes="ihf",
    reference="np.searchsorted(sorted_sequence.ravel()[:5], input, 'right' if right else 'left')",
    doc=(
        "Find where values belong in sorted rows: before equal elements, or behind with `right` "
        '(``side="right"``). The last dimension has the rows; `sorter` orders rows that aren\'t '
        "sorted."
    ),
    example=">>> ag.searchsorted(ag.tensor([1, 3, 5]), ag.tensor([3, 6]))\ntensor([1, 3])",
)

op(
    "bucketize(input: operand, boundaries, *, out_int32: bool = False, right: bool = False)",
    out="exact",
    kernel=call(
        "indexing.bucketize", shape="rules_indexing.buckets(input, boundaries, out_int32, right)"
    ),
    method=False,
    vjp=nondiff(INDEX),
    vmap=OWN_ROWS,
    samples=[sample((arg((2, 3)), arg((5,), integers(0, 1))))],
    dtypes="ihf",
    reference="np.searchsorted(boundaries, input)",
    doc="The number of the bucket between sorted boundaries that each element is in.",
    example=">>> ag.bucketize(ag.tensor([1, 5]), ag.tensor([0, 2, 4]))\ntensor([1, 3])",
)

op(
    "isin(elements: operand, test_elements: operand, *, assume_unique: bool = False, "
    "invert: bool = False)",
    out="exact",
    kernel=call("indexing.isin", shape="rules_indexing.members(elements, test_elements)"),
    method=False,
    vjp=nondiff("the result is a truth value"),
    vmap=OWN_ROWS,
    samples=[
        sample((arg((3, 4), integers(0, 5)), arg((4,), integers(0, 5)))),
        sample((arg((3, 4), integers(0, 5)), 2), {"invert": True}),
        sample((1, arg((3,), integers(0, 5)))),
    ],
    dtypes="iuhf",
    refusal="elements must be real numbers",
    reference="np.isin(elements, test_elements, invert=invert)",
    doc=(
        "Tell whether each element is one of `test_elements`; either may be a number. NaN is no "
        "element of anything."
    ),
    example=">>> ag.isin(ag.tensor([1, 2, 3]), ag.tensor([1, 3]))\ntensor([ True, False,  True])",
)

# --- unique elements ---------------------------------------------------------------------------

for _name, _signature, _shown, _shape, _count in (
    (
        "unique",
        "_unique2(self, sorted: bool, return_inverse: bool, return_counts: bool)",
        "_unique2",
        "different(self, return_inverse, return_counts, sizes)",
        "count_unique",
    ),
    (
        "unique_dim",
        "_unique_dim(self, dim: int, sorted: bool, return_inverse: bool, return_counts: bool)",
        "unique_dim",
        "different_slices(self, dim, sizes)",
        "count_unique_dim",
    ),
    (
        "unique_consecutive",
        "_unique_consecutive(self, return_inverse: bool, return_counts: bool, dim: object)",
        "unique_consecutive",
        "different_runs(self, return_inverse, return_counts, dim, sizes)",
        "count_runs",
    ),
):
    op(
        f"{_signature} -> (values, inverse, counts)",
        kernel=call(
            f"indexing.{_name}", shape=f"rules_indexing.{_shape}", sized=f"indexing.{_count}"
        ),
        nondiff_outputs=("inverse", "counts"),
        shown_as=_name,
        event=_shown,
        vjp={"self": f"_not_implemented(grad_values, '{_shown}')"},
        jvp={"values": {"self": f"_not_forward(self_t, '{_shown}')"}},
        vmap=refuse(DYNAMIC.format(_shown)),
        dtypes="biuhf",
        doc=(
            "Elements (or slices) that occur, the place of each element among them, how often "
            "they do."
        ),
    )
