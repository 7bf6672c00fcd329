"""Elementwise operators: arithmetic, functions, comparisons, activations.

Activations with parameters and their fused backward operators are in activation.py.
"""

from autograd_cy.ops._schema import (
    BINARY,
    UNARY,
    arg,
    booleans,
    box,
    call,
    composite,
    differs,
    elementwise,
    error,
    integers,
    nondiff,
    op,
    real,
    sample,
    shapes,
    view,
)

PIECEWISE = "piecewise constant: the derivative is zero wherever it exists"
TRUTH = "the result is a truth value"
COMPARE = dict(vjp=nondiff(TRUTH), vmap="elementwise", samples=BINARY, domain=integers(0, 3))

# Why special values differ from torch's.
BY_PARTS = "C99 adds the parts; torch multiplies `other` by 1 + 0j first, which makes NaN beside an infinity"
FUSED = "an infinite product is one; torch's vector loop adds before it rounds"
FREE_SIGN = "C99 leaves the sign of an infinite part beside NaN open"
EITHER_ZERO = "C99 leaves open which of 0 and -0 is the larger"
FLOORED = "an infinity divided by a number (array API); torch gives NaN"

# --- arithmetic -------------------------------------------------------------------------------

op("add(self: operand, other: operand)", kernel=elementwise("add"), alpha=True, inplace=True, dunder="add",
   vjp={"self": "grad", "other": "grad"}, jvp="elementwise", vmap="elementwise",
   samples=BINARY, reference="np.add(self, other)",
   special=differs("value", "is_complex & ~(finite(self) & finite(other))", BY_PARTS),
   doc="Sum ``self + alpha * other``.")

op("_add_scaled(self, other: operand, alpha: Scalar)", kernel=elementwise("add_scaled"), node="AddBackward0", forward="add", inplace=True,
   vjp={"self": "grad", "other": "grad * alpha.conj()"}, jvp="elementwise", vmap="elementwise", dtypes="ihfc",
   samples=[sample((arg((3, 4)), arg((4,)), 2)), sample((arg((3,)), arg(()), 3)), sample((arg((3,)), arg((3,)), 2))],
   reference="self + alpha * other", special=differs("value", "infinite(alpha * other)", FUSED),
   doc="add and sub with a factor, in one pass.")

op("sub(self: operand, other: operand)", kernel=elementwise("sub"), alpha=True, inplace=True, aliases=("subtract",), dunder="sub",
   checks="no_bool_subtraction",
   vjp={"self": "grad", "other": "-grad"}, jvp="elementwise", vmap="elementwise", dtypes="ihfc",
   samples=BINARY, reference="np.subtract(self, other)", variants={"RsubBackward1": "is_number(self)"},
   special=differs("value", "is_complex & ~(finite(self) & finite(other))", BY_PARTS),
   plain_numbers=("self",), doc="Difference ``self - alpha * other``.")

op("mul(self: operand, other: operand)", kernel=elementwise("mul"), inplace=True, aliases=("multiply",), dunder="mul",
   vjp={"self": "grad * other.conj()", "other": "grad * self.conj()"},
   jvp="each", vmap="elementwise", samples=BINARY, reference="np.multiply(self, other)",
   doc="Element-wise product.")

op("div(self: operand, other: operand)", options={"rounding_mode: str? = None": "_div_rounded"}, kernel=elementwise("div", dtypes="float"), inplace=True, aliases=("divide", "true_divide"), dunder="div",
   vjp={"self": "grad / other.conj()", "other": "-grad * (self / other / other).conj()"},
   jvp={"self": "self_t / other", "other": "-other_t * (result / other)"}, vmap="elementwise", samples=BINARY, domain=real(0.5, 2.5),
   complex_domain=box(0.5, 1.5), reference="np.divide(self, other)",
   doc="True quotient ``self / other``; integers become the default float dtype.")

op("_div_rounded(self: operand, other: operand, rounding_mode: str)", kernel=call("powers.div_rounded_plain"), node="DivBackward1", forward="div",
   inplace=True, vjp={"self": "zeros_like(grad)", "other": "zeros_like(grad)"}, jvp="elementwise", vmap="elementwise", dtypes="ihf",
   samples=[sample((arg((3, 4)), arg((4,)), mode)) for mode in ("trunc", "floor")], domain=real(0.6, 3.4),
   reference="{'trunc': lambda q: np.trunc(q).astype(np.result_type(self, other)), 'floor': lambda q: np.floor_divide(self, other)}[rounding_mode](self / other)",
   special=differs("value", "(rounding_mode == 'floor') & infinite(self) & finite(other)", FLOORED),
   doc="The quotient rounded towards zero or down.")

op("floor_divide(self: operand, other: operand)", kernel=elementwise("floor_divide"), inplace=True,
   dunder="floordiv", vjp=nondiff(PIECEWISE, refuse_tangents=True), vmap="elementwise", samples=BINARY, dtypes="ihf",
   domain=integers(1, 7), reference="np.floor_divide(self, other)", checks="no_integer_zero",
   special=differs("value", "infinite(self) & finite(other)", FLOORED), doc="Quotient rounded down.")

# Quotients of which the derivatives of remainder and fmod are made: constant from piece to piece.
for _name, _kernel in (("floor", "floor_divide"), ("trunc", "trunc_divide")):
    op(f"_quotient_{_name}(self, other: operand)", kernel=elementwise(_kernel), dtypes="ihf",
       vjp={"self": "zeros_like(grad)", "other": "zeros_like(grad)"},
       jvp={"self": "zeros_like(result)", "other": "zeros_like(result)"}, vmap="elementwise",
       doc="The quotient " + ("rounded down." if _name == "floor" else "without its fraction."))

op("remainder(self: operand, other: operand)", kernel=elementwise("remainder"), inplace=True, dunder="mod",
   vjp={"self": "grad", "other": "-grad * (_quotient_floor(self, other) + 0 * self)"}, jvp="elementwise",
   vmap="elementwise", samples=BINARY, dtypes="ihf", domain=real(0.6, 3.4),
   reference="np.remainder(self, other)", checks="no_integer_zero",
   special=(differs("value", "np.remainder(self, other) == 0", "a remainder of 0 has the sign of `other` (array API)"),
            differs("gradient", "infinite(self) & (other == 0)", "the remainder is NaN there, and with it the derivative")),
   plain_numbers=("self", "other"), doc="Remainder of the division with the sign of `other` (Python's ``%``).")

op("neg(self)", out="exact", kernel=elementwise("neg"), inplace=True, aliases=("negative",), dunder="neg", vjp={"self": "-grad"},
   jvp="linear", vmap="elementwise", samples=UNARY, dtypes="ihfc", reference="np.negative(self)",
   doc="Negative of each element.")

op("pow(self: operand, exponent: operand)", kernel=call("powers.pow_plain"), inplace=True, dunder="pow",
   vjp={"self": "_pow_backward_self(grad, self, exponent)",
        "exponent": "_pow_backward_exponent(grad, self, exponent, result)"},
   jvp="elementwise", vmap="elementwise", dtypes="ihfc", domain=real(0.4, 2.2), complex_domain=box(0.5, 1.5),
   samples=[*BINARY, sample((arg((3, 4)), 2)), sample((arg((3,)), 0)), sample((arg((3,)), 0.5))],
   variants={"PowBackward2": "is_number(self)", "PowBackward1": "not is_number(exponent)"},
   reference="np.power(self, exponent)", tolerance=5e-5, checks="pow_domain",
   special=(differs("second", "~is_complex & (self == 0) & (exponent >= 0)", "torch multiplies 0 and log(0); the limit is 0"),
            differs("value gradient second", "is_complex & ~((np.abs(self) < largest / 2) & (np.abs(exponent) < largest / 2) & (np.abs(self) > smallest))",
                    "C99 leaves cpow open: z**0 is 1 and z**1 is z, the rest exp(exponent * log(z)) with products by parts")),
   plain_numbers=("self", "exponent"), doc="``self`` to the power `exponent`.")

op("_pow_backward_self(grad_output, self, exponent)", method=False,
   kernel=composite(
       "grad_output if number_of(exponent) == 1"
       " else grad_output * (2 * self).conj() if number_of(exponent) == 2"
       " else zeros_like(grad_output) if number_of(exponent) == 0"
       " else where(eq(exponent, 0), 0, grad_output * (exponent * pow(self, exponent - 1)).conj())"
       " if number_of(exponent) is None"
       " else grad_output * (exponent * pow(self, exponent - 1)).conj()"),
   samples=shapes(((3, 4), (3, 4), (3, 4))),
   domain=real(0.4, 2.2), complex_domain=box(0.5, 1.5), doc="Gradient of pow with respect to its base; zero for exponent 0.")

op("_as_complex(self)", method=False, kernel=composite("formulas.as_complex"), doc="A real tensor or number as a complex one.")

op("_pow_backward_exponent(grad_output, self, exponent, power)", method=False,
   kernel=composite(
       "where(logical_and(eq(self, 0), gt(real(exponent), 0)), 0, grad_output * (power * log(_as_complex(self))).conj())"
       " if self.is_complex() or exponent.is_complex()"
       " else where(logical_and(eq(self, 0), ge(exponent, 0)), 0, grad_output * (power * log(self)))"),
   samples=shapes(((3, 4), (3, 4), (3, 4), (3, 4))), domain=real(0.4, 2.2), complex_domain=box(0.5, 1.5),
   doc="Gradient of pow with respect to its exponent; zero where the base is zero.")

op("square(self)", kernel=elementwise("square"), widen=("b", "int64"), inplace=True, node="PowBackward0", vjp={"self": "grad * (2 * self).conj()"},
   jvp="elementwise", vmap="elementwise", samples=UNARY, dtypes="bihfc", reference="np.square(self) if self.dtype != bool else self.astype(np.int64)",
   special=differs("value", "is_complex & (np.abs(self) > largest / 2)", "a difference of infinite products is NaN; torch's are not rounded"),
   doc="Square of each element.")

op("reciprocal(self)", kernel=elementwise("reciprocal", dtypes="float"), inplace=True,
   vjp={"self": "-grad * (result * result).conj()"}, jvp="elementwise", vmap="elementwise",
   special=differs("second", "is_complex & (np.abs(self) < smallest**0.25)", "only the order of products that overflow"),
   samples=UNARY, domain=real(0.5, 2.0), complex_domain=box(0.5, 1.5),
   reference="np.reciprocal(self + 0.0)", doc="``1 / self``.")

op("abs(self)", out="exact", kernel=elementwise("abs", dtypes="real"), inplace=True, aliases=("absolute",), dunder="abs",
   vjp={"self": "grad * sgn(self)"}, jvp={"self": "real(self_t * sgn(self).conj())"},
   vmap="elementwise", samples=UNARY, domain=real(-2, 2, avoid=(0.0,)), complex_domain=box(0.3, 1.5),
   reference="np.abs(self)", dtypes="ihfc", doc="Absolute value; for complex the modulus, which is real.")

op("sgn(self)", out="exact", kernel=elementwise("sgn"), inplace=True, vjp={"self": "_sgn_backward(grad, self, result)"},
   jvp={"self": "_sgn_backward(self_t, self, result)"}, vmap="elementwise", samples=UNARY,
   domain=real(-2, 2, avoid=(0.0,)), complex_domain=box(0.3, 1.5),
   reference="self / np.where(self == 0, 1, np.abs(self))",
   doc="``self / |self|``, and 0 at 0.")

# d(z/|z|): the part of the tangent along z vanishes; what is left is divided by |z|.
op("_sgn_backward(grad_output, self, unit)", method=False,
   kernel=composite(
       "where(eq(self, 0), 0, (grad_output - real(grad_output * unit.conj()) * unit) / abs(self))"
       " if self.is_complex() else zeros_like(grad_output)"),
   doc="Gradient of sgn.")

op("sign(self)", out="exact", kernel=elementwise("sign"), inplace=True, vjp={"self": "zeros_like(grad)"},
   jvp={"self": "zeros_like(self_t)"}, vmap="elementwise", samples=UNARY, dtypes="bihf",
   domain=real(-2, 2, avoid=(0.0,)), reference="np.sign(self) if self.dtype != bool else self", doc="-1, 0 or 1 by the sign.")

for _name in ("floor", "ceil", "round", "trunc"):
    op(f"{_name}(self)", out="exact", kernel=elementwise(_name), options={"decimals: int = 0": "_round_decimals"} if _name == "round" else {}, inplace=True, aliases=("fix",) if _name == "trunc" else (), vjp={"self": "zeros_like(grad)"},
       jvp={"self": "zeros_like(self_t)"}, vmap="elementwise", samples=UNARY, dtypes="ihf",
       domain=real(0.1, 0.4), reference=f"np.{'round' if _name == 'round' else _name}(self)",
       doc={"floor": "Largest integer not above.", "ceil": "Smallest integer not below.",
            "round": "Nearest integer, halves to even.", "trunc": "Integer part."}[_name])

op("_round_decimals(self, decimals: int)", kernel=composite("variants.round_decimals"), forward="round", inplace=True, out="exact",
   samples=[sample((arg((3, 4)), 1)), sample((arg((3,)), -1))], dtypes="hf", domain=real(0.11, 0.14), reference="np.round(self, decimals)",
   doc="round to a number of decimal places.")

for _name, _which, _doc in (("maximum", "lt", "Larger of the two elements; NaN wins."),
                            ("minimum", "gt", "Smaller of the two elements; NaN wins.")):
    op(f"{_name}(self, other)", kernel=elementwise(_name),
       vjp={"self": f"where(eq(self, other), grad * 0.5, where({_which}(self, other), 0, grad))",
            "other": f"where(eq(self, other), grad * 0.5, where({_which}(other, self), 0, grad))"},
       jvp="elementwise", vmap="elementwise", samples=BINARY, dtypes="bihf",
       reference=f"np.{_name}(self, other)", doc=_doc)

# --- functions --------------------------------------------------------------------------------


def _function(name, vjp, doc, reference=None, domain=real(-2, 2), complex_domain=box(), dtypes="bihfc",
              tolerance=2e-5, node=None, special=()):
    op(f"{name}(self)", kernel=elementwise(name, dtypes="float"), inplace=True, vjp={"self": vjp},
       jvp="elementwise", vmap="elementwise", samples=UNARY, domain=domain,
       complex_domain=complex_domain, dtypes=dtypes, reference=reference or f"np.{name}(self)", doc=doc,
       tolerance=tolerance, node=node, special=special)


_function("exp", "grad * result.conj()", "Exponential.")
_function("log", "grad / self.conj()", "Natural logarithm.", domain=real(0.2, 4), complex_domain=box(0.3, 1.5))
_function("sqrt", "grad / (2 * result.conj())", "Square root.", domain=real(0.2, 4), complex_domain=box(0.3, 1.5))
_function("rsqrt", "-0.5 * grad * (result ** 3).conj()", "``1 / sqrt(self)``.",
          reference="1 / np.sqrt(self)", domain=real(0.2, 4), complex_domain=box(0.3, 1.5),
          special=differs("second", "is_complex & (np.abs(self) < smallest**0.25)", "only the order of products that overflow"))
_function("sin", "grad * cos(self).conj()", "Sine (radians).", special=differs("value", "is_complex & ~finite(self)", FREE_SIGN))
_function("cos", "-grad * sin(self).conj()", "Cosine (radians).")
_function("log1p", "grad / (self + 1).conj()", "``log(1 + self)``, accurate near 0.", domain=real(-0.6, 3),
          complex_domain=box(0.1, 1.0), node="Log1PBackward0",
          special=differs("value", "is_complex & (infinite(self) | (np.abs(self) < smallest**0.25))",
                          "the array API's table, and small numbers themselves; torch has NaN"))
_function("expm1", "grad * (result + 1).conj()", "``exp(self) - 1``, accurate near 0.",
          special=differs("value gradient second", "is_complex & (~finite(self) | (np.real(self) > np.log(largest)))",
                          "the array API's table: real on the real axis, -1 far on the left"))
_function("erf", "1.1283791670955126 * exp(-square(self)) * grad", "Error function.", dtypes="bihf",
          reference="scipy.special.erf(self)")

# --- choice -----------------------------------------------------------------------------------

op("where(condition, self: operand, other: operand)", out="exact",
   kernel=elementwise("where", skip_first=True), method=False,
   vjp={"self": "where(condition, grad, 0)", "other": "where(condition, 0, grad)"},
   jvp="elementwise", vmap="elementwise",
   samples=[sample((arg(c, booleans(), False), arg(a), arg(b))) for c, a, b in
            [((3, 4), (3, 4), (3, 4)), ((4,), (3, 1), (3, 4)), ((), (3,), ()), ((2, 3), (3,), (2, 1)), ((0,), (0,), (1,))]],
   reference="np.where(condition, self, other)", checks="bool_condition", alone="_nonzero_tuple",
   doc="`self` where `condition` holds, `other` elsewhere.\nThe condition alone: the indices at which it holds, a vector for each dimension.")

op("rsub(self, other: operand, *, alpha: Scalar = 1)", tier="interpreted", kernel=composite("pointwise.rsub"), method=False,
   samples=[*BINARY, sample((arg((3,)), 2.0), {"alpha": 3})], dtypes="ihfc", reference="np.subtract(other, alpha * self)",
   errors=(error(sample((arg((3,), booleans()), 2)), RuntimeError, "with a bool tensor is not supported"),),
   doc="Difference ``other - alpha * self``.", example=">>> ag.rsub(ag.tensor([1.0, 2.0]), 3)\ntensor([2., 1.])")

op("clamp(self, min: operand? = None, max: operand? = None)", out="exact", inplace=True, aliases=("clip",), dtypes="ihf",
   kernel=composite("_clamp(self, min, max) if min is not None and max is not None else "
                    "(clamp_min(self, min) if min is not None else clamp_max(self, max))"),
   samples=[sample((arg((3, 4)), -0.7, 0.6)), sample((arg((3,)), 0.3)), sample((arg((3,)), None, 0.2)),
            sample((arg((3, 4)), arg((4,), real(-1, -0.5)), arg((3, 1), real(0.5, 1)))), sample((arg(()), -0.5, 0.5))],
   domain=real(-2, 2, avoid=(-0.7, 0.6, 0.3, 0.2, -0.5, 0.5), gap=0.02), reference="np.clip(self, min, max)",
   checks="clamp_bounds", doc="Elements limited to [min, max]; a bound may be left out.")

op("_clamp(self, min: operand, max: operand)", kernel=elementwise("clamp"), node="ClampBackward0", inplace=True,
   variants={"ClampBackward1": "is_number(min) and is_number(max)"},
   vjp={"self": "_clamp_backward(grad, self, min, max)",
        "min": "where(logical_and(lt(self, min), lt(min, max)), grad, 0)",
        "max": "where(logical_or(gt(self, max), gt(min, max)), grad, 0)"},
   jvp="elementwise", vmap="elementwise", dtypes="ihf",
   samples=shapes(((3, 4), (4,), (3, 1)), ((5,), (), ())), domain=real(-2, 2), reference="np.minimum(np.maximum(self, min), max)",
   plain_numbers=("min", "max"), doc="clamp with both bounds.")

op("_clamp_backward(grad_output, self, min: operand, max: operand)", kernel=elementwise("clamp_backward"),
   vjp={"grad_output": "_clamp_backward(grad, self, min, max)"}, jvp="elementwise", vmap="elementwise", dtypes="hf",
   samples=[sample((arg((3, 4)), arg((3, 4), None, False), -0.5, 0.5))], reference="np.where((self >= min) & (self <= max), grad_output, 0)",
   doc="`grad_output` where min <= self <= max, 0 elsewhere.")

op("clamp_min(self, min: operand)", kernel=elementwise("maximum"), checks="bound", inplace=True,
   vjp={"self": "where(ge(self, min), grad, 0)", "min": "where(lt(self, min), grad, 0)"},
   jvp="elementwise", vmap="elementwise", dtypes="bihf", samples=BINARY,
   reference="np.maximum(self, min)", plain_numbers=("min",),
   special=differs("value", "(self == 0) & (min == 0)", EITHER_ZERO), doc="Elements not below `min`.")

op("clamp_max(self, max: operand)", kernel=elementwise("minimum"), checks="bound", inplace=True,
   vjp={"self": "where(le(self, max), grad, 0)", "max": "where(gt(self, max), grad, 0)"},
   jvp="elementwise", vmap="elementwise", dtypes="bihf", samples=BINARY,
   reference="np.minimum(self, max)", plain_numbers=("max",),
   special=differs("value", "(self == 0) & (max == 0)", EITHER_ZERO), doc="Elements not above `max`.")

# --- comparisons and logic --------------------------------------------------------------------

for _name, _np, _types, _also in (("eq", "equal", "bihfc", ()), ("ne", "not_equal", "bihfc", ("not_equal",)),
                                  ("lt", "less", "bihf", ("less",)), ("le", "less_equal", "bihf", ("less_equal",)),
                                  ("gt", "greater", "bihf", ("greater",)), ("ge", "greater_equal", "bihf", ("greater_equal",))):
    op(f"{_name}(self, other: operand)", kernel=elementwise(_name, dtypes="bool"), dunder=_name, inplace=True, aliases=_also,
       reference=f"np.{_np}(self, other)", dtypes=_types, doc=f"Truth of ``self {_name} other``, element by element.",
       **COMPARE)

for _name in ("logical_and", "logical_or", "logical_xor"):
    op(f"{_name}(self, other)", kernel=elementwise(_name, dtypes="bool"), inplace=True,
       reference=f"np.{_name}(self, other)", doc=f"{_name.replace('_', ' ').capitalize()} of truth values.", **COMPARE)

op("logical_not(self)", kernel=elementwise("logical_not", dtypes="bool"), inplace=True, vjp=nondiff(TRUTH),
   vmap="elementwise", samples=UNARY, domain=integers(0, 2), reference="np.logical_not(self)", doc="Logical not.")

for _name, _op, _slot in (("bitwise_and", "&", "and"), ("bitwise_or", "|", "or"), ("bitwise_xor", "^", "xor")):
    op(f"{_name}(self: operand, other: operand)", kernel=elementwise(_name), dunder=_slot, inplace=True,
       vjp=nondiff("integers have no derivative"), vmap="elementwise", samples=BINARY, domain=integers(0, 8),
       dtypes="bi", reference=f"np.{_name}(self, other)", doc=f"``self {_op} other`` on the bits of integers.")

op("bitwise_not(self)", out="exact", kernel=elementwise("bitwise_not"), dunder="invert", inplace=True,
   vjp=nondiff("integers have no derivative"), vmap="elementwise", samples=UNARY, domain=integers(0, 8),
   dtypes="bi", reference="np.invert(self)", doc="Inverted bits; logical not for bool.")

for _name, _doc in (("isnan", "NaN"), ("isinf", "infinite"), ("isfinite", "finite")):
    op(f"{_name}(self)", kernel=elementwise(_name, dtypes="bool"), vjp=nondiff(TRUTH), vmap="elementwise",
       widen=("bi", "float"), samples=UNARY, reference=f"np.{_name}(self)", doc=f"Whether each element is {_doc}.")

# --- complex numbers --------------------------------------------------------------------------

op("conj(self)", kernel=composite("_conj(self) if self.is_complex() else self"),
   samples=UNARY, reference="np.conj(self)",
   doc="Complex conjugate, a lazy view of a complex tensor (see `is_conj`); a real tensor is returned as it is.")

op("_conjugate(self)", kernel=composite("conj_physical(self) if self.is_complex() else self"),
   samples=UNARY, reference="np.conj(self)", doc="What ``conj`` stands for in formulas.")

op("_conj(self)", kernel=view("shapes.conj_plain"), node="ConjBackward0", vjp={"self": "conj(grad)"},
   jvp="linear", vmap="_conj(self)", samples=UNARY, dtypes="c", reference="np.conj(self)",
   doc="The conjugate of a complex tensor as a view.")

op("_neg_view(self)", kernel=view("shapes.neg_plain"), node="NegViewBackward0", vjp={"self": "-grad"},
   jvp="linear", vmap="_neg_view(self)", samples=UNARY, dtypes="ihfc", reference="-self",
   doc="The negative of a tensor as a view.")

op("resolve_conj(self)", kernel=composite("lazy.resolve_conj"), out=False, samples=UNARY, reference="self",
   doc="The tensor itself, or a copy if its conjugation is still to be done.")

op("resolve_neg(self)", kernel=composite("lazy.resolve_neg"), out=False, samples=UNARY, reference="self",
   doc="The tensor itself, or a copy if its negation is still to be done.")

op("conj_physical(self)", kernel=composite("_conj_physical(self) if self.is_complex() else self"), inplace=True, out="exact", samples=UNARY,
   reference="np.conj(self)", doc="Complex conjugate in new memory; a real tensor is returned as it is.")

op("_conj_physical(self)", kernel=elementwise("conj"), inplace=True, forward="conj_physical", node="ConjPhysicalBackward0", vjp={"self": "conj(grad)"},
   jvp="linear", vmap="elementwise", samples=UNARY, dtypes="c", reference="np.conj(self)",
   doc="Complex conjugate in new memory.")

op("_real(self)", kernel=elementwise("real", dtypes="real"), node="RealBackward0",
   vjp={"self": "complex(grad, zeros_like(grad))"}, jvp="linear", vmap="elementwise", samples=UNARY,
   dtypes="c", reference="np.real(self)", doc="Real part in new memory; real and imag are views.")

op("_imag(self)", kernel=elementwise("imag", dtypes="real"), node="ImagBackward0",
   vjp={"self": "complex(zeros_like(grad), grad)"}, jvp="linear", vmap="elementwise", samples=UNARY, dtypes="c",
   reference="np.imag(self)", doc="Imaginary part in new memory.")

op("complex(real, imag)", out="exact", checks="same_parts", kernel=elementwise("complex", dtypes="complex"), method=False,
   vjp={"real": "_real(grad)", "imag": "_imag(grad)"},
   jvp={"real": "complex(real_t, zeros_like(real_t))", "imag": "complex(zeros_like(imag_t), imag_t)"},
   vmap="elementwise", samples=BINARY, dtypes="f", reference="real + 1j * imag",
   doc="Complex numbers from real and imaginary parts.")
