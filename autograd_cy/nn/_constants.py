"""The names in ``__constants__`` of layers, which subclasses of programs extend.

They were written for PyTorch's compiler; nothing here reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Constants: the layers that have them.
_LAYERS = {
    "output_size": "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d",
    "output_size return_indices": "AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d",
    "p inplace": "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
    "kernel_size stride padding ceil_mode count_include_pad": "AvgPool1d",
    "kernel_size stride padding ceil_mode count_include_pad divisor_override": (
        "AvgPool2d AvgPool3d"
    ),
    "reduction": (
        "BCELoss KLDivLoss L1Loss MSELoss MultiLabelMarginLoss MultiLabelSoftMarginLoss "
        "SmoothL1Loss SoftMarginLoss"
    ),
    "in1_features in2_features out_features": "Bilinear",
    "alpha inplace": "CELU ELU",
    "blank reduction": "CTCLoss",
    "groups": "ChannelShuffle",
    "padding": (
        "CircularPad1d CircularPad2d CircularPad3d ReflectionPad1d ReflectionPad2d "
        "ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d"
    ),
    "padding value": "ConstantPad1d ConstantPad2d ConstantPad3d ZeroPad1d ZeroPad2d ZeroPad3d",
    "stride padding dilation groups padding_mode output_padding in_channels out_channels "
    "kernel_size": ("Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d"),
    "margin reduction": "CosineEmbeddingLoss HingeEmbeddingLoss MarginRankingLoss",
    "dim eps": "CosineSimilarity",
    "ignore_index reduction label_smoothing": "CrossEntropyLoss",
    "start_dim end_dim": "Flatten",
    "output_size kernel_size dilation padding stride": "Fold",
    "approximate": "GELU",
    "dim": "GLU LogSoftmax Softmax Softmin",
    "full eps reduction": "GaussianNLLLoss",
    "lambd": "Hardshrink Softshrink",
    "inplace": "Hardsigmoid Hardswish Mish ReLU SELU SiLU",
    "min_val max_val inplace": "Hardtanh ReLU6",
    "reduction delta": "HuberLoss",
    "norm_type kernel_size stride ceil_mode": "LPPool1d LPPool2d LPPool3d",
    "inplace negative_slope": "LeakyReLU",
    "in_features out_features": "Linear",
    "kernel_size stride padding dilation return_indices ceil_mode": "MaxPool1d MaxPool2d MaxPool3d",
    "p margin reduction": "MultiMarginLoss",
    "ignore_index reduction": "NLLLoss",
    "num_parameters": "PReLU",
    "norm eps keepdim": "PairwiseDistance",
    "upscale_factor": "PixelShuffle",
    "downscale_factor": "PixelUnshuffle",
    "log_input full eps reduction": "PoissonNLLLoss",
    "lower upper inplace": "RReLU",
    "beta threshold": "Softplus",
    "threshold value inplace": "Threshold",
    "margin p eps swap reduction": "TripletMarginLoss",
    "margin swap reduction": "TripletMarginWithDistanceLoss",
    "dim unflattened_size": "Unflatten",
    "kernel_size dilation padding stride": "Unfold",
    "size scale_factor mode align_corners name recompute_scale_factor": (
        "Upsample UpsamplingBilinear2d UpsamplingNearest2d"
    ),
}


def give_constants(layers: Mapping[str, Any]) -> None:
    """Set ``__constants__`` of the classes of `nn`, which are given by name."""
    for constants, names in _LAYERS.items():
        for name in names.split():
            layers[name].__constants__ = constants.split()
