"""Paths of torch's modules, and where this package has what is in them.

Nothing of this is read by a program that doesn't ask for such a path.
"""

from __future__ import annotations

__all__ = ["LATER", "MOVED"]

#: Modules that are where torch has them, and loaded when they are first asked for.
LATER = frozenset(
    (
        "__config__",
        "nn._reduction",
        "nn.common_types",
        "nn.grad",
        "nn.modules.utils",
        "utils._pytree",
        "utils.dlpack",
    )
)

#: Path without the package's name -> lines of ``module: names``. A name may be another one's here:
#: ``theirs=ours``. What is missing is asked of the first module, which may say what to use instead.
MOVED: dict[str, tuple[str, ...]] = {
    "_dynamo": (
        "compiler: allow_in_graph assume_constant_result disable is_compiling reset"
        " graph_break=_nothing mark_dynamic=_nothing mark_static=_nothing"
        " mark_static_address=_nothing maybe_mark_dynamic=_nothing optimize=_optimize",
    ),
    # Programs set what they like there.
    "_dynamo.config": ("compiler: ",),
    "_inductor": ("compiler: ",),
    "_inductor.config": ("compiler: ",),
    "_jit_internal": (
        "jit: Final _overload=_as_it_is _overload_method=_as_it_is"
        " _copy_to_script_wrapper=_as_it_is export ignore is_scripting unused",
        "jit.annotations: BroadcastingList1 BroadcastingList2 BroadcastingList3 Dict List Optional"
        " Tuple Union",
    ),
    "distributed.distributed_c10d": (
        "distributed: Backend GroupMember ReduceOp default_pg_timeout group is_initialized"
        " is_mpi_available is_nccl_available",
    ),
    "distributed.elastic": ("distributed: ",),
    "distributed.elastic.multiprocessing": ("distributed: ",),
    "distributed.elastic.multiprocessing.errors": ("distributed: record=_record",),
    "functional": (
        ": atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors"
        " cartesian_prod cdist chain_matmul einsum meshgrid norm split tensordot unique"
        " unique_consecutive",
    ),
    "nn.modules.activation": (
        "nn: CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid"
        " LogSoftmax Mish MultiheadAttention PReLU RReLU ReLU ReLU6 SELU SiLU Sigmoid Softmax"
        " Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold",
    ),
    "nn.modules.adaptive": ("nn: AdaptiveLogSoftmaxWithLoss", "nn.adaptive_softmax: _ASMoutput"),
    "nn.modules.batchnorm": (
        "nn: BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm",
        "nn.normalization: _BatchNorm _NormBase",
    ),
    "nn.modules.channelshuffle": ("nn: ChannelShuffle",),
    "nn.modules.container": ("nn: ModuleDict ModuleList ParameterDict ParameterList Sequential",),
    "nn.modules.conv": (
        "nn: Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d",
        "nn.convolution: _ConvNd _ConvTransposeNd=_Transposed",
    ),
    "nn.modules.distance": ("nn: CosineSimilarity PairwiseDistance",),
    "nn.modules.dropout": (
        "nn: AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
        "nn.dropout: _DropoutNd",
    ),
    "nn.modules.flatten": ("nn: Flatten Unflatten",),
    "nn.modules.fold": ("nn: Fold Unfold",),
    "nn.modules.instancenorm": (
        "nn: InstanceNorm1d InstanceNorm2d InstanceNorm3d",
        "nn.normalization: _InstanceNorm",
    ),
    "nn.modules.linear": (
        "nn: Bilinear Identity Linear",
        "nn.attention: NonDynamicallyQuantizableLinear",
    ),
    "nn.modules.loss": (
        "nn: BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss"
        " GaussianNLLLoss HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss MSELoss MarginRankingLoss"
        " MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss PoissonNLLLoss"
        " SmoothL1Loss SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss",
        "nn.loss: _Loss _WeightedLoss",
    ),
    "nn.modules.normalization": ("nn: GroupNorm LayerNorm LocalResponseNorm RMSNorm",),
    "nn.modules.padding": (
        "nn: CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d"
        " ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d"
        " ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d",
        "nn.padding: _ConstantPadNd",
    ),
    "nn.modules.pixelshuffle": ("nn: PixelShuffle PixelUnshuffle",),
    "nn.modules.pooling": (
        "nn: AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d"
        " AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d LPPool1d LPPool2d"
        " LPPool3d MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d",
        "nn.pooling: _AdaptiveAvgPoolNd _AdaptiveMaxPoolNd _AvgPoolNd _MaxPoolNd",
        "nn.unpooling: _LPPoolNd _MaxUnpoolNd",
    ),
    "nn.modules.rnn": (
        "nn: GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase",
        "nn.recurrent: apply_permutation=_permuted",
    ),
    "nn.modules.sparse": ("nn: Embedding EmbeddingBag",),
    "nn.modules.transformer": (
        "nn: Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder"
        " TransformerEncoderLayer",
        "nn.transformer: _get_activation_fn=_activation _get_clones=_copies",
    ),
    "nn.modules.upsampling": ("nn: Upsample UpsamplingBilinear2d UpsamplingNearest2d",),
    "optim.adamw": ("optim: AdamW",),
    "optim.sparse_adam": ("optim: ",),
    "utils._foreach_utils": (
        "optim._of_others: _device_has_foreach_support=_has_foreach_support"
        " _get_foreach_kernels_supported_devices=_no_devices"
        " _get_fused_kernels_supported_devices=_no_devices _group_tensors_by_device_and_dtype"
        " _has_foreach_support",
    ),
    "utils.data._utils": ("utils.data: ",),
    "utils.data._utils.collate": (
        "utils.data.collate: collate collate_float_fn collate_int_fn collate_numpy_array_fn"
        " collate_numpy_scalar_fn collate_str_fn collate_tensor_fn default_collate"
        " default_collate_fn_map default_convert",
    ),
    "utils.data._utils.worker": ("utils.data: WorkerInfo get_worker_info",),
    "utils.model_zoo": ("hub: load_url=load_state_dict_from_url",),
    "utils.tensorboard.writer": ("utils.tensorboard: SummaryWriter",),
}
