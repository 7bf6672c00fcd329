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

unary("exp", "grad * result.conj()", "Exponential.")
unary("exp2", "grad * (0.6931471805599453 * result).conj()", "``2 ** self``.",
      reference="2.0 ** self.astype(np.result_type(self.dtype, np.float32))")
unary("expm1", "grad * (result + 1).conj()", "``exp(self) - 1``, accurate near 0.",
      special=differs("value gradient second", "is_complex & (~finite(self) | (np.real(self) > np.log(largest)))",
                      "the array API's table: real on the real axis, -1 far on the left"))
unary("log", "grad / self.conj()", "Natural logarithm.", domain=real(0.2, 4), complex_domain=box(0.3, 1.5))
unary("log2", "grad / (0.6931471805599453 * self).conj()", "Logarithm to base 2.", domain=real(0.3, 4), complex_domain=box(0.3, 1.5))
unary("log10", "grad / (2.302585092994046 * self).conj()", "Logarithm to base 10.", domain=real(0.3, 4), complex_domain=box(0.3, 1.5))
unary("log1p", "grad / (self + 1).conj()", "``log(1 + self)``, accurate near 0.", domain=real(-0.6, 3),
      complex_domain=box(0.1, 1.0), node="Log1PBackward0",
      special=differs("value", "is_complex & (infinite(self) | (np.abs(self) < smallest**0.25))",
                      "the array API's table, and small numbers themselves; torch has NaN"))

op("logaddexp(self, other)", kernel=elementwise("logaddexp"),
   vjp={"self": "grad / (1 + exp(other - self)).conj()", "other": "grad / (1 + exp(self - other)).conj()"},
   jvp="elementwise", vmap="elementwise", samples=BINARY, dtypes="hfc",
   special=differs("value gradient second", "is_complex & ~(finite(self) & finite(other))",
                   "neither C99 nor the array API has a table; an infinite or NaN part leaves what the other parts still tell"),
   reference="np.logaddexp(self, other) if self.dtype.kind != 'c' else np.log(np.exp(self) + np.exp(other))",
   doc="``log(exp(self) + exp(other))`` without overflow.")

unary("sqrt", "grad / (2 * result.conj())", "Square root.", domain=real(0.2, 4), complex_domain=box(0.3, 1.5))
unary("rsqrt", "-0.5 * grad * (result ** 3).conj()", "``1 / sqrt(self)``.",
      reference="1 / np.sqrt(self)", domain=real(0.2, 4), complex_domain=box(0.3, 1.5),
      special=differs("second", "is_complex & (np.abs(self) < smallest**0.25)", "only the order of products that overflow"))

op("hypot(self, other)", kernel=elementwise("hypot"), inplace=True, vjp={"self": "grad * (self / result)", "other": "grad * (other / result)"},
   jvp="elementwise", vmap="elementwise", samples=BINARY, domain=real(0.4, 2), dtypes="hf", reference="np.hypot(self, other)",
   doc="``sqrt(self**2 + other**2)`` without overflow.")

# --- angles ------------------------------------------------------------------------------------

unary("sin", "grad * cos(self).conj()", "Sine (radians).", special=differs("value", "is_complex & ~finite(self)", FREE_SIGN))
unary("cos", "-grad * sin(self).conj()", "Cosine (radians).")
unary("tan", "grad * (1 + square(result)).conj()", "Tangent (radians).", domain=real(-1, 1), complex_domain=box(-0.8, 0.8))
unary("asin", "grad * rsqrt(1 - self * self).conj()", "Arc sine.", reference="np.arcsin(self)", domain=real(-0.8, 0.8),
      aliases=("arcsin",))
unary("acos", "-grad * rsqrt(1 - self * self).conj()", "Arc cosine.", reference="np.arccos(self)", domain=real(-0.8, 0.8),
      aliases=("arccos",),
      special=differs("value", "is_complex & (np.abs(self - 1) < 1e-6)", "the root of a small difference, of which torch keeps one part"))
unary("atan", "grad / (1 + self * self).conj()", "Arc tangent.", reference="np.arctan(self)", complex_domain=box(-0.8, 0.8),
      aliases=("arctan",))

op("atan2(self, other)", kernel=elementwise("atan2", dtypes="float"), inplace=True, aliases=("arctan2",),
   vjp={"self": "grad * _over_square(other, hypot(self, other))", "other": "-grad * _over_square(self, hypot(self, other))"},
   jvp="elementwise", vmap="elementwise", samples=BINARY, domain=real(0.4, 2), dtypes="bihf", reference="np.arctan2(self, other)",
   special=differs("gradient second", "np.hypot(self, other) < smallest**0.5", "torch divides by the sum of the squares, which underflows"),
   doc="Angle of the point (other, self).")

op("_over_square(self, radius)", method=False, kernel=composite("where(eq(radius, 0), self, self / radius / radius)"),
   doc="``self / radius**2`` without overflow, and 0 at radius 0.")

op("deg2rad(self)", out=True, kernel=composite("mul(self, 0.017453292519943295)"), inplace=True, samples=UNARY, reference="self * (np.pi / 180)",
   doc="Degrees as radians.")

op("rad2deg(self)", out=True, kernel=composite("mul(self, 57.29577951308232)"), inplace=True, samples=UNARY, reference="self * (180 / np.pi)",
   doc="Radians as degrees.")

# --- hyperbolic functions ----------------------------------------------------------------------

unary("sinh", "grad * cosh(self).conj()", "Hyperbolic sine.",
      special=differs("value", "is_complex & ~finite(self)", FREE_SIGN))
unary("cosh", "grad * sinh(self).conj()", "Hyperbolic cosine.")
unary("asinh", "grad * rsqrt(self * self + 1).conj()", "Inverse hyperbolic sine.", reference="np.arcsinh(self)", complex_domain=box(-0.8, 0.8),
      aliases=("arcsinh",), special=(differs("second", FAR_SQUARED, OVERFLOWS),))
# Two roots: at 1 and, by |self|, at -1 every derivative is infinite and none NaN.
unary("acosh", "grad * (rsqrt(self - 1) * rsqrt(self + 1)).conj() if self.is_complex() else grad * (rsqrt(abs(self) - 1) * rsqrt(abs(self) + 1))",
      "Inverse hyperbolic cosine.", reference="np.arccosh(self)", domain=real(1.3, 4), complex_domain=box(0.3, 1.5), aliases=("arccosh",),
      special=(differs("second", FAR_SQUARED, OVERFLOWS),
               differs("gradient second", "is_complex & (np.imag(self) == 0) & np.signbit(np.imag(self))",
                       "below the cut, of which torch's formula knows the upper side only")))
unary("atanh", "grad / (1 - self * self).conj()", "Inverse hyperbolic tangent.", reference="np.arctanh(self)", domain=real(-0.8, 0.8),
      complex_domain=box(-0.8, 0.8), aliases=("arctanh",), special=(differs("second gradient", FAR_SQUARED, OVERFLOWS),))
