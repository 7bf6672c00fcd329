"""Elementary functions of one and of two numbers, beyond the arithmetic of pointwise.py."""

from autograd_cy.ops._schema import (
    BINARY,
    UNARY,
    arg,
    box,
    call,
    composite,
    differs,
    elementwise,
    integers,
    nondiff,
    op,
    real,
    sample,
    shapes,
)

# Why special values differ from torch's.
OVERFLOWS = "a square overflows in torch's formula; the limit is 0"
TORCH_ROUNDS = "torch's series for polygamma(1, x) is good to 5e-10 and misses the poles at whole numbers"
FAR_SQUARED = "~(np.abs(self) < largest**0.5)"


def function(name, vjp, doc, reference=None, domain=real(-2, 2), complex_domain=box(), dtypes="bihfc", aliases=(), special=()):
    op(f"{name}(self)", kernel=elementwise(name, dtypes="float"), inplace=True, vjp={"self": vjp}, jvp="elementwise",
       vmap="elementwise", samples=UNARY, domain=domain, complex_domain=complex_domain, dtypes=dtypes,
       reference=reference or f"np.{name}(self)", doc=doc, aliases=aliases, special=special)


# --- of one number ----------------------------------------------------------------------------

function("exp2", "grad * (0.6931471805599453 * result).conj()", "``2 ** self``.",
         reference="2.0 ** self.astype(np.result_type(self.dtype, np.float32))")
function("log2", "grad / (0.6931471805599453 * self).conj()", "Logarithm to base 2.", domain=real(0.3, 4), complex_domain=box(0.3, 1.5))
function("log10", "grad / (2.302585092994046 * self).conj()", "Logarithm to base 10.", domain=real(0.3, 4), complex_domain=box(0.3, 1.5))
function("tan", "grad * (1 + square(result)).conj()", "Tangent (radians).", domain=real(-1, 1), complex_domain=box(-0.8, 0.8))
function("asin", "grad * rsqrt(1 - self * self).conj()", "Arc sine.", reference="np.arcsin(self)", domain=real(-0.8, 0.8),
         aliases=("arcsin",))
function("acos", "-grad * rsqrt(1 - self * self).conj()", "Arc cosine.", reference="np.arccos(self)", domain=real(-0.8, 0.8),
         aliases=("arccos",),
         special=differs("value", "is_complex & (np.abs(self - 1) < 1e-6)", "the root of a small difference, of which torch keeps one part"))
function("atan", "grad / (1 + self * self).conj()", "Arc tangent.", reference="np.arctan(self)", complex_domain=box(-0.8, 0.8),
         aliases=("arctan",))
function("sinh", "grad * cosh(self).conj()", "Hyperbolic sine.",
         special=differs("value", "is_complex & ~finite(self)", "C99 leaves the sign of an infinite part beside NaN open"))
function("cosh", "grad * sinh(self).conj()", "Hyperbolic cosine.")
function("asinh", "grad * rsqrt(self * self + 1).conj()", "Inverse hyperbolic sine.", reference="np.arcsinh(self)", complex_domain=box(-0.8, 0.8),
         aliases=("arcsinh",), special=(differs("second", FAR_SQUARED, OVERFLOWS),))
# Two roots: at 1 and, by |self|, at -1 every derivative is infinite and none NaN.
function("acosh", "grad * (rsqrt(self - 1) * rsqrt(self + 1)).conj() if self.is_complex() else grad * (rsqrt(abs(self) - 1) * rsqrt(abs(self) + 1))",
         "Inverse hyperbolic cosine.", reference="np.arccosh(self)", domain=real(1.3, 4), complex_domain=box(0.3, 1.5), aliases=("arccosh",),
         special=(differs("second", FAR_SQUARED, OVERFLOWS),
                  differs("gradient second", "is_complex & (np.imag(self) == 0) & np.signbit(np.imag(self))",
                          "below the cut, of which torch's formula knows the upper side only")))
function("atanh", "grad / (1 - self * self).conj()", "Inverse hyperbolic tangent.", reference="np.arctanh(self)", domain=real(-0.8, 0.8),
         complex_domain=box(-0.8, 0.8), aliases=("arctanh",), special=(differs("second gradient", FAR_SQUARED, OVERFLOWS),))
function("erfc", "-1.1283791670955126 * exp(-square(self)) * grad", "Complementary error function ``1 - erf(self)``.",
         reference="scipy.special.erfc(self)", dtypes="bihf")

op("frac(self)", out="exact", kernel=elementwise("frac"), inplace=True, vjp={"self": "grad"}, jvp="elementwise", vmap="elementwise", samples=UNARY,
   dtypes="hf", domain=real(0.1, 0.9), reference="self - np.trunc(self)", doc="The part after the point, with the sign of the number.")

op("signbit(self)", out="exact", kernel=elementwise("signbit", dtypes="bool"), widen=("bi", "float"), vjp=nondiff("the result is a truth value"), vmap="elementwise", samples=UNARY,
   dtypes="bihf", reference="np.signbit(self.astype(np.float32))", doc="Whether the sign is negative, also of zero.")

op("positive(self)", kernel=composite("formulas.positive"), dunder="pos", samples=UNARY, reference="self", dtypes="ihfc", doc="The tensor itself.")

op("deg2rad(self)", out=True, kernel=composite("mul(self, 0.017453292519943295)"), inplace=True, samples=UNARY, reference="self * (np.pi / 180)",
   doc="Degrees as radians.")

op("rad2deg(self)", out=True, kernel=composite("mul(self, 57.29577951308232)"), inplace=True, samples=UNARY, reference="self * (180 / np.pi)",
   doc="Radians as degrees.")

op("logit(self, eps: float? = None)", kernel=call("powers.logit_plain"), inplace=True, vmap="elementwise",
   vjp={"self": "_logit_backward(grad, self, eps)"}, jvp="elementwise",
   samples=[*UNARY, sample((arg((3, 4)), 0.3)), sample((arg((3, 4)),), {"eps": 0.6})], dtypes="bihf", domain=real(0.2, 0.8),
   reference="(lambda x: np.log(x / (1 - x)))(self + 0.0 if eps is None else np.where(self < eps, eps, np.where(self > 1 - eps, 1 - eps, self)))",
   special=differs("gradient", "(eps is not None) & nan(self)", "torch has NaN here too, but 0 with create_graph=True"),
   doc="Inverse of the logistic function, ``log(self / (1 - self))``.", tolerance=1e-4)

op("_logit_backward(grad_output, self, eps: float?)", kernel=composite("formulas.logit_backward"),
   doc="Gradient of logit: NaN outside of [0, 1], or 0 outside of [eps, 1 - eps].")

op("lgamma(self)", kernel=call("special.lgamma_plain"), inplace=True, vjp={"self": "grad * digamma(self)"}, jvp="elementwise",
   vmap="elementwise", samples=UNARY, domain=real(0.4, 4), dtypes="bihf", reference="scipy.special.gammaln(self)", tolerance=1e-4,
   special=(differs("value", "np.abs(self - 1) < 1e-6", "SciPy's error beside the zero at 1 is one of 1, not of the result"),
            differs("second", "finite(self)", TORCH_ROUNDS)),
   doc="Logarithm of the absolute value of the gamma function.")

op("digamma(self)", kernel=call("special.digamma_plain"), inplace=True, vjp={"self": "grad * _polygamma(self, 1)"}, jvp="elementwise",
   vmap="elementwise", samples=UNARY, domain=real(0.4, 4), dtypes="bihf", reference="scipy.special.psi(self)", tolerance=1e-4,
   special=(differs("gradient", "finite(self)", TORCH_ROUNDS), differs("second", "np.isposinf(self)", "the limit")),
   doc="Derivative of :func:`lgamma`.")

op("_polygamma(self, order: int)", forward="polygamma", kernel=call("special.polygamma_plain"), inplace=True, vjp={"self": "grad * _polygamma(self, order + 1)"},
   jvp="elementwise", vmap="_polygamma(self, order)", samples=[sample((arg((3, 4)), 1)), sample((arg((3,)), 2))], domain=real(0.6, 4),
   special=(differs("value", "finite(self) & (order == 1)", TORCH_ROUNDS),
            differs("value gradient second", "np.isposinf(self)", "the limit; torch's series subtracts infinities")),
   dtypes="bihf", reference="scipy.special.polygamma(order, self)", tolerance=1e-3, doc="Derivatives of the digamma function.")

# --- of two numbers ---------------------------------------------------------------------------

op("atan2(self, other)", kernel=elementwise("atan2", dtypes="float"), inplace=True, aliases=("arctan2",),
   vjp={"self": "grad * _over_square(other, hypot(self, other))", "other": "-grad * _over_square(self, hypot(self, other))"},
   jvp="elementwise", vmap="elementwise", samples=BINARY, domain=real(0.4, 2), dtypes="bihf", reference="np.arctan2(self, other)",
   special=differs("gradient second", "np.hypot(self, other) < smallest**0.5", "torch divides by the sum of the squares, which underflows"),
   doc="Angle of the point (other, self).")

op("_over_square(self, radius)", method=False, kernel=composite("where(eq(radius, 0), self, self / radius / radius)"),
   doc="``self / radius**2`` without overflow, and 0 at radius 0.")

op("hypot(self, other)", kernel=elementwise("hypot"), inplace=True, vjp={"self": "grad * (self / result)", "other": "grad * (other / result)"},
   jvp="elementwise", vmap="elementwise", samples=BINARY, domain=real(0.4, 2), dtypes="hf", reference="np.hypot(self, other)",
   doc="``sqrt(self**2 + other**2)`` without overflow.")

op("logaddexp(self, other)", kernel=elementwise("logaddexp"),
   vjp={"self": "grad / (1 + exp(other - self)).conj()", "other": "grad / (1 + exp(self - other)).conj()"},
   jvp="elementwise", vmap="elementwise", samples=BINARY, dtypes="hfc",
   special=differs("value gradient second", "is_complex & ~(finite(self) & finite(other))",
                   "neither C99 nor the array API has a table; an infinite or NaN part leaves what the other parts still tell"),
   reference="np.logaddexp(self, other) if self.dtype.kind != 'c' else np.log(np.exp(self) + np.exp(other))",
   doc="``log(exp(self) + exp(other))`` without overflow.")

op("xlogy(self: operand, other: operand)", kernel=elementwise("xlogy", dtypes="float"), inplace=True,
   vjp={"self": "where(logical_and(eq(self, 0), le(other, 0)), 0, grad * log(other))", "other": "grad * self / other"}, jvp="elementwise", vmap="elementwise",
   samples=BINARY, domain=real(0.4, 2), dtypes="bihf", reference="scipy.special.xlogy(self + 0.0, other)",
   special=differs("gradient", "(self == 0) & nan(other)", "NaN, as from a tensor with a NaN; torch has 0 for a number that is one"),
   plain_numbers=("self", "other"), doc="``self * log(other)``, and 0 where self is 0.")

op("copysign(self, other: operand)", kernel=elementwise("copysign", dtypes="float"), inplace=True,
   vjp={"self": "where(eq(self, 0), 0, grad * (result / self))", "other": "zeros_like(grad)"},
   jvp={"self": "where(eq(self, 0), 0, self_t * (result / self))"}, vmap="elementwise", samples=BINARY,
   domain=real(-2, 2, avoid=(0.0,)), dtypes="ihf", reference="np.copysign(self, other)", doc="Magnitude of `self` with the sign of `other`.")

op("heaviside(self, values)", kernel=composite("variants.heaviside"), inplace=True, out="exact", samples=BINARY, dtypes="bihf",
   reference="np.heaviside(self, values)", doc="0 below zero, 1 above, `values` at zero.")

op("_heaviside(self, values)", kernel=elementwise("heaviside"), forward="heaviside", vjp=nondiff("piecewise constant: the derivative is zero wherever it exists"),
   vmap="elementwise", samples=BINARY, dtypes="hf", reference="np.heaviside(self, values)", doc="0 below zero, 1 above, `values` at zero.")

op("fmod(self, other: operand)", kernel=elementwise("fmod"), inplace=True, checks="no_integer_zero",
   vjp={"self": "grad", "other": "-grad * _quotient_trunc(self, other)"}, jvp="elementwise", vmap="elementwise", samples=BINARY, dtypes="ihf",
   domain=real(0.6, 3.4), reference="np.fmod(self, other)", plain_numbers=("other",), doc="Remainder of the division with the sign of `self` (C's fmod).")

for _name, _which in (("fmax", "ge"), ("fmin", "le")):
    op(f"{_name}(self, other)", kernel=composite(f"variants.{_name}"), out=True, samples=BINARY, dtypes="bihf",
       reference=f"np.{_name}(self, other)", doc=f"{'Larger' if _name == 'fmax' else 'Smaller'} of two elements; a number wins over NaN.")
    op(f"_{_name}(self, other)", kernel=elementwise(_name), forward=_name,
       vjp={"self": f"where(logical_or({_which}(self, other), isnan(other)), grad, 0)",
            "other": f"where(logical_or({_which}(self, other), isnan(other)), 0, grad)"},
       jvp="elementwise", vmap="elementwise", samples=BINARY, dtypes="hf", reference=f"np.{_name}(self, other)",
       doc=f"{'Larger' if _name == 'fmax' else 'Smaller'} of two elements; a number wins over NaN.")

for _name, _np in (("bitwise_left_shift", "left_shift"), ("bitwise_right_shift", "right_shift")):
    op(f"{_name}(self: operand, other: operand)", kernel=elementwise(_np), dunder={"left_shift": "lshift", "right_shift": "rshift"}[_np], inplace=True,
       vjp=nondiff("integers have no derivative"), vmap="elementwise", samples=BINARY, domain=integers(0, 4), dtypes="i",
       reference=f"np.{_np}(self, other)", doc=f"Bits shifted to the {_np.partition('_')[0]}.")

for _name, _sign, _doc in (("igamma", "", "lower"), ("igammac", "-", "upper")):
    op(f"{_name}(self, other)", kernel=call(f"special.{_name}_plain"), inplace=True, vmap="elementwise",
       vjp={"self": f"_not_implemented(grad, '{_name}: input')",
            "other": f"{_sign}grad * exp((self - 1) * log(other) - other - lgamma(self))"},
       jvp={"self": f"_not_forward(self_t, '{_name}')", "other": f"{_sign}other_t * exp((self - 1) * log(other) - other - lgamma(self))"},
       samples=[sample((arg(a, None, False), arg(b))) for a, b in (((3, 4), (3, 4)), ((3, 1), (4,)), ((), (3,)), ((0, 3), (1, 3)))],
       domain=real(0.6, 3), dtypes="hf", tolerance=1e-4,
       special=differs("value", "nan(self) | nan(other) | (np.abs(self) < smallest**0.25) | (self > largest / 2)",
                       "SciPy's: NaN from NaN, and the limits at the smallest and largest orders"),
       reference=f"scipy.special.gammainc{'c' if _sign else ''}(self, other)",
       doc=f"Regularised {_doc} incomplete gamma function of order `self`; differentiable in `other`.")

op("_not_implemented(grad_output, name: str)", kernel=composite("derivatives.not_implemented"), doc="The error of a derivative that there isn't.")

op("_not_forward(tangent, name: str)", kernel=composite("derivatives.not_forward"), doc="The error of a tangent that there isn't.")

# --- of three and more ------------------------------------------------------------------------

op("lerp(self, end, weight: operand)", out="exact", checks="weight", kernel=elementwise("lerp"), inplace=True,
   vjp={"self": "grad * (1 - weight).conj()", "end": "grad * weight.conj()", "weight": "grad * (end - self).conj()"},
   jvp="elementwise", vmap="elementwise", dtypes="hfc",
   samples=[*shapes(((3, 4), (3, 4), (3, 4)), ((3, 4), (4,), ())), sample((arg((3, 4)), arg((3, 4)), 0.3))],
   special=differs("gradient", "is_complex & ~(finite(self) & finite(weight))",
                   "C99 subtracts the parts; torch multiplies by 1 + 0j first, which makes NaN beside an infinity"),
   reference="self + weight * (end - self)", tolerance=5e-5, plain_numbers=("weight",), doc="``self + weight * (end - self)``.")

op("addcmul(self, tensor1, tensor2, *, value: Scalar = 1)", kernel=elementwise("addcmul"), inplace=True, checks="factor",
   vjp={"self": "grad", "tensor1": "grad * (value * tensor2).conj()", "tensor2": "grad * (value * tensor1).conj()"},
   jvp="elementwise", vmap="elementwise", dtypes="ihfc",
   samples=[*shapes(((3, 4), (3, 4), (3, 4)), ((3, 4), (4,), (3, 1))), sample((arg((3,)), arg((3,)), arg((3,))), {"value": 2})],
   special=differs("value", "infinite(value * tensor1 * tensor2) & ~is_complex", "an infinite product is one; torch's vector loop adds before it rounds"),
   reference="self + value * tensor1 * tensor2", tolerance=5e-5, doc="``self + value * tensor1 * tensor2``.")

op("_add_products(self, other: operand, third, fourth: operand)", kernel=elementwise("add_products"), method=False,
   vjp={"self": "grad * other.conj()", "other": "grad * self.conj()", "third": "grad * fourth.conj()", "fourth": "grad * third.conj()"},
   jvp="elementwise", vmap="elementwise", dtypes="hfc",
   samples=shapes(((3, 4), (3, 4), (3, 4), (3, 4)), ((3, 4), (4,), (3, 1), (4,))),
   reference="self * other + third * fourth", tolerance=5e-5, doc="``self * other + third * fourth`` in one pass: tangents of products.")

op("addcdiv(self, tensor1, tensor2, *, value: Scalar = 1)", kernel=elementwise("addcdiv"), inplace=True, checks="factor",
   vjp={"self": "grad", "tensor1": "grad * (value / tensor2).conj()", "tensor2": "-grad * (value * tensor1 / (tensor2 * tensor2)).conj()"},
   jvp="elementwise", vmap="elementwise", dtypes="hfc", domain=real(0.5, 2), complex_domain=box(0.5, 1.5),
   samples=[*shapes(((3, 4), (3, 4), (3, 4)), ((3, 4), (4,), (3, 1))), sample((arg((3,)), arg((3,)), arg((3,))), {"value": 2.0})],
   reference="self + value * tensor1 / tensor2", tolerance=5e-5, doc="``self + value * tensor1 / tensor2``.")
