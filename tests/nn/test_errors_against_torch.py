"""Wrong arguments of nn.functional and of modules: errors are of torch's class.

Each function is called with arguments that are right but for one, which is of a wrong kind, dtype,
rank or size. What torch refuses is refused, by an error of its class; what it takes is taken.
"""

import functools
import re
import warnings
from dataclasses import dataclass, field

import pytest

import autograd_cy

torch = pytest.importorskip("torch")


@dataclass(frozen=True)
class T:
    """A tensor of random numbers, or of small ints, in both libraries."""

    shape: tuple
    dtype: str = "float32"
    high: int = 2


@dataclass(frozen=True)
class Call:
    """A function, or a class of modules by ``init`` and what it is called with."""

    name: str
    args: tuple
    kwargs: dict = field(default_factory=dict)
    init: tuple | None = None


def F(name, *args, **kwargs):
    return Call(name, args, kwargs)


def M(name, init, *args):
    return Call(name, args, {}, init)


X, XY = T((2, 3)), T((2, 3, 4))
I1, I2, I3 = T((1, 2, 6)), T((1, 2, 6, 6)), T((1, 2, 4, 4, 4))
CLASSES = T((2,), "int64", 3)
FUNCTIONS = [
    *(
        F(n, X)
        for n in (
            "relu",
            "relu6",
            "elu",
            "selu",
            "celu",
            "leaky_relu",
            "hardtanh",
            "hardsigmoid",
            "hardswish",
            "hardshrink",
            "softshrink",
            "tanhshrink",
            "silu",
            "mish",
            "softplus",
            "softsign",
            "logsigmoid",
            "gelu",
            "sigmoid",
            "tanh",
            "normalize",
            "rrelu",
        )
    ),
    F("elu", X, 1.0),
    F("celu", X, 1.0),
    F("leaky_relu", X, 0.1),
    F("hardtanh", X, -1.0, 1.0),
    F("hardshrink", X, 0.5),
    F("softshrink", X, 0.5),
    F("softplus", X, 1, 20),
    F("threshold", X, 0.1, 1.0),
    F("glu", T((2, 4)), 1),
    F("rrelu", X, 0.1, 0.3),
    F("prelu", X, T((1,))),
    F("softmax", X, 1),
    F("log_softmax", X, 1),
    F("softmin", X, 1),
    F("gumbel_softmax", X, 1.0),
    F("dropout", X, 0.5, True),
    F("alpha_dropout", X, 0.5, True),
    F("feature_alpha_dropout", I2, 0.5, True),
    F("dropout1d", I1, 0.5, True),
    F("dropout2d", I2, 0.5, True),
    F("dropout3d", I3, 0.5, True),
    F("linear", X, T((5, 3)), T((5,))),
    F("bilinear", X, T((2, 4)), T((5, 3, 4)), T((5,))),
    F("conv1d", I1, T((3, 2, 3)), T((3,)), 1, 0, 1, 1),
    F("conv2d", I2, T((3, 2, 3, 3)), T((3,)), 1, 0, 1, 1),
    F("conv3d", I3, T((3, 2, 3, 3, 3)), T((3,)), 1, 0, 1, 1),
    F("conv_transpose1d", I1, T((2, 3, 3)), T((3,)), 1, 0, 0, 1, 1),
    F("conv_transpose2d", I2, T((2, 3, 3, 3)), T((3,)), 1, 0, 0, 1, 1),
    F("unfold", I2, 3, 1, 0, 1),
    F("fold", T((1, 18, 16)), (6, 6), (3, 3)),
    F("max_pool1d", I1, 2, 2, 0, 1),
    F("max_pool2d", I2, 2, 2, 0, 1),
    F("max_pool3d", I3, 2, 2, 0, 1),
    F("avg_pool1d", I1, 2, 2, 0),
    F("avg_pool2d", I2, 2, 2, 0),
    F("avg_pool3d", I3, 2, 2, 0),
    F("adaptive_avg_pool1d", I1, 2),
    F("adaptive_avg_pool2d", I2, 2),
    F("adaptive_avg_pool3d", I3, 2),
    F("adaptive_max_pool1d", I1, 2),
    F("adaptive_max_pool2d", I2, 2),
    F("adaptive_max_pool3d", I3, 2),
    F("lp_pool1d", I1, 2.0, 2),
    F("lp_pool2d", I2, 2.0, 2),
    F("max_unpool1d", T((1, 2, 3)), T((1, 2, 3), "int64", 6), 2),
    F("max_unpool2d", T((1, 2, 3, 3)), T((1, 2, 3, 3), "int64", 6), 2),
    F("interpolate", I2, 3),
    F("interpolate", I2, scale_factor=2.0),
    F("interpolate", I2, 3, mode="bilinear"),
    F("interpolate", I2, 3, mode="bicubic", align_corners=True),
    F("pixel_shuffle", T((1, 4, 2, 2)), 2),
    F("pixel_unshuffle", I2, 2),
    F("channel_shuffle", I2, 2),
    F("grid_sample", I2, T((1, 3, 3, 2)), align_corners=False),
    F("affine_grid", T((1, 2, 3)), (1, 1, 4, 4), False),
    F("pad", I2, (1, 1)),
    F("pad", I2, (1, 1, 1, 1), "reflect"),
    F("pad", I2, (1, 1, 1, 1), "replicate"),
    F("pad", I2, (1, 1, 1, 1), "circular"),
    F("pad", I2, (1, 1), value=1.0),
    F("embedding", T((2, 3), "int64"), T((4, 5))),
    F("embedding", T((2, 3), "int64"), T((4, 5)), 1, 2.0),
    F("embedding_bag", T((2, 3), "int64"), T((4, 5))),
    F("embedding_bag", T((6,), "int64"), T((4, 5)), T((1,), "int64", 1)),
    F("one_hot", T((3,), "int64"), 4),
    F("batch_norm", X, T((3,)), T((3,)), T((3,)), T((3,)), True, 0.1, 1e-5),
    F("instance_norm", I1),
    F("layer_norm", X, (3,), T((3,)), T((3,)), 1e-5),
    F("group_norm", I2, 2, T((2,)), T((2,)), 1e-5),
    F("rms_norm", X, (3,), T((3,))),
    F("local_response_norm", I2, 2),
    F("normalize", X, 2.0, 1),
    *(
        F(n, X, X)
        for n in (
            "mse_loss",
            "l1_loss",
            "smooth_l1_loss",
            "huber_loss",
            "kl_div",
            "soft_margin_loss",
            "poisson_nll_loss",
            "binary_cross_entropy",
            "binary_cross_entropy_with_logits",
            "multilabel_soft_margin_loss",
            "pairwise_distance",
            "cosine_similarity",
            "hinge_embedding_loss",
        )
    ),
    F("nll_loss", X, CLASSES),
    F("cross_entropy", X, CLASSES),
    F("cross_entropy", X, X),
    F("cross_entropy", X, CLASSES, T((3,))),
    F("nll_loss", X, CLASSES, T((3,))),
    F("multi_margin_loss", X, CLASSES),
    F("multilabel_margin_loss", X, T((2, 3), "int64")),
    F("gaussian_nll_loss", X, X, X),
    F("margin_ranking_loss", T((3,)), T((3,)), T((3,))),
    F("cosine_embedding_loss", X, X, T((2,))),
    F("triplet_margin_loss", X, X, X),
    F("triplet_margin_with_distance_loss", X, X, X),
    F("ctc_loss", T((4, 1, 3)), T((1, 2), "int64", 2), T((1,), "int64", 1), T((1,), "int64", 1)),
    F("scaled_dot_product_attention", XY, XY, XY),
    F("pdist", X),
    F(
        "multi_head_attention_forward",
        T((2, 1, 4)),
        T((2, 1, 4)),
        T((2, 1, 4)),
        4,
        2,
        T((12, 4)),
        T((12,)),
        None,
        None,
        False,
        0.0,
        T((4, 4)),
        T((4,)),
    ),
]
MODULES = [
    M("Linear", (3, 4), X),
    M("Bilinear", (3, 4, 5), X, T((2, 4))),
    M("Identity", (), X),
    M("Conv1d", (2, 3, 3), I1),
    M("Conv2d", (2, 3, 3), I2),
    M("Conv3d", (2, 3, 3), I3),
    M("Conv2d", (2, 4, 3, 1, 1, 1, 2), I2),
    M("ConvTranspose1d", (2, 3, 3), I1),
    M("ConvTranspose2d", (2, 3, 3), I2),
    M("ConvTranspose2d", (2, 3, 3, 2, 1, 1), I2),
    *(
        M(f"{kind}Pool{n}d", (2,), (I1, I2, I3)[n - 1])
        for kind in ("Max", "Avg", "AdaptiveAvg", "AdaptiveMax")
        for n in (1, 2, 3)
    ),
    M("LPPool2d", (2.0, 2), I2),
    M("Unfold", (3,), I2),
    M("Fold", ((6, 6), 3), T((1, 18, 16))),
    M("Upsample", (4,), I2),
    M("PixelShuffle", (2,), T((1, 4, 2, 2))),
    M("ChannelShuffle", (2,), I2),
    M("ZeroPad2d", (1,), I2),
    M("ReflectionPad2d", (1,), I2),
    M("ReplicationPad1d", (1,), I1),
    M("ConstantPad1d", (1, 2.0), I1),
    M("CircularPad2d", (1,), I2),
    M("BatchNorm1d", (3,), X),
    M("BatchNorm2d", (2,), I2),
    M("BatchNorm3d", (2,), I3),
    M("InstanceNorm1d", (2,), I1),
    M("InstanceNorm2d", (2,), I2),
    M("LayerNorm", (3,), X),
    M("GroupNorm", (2, 2), I2),
    M("RMSNorm", (3,), X),
    M("LocalResponseNorm", (2,), I2),
    M("RNN", (3, 4), T((2, 5, 3))),
    M("LSTM", (3, 4), T((2, 5, 3))),
    M("GRU", (3, 4), T((2, 5, 3))),
    M("RNNCell", (3, 4), X),
    M("LSTMCell", (3, 4), X),
    M("GRUCell", (3, 4), X),
    M("Embedding", (4, 5), T((2,), "int64")),
    M("EmbeddingBag", (4, 5), T((2, 3), "int64")),
    M("Dropout", (0.5,), X),
    M("Dropout2d", (0.5,), I2),
    M("AlphaDropout", (0.5,), X),
    M("Softmax", (1,), X),
    M("LogSoftmax", (1,), X),
    M("Softmax2d", (), I2),
    M("PReLU", (1,), X),
    M("ELU", (1.0,), X),
    M("Hardtanh", (-1.0, 1.0), X),
    M("Threshold", (0.1, 1.0), X),
    M("GLU", (1,), T((2, 4))),
    M("RReLU", (0.1, 0.3), X),
    M("Softplus", (1, 20), X),
    M("GELU", (), X),
    M("MSELoss", (), X, X),
    M("CrossEntropyLoss", (), X, CLASSES),
    M("NLLLoss", (), X, CLASSES),
    M("BCELoss", (), X, X),
    M("KLDivLoss", (), X, X),
    M("TripletMarginLoss", (1.0, 2.0), X, X, X),
    M("CosineSimilarity", (1,), X, X),
    M("PairwiseDistance", (2.0,), X, X),
    M("CTCLoss", (), T((4, 1, 3)), T((1, 2), "int64", 2), T((1,), "int64", 1), T((1,), "int64", 1)),
    M("HuberLoss", ("mean", 1.0), X, X),
    M("SmoothL1Loss", (), X, X),
    M("MultiheadAttention", (4, 2), T((2, 1, 4)), T((2, 1, 4)), T((2, 1, 4))),
    M("TransformerEncoderLayer", (4, 2, 8), T((2, 1, 4))),
    M("Flatten", (1, -1), I2),
    M("Unflatten", (1, (1, 2)), I2),
]


# What stands in place of an argument that was a tensor, or something else.
def other_tensors(t):
    yield "a number", 3
    yield "a fraction", 1.5
    yield "a text", "a"
    yield "None", None
    yield "a list", [1.0, 2.0]
    for dtype in ("float64", "float16", "int64", "bool", "complex64"):
        if dtype != t.dtype:
            yield dtype, T(t.shape, dtype, t.high)
    yield "no dimension", T((), t.dtype, t.high)
    if t.shape:
        yield "a dimension less", T(t.shape[1:], t.dtype, t.high)
        yield "a longer last dimension", T((*t.shape[:-1], t.shape[-1] + 1), t.dtype, t.high)
        yield "a longer first dimension", T((t.shape[0] + 1, *t.shape[1:]), t.dtype, t.high)
        yield "no elements", T((0, *t.shape[1:]), t.dtype, t.high)
    yield "a dimension more", T((1, *t.shape), t.dtype, t.high)


def other_values(value):
    yield "a text", "a"
    yield "None", None
    yield "a tensor", T((2,))
    yield "a list of texts", ["a"]
    if not isinstance(value, (tuple, bool)):
        yield "a fraction", 1.5
        yield "a negative number", -3
        yield "a pair", (1, 2)
        yield "a truth value", True
    if isinstance(value, tuple):
        yield "more", (*value, *value, *value)
        yield "none", ()


@functools.cache
def made(t, library):
    values = torch.rand(t.shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    values = (values * t.high).floor() if t.dtype == "int64" else values
    values = values.to(getattr(torch, t.dtype))
    return values if library is torch else library.from_numpy(values.numpy().copy())


def real(x, library):
    return made(x, library).clone() if isinstance(x, T) else x


def run(call, library):
    """The result, or the error."""
    args = [real(x, library) for x in call.args]
    kwargs = {k: real(x, library) for k, x in call.kwargs.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if call.init is None:
                return getattr(library.nn.functional, call.name)(*args, **kwargs)
            module = getattr(library.nn, call.name)(*[real(x, library) for x in call.init])
            return module(*args)
        except Exception as error:
            return error


def wrong(call):
    """The call with one argument replaced: what was, and the call."""
    for i, x in enumerate(call.args):
        for kind, y in other_tensors(x) if isinstance(x, T) else other_values(x):
            yield (
                f"argument {i + 1}, {kind}",
                Call(call.name, (*call.args[:i], y, *call.args[i + 1 :]), call.kwargs, call.init),
            )
    for name, x in call.kwargs.items():
        for kind, y in other_values(x):
            yield f"{name}, {kind}", Call(call.name, call.args, {**call.kwargs, name: y}, call.init)
    for i, x in enumerate(call.init or ()):
        for kind, y in other_values(x):
            init = (*call.init[:i], y, *call.init[i + 1 :])
            yield (
                f"argument {i + 1} of the class, {kind}",
                Call(call.name, call.args, call.kwargs, init),
            )


# Why ours is another: (verdict, words of ours, words of torch's, reason). "accepted" is what torch
# alone refuses, "refused" what it alone takes, "class" another class of error.
REASONS = [
    (
        "class",
        r"TypeError.*must be Tensor, not",
        r"AttributeError",
        "says what is wrong; torch stumbles over an attribute",
    ),
    (
        "class",
        r"RuntimeError.*(dimension|shape|must be)|RuntimeError.*grid",
        r"IndexError",
        "says what dimensions there must be; torch counts one that isn't there",
    ),
    (
        "class",
        r"TypeError.*(not bool|type bool)",
        r"RuntimeError",
        "a truth value is no size; torch makes a weight of one row of it",
    ),
    (
        "refused",
        r"TypeError.*(not bool|type bool)",
        r"",
        "a truth value is no size; torch makes a weight of one row of it",
    ),
    (
        "class",
        r"RuntimeError.*(Expected tensor for argument|Subtraction|expected scalar type|should be "
        r"the same)",
        r"NotImplementedError.*not implemented for '",
        "says which dtypes there are; torch has no kernel",
    ),
    (
        "class",
        r"TypeError.*must be bool, not Tensor",
        r"RuntimeError.*ambiguous",
        "a tensor is no truth value",
    ),
    (
        "class",
        r"RuntimeError.*rows of in_proj|RuntimeError.*weight and",
        r"ValueError.*unpack|RuntimeError",
        "says what sizes there must be",
    ),
    (
        "accepted",
        r"",
        r"NotImplementedError.*not implemented for '",
        "a kernel that torch has for other dtypes only",
    ),
    (
        "refused",
        r"NotImplementedError.*ComplexFloat",
        r"",
        "torch's formula happens to take complex numbers, ours is a kernel for real ones",
    ),
    (
        "refused",
        r"(same|but found|bias type)",
        r"",
        "torch takes two dtypes here, by the library or the formula it happens to use",
    ),
    (
        "refused",
        r"(linear|multi_head_attention_forward): bias of shape",
        r"",
        "a bias has one number for each output; torch's broadcasts",
    ),
    (
        "refused",
        r"embedding_bag: there are indices, but|attention: The size|indices' to have one",
        r"",
        "torch reads no element here, or memory that isn't there",
    ),
]
# (name, what is wrong): reason, for what belongs to one function.
SINGLE = {
    ("Bilinear", "argument 1 of the class"): "sizes are checked before memory is asked for",
    ("bilinear", "argument 3, a dimension|argument 4, "): "dimensions are checked before sizes",
    (
        "Conv2d|ConvTranspose2d",
        "argument 5 of the class",
    ): "a padding is checked when the layer is made",
    ("(LP|lp_)[Pp]ool2d", "a list of texts|a text"): "a text is no size; torch unpacks its letters",
    (
        "LocalResponseNorm|local_response_norm",
        "a tensor|a truth value",
    ): "it is the number of channels, compared as one",
    ("max_unpool[12]d", "argument 3, "): "the sizes that follow from it are checked",
    ("RMSNorm|rms_norm", "argument 1, no dimension"): "the shape is checked as in layer_norm",
    ("embedding", "argument 2, no elements"): "indices are looked up in a table without rows",
    ("interpolate", "scale_factor, a tensor"): "factors are numbers",
    (
        "multilabel_soft_margin_loss",
        "argument 2, a (fraction|number)",
    ): "a target is a tensor; torch's formula takes a number",
    (
        "gaussian_nll_loss",
        "argument 3, int64",
    ): "torch clamps the variance into the dtype of a copy",
    (
        "hinge_embedding_loss",
        "argument 1, int64",
    ): "integers are subtracted from a fraction before the mean",
    ("cross_entropy", "argument 2, complex64"): "probabilities are multiplied as they come",
}


def reason_for(call, verdict, what, found, wanted):
    ours, theirs = (
        f"{type(x).__name__}: {x}" if isinstance(x, Exception) else "" for x in (found, wanted)
    )
    for kind, our_words, their_words, _ in REASONS:
        if (
            kind == verdict
            and re.search(our_words, ours, re.S)
            and re.search(their_words, theirs, re.S)
        ):
            return True
    return any(re.fullmatch(name, call.name) and re.search(words, what) for name, words in SINGLE)


def findings(call):
    assert not isinstance(found := run(call, autograd_cy), Exception), found
    for what, case in wrong(call):
        found, wanted = run(case, autograd_cy), run(case, torch)
        if isinstance(wanted, Exception):
            if not isinstance(found, Exception):
                yield "accepted", what, found, wanted
            elif not isinstance(found, type(wanted)):
                yield "class", what, found, wanted
        elif isinstance(found, Exception):
            yield "refused", what, found, wanted


@pytest.mark.parametrize(
    "call", [pytest.param(c, id=f"{c.name}-{i}") for i, c in enumerate(FUNCTIONS + MODULES)]
)
def test_wrong_arguments_raise_the_errors_of_torch(call):
    lines = [
        f"{verdict}: {call.name}, {what}: {type(found).__name__} ({found!s:.120}), torch: "
        f"{type(wanted).__name__} ({wanted!s:.120})"
        for verdict, what, found, wanted in findings(call)
        if not reason_for(call, verdict, what, found, wanted)
    ]
    assert not lines, "\n".join(lines)
