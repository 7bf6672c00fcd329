"""Sums, products, quotients, powers, rounding and signs, element by element."""

from autograd_cy.ops._schema import (
    BINARY,
    UNARY,
    arg,
    box,
    call,
    composite,
    differs,
    elementwise,
    error,
    integers,
    one,
    op,
    real,
    sample,
    shapes,
)

# Why special values differ from torch's.
BY_PARTS = (
    "C99 adds the parts; torch multiplies `other` by 1 + 0j first, which makes NaN beside an "
    "infinity"
)
FUSED = "an infinite product is one; torch's vector loop adds before it rounds"

# --- sums and products -------------------------------------------------------------------------

op(
    "add(self: operand, other: operand)",
    flops="elements(self, other)",
    kernel=elementwise("add"),
    two_numbers=True,
    alpha="_add_scaled",
    inplace=True,
    dunder="add",
    dispatched_as={"__radd__": "add"},
    vjp={"self": "grad", "other": "grad"},
    shows={"alpha": "1"},
    jvp="elementwise",
    vmap="elementwise",
    samples=BINARY,
    reference="np.add(self, other)",
    special=differs("value", "is_complex & ~(finite(self) & finite(other))", BY_PARTS),
    doc="Sum ``self + alpha * other``.",
    example=">>> ag.add(ag.tensor([1, 2]), ag.tensor([10, 20]), alpha=2)\ntensor([21, 42])",
)

# The factor of what is subtracted comes negated.
for _name, _alpha, _node in (
    ("add", "alpha", "AddBackward0"),
    ("sub", "None if alpha is None else -alpha", "SubBackward0"),
):
    op(
        f"_{_name}_scaled(self, other: operand, alpha: Scalar)",
        kernel=elementwise("add_scaled"),
        node=_node,
        shown_as=_name,
        flops="elements(self, other)" if _name == "add" else None,
        inplace=True,
        vjp={"self": "grad", "other": "grad * alpha.conj()"},
        shows={"alpha": _alpha},
        jvp="elementwise",
        vmap="elementwise",
        dtypes="ihfc",
        samples=[
            sample((arg((3, 4)), arg((4,)), 2)),
            sample((arg((3,)), arg(()), 3)),
            sample((arg((3,)), arg((3,)), 2)),
        ],
        reference="self + alpha * other",
        special=differs("value", "infinite(alpha * other)", FUSED),
        doc="add and sub with a factor, in one pass.",
    )

op(
    "sub(self: operand, other: operand)",
    kernel=elementwise("sub"),
    two_numbers=True,
    alpha="-_sub_scaled",
    inplace=True,
    aliases=("subtract",),
    dunder="sub",
    checks="no_bool_subtraction",
    vjp={"self": "grad", "other": "-grad"},
    shows={"alpha": "1"},
    jvp="elementwise",
    vmap="elementwise",
    dtypes="ihfc",
    samples=BINARY,
    reference="np.subtract(self, other)",
    variants={"RsubBackward1": "is_number(self)"},
    special=differs("value", "is_complex & ~(finite(self) & finite(other))", BY_PARTS),
    plain_numbers=("self",),
    doc="Difference ``self - alpha * other``.",
    example=">>> ag.sub(ag.tensor([10, 20]), ag.tensor([1, 2]))\ntensor([ 9, 18])",
)

op(
    "rsub(self, other: operand, alpha: Scalar = 1)",
    tier="interpreted",
    kernel=composite("arithmetic.rsub"),
    method=False,
    samples=[*BINARY, sample((arg((3,)), 2.0), {"alpha": 3})],
    dtypes="ihfc",
    reference="np.subtract(other, alpha * self)",
    special=differs("value", "is_complex & ~(finite(self) & finite(other))", BY_PARTS),
    errors=(error(sample((arg((3,)), "2")), TypeError, "must be Tensor or Number"),),
    doc="Difference ``other - alpha * self``.",
    example=">>> ag.rsub(ag.tensor([1.0, 2.0]), 3)\ntensor([2., 1.])",
)

op(
    "_rsub(self, other: operand)",
    tier="interpreted",
    shown_as="rsub",
    checks="no_bool_subtraction",
    kernel=elementwise("sub", args=("other", "self")),
    method=False,
    out=False,
    vjp={"self": "-grad", "other": "grad"},
    shows={"alpha": "1"},
    jvp="elementwise",
    vmap="elementwise",
    dtypes="ihfc",
    node="RsubBackward0",
    variants={"RsubBackward1": "is_number(other)"},
    plain_numbers=("other",),
    samples=BINARY,
    reference="np.subtract(other, self)",
    special=differs("value", "is_complex & ~(finite(self) & finite(other))", BY_PARTS),
    doc="Difference ``other - self``.",
)

op(
    "mul(self: operand, other: operand)",
    flops="elements(self, other)",
    kernel=elementwise("mul"),
    two_numbers=True,
    inplace=True,
    aliases=("multiply",),
    dunder="mul",
    dispatched_as={"__rmul__": "mul"},
    vjp={"self": "grad * other.conj()", "other": "grad * self.conj()"},
    jvp="each",
    vmap="elementwise",
    dtypes="biuhfc",
    samples=BINARY,
    reference="np.multiply(self, other)",
    doc="Element-wise product.",
    example=">>> ag.mul(ag.tensor([1, 2]), 3)\ntensor([3, 6])",
)

op(
    "lerp(self, end, weight: operand)",
    out="exact",
    checks="weight",
    kernel=elementwise("lerp"),
    inplace=True,
    vjp={
        "self": "grad * (1 - weight).conj()",
        "end": "grad * weight.conj()",
        "weight": "grad * (end - self).conj()",
    },
    jvp="elementwise",
    vmap="elementwise",
    dtypes="hfc",
    samples=[
        *shapes(((3, 4), (3, 4), (3, 4)), ((3, 4), (4,), ())),
        sample((arg((3, 4)), arg((3, 4)), 0.3)),
    ],
    special=differs(
        "gradient",
        "is_complex & ~(finite(self) & finite(weight))",
        (
            "C99 subtracts the parts; torch multiplies by 1 + 0j first, which makes NaN beside an "
            "infinity"
        ),
    ),
    reference="self + weight * (end - self)",
    tolerance=5e-5,
    plain_numbers=("weight",),
    variants={"LerpBackward1": "not is_number(weight)"},
    doc="``self + weight * (end - self)``.",
    example=(
        ">>> ag.lerp(ag.tensor([0.0, 10.0]), ag.tensor([10.0, 20.0]), 0.25)\n"
        "tensor([ 2.5000, 12.5000])"
    ),
)

op(
    "addcmul(self, tensor1, tensor2, *, value: Scalar = 1)",
    kernel=elementwise("addcmul"),
    inplace=True,
    checks="factor",
    vjp={
        "self": "grad",
        "tensor1": "grad * (value * tensor2).conj()",
        "tensor2": "grad * (value * tensor1).conj()",
    },
    jvp="elementwise",
    vmap="elementwise",
    dtypes="ihfc",
    samples=[
        *shapes(((3, 4), (3, 4), (3, 4)), ((3, 4), (4,), (3, 1))),
        sample((arg((3,)), arg((3,)), arg((3,))), {"value": 2}),
    ],
    special=differs(
        "value",
        "infinite(value * tensor1 * tensor2) & ~is_complex",
        "an infinite product is one; torch's vector loop adds before it rounds",
    ),
    reference="self + value * tensor1 * tensor2",
    tolerance=5e-5,
    doc="``self + value * tensor1 * tensor2``.",
    example=(
        ">>> ag.addcmul(ag.ones(2), ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]), value=10)\n"
        "tensor([31., 81.])"
    ),
    params={"value": "Factor of the product."},
)

op(
    "_add_products(self, other: operand, third, fourth: operand)",
    kernel=elementwise("add_products"),
    method=False,
    vjp={
        "self": "grad * other.conj()",
        "other": "grad * self.conj()",
        "third": "grad * fourth.conj()",
        "fourth": "grad * third.conj()",
    },
    jvp="elementwise",
    vmap="elementwise",
    dtypes="hfc",
    samples=shapes(((3, 4), (3, 4), (3, 4), (3, 4)), ((3, 4), (4,), (3, 1), (4,))),
    reference="self * other + third * fourth",
    tolerance=5e-5,
    doc="``self * other + third * fourth`` in one pass: tangents of products.",
)

op(
    "addcdiv(self, tensor1, tensor2, *, value: Scalar = 1)",
    kernel=elementwise("addcdiv"),
    inplace=True,
    checks="factor",
    vjp={
        "self": "grad",
        "tensor1": "grad * (value / tensor2).conj()",
        "tensor2": "-grad * (value * tensor1 / (tensor2 * tensor2)).conj()",
    },
    jvp="elementwise",
    vmap="elementwise",
    dtypes="hfc",
    domain=real(0.5, 2),
    complex_domain=box(0.5, 1.5),
    samples=[
        *shapes(((3, 4), (3, 4), (3, 4)), ((3, 4), (4,), (3, 1))),
        sample((arg((3,)), arg((3,)), arg((3,))), {"value": 2.0}),
    ],
    reference="self + value * tensor1 / tensor2",
    tolerance=5e-5,
    doc="``self + value * tensor1 / tensor2``.",
    example=(
        ">>> ag.addcdiv(ag.ones(2), ag.tensor([1.0, 2.0]), ag.tensor([2.0, 4.0]), value=10)\n"
        "tensor([6., 6.])"
    ),
    params={"value": "Factor of the quotient."},
)

# --- quotients ---------------------------------------------------------------------------------

op(
    "div(self: operand, other: operand)",
    options={"rounding_mode: str? = None": "_div_rounded"},
    kernel=elementwise("div", dtypes="float"),
    two_numbers=True,
    inplace=True,
    aliases=("divide", "true_divide"),
    dunder="div",
    vjp={"self": "grad / other.conj()", "other": "-grad * (self / other / other).conj()"},
    jvp={"self": "self_t / other", "other": "-other_t * (result / other)"},
    vmap="elementwise",
    samples=BINARY,
    domain=real(0.5, 2.5),
    complex_domain=box(0.5, 1.5),
    reference="np.divide(self, other)",
    doc="True quotient ``self / other``; integers become the default float dtype.",
    example='>>> ag.div(ag.tensor([7.0, -7.0]), 2, rounding_mode="floor")\ntensor([ 3., -4.])',
)

op(
    "_div_rounded(self: operand, other: operand, rounding_mode: str)",
    kernel=call("powers.div_rounded_plain", anywhere=True, into=True),
    node="DivBackward2",
    keeps=("rounding_mode",),
    shown_as="div",
    inplace=True,
    vjp={"self": "zeros_like(grad)", "other": "zeros_like(grad)"},
    jvp="elementwise",
    vmap="elementwise",
    dtypes="ihf",
    samples=[sample((arg((3, 4)), arg((4,)), mode)) for mode in ("trunc", "floor")],
    domain=real(0.6, 3.4),
    reference=(
        "{'trunc': lambda q: np.trunc(q).astype(np.result_type(self, other)), "
        "'floor': lambda q: np.floor_divide(self, other)}[rounding_mode](self / other)"
    ),
    doc="The quotient rounded towards zero or down.",
)

op(
    "_over(self, other)",
    kernel=call("powers.over_plain", anywhere=True),
    out=False,
    vjp={
        "self": "_over(grad, other.conj())",
        "other": "-_over(grad * result.conj(), other.conj())",
    },
    jvp={"self": "_over(self_t, other)", "other": "-_over(result * other_t, other)"},
    vmap="elementwise",
    dtypes="hfc",
    doc=(
        "``self / other``, and 0 where both are 0, in every derivative: what moves there is "
        "infinite."
    ),
)

op(
    "floor_divide(self: operand, other: operand)",
    kernel=elementwise("floor_divide"),
    two_numbers=True,
    inplace=True,
    dunder="floordiv",
    dispatched_as={"__floordiv__": "__floordiv__"},
    vjp={
        "self": "_not_implemented(grad, 'aten::floor_divide')",
        "other": "_not_implemented(grad, 'aten::floor_divide')",
    },
    jvp={
        "self": "_not_forward(self_t, 'floor_divide')",
        "other": "_not_forward(other_t, 'floor_divide')",
    },
    vmap="elementwise",
    samples=BINARY,
    dtypes="ihf",
    domain=integers(1, 7),
    reference="np.floor_divide(self, other)",
    checks="no_integer_zero",
    doc="Quotient rounded down.",
    example=">>> ag.floor_divide(ag.tensor([7, -7]), 2)\ntensor([ 3, -4])",
    raises={"RuntimeError": "An integer is divided by 0."},
)

# Quotients of which the derivatives of remainder and fmod are made: constant from piece to piece.
for _name, _kernel in (("floor", "floor_divide"), ("trunc", "trunc_divide")):
    op(
        f"_quotient_{_name}(self, other: operand)",
        kernel=elementwise(_kernel),
        dtypes="ihf",
        vjp={"self": "zeros_like(grad)", "other": "zeros_like(grad)"},
        jvp={"self": "zeros_like(result)", "other": "zeros_like(result)"},
        vmap="elementwise",
        doc="The quotient " + ("rounded down." if _name == "floor" else "without its fraction."),
    )

op(
    "remainder(self: operand, other: operand)",
    kernel=elementwise("remainder"),
    inplace=True,
    dunder="mod",
    vjp={"self": "grad", "other": "-grad * _quotient_floor(self, other)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=BINARY,
    dtypes="ihf",
    domain=real(0.6, 3.4),
    reference="np.remainder(self, other)",
    checks="no_integer_zero",
    special=differs(
        "value",
        "np.remainder(self, other) == 0",
        "a remainder of 0 has the sign of `other` (array API)",
    ),
    variants={"RemainderBackward1": "not is_number(other)"},
    plain_numbers=("self", "other"),
    doc="Remainder of the division with the sign of `other` (Python's ``%``).",
    example=">>> ag.remainder(ag.tensor([7, -7]), 3)\ntensor([1, 2])",
)

op(
    "fmod(self, other: operand)",
    kernel=elementwise("fmod"),
    inplace=True,
    checks="no_integer_zero",
    vjp={"self": "grad", "other": "-grad * _quotient_trunc(self, other)"},
    jvp="elementwise",
    vmap="elementwise",
    samples=BINARY,
    dtypes="ihf",
    domain=real(0.6, 3.4),
    reference="np.fmod(self, other)",
    plain_numbers=("other",),
    variants={"FmodBackward1": "not is_number(other)"},
    doc="Remainder of the division with the sign of `self` (C's fmod).",
    example=">>> ag.fmod(ag.tensor([7, -7]), 3)\ntensor([ 1, -1])",
)

op(
    "reciprocal(self)",
    kernel=elementwise("reciprocal", dtypes="float"),
    inplace=True,
    vjp={"self": "-grad * (result * result).conj()"},
    jvp="elementwise",
    vmap="elementwise",
    special=differs(
        "second",
        "is_complex & (np.abs(self) < smallest**0.25)",
        "only the order of products that overflow",
    ),
    samples=UNARY,
    domain=real(0.5, 2.0),
    complex_domain=box(0.5, 1.5),
    reference="np.reciprocal(self + 0.0)",
    doc="``1 / self``.",
    example=">>> ag.reciprocal(ag.tensor([2.0, 4.0]))\ntensor([0.5000, 0.2500])",
)

# --- powers ------------------------------------------------------------------------------------

op(
    "pow(self: operand, exponent: operand)",
    kernel=call("powers.pow_plain", anywhere=True, into=True),
    inplace=True,
    dunder="pow",
    dispatched_as={"__pow__": "__pow__", "__ipow__": "__ipow__"},
    vjp={
        "self": "_pow_backward_self(grad, self, exponent)",
        "exponent": "_pow_backward_exponent(grad, self, exponent, result)",
    },
    stays={"self": ("self",)},
    jvp="elementwise",
    vmap="elementwise",
    dtypes="ihfc",
    domain=real(0.4, 2.2),
    complex_domain=box(0.5, 1.5),
    samples=[*BINARY, sample((arg((3, 4)), 2)), sample((arg((3,)), 0)), sample((arg((3,)), 0.5))],
    variants={"PowBackward2": "is_number(self)", "PowBackward1": "not is_number(exponent)"},
    reference="np.power(self, exponent)",
    tolerance=5e-5,
    checks="pow_domain",
    special=(
        differs(
            "second",
            "~is_complex & (self == 0) & (exponent >= 0)",
            "torch multiplies 0 and log(0); the limit is 0",
        ),
        differs(
            ("value", "gradient", "second"),
            (
                "is_complex & ~((np.abs(self) < largest / 2) & (np.abs(exponent) < largest / 2) "
                "& (np.abs(self) > smallest))"
            ),
            (
                "C99 leaves cpow open: z**0 is 1 and z**1 is z, the rest exp(exponent * log(z)) "
                "with products by parts"
            ),
        ),
    ),
    plain_numbers=("self", "exponent"),
    doc="``self`` to the power `exponent`.",
    example=">>> ag.pow(ag.tensor([1, 2, 3]), 2)\ntensor([1, 4, 9])",
)

op(
    "float_power(self: operand, exponent: operand)",
    kernel=composite("arithmetic.float_power", into=True),
    out="exact",
    tolerance=5e-5,
    samples=[*BINARY, sample((arg((3, 4)), 2)), sample((arg((3,)), 0.5))],
    domain=real(0.4, 2.2),
    complex_domain=box(0.5, 1.5),
    reference="(lambda w: np.power(np.asarray(self).astype(w), np.asarray(exponent).astype(w)))("
    "np.complex128 if np.iscomplexobj(self) or np.iscomplexobj(exponent) else np.float64)",
    doc=(
        "``self`` to the power `exponent`, computed in float64, or complex128 if an operand is "
        "complex."
    ),
    example=(
        ">>> ag.float_power(ag.tensor([1, 2, 3]), -1)\n"
        "tensor([1.0000, 0.5000, 0.3333], dtype=autograd_cy.float64)"
    ),
)

op(
    "_pow_backward_self(grad_output, self, exponent)",
    method=False,
    kernel=composite(
        "grad_output if number_of(exponent) == 1"
        " else grad_output * (2 * _first_power(self)).conj() if number_of(exponent) == 2"
        " else zeros_like(grad_output) if number_of(exponent) == 0"
        " else where(eq(exponent, 0), 0, grad_output * (exponent * pow(self, exponent - 1)).conj())"
        " if number_of(exponent) is None"
        " else grad_output * (exponent * pow(self, exponent - 1)).conj()"
    ),
    samples=shapes(((3, 4), (3, 4), (3, 4))),
    domain=real(0.4, 2.2),
    complex_domain=box(0.5, 1.5),
    doc="Gradient of pow with respect to its base; zero for exponent 0.",
)

op(
    "_as_complex(self)",
    method=False,
    kernel=composite("arithmetic.as_complex"),
    doc="A real tensor or number as a complex one.",
)

op(
    "_first_power(self)",
    kernel=composite("arithmetic.first_power"),
    doc="`self`, as a power where that is recorded.",
)

op(
    "_pow_backward_exponent(grad_output, self, exponent, power)",
    method=False,
    kernel=composite(
        "where(logical_and(eq(self, 0), gt(real(exponent), 0)), 0, grad_output * (power "
        "* log(_as_complex(self))).conj()) if self.is_complex() or exponent.is_complex() "
        "else where(logical_and(eq(self, 0), ge(exponent, 0)), 0, grad_output * (power "
        "* log(self)))"
    ),
    samples=shapes(((3, 4), (3, 4), (3, 4), (3, 4))),
    domain=real(0.4, 2.2),
    complex_domain=box(0.5, 1.5),
    doc="Gradient of pow with respect to its exponent; zero where the base is zero.",
)

op(
    "square(self)",
    kernel=elementwise("square"),
    widen=("b", "int64"),
    inplace=True,
    node="PowBackward0",
    vjp={"self": "grad * (2 * _first_power(self)).conj()"},
    shows={"exponent": "2"},
    jvp="elementwise",
    vmap="elementwise",
    samples=UNARY,
    dtypes="bihfc",
    reference="np.square(self) if self.dtype != bool else self.astype(np.int64)",
    special=differs(
        "value",
        "is_complex & (np.abs(self) > largest / 2)",
        "a difference of infinite products is NaN; torch's are not rounded",
    ),
    doc="Square of each element.",
    example=">>> ag.square(ag.tensor([2, -3]))\ntensor([4, 9])",
)

# --- signs -------------------------------------------------------------------------------------

op(
    "neg(self)",
    out="exact",
    kernel=elementwise("neg"),
    inplace=True,
    aliases=("negative",),
    dunder="neg",
    vjp={"self": "-grad"},
    jvp="linear",
    vmap="elementwise",
    samples=UNARY,
    dtypes="ihfc",
    refusal="negation takes numbers (`~` or logical_not() inverts a mask)",
    reference="np.negative(self)",
    doc="Negative of each element.",
    example=">>> ag.neg(ag.tensor([2, -3]))\ntensor([-2,  3])",
)

op(
    "positive(self)",
    kernel=composite("arithmetic.positive"),
    dunder="pos",
    samples=UNARY,
    reference="self",
    dtypes="ihfc",
    doc="The tensor itself.",
    example=">>> ag.positive(ag.tensor([2, -3]))\ntensor([ 2, -3])",
)

op(
    "abs(self)",
    out="exact",
    kernel=elementwise("abs", dtypes="real"),
    inplace=True,
    aliases=("absolute",),
    dunder="abs",
    vjp={"self": "grad * sgn(self)"},
    jvp={"self": "real(self_t * sgn(self).conj())"},
    vmap="elementwise",
    samples=UNARY,
    domain=real(-2, 2, avoid=(0.0,)),
    complex_domain=box(0.3, 1.5),
    reference="np.abs(self)",
    dtypes="ihfc",
    doc="Absolute value; for complex the modulus, which is real.",
    example=">>> ag.abs(ag.tensor([2, -3]))\ntensor([2, 3])",
)

op(
    "sgn(self)",
    out="exact",
    kernel=elementwise("sgn"),
    inplace=True,
    vjp={"self": "_sgn_backward(grad, self, result)"},
    jvp={"self": "_sgn_backward(self_t, self, result)"},
    vmap="elementwise",
    samples=UNARY,
    domain=real(-2, 2, avoid=(0.0,)),
    complex_domain=box(0.3, 1.5),
    reference="self / np.where(self == 0, 1, np.abs(self))",
    doc="``self / |self|``, and 0 at 0.",
    example=">>> ag.sgn(ag.tensor([3 + 4j, 0j]))\ntensor([0.6000+0.8000j, 0.0000+0.0000j])",
)

# d(z/|z|): the part of the tangent along z vanishes; what is left is divided by |z|.
op(
    "_sgn_backward(grad_output, self, unit)",
    method=False,
    kernel=composite(
        "where(eq(self, 0), 0, (grad_output - real(grad_output * unit.conj()) * unit) / abs(self))"
        " if self.is_complex() else zeros_like(grad_output)"
    ),
    doc="Gradient of sgn.",
)

op(
    "sign(self)",
    out="exact",
    kernel=elementwise("sign"),
    inplace=True,
    vjp={"self": "zeros_like(grad)"},
    jvp={"self": "zeros_like(self_t)"},
    vmap="elementwise",
    samples=UNARY,
    dtypes="bihf",
    domain=real(-2, 2, avoid=(0.0,)),
    reference="np.sign(self) if self.dtype != bool else self",
    doc="-1, 0 or 1 by the sign.",
    example=">>> ag.sign(ag.tensor([2.0, -3.0, 0.0]))\ntensor([ 1., -1.,  0.])",
)

op(
    "copysign(self, other: operand)",
    kernel=elementwise("copysign", dtypes="float"),
    inplace=True,
    vjp={"self": "where(eq(self, 0), 0, grad * (result / self))", "other": "zeros_like(grad)"},
    jvp={"self": "where(eq(self, 0), 0, self_t * (result / self))"},
    vmap="elementwise",
    samples=BINARY,
    domain=real(-2, 2, avoid=(0.0,)),
    dtypes="bihf",
    reference="np.copysign(self, other)",
    doc="Magnitude of `self` with the sign of `other`.",
    example=">>> ag.copysign(ag.tensor([1.0, 2.0]), ag.tensor([-1.0, 1.0]))\ntensor([-1.,  2.])",
)

# --- rounding ----------------------------------------------------------------------------------

for _name in ("floor", "ceil", "round", "trunc"):
    op(
        f"{_name}(self)",
        out="exact",
        kernel=elementwise(_name),
        options={"decimals: int = 0": "_round_decimals"} if _name == "round" else {},
        inplace=True,
        aliases=("fix",) if _name == "trunc" else (),
        vjp={"self": "zeros_like(grad)"},
        jvp={"self": "zeros_like(self_t)"},
        vmap="elementwise",
        samples=UNARY,
        dtypes="iuhf",
        domain=real(0.1, 0.4),
        reference=f"np.{'round' if _name == 'round' else _name}(self)",
        doc={
            "floor": "Largest integer not above.",
            "ceil": "Smallest integer not below.",
            "round": "Nearest integer, halves to even.",
            "trunc": "Integer part.",
        }[_name],
        example={
            "floor": ">>> ag.floor(ag.tensor([1.5, -1.5]))\ntensor([ 1., -2.])",
            "ceil": ">>> ag.ceil(ag.tensor([1.5, -1.5]))\ntensor([ 2., -1.])",
            "round": ">>> ag.round(ag.tensor([1.26, 2.5]), decimals=1)\ntensor([1.3000, 2.5000])",
            "trunc": ">>> ag.trunc(ag.tensor([1.5, -1.5]))\ntensor([ 1., -1.])",
        }[_name],
    )

op(
    "_round_decimals(self, decimals: int)",
    kernel=composite("arithmetic.round_decimals", into=True),
    shown_as="round",
    inplace=True,
    out="exact",
    samples=[sample((arg((3, 4)), 1)), sample((arg((3,)), -1))],
    dtypes="hf",
    domain=real(0.11, 0.14),
    reference="np.round(self, decimals)",
    doc="round to a number of decimal places.",
)

op(
    "frac(self)",
    out="exact",
    kernel=elementwise("frac"),
    inplace=True,
    vjp={"self": "grad"},
    jvp="elementwise",
    vmap="elementwise",
    samples=UNARY,
    dtypes="hf",
    domain=real(0.1, 0.9),
    reference="self - np.trunc(self)",
    doc="The part after the point, with the sign of the number.",
    example=">>> ag.frac(ag.tensor([1.5, -1.5]))\ntensor([ 0.5000, -0.5000])",
)

op(
    "nan_to_num(self, nan: float? = None, posinf: float? = None, neginf: float? = None)",
    kernel=composite("arithmetic.nan_to_num", into=True),
    out="exact",
    inplace=True,
    samples=[one((3, 4)), one((3,), 1.0)],
    dtypes="bihfc",
    reference="np.nan_to_num(self)",
    doc=(
        "NaN and infinities replaced by numbers: zero and the limits of the dtype, where nothing "
        "else is given."
    ),
    example='>>> ag.nan_to_num(ag.tensor([float("nan"), 1.0]), nan=7.0)\ntensor([7., 1.])',
)
