"""Exponentials, logarithms, roots, trigonometric and hyperbolic functions, element by element."""

from autograd_cy.ops._schema import (
    BINARY,
    UNARY,
    box,
    composite,
    differs,
    elementwise,
    op,
    real,
    unary,
)

FREE_SIGN = "C99 leaves the sign of an infinite part beside NaN open"
# Why special values differ from torch's.
OVERFLOWS = "a square overflows in torch's formula; the limit is 0"
FAR_SQUARED = "~(np.abs(self) < largest**0.5)"

# --- exponentials, logarithms and roots --------------------------------------------------------

unary(
    "exp",
    vjp="grad * result.conj()",
    doc="Exponential.",
    example=">>> ag.exp(ag.tensor([0.0, 1.0]))\ntensor([1.0000, 2.7183])",
)
unary(
    "exp2",
    vjp="grad * (0.6931471805599453 * result).conj()",
    doc="``2 ** self``.",
    reference="2.0 ** self.astype(np.result_type(self.dtype, np.float32))",
    example=">>> ag.exp2(ag.tensor([0.0, 3.0]))\ntensor([1., 8.])",
)
unary(
    "expm1",
    vjp="grad * (result + 1).conj()",
    doc="``exp(self) - 1``, accurate near 0.",
    special=differs(
        ("value", "gradient", "second"),
        "is_complex & (~finite(self) | (np.real(self) > np.log(largest)))",
        "the array API's table: real on the real axis, -1 far on the left",
    ),
    example=">>> ag.expm1(ag.tensor([0.0, 1.0]))\ntensor([0.0000, 1.7183])",
)
unary(
    "log",
    vjp="grad / self.conj()",
    doc="Natural logarithm.",
    domain=real(0.2, 4),
    complex_domain=box(0.3, 1.5),
    example=">>> ag.log(ag.tensor([1.0, 10.0]))\ntensor([0.0000, 2.3026])",
)
unary(
    "log2",
    vjp="grad / (0.6931471805599453 * self).conj()",
    doc="Logarithm to base 2.",
    domain=real(0.3, 4),
    complex_domain=box(0.3, 1.5),
    example=">>> ag.log2(ag.tensor([1.0, 8.0]))\ntensor([0., 3.])",
)
unary(
    "log10",
    vjp="grad / (2.302585092994046 * self).conj()",
    doc="Logarithm to base 10.",
    domain=real(0.3, 4),
    complex_domain=box(0.3, 1.5),
    example=">>> ag.log10(ag.tensor([1.0, 100.0]))\ntensor([0., 2.])",
)
unary(
    "log1p",
    vjp="grad / (self + 1).conj()",
    doc="``log(1 + self)``, accurate near 0.",
    domain=real(-0.6, 3),
    complex_domain=box(0.1, 1.0),
    node="Log1PBackward0",
    special=differs(
        "value",
        "is_complex & (infinite(self) | (np.abs(self) < smallest**0.25))",
        "the array API's table, and small numbers themselves; torch has NaN",
    ),
    example=">>> ag.log1p(ag.tensor([0.0, 1.0]))\ntensor([0.0000, 0.6931])",
)

op(
    "logaddexp(self, other)",
    kernel=elementwise("logaddexp"),
    vjp={
        "self": "grad / (1 + exp(other - self)).conj()",
        "other": "grad / (1 + exp(self - other)).conj()",
    },
    jvp="elementwise",
    vmap="elementwise",
    samples=BINARY,
    dtypes="hfc",
    special=differs(
        ("value", "gradient", "second"),
        "is_complex & ~(finite(self) & finite(other))",
        (
            "neither C99 nor the array API has a table; an infinite or NaN part leaves what the "
            "other parts still tell"
        ),
    ),
    reference=(
        "np.logaddexp(self, other) if self.dtype.kind != 'c' else np.log(np.exp(self) "
        "+ np.exp(other))"
    ),
    doc="``log(exp(self) + exp(other))`` without overflow.",
    example=">>> ag.logaddexp(ag.tensor([0.0]), ag.tensor([1.0]))\ntensor([1.3133])",
)

unary(
    "sqrt",
    vjp="grad / (2 * result.conj())",
    doc="Square root.",
    domain=real(0.2, 4),
    complex_domain=box(0.3, 1.5),
    example=">>> ag.sqrt(ag.tensor([4.0, 9.0]))\ntensor([2., 3.])",
)
unary(
    "rsqrt",
    vjp="-0.5 * grad * (result ** 3).conj()",
    doc="``1 / sqrt(self)``.",
    reference="1 / np.sqrt(self)",
    domain=real(0.2, 4),
    complex_domain=box(0.3, 1.5),
    special=differs(
        "second",
        "is_complex & (np.abs(self) < smallest**0.25)",
        "only the order of products that overflow",
    ),
    example=">>> ag.rsqrt(ag.tensor([4.0, 16.0]))\ntensor([0.5000, 0.2500])",
)

op(
    "hypot(self, other)",
    kernel=elementwise("hypot"),
    inplace=True,
    vjp={"self": "grad * (self / result)", "other": "grad * (other / result)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=BINARY,
    domain=real(0.4, 2),
    dtypes="hf",
    reference="np.hypot(self, other)",
    doc="``sqrt(self**2 + other**2)`` without overflow.",
    example=">>> ag.hypot(ag.tensor([3.0]), ag.tensor([4.0]))\ntensor([5.])",
)

# --- angles ------------------------------------------------------------------------------------

unary(
    "sin",
    vjp="grad * cos(self).conj()",
    doc="Sine (radians).",
    special=differs("value", "is_complex & ~finite(self)", FREE_SIGN),
    example=">>> ag.sin(ag.tensor([0.0, 1.0]))\ntensor([0.0000, 0.8415])",
)
unary(
    "cos",
    vjp="-grad * sin(self).conj()",
    doc="Cosine (radians).",
    example=">>> ag.cos(ag.tensor([0.0, 1.0]))\ntensor([1.0000, 0.5403])",
)
unary(
    "tan",
    vjp="grad * (1 + square(result)).conj()",
    doc="Tangent (radians).",
    domain=real(-1, 1),
    complex_domain=box(-0.8, 0.8),
    example=">>> ag.tan(ag.tensor([0.0, 1.0]))\ntensor([0.0000, 1.5574])",
)
unary(
    "asin",
    vjp="grad * rsqrt(1 - self * self).conj()",
    doc="Arc sine.",
    reference="np.arcsin(self)",
    domain=real(-0.8, 0.8),
    aliases=("arcsin",),
    example=">>> ag.asin(ag.tensor([0.0, 1.0]))\ntensor([0.0000, 1.5708])",
)
unary(
    "acos",
    vjp="-grad * rsqrt(1 - self * self).conj()",
    doc="Arc cosine.",
    reference="np.arccos(self)",
    domain=real(-0.8, 0.8),
    aliases=("arccos",),
    special=differs(
        "value",
        "is_complex & (np.abs(self - 1) < 1e-6)",
        "the root of a small difference, of which torch keeps one part",
    ),
    example=">>> ag.acos(ag.tensor([0.0, 1.0]))\ntensor([1.5708, 0.0000])",
)
unary(
    "atan",
    vjp="grad / (1 + self * self).conj()",
    doc="Arc tangent.",
    reference="np.arctan(self)",
    complex_domain=box(-0.8, 0.8),
    aliases=("arctan",),
    example=">>> ag.atan(ag.tensor([0.0, 1.0]))\ntensor([0.0000, 0.7854])",
)

op(
    "atan2(self, other)",
    kernel=elementwise("atan2", dtypes="float"),
    inplace=True,
    aliases=("arctan2",),
    vjp={
        "self": "grad * _over_square(other, hypot(self, other))",
        "other": "-grad * _over_square(self, hypot(self, other))",
    },
    jvp="elementwise",
    vmap="elementwise",
    samples=BINARY,
    domain=real(0.4, 2),
    dtypes="bihf",
    reference="np.arctan2(self, other)",
    special=differs(
        ("gradient", "second"),
        "np.hypot(self, other) < smallest**0.5",
        "torch divides by the sum of the squares, which underflows",
    ),
    doc="Angle of the point (other, self).",
    example=(
        ">>> ag.atan2(ag.tensor([1.0, -1.0]), ag.tensor([1.0, -1.0]))\ntensor([ 0.7854, -2.3562])"
    ),
)

op(
    "_over_square(self, radius)",
    method=False,
    kernel=composite("where(eq(radius, 0), self, self / radius / radius)"),
    doc="``self / radius**2`` without overflow, and 0 at radius 0.",
)

op(
    "deg2rad(self)",
    out=True,
    kernel=composite("elementary.deg2rad", into=True),
    inplace=True,
    samples=UNARY,
    reference="self * (np.pi / 180)",
    dtypes="bihf",
    doc="Degrees as radians.",
    example=">>> ag.deg2rad(ag.tensor([180.0, 90.0]))\ntensor([3.1416, 1.5708])",
)

op(
    "rad2deg(self)",
    out=True,
    kernel=composite("elementary.rad2deg", into=True),
    inplace=True,
    samples=UNARY,
    reference="self * (180 / np.pi)",
    dtypes="bihf",
    doc="Radians as degrees.",
    example=">>> ag.rad2deg(ag.tensor([1.0, 0.5]))\ntensor([57.2958, 28.6479])",
)

# --- hyperbolic functions ----------------------------------------------------------------------

unary(
    "sinh",
    vjp="grad * cosh(self).conj()",
    doc="Hyperbolic sine.",
    special=differs("value", "is_complex & ~finite(self)", FREE_SIGN),
    example=">>> ag.sinh(ag.tensor([0.0, 1.0]))\ntensor([0.0000, 1.1752])",
)
unary(
    "cosh",
    vjp="grad * sinh(self).conj()",
    doc="Hyperbolic cosine.",
    example=">>> ag.cosh(ag.tensor([0.0, 1.0]))\ntensor([1.0000, 1.5431])",
)
unary(
    "asinh",
    vjp="grad * rsqrt(self * self + 1).conj()",
    doc="Inverse hyperbolic sine.",
    reference="np.arcsinh(self)",
    complex_domain=box(-0.8, 0.8),
    aliases=("arcsinh",),
    special=(differs("second", FAR_SQUARED, OVERFLOWS),),
    example=">>> ag.asinh(ag.tensor([0.0, 1.0]))\ntensor([0.0000, 0.8814])",
)
# Two roots: at 1 and, by |self|, at -1 every derivative is infinite and none NaN.
unary(
    "acosh",
    vjp=(
        "grad * (rsqrt(self - 1) * rsqrt(self + 1)).conj() if self.is_complex() else grad "
        "* (rsqrt(abs(self) - 1) * rsqrt(abs(self) + 1))"
    ),
    doc="Inverse hyperbolic cosine.",
    reference="np.arccosh(self)",
    domain=real(1.3, 4),
    complex_domain=box(0.3, 1.5),
    aliases=("arccosh",),
    special=(
        differs("second", FAR_SQUARED, OVERFLOWS),
        differs(
            ("gradient", "second"),
            "is_complex & (np.imag(self) == 0) & np.signbit(np.imag(self))",
            "below the cut, of which torch's formula knows the upper side only",
        ),
    ),
    example=">>> ag.acosh(ag.tensor([1.0, 2.0]))\ntensor([0.0000, 1.3170])",
)
unary(
    "atanh",
    vjp="grad / (1 - self * self).conj()",
    doc="Inverse hyperbolic tangent.",
    reference="np.arctanh(self)",
    domain=real(-0.8, 0.8),
    complex_domain=box(-0.8, 0.8),
    aliases=("arctanh",),
    special=(differs(("second", "gradient"), FAR_SQUARED, OVERFLOWS),),
    example=">>> ag.atanh(ag.tensor([0.0, 0.5]))\ntensor([0.0000, 0.5493])",
)
