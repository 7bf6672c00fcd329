"""Decompositions, inverses and solutions of linear systems: LAPACK by NumPy.

Derivatives of the inverse, of solutions and of the Cholesky factor: M. Giles, "Collected matrix
derivative results for forward and reverse mode algorithmic differentiation" (2008); of the singular
value decomposition: J. Townsend, "Differentiating the singular value decomposition" (2016), Z.-Q.
Wan, S.-X. Zhang, "Automatic differentiation for complex valued SVD" (2019).
"""

from autograd_cy.ops._schema import arg, by_test, composite, error, host, op, sample, shapes

LOADED = "at first use"

HERE = "tests/ops/test_interpreted.py::"
SQUARE = ((3, 3),), ((2, 2, 2),), ((1, 1),), ((0, 2, 2),)
NOT_SQUARE = error(sample((arg((2, 3)),)), RuntimeError, "must be batches of square matrices")
DRIVER = {"driver": "None; others choose among routines of GPUs."}
VECTOR = error(sample((arg((3,)),)), RuntimeError, "must have at least 2 dimensions")

op(
    "inv(A)",
    out="exact",
    namespace="linalg",
    tier="interpreted",
    kernel=host("linalg.inv"),
    checks="square",
    aliases=("inverse",),
    autocast="float32",
    vjp={"A": "-matmul(adjoint(result), matmul(grad, adjoint(result)))"},
    shows={"inverse": "result"},
    jvp={"A": "-matmul(result, matmul(A_t, result))"},
    vmap="linalg_inv(A)",
    samples=shapes(*SQUARE),
    dtypes="fc",
    refusal={
        **dict.fromkeys("bi", "Expected a floating point or complex tensor as input. Got {}"),
        "h": "Low precision dtypes not supported. Got {}",
    },
    reference="np.linalg.inv(A)",
    tolerance=1e-3,
    node="LinalgInvExBackward0",
    errors=(NOT_SQUARE, VECTOR),
    doc="Inverse of square matrices, of shape (..., n, n).",
    example=(
        ">>> ag.linalg.inv(ag.tensor([[2.0, 0.0], [0.0, 4.0]]))\n"
        "tensor([[0.5000, 0.0000],\n"
        "        [0.0000, 0.2500]])"
    ),
    raises={"LinAlgError": "A matrix is singular."},
)

op(
    "eigh(A, UPLO: str = 'L') -> (eigenvalues, eigenvectors)",
    namespace="linalg",
    tier="interpreted",
    checks="triangle",
    autocast="float32",
    kernel=host("linalg.eigh", ("real", "same")),
    vjp={"A": "_eigh_backward(given_eigenvalues, given_eigenvectors, eigenvalues, eigenvectors)"},
    jvp={
        "eigenvalues": {"A": "_eigenvalues_jvp(A_t, eigenvectors)"},
        "eigenvectors": {"A": "_eigenvectors_jvp(A_t, eigenvalues, eigenvectors)"},
    },
    vmap="linalg_eigh(A, UPLO)",
    dtypes="fc",
    reference=by_test(
        "tests/ops/test_pairs_and_eigen.py::test_derivatives_of_eigenvalues_and_eigenvectors"
    ),
    errors=(NOT_SQUARE, VECTOR),
    doc=(
        "Eigenvalues, ascending, and eigenvectors of Hermitian matrices.\n"
        "The gradient is that of the whole matrix, and infinite or NaN where it uses the "
        "eigenvectors of\nequal eigenvalues. A function that changes with the sign or phase of "
        "the vectors has none."
    ),
    example=">>> ag.linalg.eigh(ag.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues\ntensor([1., 2.])",
)

op(
    "_eigh_backward(grad_values: Tensor?, grad_vectors: Tensor?, values, vectors)",
    kernel=composite("linalg.eigh_backward"),
    doc=(
        "Gradient of a Hermitian matrix from those of its eigenvalues and eigenvectors, None "
        "where there is none."
    ),
)

op(
    "_eigenvalues_jvp(tangent, vectors)",
    kernel=composite("linalg.eigenvalues_jvp"),
    doc="Tangent of the eigenvalues.",
)

op(
    "_eigenvectors_jvp(tangent, values, vectors)",
    kernel=composite("linalg.eigenvectors_jvp"),
    doc="Tangent of the eigenvectors.",
)

op(
    "eigvalsh(A, UPLO: str = 'L')",
    namespace="linalg",
    tier="interpreted",
    kernel=composite("linalg.eigvalsh"),
    out="exact",
    autocast="float32",
    dtypes="fc",
    reference=by_test(
        "tests/ops/test_pairs_and_eigen.py::test_derivatives_of_eigenvalues_and_eigenvectors"
    ),
    errors=(NOT_SQUARE, VECTOR),
    doc="The eigenvalues of Hermitian matrices, ascending; see :func:`eigh`.",
    example=">>> ag.linalg.eigvalsh(ag.tensor([[0.0, 1.0], [1.0, 0.0]]))\ntensor([-1.,  1.])",
)

op(
    "svd(A, full_matrices: bool = True, *, driver: str? = None) -> (U, S, Vh)",
    namespace="linalg",
    tier="interpreted",
    checks="driven",
    params=DRIVER,
    autocast="float32",
    kernel=host("linalg.svd", ("same", "real", "same")),
    vjp={"A": "_svd_backward(given_U, given_S, given_Vh, U, S, Vh)"},
    keeps=("full_matrices",),
    jvp={
        "U": {"A": "_svd_jvp(A_t, U, S, Vh, 0)"},
        "S": {"A": "_svd_jvp(A_t, U, S, Vh, 1)"},
        "Vh": {"A": "_svd_jvp(A_t, U, S, Vh, 2)"},
    },
    vmap="linalg_svd(A, full_matrices, None)",
    dtypes="fc",
    reference=by_test(HERE + "test_svd_takes_a_matrix_apart"),
    errors=(VECTOR,),
    doc=(
        "Singular value decomposition ``A = U @ diag(S) @ Vh``; singular values descend.\n"
        "Gradients that use U or Vh need distinct singular values, and a function that doesn't "
        "change with the phase of the vectors.\n"
        "Vectors that only complete a basis (``full_matrices=True``) count as constants."
    ),
    example=">>> ag.linalg.svd(ag.tensor([[3.0, 0.0], [0.0, 4.0]])).S\ntensor([4., 3.])",
)

op(
    "svdvals(A, *, driver: str? = None)",
    namespace="linalg",
    tier="interpreted",
    checks="driven",
    params=DRIVER,
    kernel=composite("linalg.svdvals"),
    out="exact",
    autocast="float32",
    dtypes="fc",
    reference=by_test(HERE + "test_svd_takes_a_matrix_apart"),
    errors=(VECTOR,),
    doc="The singular values of matrices, descending; see :func:`svd`.",
    example=">>> ag.linalg.svdvals(ag.tensor([[3.0, 0.0], [0.0, 4.0]]))\ntensor([4., 3.])",
)

op(
    "matrix_power(A, n: int)",
    namespace="linalg",
    tier="interpreted",
    kernel=composite("linalg.matrix_power", into=True),
    out="exact",
    aliases=("matrix_power",),
    dtypes="ihfc",
    reference=by_test(
        "tests/tensor/test_python_methods.py::test_powers_and_polynomials_of_matrices"
    ),
    errors=(error(sample((arg((2, 3)), 2)), RuntimeError, "must be batches of square matrices"),),
    doc="Power of square matrices, by repeated squares; a negative one is that of the inverse.",
    example=(
        ">>> ag.linalg.matrix_power(ag.tensor([[1.0, 1.0], [0.0, 1.0]]), 5)\n"
        "tensor([[1., 5.],\n"
        "        [0., 1.]])"
    ),
    params={"n": "The exponent; negative ones invert."},
)

op(
    "_svd_backward(gU: Tensor?, gS: Tensor?, gVh: Tensor?, U, S, Vh)",
    tier="interpreted",
    kernel=composite("linalg.svd_backward"),
    doc="Gradient of a matrix from those of its singular value decomposition.",
)

op(
    "_svd_jvp(tangent, U, S, Vh, which: int)",
    tier="interpreted",
    kernel=composite("linalg.svd_jvp"),
    doc="Tangent of U, S or Vh (0, 1, 2).",
)

op(
    "logdet(self)",
    tier="interpreted",
    kernel=host("linalg.logdet"),
    checks="square",
    out=False,
    vjp={"self": "unsqueeze(unsqueeze(grad, -1), -1) * adjoint(linalg_inv(self))"},
    jvp={"self": "sum(diagonal(matmul(linalg_inv(self), self_t), 0, -2, -1), -1)"},
    vmap="logdet(self)",
    samples=[],
    dtypes="fc",
    reference=by_test("tests/ops/test_tensor_functions.py::test_logarithms_of_determinants"),
    tolerance=1e-3,
    doc="Logarithm of the determinant: -inf if that is 0, NaN if it is negative.",
    example=">>> ag.logdet(ag.tensor([[2.0, 0.0], [0.0, 3.0]]))\ntensor(1.7918)",
)

op(
    "cholesky(A, *, upper: bool = False)",
    namespace="linalg",
    tier="interpreted",
    checks="square",
    autocast="float32",
    kernel=host("linalg.cholesky"),
    vjp={"A": "_cholesky_backward(grad, result, upper)"},
    jvp={"A": "_cholesky_jvp(A_t, result, upper)"},
    vmap="linalg_cholesky(A, upper)",
    dtypes="fc",
    reference=by_test(HERE + "test_cholesky_factors"),
    node="LinalgCholeskyExBackward0",
    errors=(NOT_SQUARE, VECTOR),
    doc=(
        "The factor L of Hermitian positive definite matrices ``A = L @ L.mH``; with `upper`, "
        "``U`` of ``A = U.mH @ U``."
    ),
    example=(
        ">>> ag.linalg.cholesky(ag.tensor([[4.0, 0.0], [0.0, 9.0]]))\n"
        "tensor([[2., 0.],\n"
        "        [0., 3.]])"
    ),
    raises={"LinAlgError": "A matrix is not positive definite."},
)

op(
    "_cholesky_backward(grad, factor, upper: bool)",
    tier="interpreted",
    kernel=composite("linalg.cholesky_backward"),
    doc="Gradient of a matrix from that of its Cholesky factor.",
)

op(
    "_cholesky_jvp(tangent, factor, upper: bool)",
    tier="interpreted",
    kernel=composite("linalg.cholesky_jvp"),
    doc="Tangent of the Cholesky factor.",
)

op(
    "solve(A, B, *, left: bool = True)",
    namespace="linalg",
    tier="interpreted",
    kernel=composite("linalg.solve"),
    out="exact",
    autocast="float32",
    samples=[
        sample((arg((3, 3)), arg((3, 2)))),
        sample((arg((3, 3)), arg((3,)))),
        sample((arg((2, 3, 3)), arg((3, 1)))),
    ],
    dtypes="fc",
    reference=by_test(HERE + "test_solve_solves"),
    errors=(error(sample((arg((2, 3)), arg((2, 1)))), RuntimeError, "square"),),
    doc=(
        "The solution X of ``A @ X = B``, or with ``left=False`` of ``X @ A = B``; `B` may be a "
        "vector, or a batch of them."
    ),
    example=(
        ">>> ag.linalg.solve(ag.tensor([[2.0, 0.0], [0.0, 4.0]]), ag.tensor([2.0, 2.0]))\n"
        "tensor([1.0000, 0.5000])"
    ),
    raises={"LinAlgError": "A matrix is singular."},
)

op(
    "_linalg_solve(A, B)",
    tier="interpreted",
    kernel=host("linalg.solve"),
    shown_as="linalg.solve",
    checks="solvable",
    vjp={("A", "B"): "_solve_backward(grad, A, result, needed)"},
    node="LinalgSolveExBackward0",
    jvp={"A": "-_linalg_solve(A, matmul(A_t, result))", "B": "_linalg_solve(A, B_t)"},
    vmap="elementwise",
    dtypes="fc",
    doc="The solution of a system of matrices.",
)

op(
    "_solve_backward(grad, A, X, needed: object) -> Tensor[]",
    tier="interpreted",
    kernel=composite("linalg.solve_backward"),
    doc="Gradients of a linear system with respect to matrix and right-hand side.",
)
