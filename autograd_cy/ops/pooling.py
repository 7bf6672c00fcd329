"""Pooling: what windows of the last dimensions have in common.

The operators that compute work on the last dimensions of any tensor, as many as there are kernel
sizes; the others are a batch. Functions of one, two and three dimensions check what they were given
and call them.
"""

from typing import Any

from autograd_cy.ops._schema import (
    arg,
    by_test,
    call,
    composite,
    nondiff,
    one,
    only_if,
    op,
    sample,
)

LOADED = "at first use"
HERE = "tests/ops/test_pooling.py::"
NUMBER = ("", "one dimension", "two dimensions", "three dimensions")
WINDOW = {
    "input": (
        "Planes in the last dimensions, with channels before them and maybe a batch before those."
    ),
    "kernel_size": "The size of a window, in all dimensions or in each.",
    "stride": "The step from one window to the next; None for the size.",
    "padding": "How far windows begin before the first element.",
    "dilation": "The distance of the elements of a window.",
    "return_indices": "Changes nothing: they are returned always.",
    "ceil_mode": "Have a last window that isn't full.",
    "count_include_pad": "Count the padding, too.",
    "divisor_override": "What to divide by, in place of the number of elements.",
}
SIZE = {
    "input": WINDOW["input"],
    "output_size": "The number of windows, in all dimensions or in each.",
}

# As in torch, results of volumes are in channels last after max_pool3d alone.
IMAGES = only_if("self", "self.nd == 4")
GRADS = only_if("grad_output", "grad_output.nd == 4")

# --- the operators -----------------------------------------------------------------------------

_WINDOWS = "kernel_size: sizes, stride: sizes, padding: sizes"
_MAX = "kernel_size, stride, padding, dilation, ceil_mode"
_STEPS = "kernel_size, stride, padding, dilation"
_AVG = "kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override"
_MAX_NODES: dict[str, Any] = {
    "node": "MaxPool2DWithIndicesBackward0",
    "variants": {"MaxPool3DWithIndicesBackward0": "len(kernel_size) == 3"},
    "shows": {"result1": "indices"},
    "keeps": ("kernel_size", "stride", "padding", "dilation", "ceil_mode"),
}

op(
    f"_max_pool(self, {_WINDOWS}, dilation: sizes, ceil_mode: bool) -> (values, indices)",
    named=False,
    out=False,
    kernel=call(
        "pooling.max_pool",
        shape=f"rules_pooling.max_pooled(self, {_MAX})",
        follows={"values": "self", "indices": "self"},
        any_format=True,
    ),
    nondiff_outputs=("indices",),
    **_MAX_NODES,
    vjp={
        "self": (
            "_max_pool_backward(grad_values, indices, self.shape, len(kernel_size), kernel_size, "
            "stride, padding, dilation)"
        )
    },
    stays={"self": ("self",)},
    jvp={"values": {"self": "_pooled_at(self_t, indices, len(kernel_size))"}},
    vmap=f"_max_pool(self, {_MAX})",
    dtypes="ihf",
    samples=[
        one((3, 7), (3,), (2,), (1,), (1,), False),
        one((2, 2, 9), (2,), (2,), (0,), (3,), True),
        one((2, 5, 6), (2, 3), (1, 2), (1, 1), (1, 2), True),
        one((2, 4, 4, 5), (2, 1, 3), (2, 1, 1), (1, 0, 1), (1, 1, 1), False),
        one((0, 3, 4), (2, 2), (2, 2), (0, 0), (1, 1), False),
    ],
    reference=by_test(HERE + "test_max_pool"),
    doc="Largest elements of windows, and where they were in their plane.",
)

op(
    f"_max_pool_values(self, {_WINDOWS}, dilation: sizes, ceil_mode: bool)",
    shown_as="max_pool1d",
    out=False,
    kernel=call("pooling.max_values", shape=f"rules_pooling.max_values(self, {_MAX})"),
    vjp=nondiff("the composite around it takes _max_pool where the result is differentiated"),
    vmap=f"_max_pool_values(self, {_MAX})",
    dtypes="ihf",
    samples=[
        one((3, 7), (3,), (2,), (1,), (1,), False),
        one((2, 2, 9), (2,), (2,), (0,), (3,), True),
        one((0, 3, 4), (2,), (2,), (0,), (1,), False),
    ],
    reference=by_test(HERE + "test_max_pool"),
    doc="Largest elements of windows alone.",
)

op(
    f"_max_pool_backward(grad_output, indices, size: sizes, rank: int, {_WINDOWS}, "
    "dilation: sizes)",
    out=False,
    kernel=call(
        "pooling.max_pool_backward",
        shape="rules_pooling.sized(grad_output, size)",
        follows={"result": "grad_output"},
        any_format=True,
    ),
    vjp={"grad_output": "_pooled_at(grad, indices, rank)"},
    jvp="linear",
    vmap={
        "grad_output": (
            "_max_pool_backward(grad_output, expand(indices, (B,) + indices.shape), (B,) + size, "
            f"rank, {_STEPS})"
        ),
        "indices": (
            "_max_pool_backward(expand(grad_output, (B,) + grad_output.shape), indices, (B,) "
            f"+ size, rank, {_STEPS})"
        ),
        ("grad_output", "indices"): (
            f"_max_pool_backward(grad_output, indices, (B,) + size, rank, {_STEPS})"
        ),
    },
    dtypes="hf",
    doc=(
        "Elements added to those of a plane at their places, the rest zero. Each place is within "
        "the window of its element; without sizes, windows are nearly equal parts."
    ),
)

op(
    "_pooled_at(self, indices, rank: int)",
    kernel=composite("pooling.pooled_at"),
    doc="The elements of each plane at places in it.",
)

op(
    f"_avg_pool(self, {_WINDOWS}, ceil_mode: bool, count_include_pad: bool, "
    "divisor_override: int?)",
    out=False,
    kernel=call(
        "pooling.avg_pool",
        shape="rules_pooling.avg_pooled(self, kernel_size, stride, padding, ceil_mode)",
        follows={"result": IMAGES},
        any_format=True,
    ),
    node="AvgPool2DBackward0",
    variants={"AvgPool3DBackward0": "len(kernel_size) == 3"},
    vjp={"self": f"_avg_pool_backward(grad, self.shape, {_AVG})"},
    stays={"self": ("self",)},
    jvp="linear",
    vmap=f"_avg_pool(self, {_AVG})",
    dtypes="ihf",
    samples=[
        one((3, 7), (3,), (2,), (1,), False, True, None),
        one((2, 2, 9), (2,), (3,), (1,), True, False, None),
        one((2, 5, 6), (2, 3), (1, 2), (1, 1), True, True, None),
        one((2, 4, 4, 5), (2, 1, 3), (2, 1, 1), (1, 0, 1), False, False, None),
        one((1, 5, 3), (4, 3), (1, 1), (0, 0), False, True, 7),
        one((0, 3, 4), (2, 2), (2, 2), (0, 0), False, True, None),
    ],
    reference=by_test(HERE + "test_avg_pool"),
    doc="Averages of windows; without a divisor by the number of elements.",
)

op(
    f"_avg_pool_backward(grad_output, size: sizes, {_WINDOWS}, ceil_mode: bool, "
    "count_include_pad: bool, divisor_override: int?)",
    out=False,
    kernel=call(
        "pooling.avg_pool_backward",
        shape="rules_pooling.sized(grad_output, size)",
        follows={"result": GRADS},
        any_format=True,
    ),
    vjp={"grad_output": f"_avg_pool(grad, {_AVG})"},
    jvp="linear",
    vmap=f"_avg_pool_backward(grad_output, (B,) + size, {_AVG})",
    dtypes="hf",
    doc="Gradient of averages of windows.",
)

op(
    "_adaptive_max_pool(self, output_size: sizes) -> (values, indices)",
    named=False,
    out=False,
    kernel=call(
        "pooling.adaptive_max_pool",
        shape="rules_pooling.adaptive_max(self, output_size)",
        follows={"values": IMAGES, "indices": IMAGES},
        any_format=True,
    ),
    nondiff_outputs=("indices",),
    node="AdaptiveMaxPool2DBackward0",
    variants={"AdaptiveMaxPool3DBackward0": "len(output_size) == 3"},
    shows={"result1": "indices"},
    vjp={
        "self": (
            "_max_pool_backward(grad_values, indices, self.shape, len(output_size), (), (), (), ())"
        )
    },
    stays={"self": ("self",)},
    jvp={"values": {"self": "_pooled_at(self_t, indices, len(output_size))"}},
    vmap="_adaptive_max_pool(self, output_size)",
    dtypes="hf",
    samples=[
        one((3, 7), (3,)),
        one((2, 5, 6), (2, 6)),
        one((2, 4, 4, 5), (2, 1, 3)),
        one((0, 3, 4), (2, 2)),
        one((2, 3, 4), (1, 1)),
        one((2, 3), (5,)),
    ],
    reference=by_test(HERE + "test_adaptive_max_pool"),
    doc="Largest elements of nearly equal parts, and where they were in their plane.",
)

op(
    "_adaptive_avg_pool(self, output_size: sizes)",
    out=False,
    kernel=call(
        "pooling.adaptive_avg_pool",
        shape="rules_pooling.adaptive(self, output_size)",
        follows={"result": IMAGES},
        any_format=True,
    ),
    node="AdaptiveAvgPool2DBackward0",
    variants={"AdaptiveAvgPool3DBackward0": "len(output_size) == 3"},
    vjp={"self": "_adaptive_avg_pool_backward(grad, self.shape, output_size)"},
    stays={"self": ("self",)},
    jvp="linear",
    vmap="_adaptive_avg_pool(self, output_size)",
    dtypes="hf",
    samples=[
        one((3, 7), (3,)),
        one((2, 5, 6), (2, 6)),
        one((2, 4, 4, 5), (2, 1, 3)),
        one((0, 3, 4), (2, 2)),
        one((2, 3, 4), (1, 1)),
        one((2, 3), (5,)),
    ],
    reference=by_test(HERE + "test_adaptive_avg_pool"),
    doc="Averages of nearly equal parts.",
)

op(
    "_adaptive_avg_pool_backward(grad_output, size: sizes, output_size: sizes)",
    out=False,
    kernel=call(
        "pooling.adaptive_avg_pool_backward",
        shape="rules_pooling.sized(grad_output, size)",
        follows={"result": GRADS},
        any_format=True,
    ),
    vjp={"grad_output": "_adaptive_avg_pool(grad, output_size)"},
    jvp="linear",
    vmap="_adaptive_avg_pool_backward(grad_output, (B,) + size, output_size)",
    dtypes="hf",
    doc="Gradient of averages of nearly equal parts.",
)

# --- what users call ---------------------------------------------------------------------------

op(
    "_max_pool_form(self, rank: int, kernel_size: sizes, stride: sizes?, padding: sizes, "
    "dilation: sizes, ceil_mode: bool) -> (values, indices)",
    named=False,
    kernel=composite("pooling.max_pool_form"),
    doc="max_pool of `n` dimensions, after its checks.",
)

op(
    "_avg_pool_form(self, rank: int, kernel_size: sizes, stride: sizes?, padding: sizes, "
    "ceil_mode: bool, count_include_pad: bool, divisor_override: int?)",
    kernel=composite("pooling.avg_pool_form"),
    doc="avg_pool of `n` dimensions, after its checks.",
)

op(
    "_adaptive_avg_form(self, rank: int, output_size: sizes)",
    kernel=composite("pooling.adaptive_avg_form"),
    doc="adaptive_avg_pool of `n` dimensions, after its checks.",
)

op(
    "_adaptive_max_form(self, rank: int, output_size: sizes) -> (values, indices)",
    named=False,
    kernel=composite("pooling.adaptive_max_form"),
    doc="adaptive_max_pool of `n` dimensions, after its checks.",
)

_SHAPES = ((), (2, 9), (2, 5, 6), (2, 4, 4, 5))
_BATCHES = ((), (2, 2, 6), (1, 2, 5, 4), (2, 1, 3, 4, 4))


def _nested(n, text):
    """A tensor of `n` dimensions and a channel, as an example shows it."""
    return "[" * n + text + "]" * n


for n in (1, 2, 3):
    _here: dict[str, Any] = {} if n == 1 else {"namespace": "nn.functional"}
    _asked = ", return_indices: bool = False" * (n > 1)
    _both: dict[str, Any] = {"also": ("nn.functional",)} if n == 1 else _here
    _call = "ag.nn.functional" if n > 1 else "ag"
    _windows = "kernel_size: sizes, stride: sizes? = None, padding: sizes = (0,)"
    _more = "dilation: sizes = (1,), ceil_mode: bool = False"
    _max_samples = [
        one(_SHAPES[n], 2),
        one(_SHAPES[n], 3, 2, 1),
        one(_BATCHES[n], (2,) * n, (1,) * n),
        one(_BATCHES[n], 2, 2, 0, 1, True),
        sample((arg(_BATCHES[n]),), {"kernel_size": 2, "stride": None, "dilation": 2}),
    ]
    op(
        f"max_pool{n}d(input, {_windows}, {_more})",
        method=False,
        kernel=composite(
            f"_max_pool_form(input, {n}, {_MAX})[0]" if n > 1 else "pooling.max_pool1d"
        ),
        autocast="float32" if n == 3 else None,
        samples=_max_samples,
        dtypes="ihf",
        reference=by_test(HERE + "test_max_pool"),
        params={
            k: WINDOW[k]
            for k in ("input", "kernel_size", "stride", "padding", "dilation", "ceil_mode")
        },
        doc=f"Largest elements of windows of {NUMBER[n]}. NaN counts as largest.",
        example=(
            f">>> ag.max_pool{n}d(ag.tensor({_nested(n, '[1.0, 3.0, 2.0, 0.0]')}), "
            f"{(1,) * (n - 1) + (2,) if n > 1 else 2})\n"
            f"tensor({_nested(n, '[3., 2.]')})"
        ),
        raises={"RuntimeError": "There is no such window."},
    )
    op(
        f"max_pool{n}d_with_indices(input, {_windows}, {_more}{_asked}) -> (values, indices)",
        method=False,
        named=False,
        **_here,
        autocast="float32" if n == 3 else None,
        kernel=composite(f"_max_pool_form(input, {n}, {_MAX})"),
        samples=_max_samples,
        dtypes="ihf",
        reference=by_test(HERE + "test_max_pool"),
        params={
            k: WINDOW[k]
            for k in (
                "input",
                "kernel_size",
                "stride",
                "padding",
                "dilation",
                "ceil_mode",
                *("return_indices",) * (n > 1),
            )
        },
        doc=(
            f"Largest elements of windows of {NUMBER[n]}, and where they were in their plane, "
            "counted in C order."
        ),
        example=(
            f">>> {_call}.max_pool{n}d_with_indices(ag.tensor("
            f"{_nested(n, '[1.0, 3.0, 2.0, 0.0]')}), {(1,) * (n - 1) + (2,) if n > 1 else 2})[1]\n"
            f"tensor({_nested(n, '[1, 2]')})"
        ),
        raises={"RuntimeError": "There is no such window."},
    )
    _avg_more = "ceil_mode: bool = False, count_include_pad: bool = True" + (
        ", divisor_override: int? = None" if n > 1 else ""
    )
    op(
        f"avg_pool{n}d(input, {_windows}, {_avg_more})",
        method=False,
        out="exact" if n > 1 else False,
        **_both,
        autocast="float32" if n == 3 else None,
        kernel=composite(
            f"_avg_pool_form(input, {n}, kernel_size, stride, padding, ceil_mode, "
            f"count_include_pad, {'divisor_override' if n > 1 else 'None'})"
        ),
        samples=[
            one(_SHAPES[n], 2),
            one(_SHAPES[n], 3, 2, 1),
            one(_BATCHES[n], (2,) * n, (1,) * n),
            one(_BATCHES[n], 3, 2, 1, True, False),
        ]
        + [sample((arg(_BATCHES[n]), 2), {"divisor_override": 3})] * (n > 1),
        dtypes="hf",
        reference=by_test(HERE + "test_avg_pool"),
        params={
            k: WINDOW[k]
            for k in (
                "input",
                "kernel_size",
                "stride",
                "padding",
                "ceil_mode",
                "count_include_pad",
                *(("divisor_override",) * (n > 1)),
            )
        },
        doc=f"Averages of windows of {NUMBER[n]}.",
        example=(
            f">>> {_call}.avg_pool{n}d(ag.tensor({_nested(n, '[1.0, 3.0, 2.0, 0.0]')}), "
            f"{(1,) * (n - 1) + (2,) if n > 1 else 2})\n"
            f"tensor({_nested(n, '[2., 1.]')})"
        ),
        raises={"RuntimeError": "There is no such window."},
    )
    _sizes = [
        one(_SHAPES[n], (2,) * n),
        one(_BATCHES[n], (3,) + (1,) * (n - 1)),
        one(_BATCHES[n], (5,) * n),
    ]
    op(
        f"adaptive_avg_pool{n}d(input, output_size: sizes)",
        method=False,
        **_both,
        kernel=composite(f"_adaptive_avg_form(input, {n}, output_size)"),
        autocast="float32" if n == 3 else None,
        samples=_sizes,
        dtypes="hf",
        reference=by_test(HERE + "test_adaptive_avg_pool"),
        params=SIZE,
        doc=f"Averages of as many windows of {NUMBER[n]} as the result is to have.",
        example=(
            f">>> {_call}.adaptive_avg_pool{n}d(ag.tensor({_nested(n, '[1.0, 3.0, 2.0]')}), "
            f"{(1,) * n if n > 1 else 1})\n"
            f"tensor({_nested(n, '[2.]')})"
        ),
        raises={"RuntimeError": "The input has no elements there."},
    )
    op(
        f"adaptive_max_pool{n}d{'_with_indices' if n > 1 else ''}(input, "
        f"output_size: sizes{_asked}) -> (values, indices)",
        event=f"adaptive_max_pool{n}d",
        method=False,
        named=False,
        **_here,
        autocast="float32" if n == 3 else None,
        kernel=composite(f"_adaptive_max_form(input, {n}, output_size)"),
        samples=_sizes,
        dtypes="hf",
        reference=by_test(HERE + "test_adaptive_max_pool"),
        params=SIZE if n == 1 else {**SIZE, "return_indices": WINDOW["return_indices"]},
        doc=(
            f"Largest elements of as many windows of {NUMBER[n]} as the result is to have, and "
            "where they were in their plane."
        ),
        example=(
            f">>> {_call}.adaptive_max_pool{n}d{'_with_indices' if n > 1 else ''}(ag.tensor("
            f"{_nested(n, '[1.0, 3.0, 2.0]')}), {(1,) * n if n > 1 else 1})[0]\n"
            f"tensor({_nested(n, '[3.]')})"
        ),
        raises={"RuntimeError": "The input has no elements there."},
    )
