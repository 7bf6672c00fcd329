"""Normalisation: of channels over a batch, of rows, of groups of channels.

Gradients of rows and channels are made by kernels; where they are differentiated again, composites
make them of operators.
"""

from autograd_cy.ops._schema import arg, call, composite, error, loop, nondiff, op, real, sample

LOADED = "at first use"

TWICE = nondiff(
    "the composite around it makes gradients of operators where they are differentiated"
)
ROWS = "tuple(range(-len(normalized_shape), 0))"
SCALED = "(input - input.mean({0}, keepdims=True)) / np.sqrt(input.var({0}, keepdims=True) + eps)"
AFFINE = "({}) * (1 if weight is None else {}) + (0 if bias is None else {})"
SHAPED = "np.reshape({}, (1, -1) + (1,) * (input.ndim - 2))"
EPS = {
    "eps": "What is added to variances.",
    "weight": "Factors of the normalised elements.",
    "bias": "What is added to them.",
}
RUNNING = {
    "momentum": "How far the running statistics move towards those of the batch.",
    "cudnn_enabled": "Taken for torch's sake; there is one implementation.",
    "running_mean": "Mean of each channel; changed in place.",
    "running_var": "Variance of each channel; changed in place.",
}
WEIGHT = real(0.5, 1.5)

# --- rows --------------------------------------------------------------------------------------

op(
    "_native_layer_norm(input, normalized_shape: ints, weight: Tensor?, bias: Tensor?, "
    "eps: float) -> (result, mean, rstd)",
    event="native_layer_norm",
    shown_as="layer_norm",
    named=False,
    out=False,
    nondiff_outputs=("mean", "rstd"),
    dtypes="hf",
    node="NativeLayerNormBackward0",
    kernel=call(
        "norms.layer_norm",
        shape="rules_normalization.layer_norm(input, normalized_shape, weight, bias)",
    ),
    vjp={
        (
            "input",
            "weight",
            "bias",
        ): (
            "_layer_norm_backward(grad_result, input, normalized_shape, mean, rstd, weight, eps, "
            "needed[0], needed[1], needed[2])"
        )
    },
    stays={"weight": ("weight",), "bias": ("input", "weight", "bias")},
    shows={"result1": "mean", "result2": "rstd"},
    jvp={
        "result": {
            "input": "_rows_jvp(input_t, input, normalized_shape, weight, eps, True)",
            "weight": "weight_t * _rows_scaled(input, normalized_shape, eps, True)",
            "bias": "expand(bias_t, input.shape)",
        }
    },
    vmap={
        "input": "_native_layer_norm(input, normalized_shape, weight, bias, eps)",
        ("input", "weight", "bias"): loop("weights of each example"),
    },
    doc="layer_norm, with the mean and the inverse of the deviation of each row.",
)

op(
    "_layer_norm_backward(grad, input, normalized_shape: ints, mean, rstd, weight: Tensor?, eps: "
    "float, to_input: bool, to_weight: bool, to_bias: bool) -> Tensor[]",
    kernel=composite("normalization.layer_norm_backward"),
    doc="Gradients of layer_norm, as far as they are wanted.",
)

op(
    "_fused_layer_norm_backward(grad, input, normalized_shape: ints, mean, rstd, weight: Tensor?, "
    "to_input: bool, to_weight: bool, to_bias: bool) -> (to_input, to_weight, to_bias)",
    event="native_layer_norm_backward",
    shown_as="layer_norm",
    named=False,
    out=False,
    dtypes="hf",
    kernel=call(
        "norms.layer_norm_backward",
        ("grad", "input", "normalized_shape", "mean", "rstd", "weight"),
        shape=(
            "rules_normalization.of_rows(input, normalized_shape, weight, to_input, to_weight, "
            "to_bias)"
        ),
    ),
    vjp=TWICE,
    vmap=loop("only without batches"),
    doc="The kernel of _layer_norm_backward.",
)

op(
    "_rows_scaled(input, normalized_shape: ints, eps: float, centred: bool)",
    kernel=composite("normalization.rows_scaled"),
    doc="Normalised rows, without weight and bias.",
)

op(
    "_rows_jvp(tangent, input, normalized_shape: ints, weight: Tensor?, eps: float, centred: bool)",
    kernel=composite("normalization.rows_jvp"),
    doc="Tangent of normalised rows.",
)

op(
    "layer_norm(input, normalized_shape: ints, weight: Tensor? = None, bias: Tensor? = None, "
    "eps: float = 1e-05, cudnn_enable: bool = True)",
    autocast="input",
    also=("nn.functional",),
    method=False,
    kernel=composite("_native_layer_norm(input, normalized_shape, weight, bias, eps)[0]"),
    samples=[
        sample((arg((3, 5)), (5,))),
        sample((arg((2, 3, 4)), (4,), arg((4,), WEIGHT), arg((4,)))),
        sample((arg((2, 3, 4)), (3, 4), arg((3, 4), WEIGHT))),
        sample((arg((4,)), (4,), None, arg((4,)))),
        sample((arg((2, 37)), (37,), arg((37,), WEIGHT), arg((37,))), {"eps": 0.1}),
        sample((arg((0, 3)), (3,), arg((3,)))),
    ],
    errors=(
        error(sample((arg((2, 3)), (4,))), RuntimeError, "expected input with shape"),
        error(sample((arg((2, 3)), ())), RuntimeError, "at least 1-dimensional"),
        error(
            sample((arg((2, 3)), (3,), arg((2,)))),
            RuntimeError,
            "Expected weight to be of same shape",
        ),
    ),
    dtypes="hf",
    reference=AFFINE.format(SCALED.format(ROWS), "weight", "bias"),
    tolerance=1e-4,
    doc=(
        "Rows, the last dimensions, with mean 0 and variance 1, times `weight`, plus `bias`.\n"
        'Source: J. Ba, J. Kiros, G. Hinton, "Layer normalization" (2016).'
    ),
    params=EPS
    | {
        "normalized_shape": "Sizes of the last dimensions.",
        "cudnn_enable": RUNNING["cudnn_enabled"],
    },
    example=">>> ag.layer_norm(ag.tensor([[1.0, 3.0]]), (2,))\ntensor([[-1.0000,  1.0000]])",
)

op(
    "_fused_rms_norm(input, normalized_shape: ints, weight: Tensor?, eps: float) -> (result, rstd)",
    shown_as="rms_norm",
    named=False,
    out=False,
    nondiff_outputs=("rstd",),
    dtypes="hf",
    node="FusedRmsNormBackward0",
    kernel=call(
        "norms.rms_norm",
        shape="rules_normalization.rms_norm(input, normalized_shape, weight)",
        follows={"result": "input"},
    ),
    vjp={
        (
            "input",
            "weight",
        ): (
            "_rms_norm_backward(grad_result, input, normalized_shape, rstd, weight, eps, "
            "needed[0], needed[1])"
        )
    },
    jvp={
        "result": {
            "input": "_rows_jvp(input_t, input, normalized_shape, weight, eps, False)",
            "weight": "weight_t * _rows_scaled(input, normalized_shape, eps, False)",
        }
    },
    vmap={
        "input": "_fused_rms_norm(input, normalized_shape, weight, eps)",
        ("input", "weight"): loop("weights of each example"),
    },
    doc="rms_norm, with the inverse of the root mean square of each row.",
)

op(
    "_rms_norm_backward(grad, input, normalized_shape: ints, rstd, weight: Tensor?, eps: float, "
    "to_input: bool, to_weight: bool) -> Tensor[]",
    kernel=composite("normalization.rms_norm_backward"),
    doc="Gradients of rms_norm, as far as they are wanted.",
)

op(
    "_fused_rms_norm_backward(grad, input, normalized_shape: ints, rstd, weight: Tensor?, "
    "to_input: bool, to_weight: bool) -> (to_input, to_weight)",
    shown_as="rms_norm",
    event="_fused_rms_norm_backward",
    named=False,
    out=False,
    dtypes="hf",
    kernel=call(
        "norms.rms_norm_backward",
        ("grad", "input", "normalized_shape", "rstd", "weight"),
        shape=(
            "rules_normalization.of_rows_without_bias(input, normalized_shape, weight, to_input, "
            "to_weight)"
        ),
    ),
    vjp=TWICE,
    vmap=loop("only without batches"),
    doc="The kernel of _rms_norm_backward.",
)

op(
    "rms_norm(input, normalized_shape: ints, weight: Tensor? = None, eps: float? = None)",
    also=("nn.functional",),
    method=False,
    autocast="input",
    kernel=composite("normalization.rms_norm"),
    samples=[
        sample((arg((3, 5)), (5,))),
        sample((arg((2, 3, 4)), (4,), arg((4,), WEIGHT), 0.1)),
        sample((arg((2, 3, 4)), (3, 4), arg((3, 4), WEIGHT), 0.01)),
        sample((arg((2, 37)), (37,), arg((37,), WEIGHT)), {"eps": 0.5}),
        sample((arg((0, 3)), (3,), arg((3,)))),
    ],
    errors=(error(sample((arg((2, 3)), (4,))), RuntimeError, "expected input with shape"),),
    dtypes="hfc",
    reference=(
        f"input / np.sqrt(np.mean(input ** 2, {ROWS}, keepdims=True) + (eps or 1e-12)) "
        "* (1 if weight is None else weight)"
    ),
    tolerance=1e-4,
    params={
        "normalized_shape": "Sizes of the last dimensions.",
        "eps": "What is added to mean squares; None for the dtype's own.",
        "weight": EPS["weight"],
    },
    doc=(
        "Rows, the last dimensions, with mean square 1, times `weight`.\n"
        'Source: B. Zhang, R. Sennrich, "Root mean square layer normalization" (2019).'
    ),
    example=">>> ag.rms_norm(ag.tensor([[1.0, 7.0]]), (2,))\ntensor([[0.2000, 1.4000]])",
)

# --- groups of channels ------------------------------------------------------------------------

op(
    "_native_group_norm(input, num_groups: int, weight: Tensor?, bias: Tensor?, eps: float) "
    "-> (result, mean, rstd)",
    event="native_group_norm",
    shown_as="group_norm",
    named=False,
    out=False,
    nondiff_outputs=("mean", "rstd"),
    dtypes="hf",
    node="NativeGroupNormBackward0",
    kernel=call(
        "norms.group_norm",
        shape="rules_normalization.group_norm(input, num_groups, weight, bias)",
        follows={"result": "input"},
        any_format=True,
    ),
    vjp={
        (
            "input",
            "weight",
            "bias",
        ): (
            "_group_norm_backward(grad_result, input, num_groups, mean, rstd, weight, eps, "
            "needed[0], needed[1], needed[2])"
        )
    },
    stays={"weight": ("weight",), "bias": ("input", "weight")},
    shows={
        "result1": "mean",
        "result2": "rstd",
        "group": "num_groups",
        "N": "input.shape[0]",
        "C": "input.shape[1]",
    },
    jvp={
        "result": {
            "input": "_groups_jvp(input_t, input, num_groups, weight, eps)",
            "weight": "_per_channel(weight_t, input) * _groups_scaled(input, num_groups, eps)",
            "bias": "expand(_per_channel(bias_t, input), input.shape)",
        }
    },
    vmap={
        "input": "_batched_groups(input, num_groups, weight, bias, eps)",
        ("input", "weight", "bias"): loop("weights of each example"),
    },
    doc="group_norm, with the mean and the inverse of the deviation of each group.",
)

op(
    "_group_norm_backward(grad, input, num_groups: int, mean, rstd, weight: Tensor?, eps: float, "
    "to_input: bool, to_weight: bool, to_bias: bool) -> Tensor[]",
    kernel=composite("normalization.group_norm_backward"),
    doc="Gradients of group_norm, as far as they are wanted.",
)

op(
    "_fused_group_norm_backward(grad, input, num_groups: int, mean, rstd, weight: Tensor?, "
    "to_input: bool, to_weight: bool, to_bias: bool) -> (to_input, to_weight, to_bias)",
    event="native_group_norm_backward",
    shown_as="group_norm",
    named=False,
    out=False,
    dtypes="hf",
    kernel=call(
        "norms.group_norm_backward",
        ("grad", "input", "num_groups", "mean", "rstd", "weight"),
        shape="rules_normalization.of_channels(input, weight, to_input, to_weight, to_bias)",
    ),
    vjp=TWICE,
    vmap=loop("only without batches"),
    doc="The kernel of _group_norm_backward.",
)

op(
    "_groups_scaled(input, num_groups: int, eps: float)",
    kernel=composite("normalization.groups_scaled"),
    doc="group_norm without weight and bias.",
)

op(
    "_groups_jvp(tangent, input, num_groups: int, weight: Tensor?, eps: float)",
    kernel=composite("normalization.groups_jvp"),
    doc="Tangent of group_norm.",
)

op(
    "_batched_groups(input, num_groups: int, weight: Tensor?, bias: Tensor?, eps: float) "
    "-> Tensor[]",
    kernel=composite("normalization.batched_groups"),
    doc="group_norm of a batch of examples.",
)

op(
    "group_norm(input, num_groups: int, weight: Tensor? = None, bias: Tensor? = None, "
    "eps: float = 1e-05, cudnn_enabled: bool = True)",
    method=False,
    autocast="input",
    kernel=composite("_native_group_norm(input, num_groups, weight, bias, eps)[0]"),
    samples=[
        sample((arg((2, 4)), 2)),
        sample((arg((2, 6, 3)), 3, arg((6,), WEIGHT), arg((6,)))),
        sample((arg((2, 4, 2, 3)), 1, arg((4,), WEIGHT))),
        sample((arg((3, 4, 5)), 4, None, arg((4,))), {"eps": 0.1}),
        sample((arg((2, 4, 3, 11)), 2, arg((4,), WEIGHT), arg((4,)))),
        sample((arg((0, 4, 3)), 2, arg((4,), WEIGHT))),
    ],
    errors=(
        error(sample((arg((2, 5)), 2)), RuntimeError, "divisible by num_groups"),
        error(sample((arg((5,)), 1)), RuntimeError, "at least 2 dimensions"),
        error(
            sample((arg((2, 4)), 2, arg((3,)))),
            RuntimeError,
            "vector of size equal to the number of channels",
        ),
    ),
    dtypes="hf",
    tolerance=1e-4,
    reference=AFFINE.format(
        (
            "(lambda g: np.reshape((g - g.mean(2, keepdims=True)) / np.sqrt(g.var(2, "
            "keepdims=True) + eps), input.shape))(np.reshape(input, (input.shape[0], num_groups, "
            "input[:1].size // num_groups if input.size else 6)))"
        ),
        SHAPED.format("weight"),
        SHAPED.format("bias"),
    ),
    doc=(
        "Groups of channels, the second dimension, with mean 0 and variance 1 in each sample, "
        'times `weight`, plus `bias`.\nSource: Y. Wu, K. He, "Group normalization" (2018).'
    ),
    params=EPS
    | {
        "num_groups": "How many groups the channels make.",
        "cudnn_enabled": RUNNING["cudnn_enabled"],
    },
    example=(
        ">>> ag.group_norm(ag.tensor([[1.0, 3.0, 5.0, 9.0]]), 2)\n"
        "tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])"
    ),
)

# --- channels ----------------------------------------------------------------------------------


def channels_jvp(training):
    """Forward mode of batch_norm."""
    return {
        "result": {
            "input": f"_channels_jvp(input_t, input, weight, mean, rstd, {training}, eps)",
            "weight": (
                f"_per_channel(weight_t, input) * _channels_scaled(input, mean, rstd, {training}, "
                "eps)"
            ),
            "bias": "expand(_per_channel(bias_t, input), input.shape)",
        }
    }


op(
    "_batch_norm(input, weight: Tensor?, bias: Tensor?, running_mean: Tensor?, "
    "running_var: Tensor?, momentum: float, eps: float) -> (result, mean, rstd)",
    event="native_batch_norm",
    shown_as="batch_norm",
    named=False,
    out=False,
    nondiff_outputs=("mean", "rstd"),
    dtypes="hf",
    node="NativeBatchNormBackward0",
    mutates=("running_mean", "running_var"),
    kernel=call(
        "norms.batch_norm",
        ("input", "weight", "bias", "running_mean", "running_var", "True", "momentum", "eps"),
        shape=(
            "rules_normalization.batch_norm(input, weight, bias, running_mean, running_var, True)"
        ),
    ),
    vjp={
        (
            "input",
            "weight",
            "bias",
        ): (
            "_batch_norm_backward(grad_result, input, weight, mean, rstd, True, eps, needed[0], "
            "needed[1], needed[2])"
        )
    },
    stays={"weight": ("weight",), "bias": ("input", "weight")},
    shows={"result1": "mean", "result2": "rstd", "training": "True"},
    jvp=channels_jvp(True),
    vmap=loop("each example has statistics of its own"),
    doc="batch_norm by the statistics of the batch, which it returns.",
)

op(
    "_batch_norm_fixed(input, weight: Tensor?, bias: Tensor?, running_mean, running_var, "
    "eps: float) -> (result, mean, rstd)",
    event="native_batch_norm",
    shown_as="batch_norm",
    named=False,
    out=False,
    nondiff_outputs=("mean", "rstd"),
    dtypes="hf",
    node="NativeBatchNormBackward0",
    kernel=call(
        "norms.batch_norm",
        ("input", "weight", "bias", "running_mean", "running_var", "False", "0.0", "eps"),
        shape=(
            "rules_normalization.batch_norm(input, weight, bias, running_mean, running_var, False)"
        ),
    ),
    vjp={
        (
            "input",
            "weight",
            "bias",
        ): (
            "_batch_norm_backward(grad_result, input, weight, mean, rstd, False, eps, needed[0], "
            "needed[1], needed[2])"
        )
    },
    stays={"input": ("input",), "weight": ("weight",), "bias": ("input", "weight")},
    shows={"result1": "mean", "result2": "rstd", "training": "False"},
    jvp=channels_jvp(False),
    vmap=loop("each example has statistics of its own"),
    doc="batch_norm by the running statistics.",
)

op(
    "_batch_norm_backward(grad, input, weight: Tensor?, mean, rstd, training: bool, eps: float, "
    "to_input: bool, to_weight: bool, to_bias: bool) -> Tensor[]",
    kernel=composite("normalization.batch_norm_backward"),
    doc="Gradients of batch_norm, as far as they are wanted.",
)

op(
    "_fused_batch_norm_backward(grad, input, weight: Tensor?, mean, rstd, training: bool, "
    "to_input: bool, to_weight: bool, to_bias: bool) -> (to_input, to_weight, to_bias)",
    event="native_batch_norm_backward",
    shown_as="batch_norm",
    named=False,
    out=False,
    dtypes="hf",
    kernel=call(
        "norms.batch_norm_backward",
        ("grad", "input", "weight", "mean", "rstd", "training"),
        shape="rules_normalization.of_channels(input, weight, to_input, to_weight, to_bias)",
    ),
    vjp=TWICE,
    vmap=loop("only without batches"),
    doc="The kernel of _batch_norm_backward.",
)

op(
    "_channels_scaled(input, mean, rstd, training: bool, eps: float)",
    kernel=composite("normalization.channels_scaled"),
    doc="batch_norm without weight and bias.",
)

op(
    "_channels_jvp(tangent, input, weight: Tensor?, mean, rstd, training: bool, eps: float)",
    kernel=composite("normalization.channels_jvp"),
    doc="Tangent of batch_norm.",
)

op(
    "_per_channel(values, input)",
    kernel=composite("normalization.per_channel"),
    doc="Shaped to broadcast along the second dimension.",
)

op(
    "batch_norm(input, weight: Tensor?, bias: Tensor?, running_mean: Tensor?, "
    "running_var: Tensor?, training: bool, momentum: float, eps: float, cudnn_enabled: bool)",
    method=False,
    kernel=composite("normalization.batch_norm"),
    autocast="input",
    samples=[
        sample((arg((4, 3)), None, None, None, None, True, 0.1, 1e-5, True)),
        sample((arg((4, 3, 2)), arg((3,), WEIGHT), arg((3,)), None, None, True, 0.1, 1e-5, True)),
        sample((arg((2, 3, 4, 5)), arg((3,), WEIGHT), None, None, None, True, 0.1, 0.1, True)),
        sample((arg((2, 3, 2, 2, 3)), None, arg((3,)), None, None, True, 0.1, 1e-5, True)),
        sample(
            (
                arg((4, 3)),
                arg((3,), WEIGHT),
                arg((3,)),
                arg((3,), None, False),
                arg((3,), real(0.5, 2.0), False),
                False,
                0.1,
                1e-5,
                True,
            )
        ),
        sample(
            (
                arg((2, 3, 4)),
                arg((3,), WEIGHT),
                arg((3,)),
                arg((3,), None, False),
                arg((3,), real(0.5, 2.0), False),
                False,
                0.1,
                1e-5,
                True,
            )
        ),
    ],
    errors=(
        error(
            sample((arg((4, 3)), None, None, None, None, False, 0.1, 1e-5, True)),
            RuntimeError,
            "running_mean",
        ),
        error(
            sample((arg((4, 3)), arg((2,)), None, None, None, True, 0.1, 1e-5, True)),
            RuntimeError,
            "weight should contain 3 elements not 2",
        ),
        error(
            sample((arg((4,)), None, None, None, None, True, 0.1, 1e-5, True)),
            RuntimeError,
            "at least 2 dimensions",
        ),
    ),
    dtypes="hf",
    tolerance=1e-4,
    reference="(lambda m, v: "
    + AFFINE.format(
        "(input - m) / np.sqrt(v + eps)", SHAPED.format("weight"), SHAPED.format("bias")
    )
    + (
        ")(*((input.mean((0, *range(2, input.ndim)), keepdims=True), "
        "input.var((0, *range(2, input.ndim)), keepdims=True)) if training "
        f"else ({SHAPED.format('running_mean')}, {SHAPED.format('running_var')})))"
    ),
    doc=(
        "Channels, the second dimension, with mean 0 and variance 1, times `weight`, plus "
        "`bias`.\nWith `training`, mean and variance are those of the batch, and the running ones "
        "move towards them by `momentum`, in place.\n"
        'Source: S. Ioffe, C. Szegedy, "Batch normalization" (2015).'
    ),
    params=EPS
    | RUNNING
    | {"training": "Take the statistics of the batch, and not the running ones."},
    example=(
        ">>> x = ag.tensor([[1.0], [3.0]])\n"
        ">>> ag.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, True)\n"
        "tensor([[-1.0000],\n"
        "        [ 1.0000]])"
    ),
)

op(
    "instance_norm(input, weight: Tensor?, bias: Tensor?, running_mean: Tensor?, "
    "running_var: Tensor?, use_input_stats: bool, momentum: float, eps: float, "
    "cudnn_enabled: bool)",
    method=False,
    kernel=composite("normalization.instance_norm"),
    autocast="input",
    samples=[
        sample((arg((2, 3, 4)), None, None, None, None, True, 0.1, 1e-5, True)),
        sample(
            (arg((2, 3, 4, 2)), arg((3,), WEIGHT), arg((3,)), None, None, True, 0.1, 1e-5, True)
        ),
        sample(
            (
                arg((2, 3, 4)),
                arg((3,), WEIGHT),
                None,
                arg((3,), None, False),
                arg((3,), real(0.5, 2.0), False),
                False,
                0.1,
                1e-5,
                True,
            )
        ),
    ],
    errors=(
        error(
            sample((arg((2, 3, 4)), None, None, None, None, False, 0.1, 1e-5, True)),
            RuntimeError,
            "running_mean",
        ),
        error(
            sample((arg((2, 3, 4)), arg((2,)), None, None, None, True, 0.1, 1e-5, True)),
            RuntimeError,
            "weight should contain 3 elements not 2",
        ),
    ),
    dtypes="hf",
    tolerance=1e-4,
    reference="(lambda m, v: "
    + AFFINE.format(
        "(input - m) / np.sqrt(v + eps)", SHAPED.format("weight"), SHAPED.format("bias")
    )
    + (
        ")(*((input.mean(tuple(range(2, input.ndim)), keepdims=True), input.var(tuple(range(2, "
        f"input.ndim)), keepdims=True)) if use_input_stats else ({SHAPED.format('running_mean')}, "
        f"{SHAPED.format('running_var')})))"
    ),
    doc=(
        "Channels of each sample with mean 0 and variance 1, times `weight`, plus `bias`.\n"
        'Source: D. Ulyanov, A. Vedaldi, V. Lempitsky, "Instance normalization" (2016).'
    ),
    params=EPS
    | RUNNING
    | {"use_input_stats": "Take the statistics of the samples, and not the running ones."},
    example=(
        ">>> x = ag.tensor([[[1.0, 3.0]]])\n"
        ">>> ag.instance_norm(x, None, None, None, None, True, 0.1, 1e-5, True)\n"
        "tensor([[[-1.0000,  1.0000]]])"
    ),
)
