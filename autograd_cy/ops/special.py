"""Error, gamma and Bessel functions and their kin; the rare ones by scipy.special."""

from autograd_cy.ops._schema import (
    BINARY,
    UNARY,
    arg,
    call,
    composite,
    differs,
    elementwise,
    error,
    host,
    one,
    op,
    real,
    sample,
    unary,
)

LOADED = "at first use"

TORCH_ROUNDS = (
    "torch's series for polygamma(1, x) is good to 5e-10 and misses the poles at whole numbers"
)

BESIDE_A_POLE = "(self < 0) & (self != np.rint(self)) & (np.abs(self - np.rint(self)) < 1e-9)"

# --- error functions and logarithms ------------------------------------------------------------

unary(
    "erf",
    vjp="1.1283791670955126 * exp(-square(self)) * grad",
    doc="Error function.",
    dtypes="bihf",
    reference="scipy.special.erf(self)",
    example=">>> ag.erf(ag.tensor([0.0, 1.0]))\ntensor([0.0000, 0.8427])",
)
unary(
    "erfc",
    vjp="-1.1283791670955126 * exp(-square(self)) * grad",
    doc="Complementary error function ``1 - erf(self)``.",
    reference="scipy.special.erfc(self)",
    dtypes="bihf",
    example=">>> ag.erfc(ag.tensor([0.0, 1.0]))\ntensor([1.0000, 0.1573])",
)

op(
    "erfinv(self)",
    namespace="special",
    tier="interpreted",
    # SciPy forgets the sign of zero.
    kernel=host("np.copysign(scipy.special.erfinv(self), self)", "float"),
    aliases=("erfinv",),
    inplace=True,
    vjp={"self": "0.886226925452758 * grad * exp(square(special_erfinv(self)))"},
    jvp="elementwise",
    vmap="elementwise",
    samples=UNARY,
    domain=real(-0.8, 0.8),
    dtypes="bihf",
    node="ErfinvBackward0",
    reference="scipy.special.erfinv(self)",
    doc="Inverse of the error function.",
    example=">>> ag.special.erfinv(ag.tensor([0.0, 0.5]))\ntensor([0.0000, 0.4769])",
)

op(
    "logit(self, eps: float? = None)",
    kernel=call("powers.logit_plain", anywhere=True, into=True),
    inplace=True,
    vmap="elementwise",
    vjp={"self": "_logit_backward(grad, self, eps)"},
    jvp="elementwise",
    samples=[*UNARY, sample((arg((3, 4)), 0.3)), sample((arg((3, 4)),), {"eps": 0.6})],
    dtypes="biuhf",
    domain=real(0.2, 0.8),
    reference=(
        "(lambda x: np.log(x / (1 - x)))(self + 0.0 if eps is None else np.where(self < eps, eps, "
        "np.where(self > 1 - eps, 1 - eps, self)))"
    ),
    special=differs(
        "gradient",
        "(eps is not None) & nan(self)",
        "torch has NaN here too, but 0 with create_graph=True",
    ),
    doc="Inverse of the logistic function, ``log(self / (1 - self))``.",
    tolerance=1e-4,
    example=">>> ag.logit(ag.tensor([0.5, 0.9]))\ntensor([0.0000, 2.1972])",
)

op(
    "_logit_backward(grad_output, self, eps: float?)",
    kernel=composite("special.logit_backward"),
    doc="Gradient of logit: NaN outside of [0, 1], or 0 outside of [eps, 1 - eps].",
)

op(
    "xlogy(self: operand, other: operand)",
    kernel=elementwise("xlogy", dtypes="float"),
    inplace=True,
    vjp={
        "self": "where(logical_and(eq(self, 0), le(other, 0)), 0, grad * log(other))",
        "other": "grad * self / other",
    },
    jvp="elementwise",
    vmap="elementwise",
    samples=BINARY,
    domain=real(0.4, 2),
    dtypes="bihf",
    reference="scipy.special.xlogy(self + 0.0, other)",
    special=differs(
        "gradient",
        "(self == 0) & nan(other)",
        "NaN, as from a tensor with a NaN; torch has 0 for a number that is one",
    ),
    plain_numbers=("self", "other"),
    doc="``self * log(other)``, and 0 where self is 0.",
    example=">>> ag.xlogy(ag.tensor([0.0, 2.0]), ag.tensor([0.0, 2.0]))\ntensor([0.0000, 1.3863])",
)

# --- gamma functions ---------------------------------------------------------------------------

op(
    "lgamma(self)",
    kernel=elementwise("lgamma", dtypes="float"),
    inplace=True,
    vjp={"self": "grad * digamma(self)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=UNARY,
    domain=real(0.4, 4),
    dtypes="bihf",
    reference="scipy.special.gammaln(self)",
    tolerance=1e-4,
    special=(
        differs("gradient", BESIDE_A_POLE, "torch rounds the product of pi and the number"),
        differs("second", "finite(self)", TORCH_ROUNDS),
    ),
    doc="Logarithm of the absolute value of the gamma function.",
    example=">>> ag.lgamma(ag.tensor([1.0, 4.0]))\ntensor([0.0000, 1.7918])",
)

op(
    "digamma(self)",
    kernel=elementwise("digamma", dtypes="float"),
    inplace=True,
    vjp={"self": "grad * _polygamma(self, 1)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=UNARY,
    domain=real(0.4, 4),
    dtypes="bihf",
    reference="scipy.special.psi(self)",
    tolerance=1e-4,
    special=(
        differs("value", BESIDE_A_POLE, "torch rounds the product of pi and the number"),
        differs("gradient", "finite(self)", TORCH_ROUNDS),
        differs("second", "np.isposinf(self)", "the limit"),
    ),
    doc="Derivative of :func:`lgamma`.",
    example=">>> ag.digamma(ag.tensor([1.0, 2.0]))\ntensor([-0.5772,  0.4228])",
)

op(
    "_polygamma(self, order: int)",
    tier="interpreted",
    shown_as="polygamma",
    kernel=call("special.polygamma", shape="rules_special.polygamma(self, order)", over="self"),
    inplace=True,
    vjp={"self": "grad * _polygamma(self, order + 1)"},
    jvp="elementwise",
    vmap="_polygamma(self, order)",
    samples=[sample((arg((3, 4)), 1)), sample((arg((3,)), 2))],
    domain=real(0.6, 4),
    special=(
        differs("value", "finite(self) & (order == 1)", TORCH_ROUNDS),
        differs(
            ("value", "gradient", "second"),
            "np.isposinf(self)",
            "the limit; torch's series subtracts infinities",
        ),
    ),
    dtypes="biuhf",
    reference="scipy.special.polygamma(order, self)",
    tolerance=1e-3,
    doc="Derivatives of the digamma function.",
)

op(
    "mvlgamma(self, p: int)",
    tier="interpreted",
    kernel=host("special.mvlgamma", "float"),
    checks="positive_order",
    inplace=True,
    vjp={"self": "_mvlgamma_backward(grad, self, p)"},
    jvp="elementwise",
    vmap="mvlgamma(self, p)",
    samples=[one((3, 4), 2), one((3,), 1), one((), 3), one((0, 2), 2)],
    domain=real(1.2, 4),
    dtypes="ihf",
    reference="scipy.special.multigammaln(self, p)",
    tolerance=1e-4,
    special=(
        differs("gradient", BESIDE_A_POLE, "torch rounds the product of pi and the number"),
        differs("second", "finite(self)", TORCH_ROUNDS),
    ),
    params={"p": "The dimension, at least 1."},
    errors=(error(sample((arg((3,)), 0)), RuntimeError, "p has to be greater than or equal to 1"),),
    doc=(
        "Logarithm of the multivariate gamma function of dimension `p`: the sum of "
        "``lgamma(self - i / 2)`` for `i` below `p`, and ``p * (p - 1) / 4 * log(pi)``."
    ),
    example=">>> ag.mvlgamma(ag.tensor([3.0]), 2)\ntensor([1.5502])",
)

op(
    "_mvlgamma_backward(grad, self, p: int)",
    tier="interpreted",
    kernel=composite("special.mvlgamma_backward"),
    doc="Gradient of mvlgamma.",
)

for _name, _sign, _doc in (("igamma", "", "lower"), ("igammac", "-", "upper")):
    op(
        f"{_name}(self, other)",
        kernel=call(f"special.{_name}", shape="rules_special.both(self, other)", over="self"),
        inplace=True,
        vmap="elementwise",
        vjp={
            "self": f"_not_implemented(grad, '{_name}: input')",
            "other": f"{_sign}grad * exp((self - 1) * log(other) - other - lgamma(self))",
        },
        jvp={
            "self": f"_not_forward(self_t, '{_name}')",
            "other": f"{_sign}other_t * exp((self - 1) * log(other) - other - lgamma(self))",
        },
        samples=[
            sample((arg(a, None, False), arg(b)))
            for a, b in (((3, 4), (3, 4)), ((3, 1), (4,)), ((), (3,)), ((0, 3), (1, 3)))
        ],
        domain=real(0.6, 3),
        dtypes="hf",
        tolerance=1e-4,
        special=differs(
            "value",
            "nan(self) | nan(other) | (np.abs(self) < smallest**0.25) | (self > largest / 2)",
            "SciPy's: NaN from NaN, and the limits at the smallest and largest orders",
        ),
        reference=f"scipy.special.gammainc{'c' if _sign else ''}(self, other)",
        doc=(
            f"Regularised {_doc} incomplete gamma function of order `self`; differentiable in "
            "`other`."
        ),
        example={
            "igamma": ">>> ag.igamma(ag.tensor([1.0]), ag.tensor([1.0]))\ntensor([0.6321])",
            "igammac": ">>> ag.igammac(ag.tensor([1.0]), ag.tensor([1.0]))\ntensor([0.3679])",
        }[_name],
    )

# --- Bessel functions --------------------------------------------------------------------------

# Why special values differ from torch's.
NAN_IS_ZERO = "NaN has no derivative; torch takes it for a small number"
OVERFLOW = "finite; torch multiplies by exp(x), which isn't"

# DLMF 10.29: I0' = I1, I1' = I0 - I1 / x.
op(
    "i0(self)",
    namespace="special",
    tier="interpreted",
    kernel=elementwise("i0", dtypes="float"),
    aliases=("i0",),
    inplace=True,
    vjp={"self": "grad * special_i1(self)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=UNARY,
    dtypes="bihf",
    node="I0Backward0",
    reference="scipy.special.i0(self)",
    special=(
        differs("second", "nan(self)", NAN_IS_ZERO),
        differs(
            "second",
            "(self != 0) & (np.abs(self) < smallest)",
            "the quotient of subnormal numbers has few digits",
        ),
        differs(("value", "gradient", "second"), "np.abs(self) > np.log(largest)", OVERFLOW),
    ),
    doc="Modified Bessel function of the first kind, of order 0.",
    example=">>> ag.special.i0(ag.tensor([0.0, 1.0]))\ntensor([1.0000, 1.2661])",
)

op(
    "i1(self)",
    namespace="special",
    tier="interpreted",
    kernel=elementwise("i1", dtypes="float"),
    vjp={
        "self": (
            "grad * where(eq(self, 0), 0.5, special_i0(self) - result / where(eq(self, 0), 1, "
            "self))"
        )
    },
    jvp="elementwise",
    vmap="elementwise",
    samples=UNARY,
    dtypes="bihf",
    node="SpecialI1Backward0",
    reference="scipy.special.i1(self)",
    special=(
        differs(("gradient", "second"), "nan(self)", NAN_IS_ZERO),
        differs(
            "gradient",
            "(self != 0) & (np.abs(self) < smallest)",
            "the quotient of subnormal numbers has few digits",
        ),
        differs("second", "np.abs(self) < 1e-2", "i0 - i1 / x cancels in the derivative"),
        differs(("value", "gradient", "second"), "np.abs(self) > np.log(largest)", OVERFLOW),
    ),
    doc="Modified Bessel function of the first kind, of order 1.",
    example=">>> ag.special.i1(ag.tensor([0.0, 1.0]))\ntensor([0.0000, 0.5652])",
)

op(
    "i0e(self)",
    namespace="special",
    tier="interpreted",
    kernel=elementwise("i0e", dtypes="float"),
    vjp={"self": "grad * (special_i1e(self) - sgn(self) * result)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=UNARY,
    domain=real(avoid=(0.0,)),
    dtypes="bihf",
    node="SpecialI0EBackward0",
    reference="scipy.special.i0e(self)",
    doc="``exp(-abs(x)) * i0(x)``.",
    example=">>> ag.special.i0e(ag.tensor([0.0, 1.0]))\ntensor([1.0000, 0.4658])",
)

op(
    "i1e(self)",
    namespace="special",
    tier="interpreted",
    kernel=elementwise("i1e", dtypes="float"),
    vjp={"self": "grad * (special_i0e(self) - result * sgn(self) - _i1e_quotient(self))"},
    jvp="elementwise",
    vmap="elementwise",
    samples=UNARY,
    domain=real(avoid=(0.0,)),
    dtypes="bihf",
    node="SpecialI1EBackward0",
    special=(
        differs(("gradient", "second"), "nan(self)", NAN_IS_ZERO),
        differs(
            "second", "np.abs(self) < 1", "the limit from one side; torch subtracts equal numbers"
        ),
    ),
    reference="scipy.special.i1e(self)",
    doc="``exp(-abs(x)) * i1(x)``.",
    example=">>> ag.special.i1e(ag.tensor([0.0, 1.0]))\ntensor([0.0000, 0.2079])",
)

# DLMF 10.29.4: (I_n(x) / x**n)' = I_{n+1}(x) / x**n, which leaves nothing to cancel at small x.
op(
    "_i1e_quotient(self)",
    tier="interpreted",
    kernel=elementwise("i1e_quotient", dtypes="float"),
    vjp={"self": "grad * (nan_to_num(self * _bessel_ratio_e(self, 2)) - sgn(self) * result)"},
    jvp="elementwise",
    vmap="elementwise",
    dtypes="hf",
    doc="``exp(-abs(x)) * I_1(x) / x``.",
)

op(
    "_bessel_ratio_e(self, order: int)",
    tier="interpreted",
    kernel=host("special.bessel_ratio_e", "float"),
    vjp={
        "self": "grad * (nan_to_num(self * _bessel_ratio_e(self, order + 1)) - sgn(self) * result)"
    },
    jvp="elementwise",
    vmap="elementwise",
    dtypes="hf",
    doc="``exp(-abs(x)) * I_n(x) / x**n``.",
)

# --- draws of gamma and Poisson numbers -----------------------------------------------------------
#
# The numbers are drawn by autograd_cy/special/_gamma_draws.py and _count_draws.py; these records
# give them a place in the graph. The derivative of a draw by its parameter is that of the quantile
# with the probability fixed, -dF/da / p: M. Figurnov, S. Mohamed, A. Mnih, "Implicit
# reparameterization gradients" (2018).


def drawn(name, signature, vjp, node, **more):
    op(
        signature,
        tier="interpreted",
        shown_as=name,
        kernel=host("np.array(drawn)"),
        vjp=vjp,
        vmap="elementwise",
        node=node,
        doc="The drawn numbers, with a derivative by their parameters.",
        **more,
    )


drawn(
    "_standard_gamma",
    "_gamma_drawn(self, drawn)",
    {"self": "grad * _standard_gamma_grad(self, result)"},
    "StandardGammaBackward0",
    jvp={"self": "self_t * _standard_gamma_grad(self, result)"},
)
drawn(
    "poisson",
    "_poisson_drawn(self, drawn)",
    {"self": "zeros_like(grad)"},
    "PoissonBackward0",
    jvp={"self": "zeros_like(self_t)"},
)
op(
    "_dirichlet_drawn(self, drawn)",
    tier="interpreted",
    shown_as="_sample_dirichlet",
    kernel=host("np.array(drawn)"),
    vjp={"self": "_dirichlet_backward(grad, self, result)"},
    jvp={"self": "_dirichlet_jvp(self_t, self, result)"},
    vmap="_dirichlet_drawn(self, drawn)",
    node="SampleDirichletBackward0",
    doc="Drawn vectors of the simplex, with a derivative by their concentrations.",
)
op(
    "_dirichlet_backward(grad, concentration, x)",
    tier="interpreted",
    kernel=composite("special.dirichlet_backward"),
    doc="Gradient of concentrations by that of a vector drawn with them.",
)
op(
    "_dirichlet_jvp(tangent, concentration, x)",
    tier="interpreted",
    kernel=composite("special.dirichlet_jvp"),
    doc="Tangent of a drawn vector.",
)
op(
    "_standard_gamma_grad(self, output)",
    tier="interpreted",
    kernel=host("draws.gamma_derivative", "float"),
    vjp=dict.fromkeys(("self", "output"), "_not_implemented(grad, '_standard_gamma_grad')"),
    jvp=dict.fromkeys(("self", "output"), "_not_forward(self_t, '_standard_gamma_grad')"),
    vmap="elementwise",
    doc="Derivative of gamma numbers by their concentration, with the probability fixed.",
)
op(
    "_dirichlet_grad(x, alpha, total)",
    tier="interpreted",
    kernel=host("draws.dirichlet_derivative", "float"),
    vjp=dict.fromkeys(("x", "alpha", "total"), "_not_implemented(grad, '_dirichlet_grad')"),
    jvp=dict.fromkeys(("x", "alpha", "total"), "_not_forward(x_t, '_dirichlet_grad')"),
    vmap="elementwise",
    doc="Derivative of a part of a vector by its concentration, over 1 less the part.",
)
