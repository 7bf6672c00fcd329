"""Copies, conversions, and constant tensors in the likeness of others."""

from autograd_cy.ops._schema import UNARY, arg, call, composite, error, nondiff, one, op, sample

NO_VALUES = "the result doesn't depend on the values"

op(
    "clone(self, *, memory_format: format? = None)",
    kernel=call("shapes.clone_with", lazy=True, anywhere=True),
    out=False,
    vjp={"self": "grad"},
    jvp="linear",
    vmap="clone(self, memory_format if memory_format <= 0 else -1)",
    dtypes="biuhfc",
    samples=UNARY,
    reference="self.copy()",
    doc="A copy in new memory; differentiable.",
    example=">>> ag.clone(ag.tensor([1, 2]))\ntensor([1, 2])",
)

op(
    "_contiguous(self, memory_format: format? = None)",
    event="contiguous",
    kernel=call("shapes.contiguous_with", lazy=True, anywhere=True),
    out=False,
    node="CloneBackward0",
    vjp={"self": "grad"},
    jvp="linear",
    vmap="clone(self, 0)",
    dtypes="biuhfc",
    samples=[one((3, 4))],
    reference="self",
    doc="A C-contiguous copy, or one of the given format.",
)

op(
    "_to_dtype(self, dtype: dtype? = None)",
    event="to",
    kernel=call("shapes.cast_copy", lazy=True, anywhere=True),
    out=False,
    node="ToCopyBackward0",
    vjp={"self": "grad"},
    jvp="linear",
    vmap="_to_dtype(self, dtype)",
    dtypes="biuhfc",
    doc="A copy converted to another dtype.",
)

op(
    "_to_device(self, place: int, non_blocking: bool = False)",
    event="to",
    kernel=call("shapes.device_copy", lazy=True, anywhere=True),
    out=False,
    node="ToCopyBackward0",
    attrs={"home": "device_code_of(self)"},
    vjp={"self": "_to_device(grad, home, False)"},
    jvp="linear",
    vmap="_to_device(self, place, non_blocking)",
    dtypes="biuhfc",
    doc="A copy on the device of a given code.",
)

op(
    "_fill(self, value)",
    event="fill",
    kernel=call("shapes.fill_plain", anywhere=True),
    out=False,
    node="FillBackward0",
    vjp={"self": "zeros_like(grad)", "value": "grad.sum()"},
    jvp={"self": "zeros_like(self_t)", "value": "value_t.expand(self.shape)"},
    vmap={
        "self": "_fill(self, value)",
        ("self", "value"): "clone(expand(_trailing_dims(value, self.ndim), self.shape), -1)",
    },
    dtypes="biuhfc",
    samples=[sample((arg((3, 4)), arg(()))), sample((arg(()), arg(())))],
    reference="np.broadcast_to(value, self.shape)",
    doc="`value` in every element, in the shape of `self`.",
)

op(
    "fill(self, value: operand)",
    tier="interpreted",
    kernel=composite("copying.fill"),
    method=False,
    samples=[sample((arg((3, 4)), arg(()))), sample((arg(()), arg(())))],
    reference="np.full_like(self, value)",
    errors=(
        error(
            sample((arg((3,)), arg((2,)))),
            RuntimeError,
            "only supports 0-dimension value tensor but got tensor with 1 dimensions",
        ),
    ),
    raises={"RuntimeError": "The value has dimensions."},
    doc="A tensor of the same shape and dtype with `value` in every element.",
    example=">>> ag.fill(ag.tensor([1, 2]), 7)\ntensor([7, 7])",
)

op(
    "zeros_like(self)",
    function=False,
    method=False,
    kernel=call("shapes.zeros_like_plain", lazy=True, anywhere=True),
    out=False,
    vjp=nondiff(NO_VALUES),
    vmap="elementwise",
    dtypes="biuhfc",
    samples=UNARY,
    reference="np.zeros_like(self)",
    doc="Zeros of the same shape and dtype.",
)

op(
    "ones_like(self)",
    function=False,
    method=False,
    kernel=call("shapes.ones_like_plain", lazy=True, anywhere=True),
    out=False,
    vjp=nondiff(NO_VALUES),
    vmap="elementwise",
    dtypes="biuhfc",
    samples=UNARY,
    reference="np.ones_like(self)",
    doc="Ones of the same shape and dtype.",
)

op(
    "new_zeros(self, size: sizes)",
    function=False,
    method=False,
    kernel=call("shapes.new_zeros_plain", lazy=True, anywhere=True),
    out=False,
    vjp=nondiff(NO_VALUES),
    vmap="new_zeros(self, (B,) + size)",
    dtypes="biuhfc",
    samples=[one((3,), (2, 2))],
    reference="np.zeros(size, self.dtype)",
    doc="Zeros of another shape, with this tensor's dtype.",
)
