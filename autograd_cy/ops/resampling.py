"""Interpolation, and elements that change places: pixels, channels, maxima of a pooling."""

import itertools

from autograd_cy.ops._schema import (
    arg,
    by_test,
    call,
    composite,
    host,
    loop,
    nondiff,
    one,
    op,
    sample,
)

LOADED = "at first use"
HERE = "tests/ops/test_resampling.py::"
_NODES = {
    f"Upsample{name}{n}DBackward0": f"mode == {mode} and len(size) == {n}"
    for mode, names in (
        (0, ("Nearest",) * 3),
        (1, ("NearestExact",) * 3),
        (2, ("Linear", "Bilinear", "Trilinear")),
        (3, ("", "Bicubic", "")),
    )
    for n, name in enumerate(names, 1)
    if name
}
_SCALES = "scale_d: float, scale_h: float, scale_w: float, mode: int, align: bool"
_GIVEN = "scale_d, scale_h, scale_w, mode, align"

# --- interpolation -----------------------------------------------------------------------------

op(
    f"_resample(self, size: sizes, {_SCALES})",
    out=False,
    kernel=call(
        "resampling.resample",
        shape="rules_pooling.adaptive(self, size)",
        follows={"result": "self"},
        any_format=True,
    ),
    node="UpsampleBackward0",
    variants=_NODES,
    shows={
        "output_size": "size",
        "scales": "scale_w or None",
        "scales_d": "scale_d or None",
        "scales_h": "scale_h or None",
        "scales_w": "scale_w or None",
        "align_corners": "align",
    },
    vjp={"self": f"_resample_backward(grad, self.shape, size, {_GIVEN})"},
    jvp="linear",
    vmap=f"_resample(self, size, {_GIVEN})",
    dtypes="ihf",
    samples=[
        one((2, 5), (7,), 0.0, 0.0, 0.0, 0, False),
        one((2, 3, 4), (5, 3), 0.0, 0.0, 0.0, 1, False),
        one((2, 4), (7,), 0.0, 0.0, 1.8, 2, False),
        one((2, 3, 4), (5, 6), 0.0, 0.0, 0.0, 2, True),
        one((1, 2, 3, 4), (3, 2, 6), 0.0, 0.0, 0.0, 2, False),
        one((2, 3, 4), (5, 2), 0.0, 0.0, 0.0, 3, False),
    ],
    reference=by_test(HERE + "test_against_torch"),
    doc="Interpolation of the last dimensions: 0 nearest, 1 nearest-exact, 2 linear, 3 cubic.",
)

op(
    f"_resample_backward(grad_output, size: sizes, to: sizes, {_SCALES})",
    out=False,
    kernel=call(
        "resampling.resample_backward",
        shape="rules_pooling.sized(grad_output, size)",
        follows={"result": "grad_output"},
        any_format=True,
    ),
    vjp={"grad_output": f"_resample(grad, to, {_GIVEN})"},
    jvp="linear",
    vmap=f"_resample_backward(grad_output, (B,) + size, to, {_GIVEN})",
    dtypes="hf",
    doc="Gradient of interpolation.",
)

op(
    f"_resample_form(self, size: sizes, {_SCALES})",
    shown_as="interpolate",
    event="autograd_cy::resample_form",
    kernel=composite("resampling.resample_form"),
    doc="Interpolation, after its checks.",
)

# --- images at the points of a grid ------------------------------------------------------------

# Whatever lies before channels is a batch. Derivatives by points of what is linear in the others
# are formulas of operators.
_HOW = "interpolation_mode, padding_mode, align_corners"
_HOWS = "interpolation_mode: int, padding_mode: int, align_corners: bool"


def _each_with_its_own(name, tensors, numbers=_HOW):
    """Rules of vmap: an operand that all examples share is seen once for each."""
    return {
        some: (
            f"{name}("
            f"{', '.join(t if t in some else f'expand({t}, (B,) + {t}.shape)' for t in tensors)}, "
            f"{numbers})"
        )
        for n in range(1, len(tensors) + 1)
        for some in itertools.combinations(tensors, n)
    }


op(
    f"_grid_sample(input, grid, {_HOWS})",
    shown_as="grid_sampler",
    event="autograd_cy::grid_sample",
    out=False,
    kernel=call("grid_sampling.grid_sample", shape="rules_grid.sampled(input, grid)"),
    node="GridSampler2DBackward0",
    variants={"GridSampler3DBackward0": "grid.shape[grid.ndim - 1] == 3"},
    vjp={
        "input": f"_grid_sample_input(grad, grid, input.shape, {_HOW})",
        "grid": f"_grid_sample_grid(grad, input, grid, {_HOW})",
    },
    jvp={
        "input": f"_grid_sample(input_t, grid, {_HOW})",
        "grid": f"_grid_sample_jvp(input, grid, grid_t, {_HOW})",
    },
    vmap=_each_with_its_own("_grid_sample", ("input", "grid")),
    dtypes="hf",
    samples=[
        sample((arg((2, 2, 4, 3)), arg((2, 3, 2, 2)), 0, 0, False)),
        sample((arg((1, 2, 3, 4)), arg((1, 5, 1, 2)), 0, 1, True)),
        sample((arg((2, 1, 4, 5)), arg((2, 2, 2, 2)), 2, 2, False)),
        sample((arg((1, 2, 2, 3, 4)), arg((1, 2, 1, 3, 3)), 0, 2, True)),
        sample((arg((2, 2, 3, 4)), arg((2, 2, 3, 2)), 1, 0, True)),
        sample((arg((0, 2, 3, 4)), arg((0, 2, 3, 2)), 0, 0, False)),
    ],
    reference=by_test("tests/ops/test_grid_sampling.py::test_kernels_give_what_the_formula_does"),
    doc="Images at the points of a grid.",
)

op(
    f"_grid_sample_input(grad_output, grid, size: sizes, {_HOWS})",
    out=False,
    kernel=call("grid_sampling.grid_sample_input", shape="rules_pooling.sized(grad_output, size)"),
    vjp={
        "grad_output": f"_grid_sample(grad, grid, {_HOW})",
        "grid": f"_grid_sample_grid(grad_output, grad, grid, {_HOW})",
    },
    jvp={
        "grad_output": f"_grid_sample_input(grad_output_t, grid, size, {_HOW})",
        "grid": f"_grid_sample_input_jvp(grad_output, grid, grid_t, size, {_HOW})",
    },
    vmap=_each_with_its_own("_grid_sample_input", ("grad_output", "grid"), f"(B,) + size, {_HOW}"),
    dtypes="hf",
    doc="Gradient of the images.",
)

op(
    f"_grid_sample_grid(grad_output, input, grid, {_HOWS})",
    out=False,
    kernel=call("grid_sampling.grid_sample_grid", shape="rules_grid.like_points(grid)"),
    vjp={
        "grad_output": f"_grid_sample_jvp(input, grid, grad, {_HOW})",
        "input": f"_grid_sample_input_jvp(grad_output, grid, grad, input.shape, {_HOW})",
        "grid": f"_grid_sample_grid_jvp(grad_output, input, grid, grad, {_HOW})",
    },
    jvp={
        "grad_output": f"_grid_sample_grid(grad_output_t, input, grid, {_HOW})",
        "input": f"_grid_sample_grid(grad_output, input_t, grid, {_HOW})",
        "grid": f"_grid_sample_grid_jvp(grad_output, input, grid, grid_t, {_HOW})",
    },
    vmap=_each_with_its_own("_grid_sample_grid", ("grad_output", "input", "grid")),
    dtypes="hf",
    doc="Gradient of the grid.",
)

op(
    "_affine_grid(theta, spatial: ints, aligned: bool)",
    tier="interpreted",
    shown_as="affine_grid_generator",
    event="affine_grid_generator",
    kernel=host("resampling.affine_grid"),
    out=False,
    vjp={"theta": "_affine_grid_backward(grad, spatial, aligned)"},
    jvp="linear",
    node="AffineGridGeneratorBackward0",
    vmap=(
        "reshape(_affine_grid(reshape(theta, (-1,) + theta.shape[2:]), spatial, aligned), "
        "theta.shape[:2] + spatial + (len(spatial),))"
    ),
    dtypes="hf",
    doc=(
        "The points that affine maps make of those of a grid. Nothing is saved: the grid is made "
        "again."
    ),
)

op(
    "_affine_grid_backward(grad, spatial: ints, aligned: bool)",
    tier="interpreted",
    kernel=composite("resampling.affine_grid_backward"),
    doc="Gradient of the affine maps.",
)

op(
    f"_grid_sample_jvp(input, grid, tangent, {_HOWS})",
    tier="interpreted",
    kernel=composite("resampling.grid_sample_jvp"),
    doc="Tangent of what is sampled by the grid.",
)
op(
    f"_grid_sample_input_jvp(grad_output, grid, tangent, size: sizes, {_HOWS})",
    tier="interpreted",
    kernel=composite("resampling.grid_sample_input_jvp"),
    doc="Tangent of the images' gradient by the grid.",
)
op(
    f"_grid_sample_grid_jvp(grad_output, input, grid, tangent, {_HOWS})",
    tier="interpreted",
    kernel=composite("resampling.grid_sample_grid_jvp"),
    doc=(
        "Tangent of the grid's gradient by the grid, and the same backward, as second derivatives "
        "are."
    ),
)

# --- filters along a dimension -----------------------------------------------------------------

op(
    "_filter(self, bounds, weight, behind: int)",
    out=False,
    kernel=call(
        "filtering.filtered", shape="rules_filtering.filtered(self, bounds, weight, behind)"
    ),
    vjp={
        "self": "_filter_backward(grad, bounds, weight, behind, self.shape[self.ndim - 1 - behind])"
    },
    jvp={"self": "_filter(self_t, bounds, weight, behind)"},
    vmap={
        "self": "_filter(self, bounds, weight, behind)",
        ("self", "bounds", "weight"): loop("filters of each example"),
    },
    dtypes="f",
    doc=(
        "Sums of neighbours along the dimension with `behind` others behind it: of elements "
        "bounds[i, 0] to bounds[i, 1], times weight[i]."
    ),
)

op(
    "_filter_backward(grad_output, bounds, weight, behind: int, size: int)",
    out=False,
    kernel=call(
        "filtering.filtered_backward",
        shape="rules_filtering.filtered_backward(grad_output, bounds, weight, behind, size)",
    ),
    vjp={"grad_output": "_filter(grad, bounds, weight, behind)"},
    jvp={"grad_output": "_filter_backward(grad_output_t, bounds, weight, behind, size)"},
    vmap={
        "grad_output": "_filter_backward(grad_output, bounds, weight, behind, size)",
        ("grad_output", "bounds", "weight"): loop("filters of each example"),
    },
    dtypes="f",
    doc="Gradient of _filter.",
)

op(
    "_filter_bytes(self, bounds, weight, behind: int, bits: int)",
    out=False,
    kernel=call(
        "filtering.filtered_bytes", shape="rules_filtering.filtered(self, bounds, weight, behind)"
    ),
    vjp=nondiff("of whole numbers"),
    vmap={
        "self": "_filter_bytes(self, bounds, weight, behind, bits)",
        ("self", "bounds", "weight"): loop("filters of each example"),
    },
    doc="_filter of uint8 with whole weights, which are 2 ** bits times as large.",
)

# --- elements in another order -----------------------------------------------------------------

op(
    "pixel_shuffle(input, upscale_factor: int)",
    method=False,
    also=("nn.functional",),
    kernel=composite("resampling.pixel_shuffle"),
    samples=[one((8, 2, 3), 2), one((2, 4, 1, 2), 2), one((2, 3, 4), 1)],
    reference=by_test(HERE + "test_pixels_are_shuffled"),
    params={
        "input": "Images: channels, rows and columns in the last three dimensions.",
        "upscale_factor": "How many rows and columns one becomes.",
    },
    doc="Channels become rows and columns.",
    example=(
        ">>> ag.pixel_shuffle(ag.tensor([[[1]], [[2]], [[3]], [[4]]]), 2)\n"
        "tensor([[[1, 2],\n"
        "         [3, 4]]])"
    ),
    raises={"RuntimeError": "The channels can't be divided so."},
)

op(
    "pixel_unshuffle(input, downscale_factor: int)",
    method=False,
    also=("nn.functional",),
    kernel=composite("resampling.pixel_unshuffle"),
    samples=[one((2, 4, 6), 2), one((2, 1, 2, 4), 2), one((2, 3, 4), 1)],
    reference=by_test(HERE + "test_pixels_are_shuffled"),
    params={
        "input": "Images: channels, rows and columns in the last three dimensions.",
        "downscale_factor": "How many rows and columns become one.",
    },
    doc="Rows and columns become channels: the opposite of pixel_shuffle.",
    example=(
        ">>> ag.pixel_unshuffle(ag.tensor([[[1, 2], [3, 4]]]), 2).flatten()\ntensor([1, 2, 3, 4])"
    ),
    raises={"RuntimeError": "Rows or columns can't be divided so."},
)

op(
    "channel_shuffle(input, groups: int)",
    method=False,
    also=("nn.functional",),
    kernel=composite("resampling.channel_shuffle"),
    samples=[one((2, 6, 3), 2), one((1, 4, 2, 2), 4)],
    reference=by_test(HERE + "test_channels_are_shuffled"),
    params={
        "input": "Channels in the second dimension.",
        "groups": "How many groups the channels are in.",
    },
    doc="The first channel of each group, then the second of each, and so on.",
    example=(
        ">>> ag.channel_shuffle(ag.tensor([[[1], [2], [3], [4]]]), 2).flatten()\n"
        "tensor([1, 3, 2, 4])"
    ),
    raises={"RuntimeError": "The channels can't be divided so."},
)

op(
    "_unpool(self, indices, size: sizes)",
    shown_as="max_unpool",
    event="autograd_cy::unpool",
    kernel=composite("resampling.unpool"),
    doc="Zeros but for the elements at their places, which count in planes.",
)
