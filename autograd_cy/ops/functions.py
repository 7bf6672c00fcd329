"""Elementary functions of one and of two numbers, beyond the arithmetic of pointwise.py."""

from autograd_cy.ops._schema import (
    BINARY,
    UNARY,
    arg,
    box,
    composite,
    elementwise,
    integers,
    nondiff,
    op,
    real,
    sample,
    shapes,
)


def function(name, vjp, doc, reference=None, domain=real(-2, 2), complex_domain=box(), dtypes="bihfc", aliases=()):
    op(f"{name}(self)", kernel=elementwise(name, dtypes="float"), inplace=True, vjp={"self": vjp}, jvp="elementwise",
       vmap="elementwise", samples=UNARY, domain=domain, complex_domain=complex_domain, dtypes=dtypes,
       reference=reference or f"np.{name}(self)", doc=doc, aliases=aliases)


# --- of one number ----------------------------------------------------------------------------

function("exp2", "grad * (0.6931471805599453 * result).conj()", "``2 ** self``.",
         reference="2.0 ** self.astype(np.result_type(self, np.float32))")
function("log2", "grad / (0.6931471805599453 * self).conj()", "Logarithm to base 2.", domain=real(0.3, 4), complex_domain=box(0.3, 1.5))
function("log10", "grad / (2.302585092994046 * self).conj()", "Logarithm to base 10.", domain=real(0.3, 4), complex_domain=box(0.3, 1.5))
function("tan", "grad * (1 + result * result).conj()", "Tangent (radians).", domain=real(-1, 1), complex_domain=box(-0.8, 0.8))
function("asin", "grad / sqrt(1 - self * self)", "Arc sine.", reference="np.arcsin(self)", domain=real(-0.8, 0.8), dtypes="bihf",
         aliases=("arcsin",))
function("acos", "-grad / sqrt(1 - self * self)", "Arc cosine.", reference="np.arccos(self)", domain=real(-0.8, 0.8), dtypes="bihf",
         aliases=("arccos",))
function("atan", "grad / (1 + self * self)", "Arc tangent.", reference="np.arctan(self)", dtypes="bihf", aliases=("arctan",))
function("sinh", "grad * cosh(self).conj()", "Hyperbolic sine.")
function("cosh", "grad * sinh(self).conj()", "Hyperbolic cosine.")
function("asinh", "grad / sqrt(self * self + 1)", "Inverse hyperbolic sine.", reference="np.arcsinh(self)", dtypes="bihf", aliases=("arcsinh",))
function("acosh", "grad / sqrt((self - 1) * (self + 1))", "Inverse hyperbolic cosine.", reference="np.arccosh(self)", domain=real(1.3, 4),
         dtypes="ihf", aliases=("arccosh",))
function("atanh", "grad / (1 - self * self)", "Inverse hyperbolic tangent.", reference="np.arctanh(self)", domain=real(-0.8, 0.8), dtypes="hf",
         aliases=("arctanh",))
function("erfc", "-1.1283791670955126 * exp(-self * self) * grad", "Complementary error function ``1 - erf(self)``.",
         reference="scipy.special.erfc(self)", dtypes="bihf")

op("frac(self)", kernel=elementwise("frac"), inplace=True, vjp={"self": "grad"}, jvp="elementwise", vmap="elementwise", samples=UNARY,
   dtypes="hf", domain=real(0.1, 0.9), reference="self - np.trunc(self)", doc="The part after the point, with the sign of the number.")

op("signbit(self)", kernel=elementwise("signbit", dtypes="bool"), vjp=nondiff("the result is a truth value"), vmap="elementwise", samples=UNARY,
   dtypes="hf", reference="np.signbit(self)", doc="Whether the sign is negative, also of zero.")

op("positive(self)", kernel=composite("self"), samples=UNARY, reference="self", doc="The tensor itself.")

op("deg2rad(self)", kernel=composite("mul(self, 0.017453292519943295)"), inplace=True, samples=UNARY, reference="self * (np.pi / 180)",
   doc="Degrees as radians.")

op("rad2deg(self)", kernel=composite("mul(self, 57.29577951308232)"), inplace=True, samples=UNARY, reference="self * (180 / np.pi)",
   doc="Radians as degrees.")

op("logit(self)", kernel=composite("log(self / (1 - self))"), inplace=True, samples=UNARY, domain=real(0.2, 0.8), complex_domain=box(0.2, 0.8),
   reference="np.log(self / (1 - 1 * self))", doc="Inverse of the logistic function, ``log(self / (1 - self))``.", tolerance=1e-4)

# --- of two numbers ---------------------------------------------------------------------------

op("atan2(self, other)", kernel=elementwise("atan2", dtypes="float"), inplace=True, aliases=("arctan2",),
   vjp={"self": "grad * (other / (self * self + other * other))", "other": "-grad * (self / (self * self + other * other))"},
   jvp="elementwise", vmap="elementwise", samples=BINARY, domain=real(0.4, 2), dtypes="bihf", reference="np.arctan2(self, other)",
   doc="Angle of the point (other, self).")

op("hypot(self, other)", kernel=elementwise("hypot"), inplace=True, vjp={"self": "grad * (self / result)", "other": "grad * (other / result)"},
   jvp="elementwise", vmap="elementwise", samples=BINARY, domain=real(0.4, 2), dtypes="hf", reference="np.hypot(self, other)",
   doc="``sqrt(self**2 + other**2)`` without overflow.")

op("logaddexp(self, other)", kernel=elementwise("logaddexp"), vjp={"self": "grad / (1 + exp(other - self))", "other": "grad / (1 + exp(self - other))"},
   jvp="elementwise", vmap="elementwise", samples=BINARY, dtypes="hf", reference="np.logaddexp(self, other)",
   doc="``log(exp(self) + exp(other))`` without overflow.")

op("xlogy(self, other: operand)", kernel=elementwise("xlogy", dtypes="float"), inplace=True,
   vjp={"self": "grad * where(eq(self, 0), 0, log(other))", "other": "grad * (self / other)"}, jvp="elementwise", vmap="elementwise",
   samples=BINARY, domain=real(0.4, 2), dtypes="ihf", reference="scipy.special.xlogy(self, other)", doc="``self * log(other)``, and 0 where self is 0.")

op("copysign(self, other: operand)", kernel=elementwise("copysign", dtypes="float"), inplace=True,
   vjp={"self": "where(eq(self, 0), 0, grad * copysign(1, self) * copysign(1, other))", "other": "zeros_like(grad)"},
   jvp={"self": "where(eq(self, 0), 0, self_t * copysign(1, self) * copysign(1, other))"}, vmap="elementwise", samples=BINARY,
   domain=real(-2, 2, avoid=(0.0,)), dtypes="ihf", reference="np.copysign(self, other)", doc="Magnitude of `self` with the sign of `other`.")

op("heaviside(self, values)", kernel=elementwise("heaviside"), inplace=True, vjp=nondiff("piecewise constant: the derivative is zero wherever it exists"),
   vmap="elementwise", samples=BINARY, dtypes="hf", reference="np.heaviside(self, values)", doc="0 below zero, 1 above, `values` at zero.")

op("fmod(self, other: operand)", kernel=elementwise("fmod"), inplace=True, checks="no_integer_zero",
   vjp={"self": "grad", "other": "-grad * trunc(self / other)"}, jvp="elementwise", vmap="elementwise", samples=BINARY, dtypes="ihf",
   domain=real(0.6, 3.4), reference="np.fmod(self, other)", doc="Remainder of the division with the sign of `self` (C's fmod).")

for _name, _which in (("fmax", "ge"), ("fmin", "le")):
    op(f"{_name}(self, other)", kernel=elementwise(_name),
       vjp={"self": f"where(logical_or({_which}(self, other), isnan(other)), grad, 0)",
            "other": f"where(logical_or({_which}(self, other), isnan(other)), 0, grad)"},
       jvp="elementwise", vmap="elementwise", samples=BINARY, dtypes="hf", reference=f"np.{_name}(self, other)",
       doc=f"{'Larger' if _name == 'fmax' else 'Smaller'} of two elements; a number wins over NaN.")

for _name, _np in (("bitwise_left_shift", "left_shift"), ("bitwise_right_shift", "right_shift")):
    op(f"{_name}(self, other: operand)", kernel=elementwise(_np), dunder={"left_shift": "lshift", "right_shift": "rshift"}[_np], inplace=True,
       vjp=nondiff("integers have no derivative"), vmap="elementwise", samples=BINARY, domain=integers(0, 4), dtypes="i",
       reference=f"np.{_np}(self, other)", doc=f"Bits shifted to the {_np.partition('_')[0]}.")

# --- of three and more ------------------------------------------------------------------------

op("lerp(self, end, weight: operand)", kernel=elementwise("lerp"), inplace=True,
   vjp={"self": "grad * (1 - weight).conj()", "end": "grad * weight.conj()", "weight": "grad * (end - self).conj()"},
   jvp="elementwise", vmap="elementwise", dtypes="hfc",
   samples=[*shapes(((3, 4), (3, 4), (3, 4)), ((3, 4), (4,), ())), sample((arg((3, 4)), arg((3, 4)), 0.3))],
   reference="self + weight * (end - self)", tolerance=5e-5, doc="``self + weight * (end - self)``.")

op("addcmul(self, tensor1, tensor2, *, value: Scalar = 1)", kernel=elementwise("addcmul"), inplace=True, checks="integral_value",
   vjp={"self": "grad", "tensor1": "grad * (value * tensor2).conj()", "tensor2": "grad * (value * tensor1).conj()"},
   jvp="elementwise", vmap="elementwise", dtypes="ihfc",
   samples=[*shapes(((3, 4), (3, 4), (3, 4)), ((3, 4), (4,), (3, 1))), sample((arg((3,)), arg((3,)), arg((3,))), {"value": 2})],
   reference="self + value * tensor1 * tensor2", tolerance=5e-5, doc="``self + value * tensor1 * tensor2``.")

op("_add_products(self, other: operand, third, fourth: operand)", kernel=elementwise("add_products"), method=False,
   vjp={"self": "grad * other.conj()", "other": "grad * self.conj()", "third": "grad * fourth.conj()", "fourth": "grad * third.conj()"},
   jvp="elementwise", vmap="elementwise", dtypes="hfc",
   samples=shapes(((3, 4), (3, 4), (3, 4), (3, 4)), ((3, 4), (4,), (3, 1), (4,))),
   reference="self * other + third * fourth", tolerance=5e-5, doc="``self * other + third * fourth`` in one pass: tangents of products.")

op("addcdiv(self, tensor1, tensor2, *, value: Scalar = 1)", kernel=elementwise("addcdiv"), inplace=True,
   vjp={"self": "grad", "tensor1": "grad * (value / tensor2).conj()", "tensor2": "-grad * (value * tensor1 / (tensor2 * tensor2)).conj()"},
   jvp="elementwise", vmap="elementwise", dtypes="hfc", domain=real(0.5, 2), complex_domain=box(0.5, 1.5),
   samples=[*shapes(((3, 4), (3, 4), (3, 4)), ((3, 4), (4,), (3, 1))), sample((arg((3,)), arg((3,)), arg((3,))), {"value": 2.0})],
   reference="self + value * tensor1 / tensor2", tolerance=5e-5, doc="``self + value * tensor1 / tensor2``.")
