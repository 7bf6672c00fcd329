"""Activations as modules."""

from __future__ import annotations

from typing import Any

from ...creation import default_type
from .. import functional as F
from ..parameter import Parameter
from .module import Module

__all__ = [
    "ELU",
    "Hardshrink",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]


class Threshold(Module):
    """Elements above a threshold, `value` in place of the others."""

    def __init__(self, threshold: float, value: float, inplace: bool = False):
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def _extra(self) -> str:
        inplace = ", inplace" if self.inplace else ""
        return f"{self.threshold}, {self.value}{inplace}"


class ReLU(Threshold):
    """Elements above zero, zero in place of the others."""

    def __init__(self, inplace: bool = False):
        super().__init__(0, 0, inplace)

    def _extra(self) -> str:
        return "inplace" if self.inplace else ""


class Hardtanh(Module):
    """Elements between two bounds."""

    def __init__(self, min_value: float = -1, max_value: float = 1, inplace: bool = False):
        super().__init__()
        if max_value <= min_value:
            raise ValueError(f"max_value ({max_value}) must be above min_value ({min_value})")
        self.min_val = min_value
        self.max_val = max_value
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def _extra(self) -> str:
        inplace = ", inplace" if self.inplace else ""
        return f"min_val={self.min_val}, max_val={self.max_val}{inplace}"


class ReLU6(Hardtanh):
    """Elements between 0 and 6."""

    def __init__(self, inplace: bool = False):
        super().__init__(0, 6, inplace)

    def _extra(self) -> str:
        return "inplace" if self.inplace else ""


class PReLU(Module):
    """``x`` above zero, a trained multiple of it below."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25):
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(default_type()(num_parameters).fill_(init))

    def forward(self, input: Any) -> Any:
        return F.prelu(input, self.weight)

    def _extra(self) -> str:
        return str(self.num_parameters)


class RReLU(Module):
    """``x`` above zero, ``a x`` below; in training `a` is drawn between the bounds."""

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False):
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def _extra(self) -> str:
        return f"{self.lower}, {self.upper}{', inplace' if self.inplace else ''}"


class Softmax(Module):
    """Probabilities of classes, of rows."""

    def forward(self, input: Any) -> Any:
        if input.dim() != 2:
            raise AssertionError(
                f"Softmax requires a 2D tensor as input, got {input.dim()}D; functional.softmax "
                "takes others"
            )
        return F.softmax(input)

    def _extra(self) -> str:
        return ""


class Softmax2d(Module):
    """Probabilities of channels at each pixel."""

    def forward(self, input: Any) -> Any:
        if input.dim() != 4:
            raise AssertionError(f"Softmax2d requires a 4D tensor as input, got {input.dim()}D")
        return F.softmax(input)

    def _extra(self) -> str:
        return ""


def _simple(
    name: str, function: Any, options: tuple[tuple[str, Any], ...] = (), bare: tuple[str, ...] = ()
) -> type:
    """
    A module that calls a function with the options of its constructor.

    ``repr`` shows the values of the options that are `bare` without their names.
    """

    def __init__(self, *args, **kwargs):
        Module.__init__(self)
        if len(args) > len(options):
            raise TypeError(f"{name} takes at most {len(options)} arguments, got {len(args)}")
        values = dict(zip((key for key, _ in options), args)) | kwargs
        unknown = values.keys() - {key for key, _ in options}
        if unknown:
            raise TypeError(f"{name} has no argument {sorted(unknown)[0]!r}")
        for key, default in options:
            setattr(self, key, values.get(key, default))

    def forward(self, input):
        return function(input, *(getattr(self, key) for key, _ in options))

    def _extra(self):
        shown = [str(getattr(self, key)) for key in bare]
        shown += [
            f"{key}={getattr(self, key)}"
            for key, _ in options
            if key != "inplace" and key not in bare
        ]
        return ", ".join(shown + ["inplace"] * getattr(self, "inplace", False))

    body = {"__init__": __init__, "forward": forward, "_extra": _extra, "__module__": __name__}
    return type(name, (Module,), {**body, "__doc__": function.__doc__})


Tanh = _simple("Tanh", F.tanh)
Sigmoid = _simple("Sigmoid", F.sigmoid)
LogSigmoid = _simple("LogSigmoid", F.logsigmoid)
Softmin = _simple("Softmin", F.softmin)
LogSoftmax = _simple("LogSoftmax", F.log_softmax)
Softsign = _simple("Softsign", F.softsign)
Tanhshrink = _simple("Tanhshrink", F.tanhshrink)
ELU = _simple("ELU", F.elu, (("alpha", 1.0), ("inplace", False)))
LeakyReLU = _simple(
    "LeakyReLU", F.leaky_relu, (("negative_slope", 1e-2), ("inplace", False)), ("negative_slope",)
)
Softplus = _simple("Softplus", F.softplus, (("beta", 1), ("threshold", 20)))
Hardshrink = _simple("Hardshrink", F.hardshrink, (("lambd", 0.5),), ("lambd",))
Softshrink = _simple("Softshrink", F.softshrink, (("lambd", 0.5),), ("lambd",))
