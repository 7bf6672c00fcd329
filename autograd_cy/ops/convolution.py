"""Convolutions, their gradients, and windows of images as columns."""

from autograd_cy.ops._schema import arg, by_hand, by_test, call, composite, error, op, sample

LOADED = "at first use"

HERE = "tests/ops/test_convolution.py::"
FORM = (
    "stride: ints, padding: ints, dilation: ints, transposed: bool, output_padding: ints, "
    "groups: int"
)
LAST = "stride, padding, dilation, transposed, output_padding, groups"

# --- one operator and its gradients ------------------------------------------------------------
# The three are the derivatives of one form in three tensors, so each has the others as its own.

MANY = [
    sample((arg((2, 2, 5)), arg((3, 2, 3)), arg((3,)), (1,), (1,), (1,), False, (0,), 1)),
    sample(
        (arg((2, 3, 5, 4)), arg((4, 3, 3, 2)), arg((4,)), (1, 1), (1, 0), (1, 1), False, (0, 0), 1)
    ),
    sample((arg((1, 4, 7, 6)), arg((4, 2, 3, 3)), None, (2, 3), (1, 2), (1, 1), False, (0, 0), 2)),
    sample((arg((1, 2, 7, 5)), arg((2, 2, 2, 3)), None, (1, 2), (2, 1), (3, 1), False, (0, 0), 1)),
    sample((arg((2, 3, 4, 5)), arg((3, 1, 3, 3)), arg((3,)), (1,), (1,), (1,), False, (0,), 3)),
    sample(
        (
            arg((1, 2, 3, 4, 3)),
            arg((2, 2, 2, 3, 2)),
            arg((2,)),
            (1, 2, 1),
            (0, 1, 1),
            (1, 1, 2),
            False,
            (0, 0, 0),
            1,
        )
    ),
    sample((arg((2, 2, 4)), arg((2, 3, 3)), arg((3,)), (2,), (1,), (1,), True, (1,), 1)),
    sample(
        (arg((2, 4, 3, 4)), arg((4, 2, 3, 3)), arg((4,)), (2, 1), (1, 2), (1, 2), True, (1, 0), 2)
    ),
    sample((arg((1, 2, 3, 3)), arg((2, 1, 2, 3)), None, (1, 1), (0, 0), (3, 1), True, (2, 0), 1)),
    sample(
        (
            arg((1, 2, 2, 3, 2)),
            arg((2, 2, 2, 2, 3)),
            None,
            (2, 1, 1),
            (0, 0, 1),
            (1, 1, 1),
            True,
            (1, 0, 0),
            1,
        )
    ),
    sample(
        (arg((0, 2, 5, 5)), arg((3, 2, 3, 3)), arg((3,)), (1, 1), (0, 0), (1, 1), False, (0, 0), 1)
    ),
    sample((arg((1, 0, 4)), arg((3, 0, 2)), None, (1,), (0,), (1,), False, (0,), 1)),
]

op(
    f"convolution(input, weight, bias: Tensor?, {FORM})",
    method=False,
    autocast="lower",
    kernel=call(
        "convolution.convolve",
        shape=f"rules_convolution.convolution(input, weight, bias, {LAST})",
        follows={"result": ("input", "weight")},
        any_format=True,
    ),
    vjp={
        "input": f"_convolution_input(grad, weight.conj(), input.shape, {LAST})",
        "weight": f"_convolution_weight(grad, input.conj(), weight.shape, {LAST})",
        "bias": "_sum_channels(grad)",
    },
    stays={"input": ("input",), "weight": ("weight",), "bias": ("input", "weight")},
    shows={"bias_sym_sizes_opt": "bias.shape"},
    jvp={
        "input": f"convolution(input_t, weight, None, {LAST})",
        "weight": f"convolution(input, weight_t, None, {LAST})",
        "bias": "_spread_channels(bias_t, result.shape)",
    },
    vmap=by_hand("convolution_batching.convolution_each"),
    samples=MANY,
    dtypes="ihfc",
    tolerance=1e-4,
    flops=(
        "2 * elements(input) * elements(weight[1:]) if transposed else windows(input, weight, "
        "stride, padding, dilation)"
    ),
    out=False,
    reference=by_test(HERE + "test_convolution_is_its_sum"),
    doc=(
        "Convolution (cross-correlation) of images with one, two or three spatial dimensions, or "
        "its transpose."
    ),
    params={
        "stride": "The steps from one window to the next.",
        "padding": "Zeros before and after each dimension.",
        "input": "Images, of shape (N, C, ...).",
        "weight": "Of shape (O, C / groups, ...); if transposed (C, O / groups, ...).",
    },
    example=(
        ">>> ag.convolution(ag.ones(1, 1, 3), ag.ones(1, 1, 2), None, (1,), (0,), (1,), False, "
        "(0,), 1)\n"
        "tensor([[[2., 2.]]])"
    ),
    raises={"RuntimeError": "The shapes don't fit."},
)

op(
    f"_convolution_input(grad_output, weight, size: sizes, {FORM})",
    shown_as="convolution",
    node="ConvolutionBackwardBackward0",
    out=False,
    flops="2 * elements(size if transposed else grad_output) * elements(weight[1:])",
    kernel=call(
        "convolution.convolve_input",
        ("grad_output", "weight", "stride", "padding", "dilation", "transposed", "groups"),
        shape=f"rules_convolution.input_gradient(grad_output, weight, size, {LAST})",
        follows={"result": ("grad_output", "weight")},
        any_format=True,
    ),
    vjp={
        "grad_output": f"convolution(grad, weight.conj(), None, {LAST})",
        "weight": f"_convolution_weight(grad_output.conj(), grad, weight.shape, {LAST})",
    },
    jvp="each",
    vmap=by_hand("convolution_batching.input_each"),
    dtypes="ihfc",
    tolerance=1e-4,
    samples=[
        sample(
            (
                arg((2, 4, 3, 2)),
                arg((4, 3, 3, 2)),
                (2, 3, 5, 3),
                (2, 1),
                (1, 0),
                (1, 1),
                False,
                (0, 0),
                1,
            )
        ),
        sample((arg((1, 2, 6)), arg((2, 2, 3)), (1, 2, 3), (2,), (1,), (1,), True, (1,), 1)),
    ],
    reference=by_test(HERE + "test_convolution_is_its_sum"),
    doc="Gradient of a convolution with respect to its input.",
)

op(
    f"_convolution_weight(grad_output, input, size: sizes, {FORM})",
    shown_as="convolution",
    node="ConvolutionBackwardBackward0",
    out=False,
    flops="2 * elements(input if transposed else grad_output) * elements(size[1:])",
    kernel=call(
        "convolution.convolve_weight",
        ("grad_output", "input", "stride", "padding", "dilation", "transposed", "groups"),
        shape=f"rules_convolution.weight_gradient(grad_output, input, size, {LAST})",
    ),
    vjp={
        "grad_output": f"convolution(input.conj(), grad, None, {LAST})",
        "input": f"_convolution_input(grad_output.conj(), grad, input.shape, {LAST})",
    },
    jvp="each",
    vmap=by_hand("convolution_batching.weight_each"),
    dtypes="ihfc",
    tolerance=1e-4,
    samples=[
        sample(
            (
                arg((2, 4, 3, 2)),
                arg((2, 3, 5, 3)),
                (4, 3, 3, 2),
                (2, 1),
                (1, 0),
                (1, 1),
                False,
                (0, 0),
                1,
            )
        ),
        sample((arg((1, 2, 6)), arg((1, 2, 3)), (2, 2, 3), (2,), (1,), (1,), True, (1,), 1)),
    ],
    reference=by_test(HERE + "test_convolution_is_its_sum"),
    doc="Gradient of a convolution with respect to its weight.",
)

op(
    "_sum_channels(self)",
    event="sum",
    kernel=composite("convolution.sum_channels"),
    doc="Sum over all dimensions but the second.",
)

op(
    "_spread_channels(self, shape: sizes)",
    kernel=composite("convolution.spread_channels"),
    doc="Expanded along all dimensions but the second.",
)

# --- by the number of spatial dimensions -------------------------------------------------------

SHAPES = {
    1: ((2, 2, 6), (4, 2, 3)),
    2: ((2, 2, 5, 6), (4, 2, 3, 2)),
    3: ((1, 2, 3, 4, 5), (2, 2, 2, 3, 2)),
}
IMAGES = {
    1: "(N, C, L) or (C, L)",
    2: "(N, C, H, W) or (C, H, W)",
    3: "(N, C, D, H, W) or (C, D, H, W)",
}
for _nd, (_input, _weight) in SHAPES.items():
    _what = ("sequences", "images", "volumes")[_nd - 1]
    _ones = "(" + ", ".join(("1", "1", *("2",) * _nd)) + ")"
    op(
        f"conv{_nd}d(input, weight, bias: Tensor? = None, stride: sizes = 1, "
        "padding: padding = 0, dilation: sizes = 1, groups: int = 1)",
        autocast="lower",
        method=False,
        also=("nn.functional",),
        kernel=composite(f"convolution.conv{_nd}d"),
        dtypes="ihfc",
        tolerance=1e-4,
        flops="windows(input, weight, stride, padding, dilation)",
        samples=[
            sample((arg(_input), arg(_weight), arg(_weight[:1]))),
            sample((arg(_input[1:]), arg(_weight)), {"padding": 1, "stride": 2}),
            sample((arg(_input), arg(_weight)), {"padding": "same"}),
            sample((arg((2, 4, *_input[2:])), arg(_weight)), {"groups": 2, "padding": "valid"}),
            sample((arg(_input), arg(_weight)), {"dilation": 2, "padding": (2,) * _nd}),
            sample((arg((0, *_input[1:])), arg(_weight))),
        ],
        reference=by_test(HERE + "test_convolution_is_its_sum"),
        errors=(
            error(sample((arg(_input[:1]), arg(_weight))), RuntimeError, "unbatched"),
            error(
                sample((arg(_input), arg(_weight)), {"stride": 0}),
                RuntimeError,
                "non-positive stride",
            ),
            error(
                sample((arg(_input), arg(_weight)), {"padding": "full"}),
                RuntimeError,
                "Invalid padding string",
            ),
            error(
                sample((arg(_input), arg(_weight)), {"padding": "same", "stride": 2}),
                RuntimeError,
                "strided",
            ),
            error(
                sample((arg(_input), arg(_weight)), {"padding": -1}),
                RuntimeError,
                "negative padding",
            ),
            error(sample((arg(_input), arg(_weight)), {"groups": 3}), RuntimeError, "groups=3"),
            error(sample((arg(_input), arg((2, 3, *_weight[2:])))), RuntimeError, "channels"),
            error(sample((arg(_input), arg(_weight), arg((7,)))), RuntimeError, "bias"),
        ),
        doc=(
            f"Convolution (cross-correlation) of {_what}: weighted sums over windows of all "
            "channels of a group."
        ),
        params={
            "input": f"The {_what}, of shape {IMAGES[_nd]}.",
            "weight": "The weights of windows, of shape (O, C / groups, ...).",
        },
        example=f">>> ag.conv{_nd}d(ag.ones{_ones}, ag.ones{_ones}).flatten()\ntensor([{2**_nd}.])",
        raises={"RuntimeError": "The shapes don't fit."},
    )
    op(
        f"conv_transpose{_nd}d(input, weight, bias: Tensor? = None, stride: sizes = 1, "
        "padding: sizes = 0, output_padding: sizes = 0, groups: int = 1, dilation: sizes = 1)",
        method=False,
        also=("nn.functional",),
        kernel=composite(f"convolution.conv_transpose{_nd}d"),
        dtypes="ihfc",
        tolerance=1e-4,
        autocast="lower",
        flops="2 * elements(input) * elements(weight[1:])",
        samples=[
            sample((arg(_input), arg((2, 3, *_weight[2:])), arg((3,)))),
            sample((arg(_input[1:]), arg((2, 3, *_weight[2:]))), {"padding": 1, "stride": 2}),
            sample(
                (arg((2, 4, *_input[2:])), arg((4, 2, *_weight[2:]))),
                {"groups": 2, "stride": 2, "output_padding": 1},
            ),
            sample(
                (arg(_input), arg((2, 1, *_weight[2:]))), {"dilation": 2, "padding": (1,) * _nd}
            ),
            sample((arg((0, *_input[1:])), arg((2, 3, *_weight[2:])))),
        ],
        reference=by_test(HERE + "test_convolution_is_its_sum"),
        errors=(
            error(sample((arg(_input[:1]), arg(_weight))), RuntimeError, "unbatched"),
            error(
                sample((arg(_input), arg((2, 3, *_weight[2:]))), {"output_padding": 1}),
                RuntimeError,
                "output padding",
            ),
            error(sample((arg(_input), arg((3, 3, *_weight[2:])))), RuntimeError, "channels"),
            error(
                sample((arg(_input), arg((2, 3, *_weight[2:])), arg((7,)))), RuntimeError, "bias"
            ),
        ),
        doc=(
            f"Transposed convolution of {_what}: what the gradient of a convolution does to its "
            "input."
        ),
        params={
            "input": f"The {_what}, of shape {IMAGES[_nd]}.",
            "weight": "The weights of windows, of shape (C, O / groups, ...).",
        },
        example=(
            f">>> ag.conv_transpose{_nd}d(ag.ones({', '.join('1' * (_nd + 2))}), "
            f"ag.ones{_ones}).flatten()\n"
            f"tensor([{', '.join(['1.'] * 2**_nd)}])"
        ),
        raises={"RuntimeError": "The shapes don't fit."},
    )

# --- windows as columns ------------------------------------------------------------------------

WINDOWS = "kernel_size: ints(2), dilation: ints(2), padding: ints(2), stride: ints(2)"
EACH_OF = "kernel_size, dilation, padding, stride"
DEFAULTS = "kernel_size: ints(2), dilation: ints(2) = 1, padding: ints(2) = 0, stride: ints(2) = 1"
OPTIONS = {
    "kernel_size": "The size of a window.",
    "dilation": "The steps between the elements of a window.",
    "padding": "Zeros before and after each dimension.",
    "stride": "The steps from one window to the next.",
}

op(
    f"_im2col(self, {WINDOWS})",
    shown_as="unfold",
    event="im2col",
    node="Im2ColBackward0",
    out=False,
    kernel=call("columns.unfold", shape=f"rules_convolution.unfolded(self, {EACH_OF})"),
    vjp={"self": f"_col2im(grad, self.shape[self.ndim - 2:], {EACH_OF})"},
    jvp="linear",
    dtypes="bhfc",
    vmap=(
        f"_unmerge_batch(_im2col(flatten(self, 0, 1), {EACH_OF}), B, self.shape[1]) if self.ndim "
        f"== 5 else _im2col(self, {EACH_OF})"
    ),
    doc="Windows of images as columns.",
)

op(
    f"_col2im(self, output_size: ints(2), {WINDOWS})",
    shown_as="fold",
    event="col2im",
    node="Col2ImBackward0",
    out=False,
    kernel=call(
        "columns.fold",
        ("self", "kernel_size", "dilation", "padding", "stride"),
        shape=f"rules_convolution.folded(self, output_size, {EACH_OF})",
    ),
    vjp={"self": f"_im2col(grad, {EACH_OF})"},
    jvp="linear",
    dtypes="bhfc",
    vmap=(
        f"_unmerge_batch(_col2im(flatten(self, 0, 1), output_size, {EACH_OF}), B, self.shape[1]) "
        f"if self.ndim == 4 else _col2im(self, output_size, {EACH_OF})"
    ),
    doc="Columns added up to images.",
)

op(
    f"unfold(input, {DEFAULTS})",
    namespace="nn.functional",
    event="im2col",
    kernel=composite("convolution.unfold"),
    dtypes="bhfc",
    tolerance=1e-4,
    samples=[
        sample((arg((2, 3, 4, 5)), (2, 3))),
        sample((arg((2, 4, 4)), 2), {"padding": 1, "stride": 2}),
        sample((arg((1, 2, 5, 6)), (3, 2)), {"dilation": (1, 2), "padding": (1, 0)}),
        sample((arg((0, 2, 3, 3)), 2)),
    ],
    reference=by_test(HERE + "test_columns_are_the_windows"),
    params={"input": "Images, of shape (N, C, H, W) or (C, H, W).", **OPTIONS},
    errors=(
        error(sample((arg((3, 4)), 2)), RuntimeError, "Expected 3D or 4D"),
        error(sample((arg((1, 1, 2, 2)), 3)), RuntimeError, "sliding blocks"),
        error(sample((arg((1, 1, 2, 2)), 0)), RuntimeError, "kernel size should be greater"),
        error(sample((arg((1, 1, 2, 2)), 1), {"stride": 0}), RuntimeError, "stride should be"),
        error(sample((arg((1, 1, 2, 2)), (1, 1, 1))), RuntimeError, "equals to 2"),
    ),
    doc="Windows of images as columns, of shape (N, C * elements of a window, windows).",
    example=(
        ">>> ag.nn.functional.unfold(ag.arange(4.0).reshape(1, 1, 2, 2), (1, 2))\n"
        "tensor([[[0., 2.],\n"
        "         [1., 3.]]])"
    ),
    raises={"RuntimeError": "There is no window."},
)

op(
    f"fold(input, output_size: ints(2), {DEFAULTS})",
    namespace="nn.functional",
    event="col2im",
    kernel=composite("convolution.fold"),
    dtypes="bhfc",
    tolerance=1e-4,
    samples=[
        sample((arg((2, 12, 12)), (4, 5), (2, 2))),
        sample((arg((8, 9)), 4, 2), {"padding": 1, "stride": 2}),
        sample(
            (arg((1, 6, 10)), (5, 4), (3, 1)),
            {"dilation": (1, 2), "padding": (1, 0), "stride": (1, 2)},
        ),
        sample((arg((0, 4, 4)), 3, 2)),
    ],
    reference=by_test(HERE + "test_columns_are_the_windows"),
    params={
        "input": "Columns, of shape (N, C * elements of a window, windows), or without N.",
        "output_size": "The size of the images.",
        **OPTIONS,
    },
    errors=(
        error(sample((arg((3,)), 2, 2)), RuntimeError, "Expected 2D or 3D"),
        error(sample((arg((1, 3, 4)), 3, 2)), RuntimeError, "divisible by the product"),
        error(sample((arg((1, 4, 5)), 3, 2)), RuntimeError, "sliding blocks"),
        error(sample((arg((1, 4, 4)), (3, 3, 3), 2)), RuntimeError, "equals to 2"),
    ),
    doc="Columns added up to images: each element of a window goes where it came from.",
    example=(
        ">>> ag.nn.functional.fold(ag.ones(1, 2, 2), (1, 3), (1, 2))\ntensor([[[[1., 2., 1.]]]])"
    ),
    raises={"RuntimeError": "The columns don't fit."},
)
