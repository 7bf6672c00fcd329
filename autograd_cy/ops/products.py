"""Products of vectors and matrices."""

from autograd_cy.ops._schema import arg, call, composite, error, op, sample, shapes

# --- products ----------------------------------------------------------------------------------

op(
    "mm(self, mat2)",
    flops="2 * self[0] * self[1] * mat2[1]",
    out="exact",
    kernel=call("products.mm", shape="rules_products.mm(self, mat2)", conjugates=("self", "mat2")),
    autocast="lower",
    vjp={"self": "mm(grad, mat2.t().conj())", "mat2": "mm(self.t().conj(), grad)"},
    jvp="each",
    shows={
        "self_sym_sizes": "self.shape",
        "self_sym_strides": "self.stride()",
        "mat2_sym_sizes": "mat2.shape",
        "mat2_sym_strides": "mat2.stride()",
    },
    vmap={"self": "matmul(self, mat2)", ("self", "mat2"): "bmm(self, mat2)"},
    samples=shapes(((3, 4), (4, 2)), ((1, 3), (3, 1)), ((0, 3), (3, 2)), ((2, 0), (0, 3))),
    dtypes="ihfc",
    reference="self @ mat2",
    tolerance=1e-4,
    doc="Product of two matrices.",
    example=(
        ">>> ag.mm(ag.tensor([[1, 2], [3, 4]]), ag.tensor([[1, 0], [1, 1]]))\n"
        "tensor([[3, 2],\n"
        "        [7, 4]])"
    ),
    raises={"RuntimeError": "The shapes don't fit."},
)

op(
    "bmm(self, mat2)",
    flops="2 * self[0] * self[1] * self[2] * mat2[2]",
    out="exact",
    kernel=call(
        "products.bmm", shape="rules_products.bmm(self, mat2)", conjugates=("self", "mat2")
    ),
    autocast="lower",
    vjp={
        "self": "bmm(grad, mat2.transpose(1, 2).conj())",
        "mat2": "bmm(self.transpose(1, 2).conj(), grad)",
    },
    jvp="each",
    vmap="_unmerge_batch(bmm(flatten(self, 0, 1), flatten(mat2, 0, 1)), B, self.shape[1])",
    samples=shapes(((2, 3, 4), (2, 4, 2)), ((0, 2, 3), (0, 3, 1)), ((1, 1, 1), (1, 1, 1))),
    dtypes="ihfc",
    reference="self @ mat2",
    tolerance=1e-4,
    doc="Products of two batches of matrices.",
    example=">>> ag.bmm(ag.tensor([[[1, 2]]]), ag.tensor([[[3], [4]]]))\ntensor([[[11]]])",
)

op(
    "_unmerge_batch(self, size: int, rows: int)",
    kernel=composite("products.unmerge_batch"),
    doc="The first dimension split into `size` and `rows`.",
)

op(
    "dot(self, tensor)",
    flops="2 * self[0]",
    out="exact",
    kernel=call(
        "products.dot", shape="rules_products.dot(self, tensor)", conjugates=("self", "tensor")
    ),
    vjp={"self": "grad * tensor.conj()", "tensor": "grad * self.conj()"},
    jvp="each",
    vmap="sum(self * tensor, 1, False)",
    samples=shapes(((4,), (4,)), ((0,), (0,))),
    dtypes="ihfc",
    reference="np.dot(self, tensor)",
    tolerance=1e-4,
    doc="Scalar product of two vectors (nothing is conjugated).",
    example=">>> ag.dot(ag.tensor([1, 2]), ag.tensor([3, 4]))\ntensor(11)",
)

op(
    "vdot(self, other)",
    flops="2 * self[0]",
    out="exact",
    kernel=call(
        "products.vdot", shape="rules_products.vdot(self, other)", conjugates=("self", "other")
    ),
    vjp={"self": "grad.conj() * other", "other": "grad * self"},
    jvp="each",
    vmap="sum(self.conj() * other, 1, False)",
    samples=shapes(((4,), (4,)), ((0,), (0,))),
    dtypes="ihfc",
    reference="np.vdot(self, other)",
    tolerance=1e-4,
    params={"other": "The second vector."},
    raises={"RuntimeError": "The sizes differ."},
    errors=(
        error(sample((arg((3,)), arg((2,)))), RuntimeError, "inconsistent tensor size"),
        error(sample((arg((3, 1)), arg((3,)))), RuntimeError, "1D tensors expected"),
    ),
    doc="Scalar product of two vectors, of which the first is conjugated.",
    example=">>> ag.vdot(ag.tensor([1j, 2]), ag.tensor([1j, 1]))\ntensor(3.+0.j)",
)

op(
    "mv(self, vec)",
    flops="2 * self[0] * self[1]",
    out="exact",
    kernel=call("products.mv", shape="rules_products.mv(self, vec)", conjugates=("self", "vec")),
    vjp={"self": "_outer(grad, vec.conj())", "vec": "mv(self.t().conj(), grad)"},
    jvp="each",
    vmap={
        "self": "matmul(self, vec)",
        "vec": "mm(vec, self.t())",
        ("self", "vec"): "squeeze(bmm(self, unsqueeze(vec, 2)), 2)",
    },
    samples=shapes(((3, 4), (4,)), ((0, 3), (3,)), ((2, 0), (0,))),
    dtypes="ihfc",
    reference="self @ vec",
    tolerance=1e-4,
    doc="Matrix times vector.",
    example=">>> ag.mv(ag.tensor([[1, 2], [3, 4]]), ag.tensor([1, 1]))\ntensor([3, 7])",
)

op(
    "_outer(self, vec)",
    event="outer",
    kernel=composite("unsqueeze(self, -1) * vec"),
    doc="Outer product of two vectors.",
)

op(
    "matmul(self, other)",
    kernel=composite("products.matmul", into=True),
    out="exact",
    dunder="matmul",
    autocast="lower",
    samples=shapes(
        ((3, 4), (4, 2)),
        ((4,), (4,)),
        ((3, 4), (4,)),
        ((3,), (3, 2)),
        ((2, 3, 4), (4, 2)),
        ((2, 1, 3, 4), (5, 4, 2)),
        ((2, 3, 4), (4,)),
        ((4,), (2, 4, 3)),
    ),
    dtypes="ihfc",
    reference="np.matmul(self, other)",
    tolerance=1e-4,
    doc="Matrix product with broadcasting batches, as ``@``.",
    example=">>> ag.matmul(ag.tensor([[1, 2], [3, 4]]), ag.tensor([1, 1]))\ntensor([3, 7])",
    raises={"RuntimeError": "The shapes don't fit."},
)

op(
    "outer(self, vec2)",
    kernel=composite("products.outer", into=True),
    out=True,
    samples=shapes(((3,), (4,))),
    reference="np.outer(self, vec2)",
    aliases=("ger",),
    doc="Outer product of two vectors.",
    example=">>> ag.outer(ag.tensor([1, 2]), ag.tensor([3, 4]))\ntensor([[3, 4],\n        [6, 8]])",
)

op(
    "kron(self, other)",
    kernel=composite("products.kron", into=True),
    out=True,
    samples=shapes(((2, 3), (3, 2)), ((2,), (2, 2))),
    reference="np.kron(self, other)",
    doc="Kronecker product.",
    example=">>> ag.kron(ag.tensor([1, 2]), ag.tensor([1, 10]))\ntensor([ 1, 10,  2, 20])",
)

op(
    "cross(self, other, dim: dim? = None)",
    kernel=composite("products.cross", into=True),
    out="exact",
    dtypes="ihfc",
    samples=[*shapes(((2, 3), (2, 3))), sample((arg((3, 2)), arg((3, 2)), 0))],
    reference="np.cross(self, other, axis=1 if dim is None else dim)",
    doc="Vector product along a dimension of size 3, by default the first one.",
    example=">>> ag.cross(ag.tensor([1, 0, 0]), ag.tensor([0, 1, 0]))\ntensor([0, 0, 1])",
)

# --- products with sums ------------------------------------------------------------------------

op(
    "addmm(self, mat1, mat2, *, beta: Scalar = 1, alpha: Scalar = 1)",
    flops="2 * mat1[0] * mat1[1] * mat2[1]",
    out="exact",
    kernel=call(
        "products.addmm",
        shape="rules_products.addmm(self, mat1, mat2)",
        over="self",
        conjugates=("mat1", "mat2"),
    ),
    inplace=True,
    autocast="lower",
    vjp={
        "self": "grad * beta.conj()",
        "mat1": "mm(grad, mat2.t().conj()) * alpha.conj()",
        "mat2": "mm(mat1.t().conj(), grad) * alpha.conj()",
    },
    shows={
        "mat1_sym_sizes": "mat1.shape",
        "mat1_sym_strides": "mat1.stride()",
        "mat2_sym_sizes": "mat2.shape",
        "mat2_sym_strides": "mat2.stride()",
    },
    jvp={
        "self": "self_t * beta",
        "mat1": "mm(mat1_t, mat2) * alpha",
        "mat2": "mm(mat1, mat2_t) * alpha",
    },
    vmap="_batched_addmm(self, mat1, mat2, beta, alpha)",
    samples=[
        *shapes(((3, 2), (3, 4), (4, 2)), ((2,), (3, 4), (4, 2)), ((), (2, 3), (3, 2))),
        sample((arg((3, 2)), arg((3, 4)), arg((4, 2))), {"beta": 0.5, "alpha": -2.0}),
    ],
    checks="factors",
    dtypes="ihfc",
    reference="beta * self + alpha * (mat1 @ mat2)",
    tolerance=1e-4,
    doc="``beta * self + alpha * (mat1 @ mat2)``.",
    example=(
        ">>> ag.addmm(ag.ones(1, 1), ag.tensor([[1.0, 2.0]]), ag.tensor([[3.0], [4.0]]), "
        "alpha=10)\n"
        "tensor([[111.]])"
    ),
)

op(
    "spmm(self, mat2)",
    event="autograd_cy::spmm",
    tier="interpreted",
    method=False,
    out="exact",
    kernel=composite("mm(self, mat2)"),
    samples=shapes(((3, 4), (4, 2))),
    dtypes="ihfc",
    reference="self @ mat2",
    tolerance=1e-4,
    raises={"RuntimeError": "The shapes don't fit."},
    doc="Another name of :func:`mm`, as programs have it for a sparse matrix times a dense one.",
    example=">>> ag.spmm(ag.tensor([[2]]), ag.tensor([[3]]))\ntensor([[6]])",
)

op(
    "_batched_addmm(self, mat1, mat2, beta: Scalar, alpha: Scalar)",
    kernel=composite("products.batched_addmm"),
    doc="addmm of batches.",
)

op(
    "addmv(self, mat, vec, *, beta: Scalar = 1, alpha: Scalar = 1)",
    flops="2 * mat[0] * mat[1]",
    out="exact",
    inplace=True,
    dtypes="ihfc",
    kernel=call(
        "products.addmv",
        shape="rules_products.addmv(self, mat, vec)",
        over="self",
        conjugates=("mat", "vec"),
    ),
    checks="factors",
    vjp={
        "self": "grad * beta.conj()",
        "mat": "_outer(grad, vec.conj()) * alpha.conj()",
        "vec": "mv(mat.t().conj(), grad) * alpha.conj()",
    },
    jvp={"self": "self_t * beta", "mat": "mv(mat_t, vec) * alpha", "vec": "mv(mat, vec_t) * alpha"},
    vmap="_batched_addmv(self, mat, vec, beta, alpha)",
    samples=[
        *shapes(
            ((3,), (3, 4), (4,)), ((), (2, 3), (3,)), ((0,), (0, 3), (3,)), ((2,), (2, 0), (0,))
        ),
        sample((arg((3,)), arg((3, 4)), arg((4,))), {"beta": 0.5, "alpha": -2.0}),
    ],
    reference="beta * self + alpha * (mat @ vec)",
    tolerance=1e-4,
    doc="``beta * self + alpha * (mat @ vec)``.",
    example=(
        ">>> ag.addmv(ag.ones(1), ag.tensor([[1.0, 2.0]]), ag.tensor([3.0, 4.0]))\ntensor([12.])"
    ),
)

op(
    "_batched_addmv(self, mat, vec, beta: Scalar, alpha: Scalar)",
    kernel=composite("products.batched_addmv"),
    doc="addmv of batches.",
)

op(
    "addr(self, vec1, vec2, *, beta: Scalar = 1, alpha: Scalar = 1)",
    kernel=composite("products.addr", into=True),
    out=True,
    inplace=True,
    samples=shapes(((3, 4), (3,), (4,))),
    reference="self + np.outer(vec1, vec2)",
    doc="``beta * self + alpha * outer(vec1, vec2)``.",
    example=(
        ">>> ag.addr(ag.ones(2, 2), ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]))\n"
        "tensor([[4., 5.],\n"
        "        [7., 9.]])"
    ),
)

op(
    "baddbmm(self, batch1, batch2, *, beta: Scalar = 1, alpha: Scalar = 1)",
    flops="2 * batch1[0] * batch1[1] * batch1[2] * batch2[2]",
    out="exact",
    inplace=True,
    dtypes="ihfc",
    autocast="lower",
    kernel=call(
        "products.baddbmm",
        shape="rules_products.baddbmm(self, batch1, batch2)",
        over="self",
        conjugates=("batch1", "batch2"),
    ),
    checks="factors",
    vjp={
        "self": "grad * beta.conj()",
        "batch1": "bmm(grad, batch2.transpose(1, 2).conj()) * alpha.conj()",
        "batch2": "bmm(batch1.transpose(1, 2).conj(), grad) * alpha.conj()",
    },
    jvp={
        "self": "self_t * beta",
        "batch1": "bmm(batch1_t, batch2) * alpha",
        "batch2": "bmm(batch1, batch2_t) * alpha",
    },
    vmap="_batched_baddbmm(self, batch1, batch2, beta, alpha)",
    samples=[
        *shapes(
            ((2, 3, 2), (2, 3, 4), (2, 4, 2)),
            ((3, 1), (2, 3, 4), (2, 4, 2)),
            ((2,), (0, 3, 4), (0, 4, 2)),
        ),
        sample((arg((2, 3, 2)), arg((2, 3, 4)), arg((2, 4, 2))), {"beta": 0.5, "alpha": -2.0}),
    ],
    reference="beta * self + alpha * (batch1 @ batch2)",
    tolerance=1e-4,
    doc="``beta * self + alpha * bmm(batch1, batch2)``.",
    example=(
        ">>> ag.baddbmm(ag.ones(1, 1, 1), ag.tensor([[[1.0, 2.0]]]), "
        "ag.tensor([[[3.0], [4.0]]]))\n"
        "tensor([[[12.]]])"
    ),
)

op(
    "_batched_baddbmm(self, batch1, batch2, beta: Scalar, alpha: Scalar)",
    kernel=composite("products.batched_baddbmm"),
    doc="baddbmm of batches.",
)

op(
    "addbmm(self, batch1, batch2, *, beta: Scalar = 1, alpha: Scalar = 1)",
    flops="2 * batch1[0] * batch1[1] * batch1[2] * batch2[2]",
    out="exact",
    inplace=True,
    dtypes="ihfc",
    autocast="lower",
    kernel=call(
        "products.addbmm",
        shape="rules_products.addbmm(self, batch1, batch2)",
        over="self",
        conjugates=("batch1", "batch2"),
    ),
    checks="factors",
    vjp={
        "self": "grad * beta.conj()",
        "batch1": "matmul(grad, batch2.transpose(1, 2).conj()) * alpha.conj()",
        "batch2": "matmul(batch1.transpose(1, 2).conj(), grad) * alpha.conj()",
    },
    shows={
        "batch1_sym_argsize_0": "batch1.size(0)",
        "batch1_sym_argsize_1": "batch1.size(1)",
        "batch2_sym_argsize_2": "batch2.size(2)",
    },
    jvp={
        "self": "self_t * beta",
        "batch1": "sum(bmm(batch1_t, batch2), 0) * alpha",
        "batch2": "sum(bmm(batch1, batch2_t), 0) * alpha",
    },
    vmap="_batched_addbmm(self, batch1, batch2, beta, alpha)",
    samples=[
        *shapes(
            ((3, 2), (2, 3, 4), (2, 4, 2)),
            ((2,), (2, 3, 4), (2, 4, 2)),
            ((3, 2), (0, 3, 4), (0, 4, 2)),
        ),
        sample((arg((3, 2)), arg((2, 3, 4)), arg((2, 4, 2))), {"beta": 0.5, "alpha": -2.0}),
    ],
    reference="beta * self + alpha * (batch1 @ batch2).sum(0)",
    tolerance=1e-4,
    doc="``beta * self + alpha * sum of bmm(batch1, batch2)`` over the batch.",
    example=">>> ag.addbmm(ag.ones(1, 1), ag.ones(3, 1, 2), ag.ones(3, 2, 1))\ntensor([[7.]])",
)

op(
    "_batched_addbmm(self, batch1, batch2, beta: Scalar, alpha: Scalar)",
    kernel=composite("products.batched_addbmm"),
    doc="addbmm of batches.",
)
