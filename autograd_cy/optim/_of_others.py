"""Names that optimizers of other packages import from ``torch.optim.optimizer``."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from autograd_cy import (
    Tensor,
    device,
    dtype,
    float32,
    float64,
    get_default_dtype,
    is_complex,
    set_grad_enabled,
    view_as_real,
)

__all__ = [
    "DeviceDict",
    "DeviceDtypeDict",
    "ParamsT",
    "StateDict",
    "_capturable_doc",
    "_default_to_fused_or_foreach",
    "_device_dtype_check_for_fused",
    "_differentiable_doc",
    "_disable_dynamo_if_unsupported",
    "_dispatch_sqrt",
    "_foreach_doc",
    "_fused_doc",
    "_get_capturable_supported_devices",
    "_get_foreach_kernels_supported_devices",
    "_get_fused_kernels_supported_devices",
    "_get_scalar_dtype",
    "_get_value",
    "_group_tensors_by_device_and_dtype",
    "_has_foreach_support",
    "_maximize_doc",
    "_params_doc",
    "_stack_if_compiling",
    "_to_scalar",
    "_use_grad_for_differentiable",
    "_view_as_real",
]

ParamsT = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
StateDict = dict[str, Any]
DeviceDict = dict[device | None, Tensor]
DeviceDtypeDict = dict[tuple[device, dtype] | None, Tensor]

# Docstrings of others are put together of these.
_params_doc = "params (iterable): parameters, or groups of them as dicts"
_maximize_doc = "maximize (bool, optional): maximize the objective (default: False)"
_foreach_doc = "foreach (bool, optional): without effect"
_fused_doc = "fused (bool, optional): without effect"
_capturable_doc = "capturable (bool, optional): without effect (default: False)"
_differentiable_doc = "differentiable (bool, optional): record the step (default: False)"


def _use_grad_for_differentiable(func: Callable[..., Any]) -> Callable[..., Any]:
    """Record what a step does only where the optimizer is differentiable."""

    @functools.wraps(func)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        with set_grad_enabled(bool(self.defaults.get("differentiable", False))):
            return func(self, *args, **kwargs)

    return step


def _get_value(x: Any) -> Any:
    """Return a number as a number of Python."""
    return x.item() if isinstance(x, Tensor) else x


def _to_scalar(x: Any) -> Any:
    """Return a tensor of one element without dimensions."""
    return x.squeeze() if isinstance(x, Tensor) and x.dim() else x


def _dispatch_sqrt(x: Any) -> Any:
    """Return the square root of a number or tensor."""
    return x.sqrt() if isinstance(x, Tensor) else x**0.5


def _stack_if_compiling(x: Any) -> Any:
    """Return what was given, as nothing is compiled."""
    return x


def _default_to_fused_or_foreach(
    params: list[Tensor], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Say whether a step is fused, or goes over lists of tensors: neither, as on torch's CPU."""
    return False, False


def _disable_dynamo_if_unsupported(
    single_tensor_fn: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that leaves a function as it is."""
    return lambda function: function


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """List the kinds of devices whose graphs are captured: none of them is here."""
    return []


def _no_devices() -> list[str]:
    """List the kinds of devices with a kernel for lists of tensors: none of them is here."""
    return []


_get_foreach_kernels_supported_devices = _no_devices
_get_fused_kernels_supported_devices = _no_devices


def _has_foreach_support(tensors: Any, device: Any = None) -> bool:
    """Tell whether a device has kernels for lists of tensors: never."""
    return False


def _device_dtype_check_for_fused(p: Tensor, cuda_unsupported: bool = False) -> None:
    """Refuse parameters that no fused step takes."""
    if not p.is_floating_point():
        raise RuntimeError(
            f"`fused=True` requires all the params to be floating point, not {p.dtype}"
        )


def _get_scalar_dtype(is_fused: bool | None = None) -> Any:
    """Return the dtype of counts of steps."""
    return float64 if get_default_dtype() == float64 and not is_fused else float32


def _view_as_real(params: list[Tensor], *state_and_grads: list[Tensor]) -> None:
    """Put views as real numbers in the place of complex tensors of lists."""
    for i, param in enumerate(params):
        if is_complex(param):
            params[i] = view_as_real(param)
            for values in state_and_grads:
                values[i] = view_as_real(values[i])


def _group_tensors_by_device_and_dtype(
    tensorlistlist: list[list[Any]], with_indices: bool = False
) -> dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]]:
    """Group the columns of lists by device and dtype of the first list's tensors."""
    groups: dict[Any, Any] = defaultdict(lambda: ([[] for _ in tensorlistlist], []))
    for i, first in enumerate(tensorlistlist[0]):
        columns, indices = groups[first.device, first.dtype]
        for column, values in zip(columns, tensorlistlist, strict=True):
            column.append(values[i] if values else None)
        if with_indices:
            indices.append(i)
    return dict(groups)
