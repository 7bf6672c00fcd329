"""Modules of torch.nn: what they are made with, and what they are called with."""


class T:
    """A tensor of random numbers, of small ints where `high` is given, in both libraries."""

    def __init__(self, *shape, high=None, low=None):
        self.shape, self.high, self.low = shape, high, low

    def array(self, rng):
        if self.high is not None:
            return rng.integers(0, self.high, self.shape)
        if self.low is not None:
            return rng.uniform(self.low, 1 - self.low, self.shape)
        return rng.standard_normal(self.shape)


X, L1, L2, L3 = T(4, 6), T(2, 4, 7), T(2, 4, 6, 7), T(2, 4, 5, 6, 5)
# Name: required arguments of the class, what it is called with; several lists of these.
MODULES = {
    **{name: ((), [(X,), (L1,)]) for name in (
        "ReLU", "ReLU6", "ELU", "SELU", "CELU", "GELU", "SiLU", "Mish", "Hardtanh", "Hardswish",
        "Hardsigmoid", "Hardshrink", "Softshrink", "Tanhshrink", "Softplus", "Softsign", "Sigmoid",
        "LogSigmoid", "Tanh", "LeakyReLU", "Identity", "GLU", "Flatten")},
    **{name: ((), [(X,), (T(3, 4, 6),), (T(6),)]) for name in ("Softmax", "LogSoftmax", "Softmin")},
    "Softmax2d": ((), [(L2,), (T(4, 6, 7),)]),
    "Threshold": ((0.1, 2.0), [(X,)]),
    "PReLU": ((), [(X,)]),
    "Unflatten": ((1, (2, 3)), [(X,)]),
    "Linear": ((6, 3), [(X,), (T(6),), (T(2, 3, 6),)]),
    "Bilinear": ((3, 4, 2), [(T(5, 3), T(5, 4))]),
    "Embedding": ((5, 3), [(T(2, 3, high=5),)]),
    "EmbeddingBag": ((5, 3), [(T(2, 3, high=5),)]),
    **{f"{kind}Pool{d}d": ((2,), [(x,), (T(*x.shape[1:]),)])
       for kind in ("Max", "Avg") for d, x in ((1, L1), (2, L2), (3, L3))},
    **{f"LPPool{d}d": ((2.0, 2), [(T(*x.shape),)]) for d, x in ((1, L1), (2, L2), (3, L3))},
    **{f"Adaptive{kind}Pool{d}d": ((3,), [(x,), (T(*x.shape[1:]),)])
       for kind in ("Max", "Avg") for d, x in ((1, L1), (2, L2), (3, L3))},
    **{f"BatchNorm{d}d": ((4,), [(x,), (x,)]) for d, x in ((1, L1), (2, L2), (3, L3))},
    **{f"InstanceNorm{d}d": ((4,), [(x,), (T(*x.shape[1:]),)])
       for d, x in ((1, L1), (2, L2), (3, L3))},
    "GroupNorm": ((2, 4), [(L1,), (T(3, 4),)]),
    "LayerNorm": ((6,), [(X,), (T(6),)]),
    "RMSNorm": ((6,), [(X,), (T(6),)]),
    "LocalResponseNorm": ((2,), [(L2,), (L1,)]),
    "CrossMapLRN2d": ((2,), [(L2,)]),
    **{f"Conv{d}d": ((4, 6, 3), [(x,), (T(*x.shape[1:]),)])
       for d, x in ((1, L1), (2, L2), (3, L3))},
    **{f"ConvTranspose{d}d": ((4, 6, 3), [(x,), (T(*x.shape[1:]),)])
       for d, x in ((1, L1), (2, L2), (3, L3))},
    "Fold": (((4, 5), 2), [(T(1, 8, 12),), (T(8, 12),)]),
    "Unfold": ((2,), [(L2,)]),
    "PixelShuffle": ((2,), [(L2,), (T(4, 6, 7),)]),
    "PixelUnshuffle": ((2,), [(T(1, 2, 4, 6),)]),
    "ChannelShuffle": ((2,), [(L2,)]),
    "Upsample": ((3,), [(L2,)]),
    "UpsamplingNearest2d": ((3,), [(L2,)]),
    "UpsamplingBilinear2d": ((3,), [(L2,)]),
    **{f"{kind}Pad{d}d": ((1,), [(x,), (T(*x.shape[1:]),)])
       for kind in ("Zero", "Reflection", "Replication", "Circular")
       for d, x in ((1, L1), (2, L2), (3, L3))},
    **{f"ConstantPad{d}d": ((1, 0.5), [(x,)]) for d, x in ((1, L1), (2, L2), (3, L3))},
    **{name: ((5, 3), [(T(7, 2, 5),), (T(7, 5),)]) for name in ("RNN", "LSTM", "GRU")},
    **{name: ((5, 3), [(T(2, 5),), (T(5),), (T(2, 5), T(2, 3))])
       for name in ("RNNCell", "GRUCell")},
    "LSTMCell": ((5, 3), [(T(2, 5),), (T(5),), (T(2, 5), (T(2, 3), T(2, 3)))]),
    "MultiheadAttention": ((6, 2), [(T(4, 3, 6),) * 3, (T(4, 6),) * 3]),
    "TransformerEncoderLayer": ((6, 2, 5, 0.0), [(T(4, 3, 6),), (T(4, 6),)]),
    "TransformerDecoderLayer": ((6, 2, 5, 0.0), [(T(4, 3, 6), T(2, 3, 6))]),
    "CosineSimilarity": ((), [(X, X), (L1, L1)]),
    "PairwiseDistance": ((), [(X, T(4, 6))]),
    **{name: ((), [(X, T(4, 6))]) for name in (
        "L1Loss", "MSELoss", "SmoothL1Loss", "HuberLoss", "MultiLabelSoftMarginLoss")},
    "SoftMarginLoss": ((), [(X, T(4, 6, high=2))]),
    "KLDivLoss": ((), [(X, T(4, 6, low=0.1))]),
    "PoissonNLLLoss": ((), [(X, T(4, 6, low=0.1))]),
    "BCELoss": ((), [(T(4, 6, low=0.1), T(4, 6, low=0.1))]),
    "BCEWithLogitsLoss": ((), [(X, T(4, 6, low=0.1))]),
    "NLLLoss": ((), [(X, T(4, high=6)), (T(2, 3, 4), T(2, 4, high=3))]),
    "CrossEntropyLoss": ((), [(X, T(4, high=6)), (T(2, 3, 4), T(2, 4, high=3)),
                              (X, T(4, 6, low=0.1))]),
    "GaussianNLLLoss": ((), [(X, T(4, 6), T(4, 6, low=0.2))]),
    "MultiMarginLoss": ((), [(X, T(4, high=6))]),
    "MultiLabelMarginLoss": ((), [(T(3), T(3, high=3))]),
    "HingeEmbeddingLoss": ((), [(X, T(4, 6))]),
    "MarginRankingLoss": ((), [(T(4), T(4), T(4))]),
    "CosineEmbeddingLoss": ((), [(X, X, T(4))]),
    "TripletMarginLoss": ((), [(X, T(4, 6), T(4, 6))]),
}  # fmt: skip
