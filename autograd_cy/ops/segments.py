"""Reductions of segments of a dimension."""

from autograd_cy.ops._schema import arg, composite, error, fixed, integers, op, sample

LOADED = "at first use"

op(
    "segment_reduce(data, reduce: str, *, lengths: Tensor? = None, indices: Tensor? = None, "
    "offsets: Tensor? = None, axis: int = 0, unsafe: bool = False, initial: float? = None)",
    tier="interpreted",
    method=False,
    kernel=composite("segments.segment_reduce"),
    samples=[
        sample((arg((4,)), word), {"lengths": fixed((2,), integers(2, 3))})
        for word in ("sum", "mean", "max", "min", "prod")
    ]
    + [
        sample((arg((6, 2)), "sum"), {"lengths": fixed((3,), integers(2, 3)), "initial": 1.0}),
        sample((arg((2, 4)), "mean"), {"lengths": fixed((2, 2), integers(2, 3)), "axis": 1}),
    ],
    dtypes="hf",
    reference=(
        "(lambda x, f: np.stack([f(part) for part in np.split(x, len(lengths), 0)]) if not axis "
        "else np.stack([[f(part) for part in np.split(row, lengths.shape[1])] for row in x]))"
        "(data, lambda part: {'sum': np.sum, 'mean': np.mean, 'max': np.max, 'min': np.min, "
        "'prod': np.prod}[reduce](part, 0) + (0 if initial is None else initial))"
    ),
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
    errors=(error(sample((arg((3,)), "sum")), RuntimeError, "Either lengths or offsets must be"),),
    doc=(
        "Reductions of segments of a dimension, which follow each other; an empty one gives "
        "`initial`, or 0, 1, NaN or an infinity."
    ),
    example=(
        ">>> ag.segment_reduce(ag.tensor([1.0, 2.0, 5.0]), 'sum', lengths=ag.tensor([2, 1]))\n"
        "tensor([3., 5.])"
    ),
)
