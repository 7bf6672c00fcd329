"""Older names of functions of linear algebra."""

from autograd_cy.ops._schema import arg, by_test, composite, error, one, op, sample

LOADED = "at first use"

op(
    "qr(self, some: bool = True) -> (Q, R)",
    tier="interpreted",
    kernel=composite("older.qr"),
    autocast="float32",
    samples=[],
    dtypes="fc",
    reference=by_test("tests/ops/test_decompositions.py::test_the_older_qr_warns"),
    errors=(error(sample((arg((3,)),)), RuntimeError, "must have at least 2 dimensions"),),
    params={"some": "False: the complete Q, with as many columns as rows."},
    doc="The older name of :func:`linalg.qr`; it warns.",
    example=(
        ">>> import warnings\n"
        ">>> with warnings.catch_warnings():\n"
        '...     warnings.simplefilter("ignore")\n'
        "...     ag.qr(ag.tensor([[3.0], [4.0]])).R.abs()\n"
        "tensor([[5.]])"
    ),
)

op(
    "pinverse(self, rcond: float = 1e-15)",
    tier="interpreted",
    kernel=composite("older.pinverse"),
    samples=[one((3, 2)), one((2, 3), 1e-3)],
    dtypes="fc",
    tolerance=1e-3,
    reference="np.linalg.pinv(self, rcond)",
    errors=(error(sample((arg((3,)),)), RuntimeError, "expected a tensor with 2 or more"),),
    params={"rcond": "Singular values up to this part of the largest one count as 0."},
    doc="The older name of :func:`linalg.pinv`.",
    example=">>> ag.pinverse(ag.tensor([[2.0]]))\ntensor([[0.5000]])",
)

op(
    "svd(self, some: bool = True, compute_uv: bool = True) -> (U, S, V)",
    tier="interpreted",
    kernel=composite("older.svd"),
    autocast="float32",
    samples=[],
    dtypes="fc",
    reference=by_test("tests/ops/test_decompositions.py::test_the_older_svd_gives_v"),
    errors=(error(sample((arg((3,)),)), RuntimeError, "must have at least 2 dimensions"),),
    params={
        "some": "False: complete U and V, whose columns are a basis.",
        "compute_uv": "False: zeros in place of U and V, which are complete then.",
    },
    doc=(
        "The older form of :func:`linalg.svd`, ``self = U @ diag(S) @ V.mH``: the result has V, "
        "not its adjoint."
    ),
    example=">>> ag.svd(ag.tensor([[3.0, 0.0], [0.0, 4.0]])).S\ntensor([4., 3.])",
)
