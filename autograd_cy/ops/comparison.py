"""Comparisons, logic, bits, and choices that rest on them: where, clamp, the larger of two."""

from autograd_cy.ops._schema import (
    BINARY,
    TRUTH,
    UNARY,
    arg,
    booleans,
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

COMPARE = {
    "vjp": nondiff(TRUTH),
    "vmap": "elementwise",
    "samples": BINARY,
    "domain": integers(0, 3),
}
EITHER_ZERO = "C99 leaves open which of 0 and -0 is the larger"

# --- comparisons -------------------------------------------------------------------------------

for _name, _sign, _np, _types, _also in (
    ("eq", "==", "equal", "biuhfc", ()),
    ("ne", "!=", "not_equal", "biuhfc", ("not_equal",)),
    ("lt", "<", "less", "biuhf", ("less",)),
    ("le", "<=", "less_equal", "biuhf", ("less_equal",)),
    ("gt", ">", "greater", "biuhf", ("greater",)),
    ("ge", ">=", "greater_equal", "biuhf", ("greater_equal",)),
):
    op(
        f"{_name}(self, other: operand)",
        kernel=elementwise(_name, dtypes="bool"),
        dunder=_name,
        dispatched_as={"__eq__": "__eq__"} if _name == "eq" else None,
        inplace=True,
        aliases=_also,
        reference=f"np.{_np}(self, other)",
        dtypes=_types,
        doc=f"Truth of ``self {_sign} other``, element by element.",
        **COMPARE,
        example={
            "eq": ">>> ag.eq(ag.tensor([1, 2]), ag.tensor([1, 3]))\ntensor([ True, False])",
            "ne": ">>> ag.ne(ag.tensor([1, 2]), ag.tensor([1, 3]))\ntensor([False,  True])",
            "lt": ">>> ag.lt(ag.tensor([1, 2]), 2)\ntensor([ True, False])",
            "le": ">>> ag.le(ag.tensor([1, 2]), 1)\ntensor([ True, False])",
            "gt": ">>> ag.gt(ag.tensor([1, 2]), 1)\ntensor([False,  True])",
            "ge": ">>> ag.ge(ag.tensor([1, 2]), 2)\ntensor([False,  True])",
        }[_name],
    )

for _name, _doc in (("isnan", "NaN"), ("isinf", "infinite"), ("isfinite", "finite")):
    op(
        f"{_name}(self)",
        out=False,
        kernel=elementwise(_name, dtypes="bool"),
        vjp=nondiff(TRUTH),
        vmap="elementwise",
        widen=("bi", "float"),
        samples=UNARY,
        reference=f"np.{_name}(self)",
        doc=f"Tell whether each element is {_doc}.",
        example={
            "isnan": '>>> ag.isnan(ag.tensor([1.0, float("nan")]))\ntensor([False,  True])',
            "isinf": '>>> ag.isinf(ag.tensor([1.0, float("inf")]))\ntensor([False,  True])',
            "isfinite": '>>> ag.isfinite(ag.tensor([1.0, float("inf")]))\ntensor([ True, False])',
        }[_name],
    )

op(
    "signbit(self)",
    out="exact",
    kernel=elementwise("signbit", dtypes="bool"),
    widen=("bi", "float"),
    vjp=nondiff("the result is a truth value"),
    vmap="elementwise",
    samples=UNARY,
    dtypes="bihf",
    reference="np.signbit(self.astype(np.float32))",
    doc="Tell whether the sign is negative, also of zero.",
    example=">>> ag.signbit(ag.tensor([0.0, -0.0]))\ntensor([False,  True])",
)

# --- logic and bits ----------------------------------------------------------------------------

for _name in ("logical_and", "logical_or", "logical_xor"):
    op(
        f"{_name}(self, other)",
        kernel=elementwise(_name, dtypes="bool"),
        inplace=True,
        reference=f"np.{_name}(self, other)",
        doc=f"{_name.replace('_', ' ').capitalize()} of truth values.",
        **COMPARE,
        example={
            "logical_and": (
                ">>> ag.logical_and(ag.tensor([0, 1, 2]), ag.tensor([1, 1, 0]))\n"
                "tensor([False,  True, False])"
            ),
            "logical_or": (
                ">>> ag.logical_or(ag.tensor([0, 1, 0]), ag.tensor([1, 1, 0]))\n"
                "tensor([ True,  True, False])"
            ),
            "logical_xor": (
                ">>> ag.logical_xor(ag.tensor([0, 1, 2]), ag.tensor([1, 1, 0]))\n"
                "tensor([ True, False,  True])"
            ),
        }[_name],
    )

op(
    "logical_not(self)",
    kernel=elementwise("logical_not", dtypes="bool"),
    inplace=True,
    vjp=nondiff(TRUTH),
    vmap="elementwise",
    samples=UNARY,
    domain=integers(0, 2),
    reference="np.logical_not(self)",
    doc="Logical not.",
    example=">>> ag.logical_not(ag.tensor([0, 1, 2]))\ntensor([ True, False, False])",
)

for _name, _op, _slot in (
    ("bitwise_and", "&", "and"),
    ("bitwise_or", "|", "or"),
    ("bitwise_xor", "^", "xor"),
):
    op(
        f"{_name}(self: operand, other: operand)",
        kernel=elementwise(_name),
        dunder=_slot,
        inplace=True,
        dispatched_as={
            f"__{_slot}__": f"__{_slot}__",
            f"__r{_slot}__": _name,
            f"__i{_slot}__": f"__i{_slot}__",
        },
        vjp=nondiff("integers have no derivative"),
        vmap="elementwise",
        samples=BINARY,
        domain=integers(0, 8),
        dtypes="biu",
        reference=f"np.{_name}(self, other)",
        doc=f"``self {_op} other`` on the bits of integers.",
        example={
            "bitwise_and": ">>> ag.bitwise_and(ag.tensor([6, 5]), 3)\ntensor([2, 1])",
            "bitwise_or": ">>> ag.bitwise_or(ag.tensor([6, 5]), 3)\ntensor([7, 7])",
            "bitwise_xor": ">>> ag.bitwise_xor(ag.tensor([6, 5]), 3)\ntensor([5, 6])",
        }[_name],
    )

op(
    "bitwise_not(self)",
    out="exact",
    kernel=elementwise("bitwise_not"),
    dunder="invert",
    dispatched_as={"__invert__": "__invert__"},
    inplace=True,
    vjp=nondiff("integers have no derivative"),
    vmap="elementwise",
    samples=UNARY,
    domain=integers(0, 8),
    dtypes="bi",
    reference="np.invert(self)",
    doc="Inverted bits; logical not for bool.",
    example=">>> ag.bitwise_not(ag.tensor([0, 5]))\ntensor([-1, -6])",
)

for _name, _np, _slot in (
    ("bitwise_left_shift", "left_shift", "lshift"),
    ("bitwise_right_shift", "right_shift", "rshift"),
):
    op(
        f"{_name}(self: operand, other: operand)",
        kernel=elementwise(_np),
        dunder=_slot,
        inplace=True,
        dispatched_as={f"__{_slot}__": f"__{_slot}__", f"__i{_slot}__": f"__i{_slot}__"},
        vjp=nondiff("integers have no derivative"),
        vmap="elementwise",
        samples=BINARY,
        domain=integers(0, 4),
        dtypes="i",
        reference=f"np.{_np}(self, other)",
        doc=f"Bits shifted to the {_np.partition('_')[0]}.",
        example={
            "bitwise_left_shift": (
                ">>> ag.bitwise_left_shift(ag.tensor([1, 5]), 2)\ntensor([ 4, 20])"
            ),
            "bitwise_right_shift": (
                ">>> ag.bitwise_right_shift(ag.tensor([4, 21]), 2)\ntensor([1, 5])"
            ),
        }[_name],
    )

# --- choice ------------------------------------------------------------------------------------

op(
    "where(condition, self: operand, other: operand)",
    out="exact",
    kernel=elementwise("where", skip_first=True),
    method=False,
    vjp={"self": "where(condition, grad, 0)", "other": "where(condition, 0, grad)"},
    jvp="elementwise",
    vmap="elementwise",
    dtypes="biuhfc",
    samples=[
        sample((arg(c, booleans(), False), arg(a), arg(b)))
        for c, a, b in [
            ((3, 4), (3, 4), (3, 4)),
            ((4,), (3, 1), (3, 4)),
            ((), (3,), ()),
            ((2, 3), (3,), (2, 1)),
            ((0,), (0,), (1,)),
        ]
    ],
    reference="np.where(condition, self, other)",
    checks="bool_condition",
    alone="_nonzero_tuple",
    doc=(
        "`self` where `condition` holds, `other` elsewhere.\n"
        "The condition alone: the indices at which it holds, a vector for each dimension."
    ),
    example=">>> ag.where(ag.tensor([True, False]), ag.tensor([1, 2]), 0)\ntensor([1, 0])",
)

for _name, _which, _doc in (
    ("maximum", "lt", "Larger of the two elements; NaN wins."),
    ("minimum", "gt", "Smaller of the two elements; NaN wins."),
):
    op(
        f"{_name}(self, other)",
        kernel=elementwise(_name),
        vjp={
            "self": f"where(eq(self, other), grad * 0.5, where({_which}(self, other), 0, grad))",
            "other": f"where(eq(self, other), grad * 0.5, where({_which}(other, self), 0, grad))",
        },
        jvp="elementwise",
        vmap="elementwise",
        samples=BINARY,
        dtypes="bihf",
        refusal={"c": f"{_name} not implemented for complex tensors."},
        reference=f"np.{_name}(self, other)",
        doc=_doc,
        example={
            "maximum": ">>> ag.maximum(ag.tensor([1, 4]), ag.tensor([3, 2]))\ntensor([3, 4])",
            "minimum": ">>> ag.minimum(ag.tensor([1, 4]), ag.tensor([3, 2]))\ntensor([1, 2])",
        }[_name],
    )

for _name, _which in (("fmax", "ge"), ("fmin", "le")):
    op(
        f"{_name}(self, other)",
        kernel=composite(f"comparison.{_name}", into=True),
        out=True,
        samples=BINARY,
        dtypes="bihf",
        refusal={"c": f"{_name} not implemented for complex tensors."},
        reference=f"np.{_name}(self, other)",
        doc=(
            f"{'Larger' if _name == 'fmax' else 'Smaller'} of two elements; a number wins over NaN."
        ),
        example={
            "fmax": (
                '>>> ag.fmax(ag.tensor([1.0, float("nan")]), ag.tensor([3.0, 2.0]))\n'
                "tensor([3., 2.])"
            ),
            "fmin": (
                '>>> ag.fmin(ag.tensor([1.0, float("nan")]), ag.tensor([3.0, 2.0]))\n'
                "tensor([1., 2.])"
            ),
        }[_name],
    )
    op(
        f"_{_name}(self, other)",
        kernel=elementwise(_name),
        shown_as=_name,
        vjp={
            "self": f"where(logical_or({_which}(self, other), isnan(other)), grad, 0)",
            "other": f"where(logical_or({_which}(self, other), isnan(other)), 0, grad)",
        },
        jvp="elementwise",
        vmap="elementwise",
        samples=BINARY,
        dtypes="hf",
        refusal={"c": f"{_name} not implemented for complex tensors."},
        reference=f"np.{_name}(self, other)",
        doc=(
            f"{'Larger' if _name == 'fmax' else 'Smaller'} of two elements; a number wins over NaN."
        ),
    )

op(
    "heaviside(self, values)",
    kernel=composite("comparison.heaviside", into=True),
    inplace=True,
    out="exact",
    dtypes="bihf",
    samples=[
        sample((arg(a, None, False), arg(b, None, False)))
        for a, b in (((3, 4), (3, 4)), ((3, 1), (4,)), ((), (3,)), ((2, 3), ()), ((0, 3), (1, 3)))
    ],
    reference="np.heaviside(self, values)",
    doc="0 below zero, 1 above, `values` at zero.",
    example=(
        ">>> ag.heaviside(ag.tensor([-1.0, 0.0, 1.0]), ag.tensor([0.5]))\n"
        "tensor([0.0000, 0.5000, 1.0000])"
    ),
    params={"values": "The values at zero."},
)

op(
    "_heaviside(self, values)",
    kernel=elementwise("heaviside"),
    shown_as="heaviside",
    vjp={
        "self": "_not_implemented(grad, 'aten::heaviside')",
        "values": "_not_implemented(grad, 'aten::heaviside')",
    },
    jvp={
        "self": "_not_forward(self_t, 'heaviside')",
        "values": "_not_forward(values_t, 'heaviside')",
    },
    vmap="elementwise",
    samples=BINARY,
    dtypes="hf",
    reference="np.heaviside(self, values)",
    doc="0 below zero, 1 above, `values` at zero.",
)

for _name, _sign in (("isposinf", ""), ("isneginf", "-")):
    op(
        f"{_name}(self)",
        tier="interpreted",
        kernel=composite(f"comparison.{_name}", into=True),
        out="exact",
        samples=UNARY,
        dtypes="bihf",
        reference=f"np.{_name}(self)",
        doc=f"Tell whether elements are {'positive' if not _sign else 'negative'} infinity.",
        example=f'>>> ag.{_name}(ag.tensor([1.0, {_sign}float("inf")]))\ntensor([False,  True])',
    )

# --- limits ------------------------------------------------------------------------------------

op(
    "clamp(self, min: operand? = None, max: operand? = None)",
    out="exact",
    inplace=True,
    aliases=("clip",),
    dtypes="ihf",
    kernel=composite(
        "_clamp(self, min, max) if min is not None and max is not None else "
        "(_clamp_low(self, min) if min is not None else _clamp_high(self, max))"
    ),
    samples=[
        sample((arg((3, 4)), -0.7, 0.6)),
        sample((arg((3,)), 0.3)),
        sample((arg((3,)), None, 0.2)),
        sample((arg((3, 4)), arg((4,), real(-1, -0.5)), arg((3, 1), real(0.5, 1)))),
        sample((arg(()), -0.5, 0.5)),
    ],
    domain=real(-2, 2, avoid=(-0.7, 0.6, 0.3, 0.2, -0.5, 0.5), gap=0.02),
    reference="np.clip(self, min, max)",
    checks="clamp_bounds",
    doc="Elements limited to [min, max]; a bound may be left out.",
    example=">>> ag.clamp(ag.tensor([-1.0, 0.5, 3.0]), 0, 1)\ntensor([0.0000, 0.5000, 1.0000])",
)

op(
    "_clamp(self, min: operand, max: operand)",
    shown_as="clamp",
    kernel=elementwise("clamp"),
    node="ClampBackward0",
    inplace=True,
    variants={"ClampBackward1": "is_number(min) and is_number(max)"},
    vjp={
        "self": "_clamp_backward(grad, self, min, max)",
        "min": "where(logical_and(lt(self, min), lt(min, max)), grad, 0)",
        "max": "where(logical_or(gt(self, max), gt(min, max)), grad, 0)",
    },
    jvp="elementwise",
    vmap="elementwise",
    dtypes="ihf",
    samples=shapes(((3, 4), (4,), (3, 1)), ((5,), (), ())),
    domain=real(-2, 2),
    reference="np.minimum(np.maximum(self, min), max)",
    plain_numbers=("min", "max"),
    doc="clamp with both bounds.",
)

op(
    "_clamp_backward(grad_output, self, min: operand, max: operand)",
    kernel=elementwise("clamp_backward"),
    vjp={"grad_output": "_clamp_backward(grad, self, min, max)"},
    jvp="elementwise",
    vmap="elementwise",
    dtypes="hf",
    samples=[sample((arg((3, 4)), arg((3, 4), None, False), -0.5, 0.5))],
    reference="np.where((self >= min) & (self <= max), grad_output, 0)",
    doc="`grad_output` where min <= self <= max, 0 elsewhere.",
)

# torch's nodes know whether a bound came by clamp or by a function of its own.
for _name, _hidden, _bound, _at, _beyond, _kernel, _other, _doc, _example in (
    (
        "clamp_min",
        "_clamp_low",
        "min",
        "ge",
        "lt",
        "maximum",
        "max",
        "Elements not below `min`.",
        "[0., 3.]",
    ),
    (
        "clamp_max",
        "_clamp_high",
        "max",
        "le",
        "gt",
        "minimum",
        "min",
        "Elements not above `max`.",
        "[-1.,  0.]",
    ),
):
    _camel = f"Clamp{_bound.capitalize()}Backward"
    for _key, _nodes, _more in (
        (
            _name,
            (f"{_camel}0", f"{_camel}1"),
            {
                "checks": "bound",
                "samples": BINARY,
                "reference": f"np.{_kernel}(self, {_bound})",
                "special": differs("value", f"(self == 0) & ({_bound} == 0)", EITHER_ZERO),
                "example": f">>> ag.{_name}(ag.tensor([-1.0, 3.0]), 0)\ntensor({_example})",
            },
        ),
        (
            _hidden,
            ("ClampBackward1", "ClampBackward0"),
            {"shown_as": "clamp", "shows": {_other: "None"}},
        ),
    ):
        op(
            f"{_key}(self, {_bound}: operand)",
            kernel=elementwise(_kernel),
            inplace=True,
            node=_nodes[0],
            vjp={
                "self": f"where({_at}(self, {_bound}), grad, 0)",
                _bound: f"where({_beyond}(self, {_bound}), grad, 0)",
            },
            jvp="elementwise",
            vmap="elementwise",
            dtypes="bihf" if _key == _name else "ihf",
            plain_numbers=(_bound,),
            variants={_nodes[1]: f"not is_number({_bound})"},
            doc=_doc,
            **_more,
        )
