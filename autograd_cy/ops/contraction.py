"""Scalar products of vectors and of the rows of tensors, and distances of points."""

from autograd_cy.ops._schema import (
    arg,
    by_test,
    composite,
    error,
    host,
    loop,
    op,
    sample,
    shapes,
)

HERE = "tests/ops/test_contraction.py::"

# --- scalar products -----------------------------------------------------------------------------

op(
    "inner(self, other)",
    tier="interpreted",
    kernel=composite("contraction.inner", into=True),
    out="exact",
    tolerance=1e-4,
    autocast="lower",
    samples=shapes(((4,), (4,)), ((2, 3), (4, 3)), ((2, 3), ()), ((), (3,)), ((2, 2, 3), (3,))),
    dtypes="ihfc",
    reference="np.inner(self, other)",
    errors=(
        error(
            sample((arg((2, 3)), arg((2, 4)))),
            RuntimeError,
            "the last dimension must match on both input tensors",
        ),
    ),
    raises={"RuntimeError": "The last dimensions differ."},
    params={"other": "The second operand."},
    doc="Scalar products of the rows (the last dimension) of two tensors; nothing is conjugated.",
    example=">>> ag.inner(ag.tensor([1, 2]), ag.tensor([[3, 4], [5, 6]]))\ntensor([11, 17])",
)

# --- distances -----------------------------------------------------------------------------------

op(
    "dist(self, other, p: Scalar = 2)",
    tier="interpreted",
    kernel=composite("contraction.dist"),
    tolerance=1e-4,
    samples=[
        *shapes(((3, 4), (3, 4)), ((3, 1), (4,))),
        sample((arg((5,)), arg((5,)), 1.0)),
        sample((arg((5,)), arg((5,)), 3.0)),
    ],
    dtypes="hfc",
    reference="np.linalg.norm((self - other).ravel(), p)",
    doc="The norm of a difference.",
    example=">>> ag.dist(ag.tensor([3.0, 0.0]), ag.tensor([0.0, 4.0]))\ntensor(5.)",
)

op(
    "cdist(x1, x2, p: float = 2.0, compute_mode: str? = 'use_mm_for_euclid_dist_if_necessary')",
    tier="interpreted",
    method=False,
    autocast="float32",
    kernel=composite("contraction.cdist"),
    tolerance=1e-4,
    dtypes="f",
    samples=[sample((arg((3, 2)), arg((4, 2)), p)) for p in (2.0, 1.0, 3.0, 1.5, float("inf"))]
    + [
        sample((arg((2, 3, 2)), arg((4, 2)))),
        sample((arg((0, 2)), arg((4, 2)))),
        sample((arg((2, 1, 3, 2)), arg((3, 4, 2)), 1.0)),
    ],
    reference=by_test(HERE + "test_distances_are_norms_of_differences"),
    params={
        "x1": "Points, in the last dimension.",
        "x2": "Points of as many coordinates.",
        "p": "The order of the norm.",
        "compute_mode": "Of torch; whether squares are computed by a product of matrices.",
    },
    errors=(
        error(
            sample((arg((3, 2)), arg((4, 3)))),
            RuntimeError,
            "X1 and X2 must have the same number of columns",
        ),
        error(sample((arg((3, 2)), arg((4, 2)), -1.0)), RuntimeError, "non-negative p values"),
        error(sample((arg((3,)), arg((3,)))), RuntimeError, "at least 2D tensors, X1 got: 1D"),
        error(
            sample((arg((3, 2)), arg((4, 2)), 2.0, "x")),
            ValueError,
            "x is not a valid value for compute_mode",
        ),
    ),
    raises={
        "RuntimeError": "The points have different numbers of coordinates, or `p` is negative."
    },
    doc="Distances of all points of one set from all of another, for each of a batch of such sets.",
    example=(
        ">>> ag.cdist(ag.tensor([[0.0, 0.0]]), ag.tensor([[3.0, 4.0], [0.0, 1.0]]))\n"
        "tensor([[5., 1.]])"
    ),
)

op(
    "_cdist(x1, x2, p: float)",
    tier="interpreted",
    shown_as="cdist",
    event="_cdist_forward",
    kernel=host("contraction.cdist"),
    node="CdistBackward0",
    out=False,
    vjp={
        "x1": "_cdist_backward(grad, x1, x2, p, result)",
        "x2": "_cdist_backward(transpose(grad, -1, -2), x2, x1, p, transpose(result, -1, -2))",
    },
    jvp={
        "x1": "_cdist_jvp(x1_t, x1, x2, p, result)",
        "x2": "transpose(_cdist_jvp(x2_t, x2, x1, p, transpose(result, -1, -2)), -1, -2)",
    },
    vmap=loop("the examples have batches of their own"),
    dtypes="f",
    doc="cdist of sets with equal batches.",
)

op(
    "_cdist_backward(grad, x1, x2, p: float, result)",
    tier="interpreted",
    kernel=composite("contraction.cdist_backward"),
    doc="Gradient of cdist with respect to the first points.",
)

op(
    "_cdist_jvp(tangent, x1, x2, p: float, result)",
    tier="interpreted",
    kernel=composite("contraction.cdist_jvp"),
    doc="Tangent of cdist by the first points.",
)

op(
    "pdist(self, p: float = 2.0)",
    tier="interpreted",
    also=("nn.functional",),
    method=False,
    kernel=composite("contraction.pdist"),
    tolerance=1e-4,
    samples=[
        sample((arg((4, 3)),)),
        sample((arg((4, 3)), 1.0)),
        sample((arg((3, 2)), 3.0)),
        sample((arg((1, 2)),)),
        sample((arg((0, 2)),)),
    ],
    dtypes="f",
    reference=(
        "np.array([np.linalg.norm(self[i] - self[j], p) for i in range(len(self)) for j "
        "in range(i + 1, len(self))], self.dtype)"
    ),
    params={"p": "The order of the norm."},
    errors=(
        error(sample((arg((3,)),)), RuntimeError, "pdist only supports 2D tensors, got: 1D"),
        error(
            sample((arg((3, 2)), -1.0)), RuntimeError, "pdist only supports non-negative p values"
        ),
    ),
    doc="Distances of all pairs of rows, the first row's first.",
    example=(
        ">>> ag.pdist(ag.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))\n"
        "tensor([5.0000, 1.0000, 4.2426])"
    ),
)
