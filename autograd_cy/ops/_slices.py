"""The records of slices, and of writing to them, for the family indexing."""

from autograd_cy.ops._schema import arg, by_test, call, composite, one, op, sample, view

op(
    "select(self, dim: dim, index: int)",
    kernel=view("shapes.select_plain", by_shape=True),
    vjp={"self": "_select_backward(grad, self.shape, dim, index)"},
    jvp="linear",
    vmap="dims",
    samples=[one((3, 4), 0, 1), one((3, 4), -1, -2), one((2, 3, 4), 1, 0)],
    reference="np.take(self, index, dim)",
    doc="One slice along a dimension, which goes away.",
    example=">>> ag.select(ag.tensor([[1, 2], [3, 4]]), 0, 1)\ntensor([3, 4])",
    raises={"IndexError": "The index is out of range."},
)

op(
    "_select_backward(grad_output, size: sizes, dim: int, index: int)",
    event="select_backward",
    kernel=call("shapes.select_backward_plain", anywhere=True),
    out=False,
    vjp={"grad_output": "grad.select(dim, index)"},
    jvp="linear",
    vmap="_select_backward(grad_output, (B,) + size, normal_dim(dim, len(size)) + 1, index)",
    dtypes="biuhfc",
    samples=[one((4,), (3, 4), 0, 1), one((2, 3), (2, 3, 4), -1, -2)],
    doc="Zeros of `size` with `grad_output` at one index.",
)

op(
    "diagonal_scatter(self, src, offset: int = 0, dim1: dim = 0, dim2: dim = 1)",
    kernel=composite("indexing.diagonal_scatter"),
    samples=[sample((arg((3, 4)), arg((3,)))), sample((arg((3, 3)), arg((2,)), 1))],
    reference=by_test(
        "tests/ops/test_shape_and_indexing.py::test_scattered_slices_leave_their_arguments_alone"
    ),
    doc="A copy of `self` whose diagonal is `src`.",
    example=(
        ">>> ag.diagonal_scatter(ag.zeros(2, 2), ag.tensor([1.0, 2.0]))\n"
        "tensor([[1., 0.],\n"
        "        [0., 2.]])"
    ),
)

op(
    "select_scatter(self, src, dim: dim, index: int)",
    kernel=composite("indexing.select_scatter"),
    samples=[sample((arg((3, 4)), arg((4,)), 0, 1)), sample((arg((3, 4)), arg((3,)), -1, -1))],
    reference=by_test(
        "tests/ops/test_shape_and_indexing.py::test_scattered_slices_leave_their_arguments_alone"
    ),
    doc="A copy of `self` whose slice at `index` is `src`.",
    example=(
        ">>> ag.select_scatter(ag.zeros(2, 2), ag.tensor([1.0, 2.0]), 0, 1)\n"
        "tensor([[0., 0.],\n"
        "        [1., 2.]])"
    ),
)

op(
    "slice(self, dim: dim = 0, start: int? = None, end: int? = None, step: int = 1)",
    kernel=view("shapes.slice_plain"),
    function=False,
    method=False,
    vjp={"self": "_slice_backward(grad, self.shape, dim, start, end, step)"},
    jvp="linear",
    vmap="dims",
    samples=[
        one((5, 4), 0, 1, 4),
        one((5,), 0, None, None, 2),
        one((5, 4), 1, -2),
        one((3,), 0, 2, 1),
    ],
    reference=(
        "self[(builtins.slice(None),) * (dim % self.ndim) + (builtins.slice(start, end, step),)]"
    ),
    doc="Every `step`-th element from `start` to `end` along a dimension.",
)

op(
    "_slice_backward(grad_output, size: sizes, dim: dim, start: int?, end: int?, step: int)",
    event="slice_backward",
    kernel=call("shapes.slice_backward_plain", anywhere=True),
    out=False,
    vjp={"grad_output": "slice(grad, dim, start, end, step)"},
    jvp="linear",
    vmap=(
        "_slice_backward(grad_output, (B,) + size, normal_dim(dim, len(size)) + 1, start, end, "
        "step)"
    ),
    dtypes="biuhfc",
    samples=[one((3, 4), (5, 4), 0, 1, 4, 1), one((3,), (5,), 0, None, None, 2)],
    doc="Zeros of `size` with `grad_output` in the slice.",
)

op(
    "slice_scatter(self, src, dim: dim = 0, start: int? = None, end: int? = None, step: int = 1)",
    kernel=composite("indexing.slice_scatter"),
    out="exact",
    samples=[sample((arg((5, 2)), arg((2, 2)), 0, 1, 4, 2)), sample((arg((4,)), arg((3,)), 0, 1))],
    reference=by_test(
        "tests/ops/test_shape_and_indexing.py::test_scattered_slices_leave_their_arguments_alone"
    ),
    doc="A copy of `self` in which a range along a dimension is `src`.",
    example=(
        ">>> ag.slice_scatter(ag.zeros(4), ag.tensor([1.0, 2.0]), 0, 1, 3)\n"
        "tensor([0., 1., 2., 0.])"
    ),
)

op(
    "narrow(self, dim: dim, start: start, length: int)",
    kernel=view("shapes.narrow_plain", by_shape=True),
    node="SliceBackward0",
    vjp={
        "self": (
            "_slice_backward(grad, self.shape, dim, start if start >= 0 else start + "
            "self.shape[dim], (start if start >= 0 else start + self.shape[dim]) + length, 1)"
        )
    },
    shows={
        "start": "start % self_sym_sizes[dim] if start else 0",
        "step": "1",
        "end": "(start % self_sym_sizes[dim] if start else 0) + length",
    },
    jvp="linear",
    vmap="dims",
    samples=[
        one((5, 4), 0, 1, 3),
        one((5,), -1, 2, 0),
        one((3, 4), 1, -3, 2),
        one((3, 4), 1, -3, 3),
    ],
    reference=(
        "np.take(self, range(start % max(self.shape[dim], 1), start % max(self.shape[dim], 1) "
        "+ length), dim)"
    ),
    doc="`length` elements from `start` along a dimension.",
    example=">>> ag.narrow(ag.arange(6), 0, 2, 3)\ntensor([2, 3, 4])",
)

op(
    "narrow_copy(self, dim: dim, start: int, length: int)",
    kernel=composite("clone(narrow(self, dim, start, length), 0)"),
    out="exact",
    samples=[one((5, 4), 0, 1, 3)],
    reference="np.take(self, range(start, start + length), dim)",
    doc="narrow in new memory.",
    example=">>> ag.narrow_copy(ag.arange(6), 0, 2, 3)\ntensor([2, 3, 4])",
)
