"""Padding: elements before and after those of dimensions, by all modes."""

from autograd_cy.ops._schema import arg, by_test, call, composite, one, only_if, op, sample

LOADED = "at first use"
HERE = "tests/ops/test_padding.py::"
PAD = "How many before and after, from the last dimension on; negative ones are taken away."
_NODES = {
    f"{name}{n}DBackward0": f"mode == {code} and len(pad) == {2 * n}"
    for code, name in ((1, "ReflectionPad"), (2, "ReplicationPad"))
    for n in (1, 2, 3)
}

op(
    "constant_pad_nd(input, pad: ints, value: Scalar = 0)",
    method=False,
    kernel=call(
        "padding.constant_pad",
        shape="rules_padding.padded(input, pad)",
        follows={"result": "input"},
        any_format=True,
    ),
    node="ConstantPadNdBackward0",
    vjp={"input": "_crop(grad, pad)"},
    jvp={"input": "constant_pad_nd(input_t, pad, 0)"},
    vmap="constant_pad_nd(input, pad, value)",
    dtypes="biuhfc",
    samples=[
        one((3, 4), (1, 2), 1.5),
        one((3, 4), (1, -1, 0, 2)),
        one((2, 3), (-1, -1)),
        one((5,), (0, 3), 2),
        one((2, 0, 3), (1, 1, 1, 0), -1),
        one((2, 3), ()),
        one((2, 2, 3), (0, 0, 1, 1)),
        one((2, 2, 3), (-4, 4)),
    ],
    reference=by_test(HERE + "test_constant"),
    params={"input": "The tensor to pad.", "pad": PAD, "value": "What stands there."},
    doc="A constant before and after the elements.",
    example=">>> ag.constant_pad_nd(ag.tensor([1, 2]), (1, 2), 5)\ntensor([5, 1, 2, 5, 5])",
    raises={"RuntimeError": "More is taken away than there is."},
)

op(
    "_crop(self, pad: ints)",
    kernel=composite("padding.crop"),
    doc="The part that constant padding hasn't added.",
)

op(
    "_pad(self, pad: ints, mode: int)",
    out=False,
    kernel=call(
        "padding.pad_by",
        shape="rules_padding.padded(self, pad)",
        follows={"result": only_if("self", "mode != 3")},
        any_format=True,
    ),
    node="CircularPadBackward0",
    variants=_NODES,
    shows={"padding": "pad"},
    vjp={"self": "_pad_backward(grad, self.shape, pad, mode)"},
    stays={"self": ("self",)},
    jvp="linear",
    vmap="_pad(self, pad, mode)",
    samples=[
        one((2, 5), (2, 1), 1),
        one((2, 3, 4), (1, 3, 2, 0), 1),
        one((2, 5), (4, 1), 2),
        one((2, 3, 4), (1, -1, 2, 0), 2),
        one((2, 5), (5, 1), 3),
        one((1, 2, 3, 4), (1, 3, 0, 0, 2, 0), 3),
        one((0, 3, 4), (1, 1), 1),
    ],
    reference=by_test(HERE + "test_modes"),
    doc="Padding with elements: 1 reflected, 2 those of the edge, 3 of the other end.",
)

op(
    "_pad_backward(grad_output, size: sizes, pad: ints, mode: int)",
    out=False,
    kernel=call(
        "padding.pad_backward",
        shape="rules_pooling.sized(grad_output, size)",
        follows={"result": "grad_output"},
        any_format=True,
    ),
    vjp={"grad_output": "_pad(grad, pad, mode)"},
    jvp="linear",
    vmap="_pad_backward(grad_output, (B,) + size, pad, mode)",
    dtypes="hfc",
    doc="Gradient of padding with elements.",
)

op(
    "pad(input, pad: ints, mode: str = 'constant', value: float? = None)",
    namespace="nn.functional",
    kernel=composite("padding.pad_form"),
    autocast="padding",
    samples=[
        one((2, 3), (1, 2)),
        one((2, 3), (1, 2, 0, 1), "constant", 2.5),
        one((2, 4), (2, 3), "reflect"),
        one((1, 2, 3), (1, 1, 1, 0), "replicate"),
        sample((arg((2, 3, 4)), (1, 4)), {"mode": "circular"}),
        one((1, 2, 3), (-1, 1), "circular"),
        one((1, 2, 2, 3), (1, 1, 1, 1, 1, 1), "reflect"),
    ],
    reference=by_test(HERE + "test_modes"),
    params={
        "input": "The tensor to pad.",
        "pad": PAD,
        "mode": (
            '"constant", or for the last one to three dimensions "reflect" (without the edge), '
            '"replicate" (the edge) or "circular" (the other end).'
        ),
        "value": "The constant; None for 0.",
    },
    doc="Elements before and after those of the last dimensions.",
    example=(
        ">>> x = ag.tensor([[0, 1, 2]])\n"
        '>>> ag.nn.functional.pad(x, (2, 1), "reflect")\n'
        "tensor([[2, 1, 0, 1, 2, 1]])"
    ),
    raises={
        "RuntimeError": "There are not enough elements.",
        "NotImplementedError": "The mode isn't for so many dimensions.",
    },
)
