"""Decompositions, inverses and solutions of linear systems: LAPACK by NumPy.

Derivatives of the inverse, of solutions and of the Cholesky factor: M. Giles, "Collected matrix
derivative results for forward and reverse mode algorithmic differentiation" (2008); of the singular
value decomposition: J. Townsend, "Differentiating the singular value decomposition" (2016), Z.-Q.
Wan, S.-X. Zhang, "Automatic differentiation for complex valued SVD" (2019).
"""

from autograd_cy.ops._schema import (
    arg,
    by_test,
    composite,
    error,
    host,
    loop,
    one,
    op,
    real,
    sample,
    shapes,
)

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
    "inv_ex(A, *, check_errors: bool = False) -> (inverse, info)",
    namespace="linalg",
    tier="interpreted",
    kernel=host("linalg.inv_ex", ("same", "int32")),
    checks="square",
    out=False,
    vjp={"A": "-matmul(adjoint(inverse), matmul(grad_inverse, adjoint(inverse)))"},
    jvp={"inverse": {"A": "-matmul(inverse, matmul(A_t, inverse))"}},
    nondiff_outputs=("info",),
    vmap="linalg_inv_ex(A, check_errors)",
    dtypes="fc",
    reference=by_test("tests/ops/test_decompositions.py::test_inv_ex_and_solve_ex_say_where"),
    node="LinalgInvExBackward0",
    errors=(NOT_SQUARE, VECTOR),
    doc=(
        "The inverse of :func:`inv`, and for each matrix 0, or the place, from 1, of the pivot "
        "that is 0, where the inverse has no meaning."
    ),
    example=(
        ">>> ag.linalg.inv_ex(ag.tensor([[4.0, 0.0], [0.0, 0.0]])).info\n"
        "tensor(2, dtype=autograd_cy.int32)"
    ),
    raises={"LinAlgError": "A matrix is singular, with `check_errors`."},
)

# The derivative of the exponential at A in the direction E is the upper right block of the
# exponential of ((A, E), (0, A)): R. Mathias, "A chain rule for matrix functions and applications"
# (1996). Its adjoint is the derivative at the adjoint of A.
op(
    "matrix_exp(A)",
    namespace="linalg",
    tier="interpreted",
    kernel=host("linalg.matrix_exp"),
    checks="square",
    out=False,
    aliases=("matrix_exp",),
    vjp={"A": "_matrix_exp_derivative(adjoint(A), grad)"},
    shows={"self": "A"},
    jvp={"A": "_matrix_exp_derivative(A, A_t)"},
    vmap="linalg_matrix_exp(A)",
    samples=shapes(*SQUARE),
    dtypes="fc",
    refusal={
        **dict.fromkeys("bi", "Expected a floating point or complex tensor as input. Got {}"),
        "h": "Low precision dtypes not supported. Got {}",
    },
    reference="scipy.linalg.expm(A) if A.size else A",
    tolerance=1e-3,
    node="LinalgMatrixExpBackward0",
    errors=(NOT_SQUARE, VECTOR),
    doc="Exponential of square matrices, of shape (..., n, n).",
    example=(
        ">>> ag.linalg.matrix_exp(ag.tensor([[0.0, 1.0], [0.0, 0.0]]))\n"
        "tensor([[1., 1.],\n"
        "        [0., 1.]])"
    ),
)

op(
    "_matrix_exp_derivative(A, E)",
    tier="interpreted",
    kernel=composite("linalg.matrix_exp_derivative"),
    doc="Derivative of the exponential at one matrix in the direction of another.",
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
    "det(A)",
    namespace="linalg",
    tier="interpreted",
    kernel=host("linalg.det"),
    checks="square",
    out="exact",
    aliases=("det",),
    autocast="float32",
    vjp={"A": "_det_backward(grad, A, result)"},
    jvp={"A": "_det_jvp(A_t, A, result)"},
    vmap="linalg_det(A)",
    samples=[],
    dtypes="fc",
    refusal={
        **dict.fromkeys("bi", "Expected a floating point or complex tensor as input. Got {}"),
        "h": "Low precision dtypes not supported. Got {}",
    },
    reference=by_test("tests/ops/test_decompositions.py::test_determinants_have_derivatives"),
    tolerance=1e-3,
    node="LinalgDetBackward0",
    errors=(NOT_SQUARE, VECTOR),
    doc=(
        "Determinant of square matrices, of shape (..., n, n). The gradient at a singular matrix "
        "is that of the cofactors, and has no derivative."
    ),
    example=">>> ag.linalg.det(ag.tensor([[2.0, 0.0], [0.0, 4.0]]))\ntensor(8.)",
)

op(
    "_det_backward(grad, A, det)",
    tier="interpreted",
    kernel=composite("linalg.det_backward"),
    doc="Gradient of a matrix from that of its determinant.",
)

op(
    "_det_jvp(tangent, A, det)",
    tier="interpreted",
    kernel=composite("linalg.det_jvp"),
    doc="Tangent of the determinant.",
)

op(
    "slogdet(A) -> (sign, logabsdet)",
    namespace="linalg",
    tier="interpreted",
    kernel=host("linalg.slogdet", ("same", "real")),
    checks="square",
    out=False,
    aliases=("slogdet",),
    autocast="float32",
    vjp={"A": "_slogdet_backward(given_sign, given_logabsdet, A, sign)"},
    jvp={
        "sign": {"A": "_slogdet_jvp(A_t, A, sign, 0)"},
        "logabsdet": {"A": "_slogdet_jvp(A_t, A, sign, 1)"},
    },
    vmap="linalg_slogdet(A)",
    samples=[],
    dtypes="fc",
    refusal={
        **dict.fromkeys("bi", "Expected a floating point or complex tensor as input. Got {}"),
        "h": "Low precision dtypes not supported. Got {}",
    },
    reference=by_test("tests/ops/test_decompositions.py::test_determinants_have_derivatives"),
    tolerance=1e-3,
    node="LinalgSlogdetBackward0",
    errors=(NOT_SQUARE, VECTOR),
    doc=(
        "Sign, or phase, of the determinant of square matrices, and the logarithm of its absolute "
        "value."
    ),
    example=(">>> ag.linalg.slogdet(ag.tensor([[1.0, 0.0], [0.0, -1.0]])).sign\ntensor(-1.)"),
)

op(
    "_slogdet_backward(grad_sign: Tensor?, grad_log: Tensor?, A, sign)",
    tier="interpreted",
    kernel=composite("linalg.slogdet_backward"),
    doc="Gradient of a matrix from those of sign and logarithm of its determinant.",
)

op(
    "_slogdet_jvp(tangent, A, sign, which: int)",
    tier="interpreted",
    kernel=composite("linalg.slogdet_jvp"),
    doc="Tangent of the sign or the logarithm of the determinant (0, 1).",
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
    "cholesky_ex(A, *, upper: bool = False, check_errors: bool = False) -> (L, info)",
    namespace="linalg",
    tier="interpreted",
    checks="square",
    autocast="float32",
    kernel=host("linalg.cholesky_ex", ("same", "int32")),
    out=False,
    vjp={"A": "_cholesky_backward(grad_L, L, upper)"},
    jvp={"L": {"A": "_cholesky_jvp(A_t, L, upper)"}},
    nondiff_outputs=("info",),
    vmap="linalg_cholesky_ex(A, upper, check_errors)",
    dtypes="fc",
    reference=by_test("tests/ops/test_decompositions.py::test_cholesky_ex_says_where_it_failed"),
    node="LinalgCholeskyExBackward0",
    errors=(NOT_SQUARE, VECTOR),
    params={"check_errors": "Raise an error where a matrix has no factor."},
    doc=(
        "The factor of :func:`cholesky`, and for each matrix 0, or the order of the first leading "
        "minor that is not positive definite, where the factor has no meaning."
    ),
    example=(
        ">>> ag.linalg.cholesky_ex(ag.tensor([[4.0, 0.0], [0.0, -1.0]])).info\n"
        "tensor(2, dtype=autograd_cy.int32)"
    ),
    raises={"LinAlgError": "A matrix is not positive definite, with `check_errors`."},
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

op(
    "solve_ex(A, B, *, left: bool = True, check_errors: bool = False) -> (result, info)",
    namespace="linalg",
    tier="interpreted",
    kernel=composite("linalg.solve_ex"),
    dtypes="fc",
    reference=by_test("tests/ops/test_decompositions.py::test_inv_ex_and_solve_ex_say_where"),
    errors=(error(sample((arg((2, 3)), arg((2, 1)))), RuntimeError, "square"),),
    doc=(
        "The solution of :func:`solve`, and for each matrix 0, or the place, from 1, of the pivot "
        "that is 0, where the solution has no meaning."
    ),
    example=(
        ">>> A, B = ag.tensor([[2.0, 0.0], [0.0, 4.0]]), ag.tensor([2.0, 2.0])\n"
        ">>> ag.linalg.solve_ex(A, B).result\n"
        "tensor([1.0000, 0.5000])"
    ),
    raises={"LinAlgError": "A matrix is singular, with `check_errors`."},
)

op(
    "_linalg_solve_ex(A, B, check_errors: bool) -> (result, info)",
    tier="interpreted",
    kernel=host("linalg.solve_ex", ("same", "int32")),
    shown_as="linalg.solve",
    checks="solvable",
    vjp={("A", "B"): "_solve_backward(grad_result, A, result, needed)"},
    node="LinalgSolveExBackward0",
    jvp={
        "result": {
            "A": "-_linalg_solve(A, matmul(A_t, result))",
            "B": "_linalg_solve(A, B_t)",
        }
    },
    nondiff_outputs=("info",),
    vmap=loop("LAPACK says of each matrix where it failed"),
    dtypes="fc",
    doc="The solution of a system of matrices, and where it failed.",
)

op(
    "solve_triangular(A, B, *, upper: bool, left: bool = True, unitriangular: bool = False)",
    namespace="linalg",
    tier="interpreted",
    kernel=host("linalg.solve_triangular"),
    checks="triangular",
    vjp={
        (
            "A",
            "B",
        ): "_solve_triangular_backward(grad, A, result, upper, left, unitriangular, needed)"
    },
    jvp={
        "A": "_solve_triangular_jvp(A_t, A, result, upper, left, unitriangular)",
        "B": "linalg_solve_triangular(A, B_t, upper, left, unitriangular)",
    },
    vmap="elementwise",
    samples=[
        sample((arg((3, 3), real(0.5, 1.5)), arg((3, 2))), {"upper": True}),
        sample((arg((2, 2), real(0.5, 1.5)), arg((3, 2))), {"upper": False, "left": False}),
        sample((arg((2, 3, 3), real(0.5, 1.5)), arg((3, 1))), {"upper": False}),
        sample((arg((3, 3)), arg((2, 3, 2))), {"upper": True, "unitriangular": True}),
        sample((arg((0, 0)), arg((0, 2))), {"upper": True}),
    ],
    dtypes="fc",
    tolerance=1e-3,
    reference=by_test("tests/ops/test_decompositions.py::test_triangular_systems_are_solved"),
    node="LinalgSolveTriangularBackward0",
    shows={"self": "A"},
    errors=(
        error(sample((arg((2, 3)), arg((2, 1))), {"upper": True}), RuntimeError, "square"),
        error(
            sample((arg((3, 3)), arg((2, 1))), {"upper": True}),
            RuntimeError,
            "Incompatible shapes of A and B for the equation AX = B",
        ),
        error(
            sample((arg((3, 3)), arg((3,))), {"upper": True}),
            RuntimeError,
            "B must have at least 2 dimensions",
        ),
    ),
    params={
        "upper": "Whether the upper triangle of `A` is read, or the lower one.",
        "left": "Whether `A` stands on the left of `X`.",
        "unitriangular": "Whether the diagonal counts as ones.",
    },
    doc=(
        "The solution X of ``A @ X = B``, or with ``left=False`` of ``X @ A = B``, where `A` is "
        "triangular.\nThe other triangle is not read, and its gradient is 0; a zero on the "
        "diagonal gives infinities or NaN."
    ),
    example=(
        ">>> A, B = ag.tensor([[2.0, 1.0], [0.0, 4.0]]), ag.tensor([[4.0], [8.0]])\n"
        ">>> ag.linalg.solve_triangular(A, B, upper=True)\n"
        "tensor([[1.],\n"
        "        [2.]])"
    ),
)

op(
    "_solve_triangular_backward(grad, A, X, upper: bool, left: bool, unitriangular: bool, "
    "needed: object) -> Tensor[]",
    tier="interpreted",
    kernel=composite("linalg.solve_triangular_backward"),
    doc="Gradients of a triangular system with respect to matrix and right-hand side.",
)

op(
    "_solve_triangular_jvp(tangent, A, X, upper: bool, left: bool, unitriangular: bool)",
    tier="interpreted",
    kernel=composite("linalg.solve_triangular_jvp"),
    doc="Tangent of the solution of a triangular system by its matrix.",
)

# The derivative of Q and R: S. F. Walter, L. Lehmann, R. Lamour, "On evaluating higher-order
# derivatives of the QR decomposition of tall matrices with full column rank in forward and reverse
# mode algorithmic differentiation" (2012).
op(
    "qr(A, mode: str = 'reduced') -> (Q, R)",
    namespace="linalg",
    tier="interpreted",
    checks="whole_matrices",
    autocast="float32",
    kernel=host("linalg.qr"),
    out=False,
    vjp={"A": "_qr_backward(given_Q, given_R, Q, R, mode)"},
    jvp={"Q": {"A": "_qr_jvp(A_t, Q, R, mode, 0)"}, "R": {"A": "_qr_jvp(A_t, Q, R, mode, 1)"}},
    vmap="linalg_qr(A, mode)",
    samples=[
        one((3, 3)),
        one((4, 2)),
        one((2, 4)),
        one((2, 3, 2)),
        one((2, 3), "complete"),
        one((0, 3)),
        one((2, 0)),
    ],
    dtypes="fc",
    tolerance=1e-3,
    reference="tuple(np.linalg.qr(A, mode))",
    node="LinalgQrBackward0",
    errors=(
        VECTOR,
        error(sample((arg((2, 2)), "x")), RuntimeError, "unrecognized mode 'x' but expected one"),
    ),
    params={"mode": "``'reduced'``, ``'complete'``, or ``'r'``: without Q."},
    doc=(
        "QR decomposition ``A = Q @ R``: `Q` has orthonormal columns, `R` is upper triangular.\n"
        "It has derivatives where the first columns, as many as there are rows, are linearly "
        "independent; with ``'complete'`` not of matrices that have more rows than columns, and "
        "none with ``'r'``."
    ),
    example=(
        ">>> ag.linalg.qr(ag.tensor([[0.0, 2.0], [-1.0, 0.0]])).R.abs()\n"
        "tensor([[1., 0.],\n"
        "        [0., 2.]])"
    ),
)

op(
    "_qr_backward(gQ: Tensor?, gR: Tensor?, Q, R, mode: str)",
    tier="interpreted",
    kernel=composite("linalg.qr_backward"),
    doc="Gradient of a matrix from those of its QR decomposition.",
)

op(
    "_qr_jvp(tangent, Q, R, mode: str, which: int)",
    tier="interpreted",
    kernel=composite("linalg.qr_jvp"),
    doc="Tangent of Q or R (0, 1).",
)

# G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares
# problems whose variables separate" (1973).
PINV = {
    "atol": "Singular values up to this count as 0.",
    "rtol": (
        "So do those up to this part of the largest one; by default the larger size times the "
        "dtype's ``eps`` without `atol`, and 0 with it."
    ),
    "rcond": "Singular values up to this part of the largest one count as 0.",
    "hermitian": "Whether the matrices are Hermitian; the lower triangle is read then.",
}
NO_MATRIX = error(sample((arg((3,)),)), RuntimeError, "expected a tensor with 2 or more dimensions")
op(
    "pinv(A, *, atol: float | Tensor? = None, rtol: float | Tensor? = None, "
    "hermitian: bool = False)",
    namespace="linalg",
    tier="interpreted",
    kernel=composite("linalg.pinv"),
    out="exact",
    samples=[
        one((3, 2)),
        one((2, 3)),
        one((2, 2, 2)),
        sample((arg((2, 2)),), {"rtol": 1e-3}),
        one((0, 3)),
    ],
    dtypes="fc",
    tolerance=1e-3,
    reference="np.linalg.pinv(A, 1e-15 if rtol is None else rtol, hermitian)",
    errors=(
        NO_MATRIX,
        error(sample((arg((2, 3)),), {"hermitian": True}), RuntimeError, "square"),
    ),
    params={name: PINV[name] for name in ("atol", "rtol", "hermitian")},
    doc=(
        "Pseudoinverse of matrices (Moore, Penrose). Its derivative is that of matrices of the "
        "same rank."
    ),
    example=(
        ">>> ag.linalg.pinv(ag.tensor([[2.0, 0.0], [0.0, 0.0]]))\n"
        "tensor([[0.5000, 0.0000],\n"
        "        [0.0000, 0.0000]])"
    ),
)

op(
    "pinv.rcond(A, rcond: float | Tensor, hermitian: bool = False)",
    namespace="linalg",
    tier="interpreted",
    kernel=composite("linalg.pinv_above"),
    when="len(args) > 1 or 'rcond' in kwargs",
    out="exact",
    samples=[sample((arg((3, 2)), 1e-4)), sample((arg((2, 2)), 0.0))],
    dtypes="fc",
    tolerance=1e-3,
    reference="np.linalg.pinv(A, rcond, hermitian)",
    params={name: PINV[name] for name in ("rcond", "hermitian")},
    doc="With the older name of `rtol`.",
)

op(
    "_pinv(A, atol: object, rtol: object, hermitian: bool)",
    tier="interpreted",
    shown_as="linalg.pinv",
    kernel=host("linalg.pinv"),
    vjp={"A": "_pinv_backward(grad, A, result)"},
    jvp={"A": "_pinv_jvp(A_t, A, result)"},
    vmap="_pinv(A, atol, rtol, hermitian)",
    node="LinalgPinvBackward0",
    shows={"self": "A"},
    dtypes="fc",
    doc="The pseudoinverse, with both tolerances.",
)

op(
    "_pinv_backward(grad, A, P)",
    tier="interpreted",
    kernel=composite("linalg.pinv_backward"),
    doc="Gradient of a matrix from that of its pseudoinverse.",
)

op(
    "_pinv_jvp(tangent, A, P)",
    tier="interpreted",
    kernel=composite("linalg.pinv_jvp"),
    doc="Tangent of the pseudoinverse.",
)
