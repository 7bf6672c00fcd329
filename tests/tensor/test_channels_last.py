"""Results that are channels last because their operands are, beside torch, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_cy as ag
from tests.grouping import each

SHAPES = {"channels_last": (2, 4, 6, 6), "channels_last_3d": (2, 4, 6, 4, 6)}


def _spatial(name: str, *args: Any, **kwargs: Any) -> Callable:
    """nn.functional's function of as many dimensions as there are."""

    def called(lib: Any, x: Any) -> Any:
        return getattr(lib.nn.functional, f"{name}{x.ndim - 2}d")(x, *args, **kwargs)

    return called


def _function(name: str, *args: Any, **kwargs: Any) -> Callable:
    return lambda lib, x: getattr(lib.nn.functional, name)(x, *args, **kwargs)


def _top(name: str, *args: Any, **kwargs: Any) -> Callable:
    return lambda lib, x: getattr(lib, name)(x, *args, **kwargs)


def _method(name: str, *args: Any, **kwargs: Any) -> Callable:
    return lambda lib, x: getattr(x, name)(*args, **kwargs)


def _convolution(outputs: int, size: int, form: str = "conv", **kwargs: Any) -> Callable:
    def called(lib: Any, x: Any) -> Any:
        d = x.ndim - 2
        groups = kwargs.get("groups", 1)
        shape = (outputs, 4 // groups) if form == "conv" else (4, outputs // groups)
        weight = lib.ones(*shape, *(size,) * d, device=x.device) / 8
        return getattr(lib.nn.functional, f"{form}{d}d")(x, weight, **kwargs)

    return called


def _beside(function: Callable) -> Callable:
    return lambda lib, x: function(lib, x, lib.ones(4, *(1,) * (x.ndim - 2), device=x.device))


#: Those whose results of images and of volumes lie channels last.
KEPT: dict[str, Callable] = {
    "relu": _top("relu"),
    "exp": _top("exp"),
    "lgamma": _top("lgamma"),
    "digamma": _top("digamma"),
    "isnan": _top("isnan"),
    "gelu": _function("gelu"),
    "hardtanh": _function("hardtanh"),
    "dropout": _function("dropout", 0.0),
    "x + x": lambda lib, x: x + x,
    "x + in C order": lambda lib, x: x + x.contiguous(),
    "expanded * x": lambda lib, x: x[:, :, :1, :1].expand_as(x) * x,
    "number expanded * x": lambda lib, x: x[(0,) * x.ndim].expand_as(x) * x,
    "x * 2": lambda lib, x: x * 2,
    "1 - x": lambda lib, x: 1 - x,
    "x < 0.5": lambda lib, x: x < 0.5,
    "x of channels": _beside(lambda lib, x, bias: x * bias),
    "channels of x": _beside(lambda lib, x, bias: bias - x),
    "where": lambda lib, x: lib.where(x > 0.5, x, 0.0),
    "lerp": lambda lib, x: lib.lerp(x, x * 2, 0.5),
    "addcmul": lambda lib, x: lib.addcmul(x, x, x),
    "clamp": _top("clamp", 0.2, 0.5),
    "normalize": _function("normalize"),
    "clone": _method("clone"),
    "double": _method("double"),
    "flip": _method("flip", 1),
    "roll": _method("roll", 1, 2),
    "zeros_like": _top("zeros_like"),
    "full_like": _top("full_like", 3.0),
    "batch_norm": _function("batch_norm", None, None, training=True),
    "group_norm": _function("group_norm", 2),
    "rms_norm": lambda lib, x: lib.nn.functional.rms_norm(x, x.shape[-1:]),
    "mse_loss": lambda lib, x: lib.nn.functional.mse_loss(x, x * 2, reduction="none"),
    "binary_cross_entropy": lambda lib, x: lib.nn.functional.binary_cross_entropy(
        x, x, reduction="none"
    ),
    "cat 0": lambda lib, x: lib.cat([x, x * 2], 0),
    "cat 1": lambda lib, x: lib.cat([x, x * 2], 1),
    "cat -1": lambda lib, x: lib.cat([x, x * 2, x[..., :1]], -1),
    "conv": _convolution(8, 3),
    "conv, padded": _convolution(6, 3, stride=2, padding=1),
    "conv, same": _convolution(8, 3, padding="same"),
    "conv of groups": _convolution(8, 2, groups=2),
    "conv of each": _convolution(4, 3, groups=4),
    "conv of one element": _convolution(8, 1),
    "conv_transpose": _convolution(6, 3, "conv_transpose", stride=2),
    "max_pool": _spatial("max_pool", 2),
    "max_pool, places": lambda lib, x: _spatial("max_pool", 2, return_indices=True)(lib, x)[1],
    "nearest": _function("interpolate", scale_factor=2),
    "nearest-exact": _function("interpolate", scale_factor=0.5, mode="nearest-exact"),
    "linear": lambda lib, x: lib.nn.functional.interpolate(
        x, scale_factor=2, mode="bilinear" if x.ndim == 4 else "trilinear"
    ),
    "pad": _function("pad", (1, 1, 2, 0)),
    "crop": _function("pad", (-1, 1)),
    "replicate": lambda lib, x: lib.nn.functional.pad(x, (1, 2) * (x.ndim - 2), mode="replicate"),
    "reflect": lambda lib, x: lib.nn.functional.pad(x, (1, 2) * (x.ndim - 2), mode="reflect"),
    "channel_shuffle": _function("channel_shuffle", 2),
}

#: Those where only results of images do.
OF_IMAGES: dict[str, Callable] = {
    "avg_pool": _spatial("avg_pool", 2),
    "lp_pool": _spatial("lp_pool", 2.0, 2),
    "adaptive_avg_pool": _spatial("adaptive_avg_pool", 2),
    "adaptive_max_pool": _spatial("adaptive_max_pool", 2),
    "area": _function("interpolate", scale_factor=2, mode="area"),
    "max_unpool": lambda lib, x: _spatial(
        "max_unpool", _spatial("max_pool", 2, return_indices=True)(lib, x)[1], 2
    )(lib, _spatial("max_pool", 2)(lib, x)),
}

#: Those for images alone.
IMAGES_ALONE: dict[str, Callable] = {
    "bicubic": _function("interpolate", scale_factor=2, mode="bicubic"),
    "pixel_shuffle": lambda lib, x: lib.nn.functional.pixel_shuffle(lib.cat([x, x], 1), 2),
    "pixel_unshuffle": _function("pixel_unshuffle", 2),
}

#: Those whose results are in C order.
IN_C_ORDER: dict[str, Callable] = {
    "contiguous": _method("contiguous"),
    "clone of C order": lambda lib, x: x.clone(memory_format=lib.contiguous_format),
    "softmax": _function("softmax", 1),
    "cumsum": _method("cumsum", 1),
    "new_zeros": lambda lib, x: x.new_zeros(x.shape),
    "layer_norm": lambda lib, x: lib.nn.functional.layer_norm(x, x.shape[1:]),
    "circular": lambda lib, x: lib.nn.functional.pad(x, (1, 1) * (x.ndim - 2), mode="circular"),
    "cat of both": lambda lib, x: lib.cat([x, x.contiguous()], 1),
    "x in C order": lambda lib, x: x.contiguous() + x,
}


def _cases() -> list[Any]:
    made = []
    for format in SHAPES:
        images = format == "channels_last"
        for table, kept in (
            (KEPT, True),
            (OF_IMAGES, images),
            (IMAGES_ALONE if images else {}, True),
            (IN_C_ORDER, False),
        ):
            made += [pytest.param(f, format, kept, id=f"{k}-{format}") for k, f in table.items()]
    return made


def _input(lib: Any, format: str) -> Any:
    a = np.random.default_rng(0).uniform(0.1, 0.9, SHAPES[format]).astype("float32")
    return lib.tensor(a).contiguous(memory_format=getattr(lib, format))


@each("function,format,kept", _cases())
def test_results_lie_as_torch_lays_them(function, format, kept):
    x = _input(ag, format)
    y = function(ag, x)
    asked = getattr(ag, format) if kept else ag.contiguous_format
    assert y.is_contiguous(memory_format=asked), y.stride()
    assert kept != y.is_contiguous()
    ag.testing.assert_close(y.contiguous(), function(ag, x.contiguous()).contiguous())
    shadow = function(ag, ag.empty_strided(x.shape, x.stride(), device="meta"))
    assert shadow.stride() == y.stride()


@each("function,format,kept", _cases())
def test_strides_are_those_of_torch(function, format, kept):
    torch = pytest.importorskip("torch")
    made, expected = function(ag, _input(ag, format)), function(torch, _input(torch, format))
    assert made.stride() == tuple(expected.stride()), kept
    ag.testing.assert_close(
        made.double(), ag.tensor(expected.double().numpy()), atol=1e-5, rtol=1e-5
    )


@pytest.mark.parametrize(
    "name", ["conv", "conv_transpose", "max_pool", "avg_pool", "linear", "pad"]
)
def test_gradients_of_both_layouts_are_the_same(name):
    function = (KEPT | OF_IMAGES)[name]
    grads = []
    for last in (True, False):
        x = _input(ag, "channels_last")
        x = (x if last else x.contiguous()).requires_grad_()
        y = function(ag, x * 1)
        grads += ag.autograd.grad((y * y * y).sum(), x, create_graph=True)
        grads += ag.autograd.grad((grads[-1] ** 2).sum(), x)
    assert grads[0].is_contiguous(memory_format=ag.channels_last)
    ag.testing.assert_close(grads[0].contiguous(), grads[2])
    ag.testing.assert_close(grads[1].contiguous(), grads[3])


def test_a_weight_that_lies_channels_last_is_enough():
    x = ag.ones(2, 4, 6, 6)
    w = ag.ones(8, 4, 3, 3).contiguous(memory_format=ag.channels_last)
    assert ag.nn.functional.conv2d(x, w).is_contiguous(memory_format=ag.channels_last)
    assert ag.nn.functional.conv2d(x, w.contiguous()).is_contiguous()


def test_strides_that_fit_both_orders_say_nothing():
    for shape in ((2, 1, 6, 6), (2, 4, 1, 1)):
        x = ag.ones(shape).contiguous(memory_format=ag.channels_last)
        assert ag.nn.functional.interpolate(x, scale_factor=2).is_contiguous()


def test_an_expanded_image_has_no_channels_to_follow():
    x = ag.ones(1, 1, 6, 6).expand(2, 4, 6, 6)
    assert ag.nn.functional.max_pool2d(x, 2).is_contiguous()


def test_out_keeps_its_own_strides():
    x = _input(ag, "channels_last")
    out = ag.empty(2, 8, 6, 6)
    assert ag.cat([x, x], 1, out=out) is out
    assert out.is_contiguous()
    ag.testing.assert_close(out, ag.cat([x.contiguous(), x.contiguous()], 1))
    out = ag.empty(2, 8, 6, 6).contiguous(memory_format=ag.channels_last)
    ag.cat([x, x], 1, out=out)
    assert out.is_contiguous(memory_format=ag.channels_last)
    ag.testing.assert_close(out.contiguous(), ag.cat([x.contiguous(), x.contiguous()], 1))
