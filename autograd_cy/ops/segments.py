"""Reductions of segments of a dimension."""

from autograd_cy.ops._schema import arg, by_test, composite, error, op, sample

LOADED = "at first use"

op(
    "segment_reduce(data, reduce: str, *, lengths: Tensor? = None, indices: Tensor? = None, "
    "offsets: Tensor? = None, axis: int = 0, unsafe: bool = False, initial: float? = None)",
    tier="interpreted",
    method=False,
    kernel=composite("segments.segment_reduce"),
    samples=[],
    dtypes="hf",
    reference=by_test("tests/ops/test_integration.py::test_segments_follow_each_other"),
    params={
        "data": "The elements.",
        "reduce": "``'sum'``, ``'mean'``, ``'max'``, ``'min'`` or ``'prod'``.",
        "lengths": "How long each segment is, along the last dimension of `lengths`.",
        "indices": "Not implemented, as in torch.",
        "offsets": "Where each segment begins, and where the last one ends.",
        "axis": "The dimension of the segments, the last one of `lengths`.",
        "unsafe": "Take lengths that don't add up to the whole dimension.",
        "initial": "The value with which each segment begins.",
    },
    errors=(
        error(sample((arg((3,)), "sum")), RuntimeError, "Either lengths or offsets must be"),
        error(sample((arg((3,)), "middle")), RuntimeError, "reduce argument must be either"),
    ),
    doc=(
        "Reductions of segments of a dimension, which follow each other; an empty one gives "
        "`initial`, or 0, 1, NaN or an infinity."
    ),
    example=(
        ">>> ag.segment_reduce(ag.tensor([1.0, 2.0, 5.0]), 'sum', lengths=ag.tensor([2, 1]))\n"
        "tensor([3., 5.])"
    ),
)
