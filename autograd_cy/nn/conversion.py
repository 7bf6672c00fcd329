"""Conversion of what modules own: dtypes, devices, memory."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from autograd_cy import Tensor, empty_like, no_grad
from autograd_cy import device as _device
from autograd_cy import dtype as _dtype
from autograd_cy._C._warned import warn as _warn

from .parameter import Parameter
from .registration import Owner

_M = TypeVar("_M", bound="Convertible")


class Convertible(Owner):
    """The part of `Module` that converts parameters and buffers.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.conversion import Convertible
    >>> isinstance(torch.nn.ReLU(), Convertible)
    True
    """

    def _apply(self: _M, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> _M:
        """Convert parameters, gradients and buffers; parameters keep their identity."""
        if recurse:
            for child in self.children():  # type: ignore[attr-defined]
                child._apply(fn)
        if is_set("swap") or is_set("overwrite"):
            _apply_anew(self, fn)
            return self
        for param in self._parameters.values():
            if param is None:
                continue
            # The parameter itself, which sees what a function does in place: its version counts it.
            with no_grad():
                for old in (param, param.grad):
                    new = fn(old) if old is not None else None
                    if new is not None and new is not old:
                        old.data = new  # type: ignore[union-attr]
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self: _M, *args: Any, **kwargs: Any) -> _M:
        """Convert parameters and buffers, in place: ``to(dtype)``, ``to(device)``, ``to(tensor)``.

        Parameters
        ----------
        *args, **kwargs
            A dtype, a device or both, or a tensor that has the wanted ones. The dtype applies to
            floating-point and complex tensors only, `memory_format` to those with 4 or 5
            dimensions.

        Returns
        -------
        Module
            This module.

        Raises
        ------
        TypeError
            If the dtype is neither floating-point nor complex.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Linear(1, 1).to(torch.float64).weight.dtype is torch.float64
        True
        """
        wanted = _wanted(args, kwargs)
        dtype = wanted.pop("dtype", None)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                "nn.Module.to only accepts floating point or complex dtypes, "
                f"but got desired dtype={dtype}"
            )

        if dtype is not None and dtype.is_complex:
            _warn(
                "Complex modules are a new feature under active development whose design may "
                "change, and some modules might not work as expected when using complex tensors as "
                "parameters or buffers.",
                UserWarning,
            )
        layout = wanted.pop("memory_format", None)

        def convert(tensor: Tensor) -> Tensor:
            options = dict(wanted)
            if dtype is not None and (tensor.is_floating_point() or tensor.is_complex()):
                options["dtype"] = dtype
            if layout is not None and tensor.dim() in (4, 5):
                options["memory_format"] = layout
            if tensor.is_meta and _device(options.get("device", "meta")).type != "meta":
                raise NotImplementedError(
                    "Cannot copy out of meta tensor; no data! Please use "
                    "torch.nn.Module.to_empty() instead of torch.nn.Module.to() when moving "
                    "module from meta to a different device."
                )
            return tensor.to(**options) if options else tensor

        return self._apply(convert)

    def type(self: _M, dst_type: Any) -> _M:
        """Convert all parameters and buffers to a dtype.

        Parameters
        ----------
        dst_type : dtype or str
            The dtype.

        Returns
        -------
        Module
            This module.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Linear(1, 1).type(torch.float64).bias.dtype is torch.float64
        True
        """
        return self._apply(lambda tensor: tensor.type(dst_type))

    def float(self: _M) -> _M:
        """Convert floating-point parameters and buffers to float32.

        Returns
        -------
        Module
            This module.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Linear(1, 1).double().float().weight.dtype is torch.float32
        True
        """
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self: _M) -> _M:
        """Convert floating-point parameters and buffers to float64.

        Returns
        -------
        Module
            This module.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Linear(1, 1).double().weight.dtype is torch.float64
        True
        """
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self: _M) -> _M:
        """Convert floating-point parameters and buffers to float16.

        Returns
        -------
        Module
            This module.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Linear(1, 1).half().weight.dtype is torch.float16
        True
        """
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self: _M) -> _M:
        """Convert floating-point parameters and buffers to bfloat16.

        Returns
        -------
        Module
            This module.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Linear(1, 1).bfloat16().weight.dtype is torch.bfloat16
        True
        """
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def cpu(self: _M) -> _M:
        """Move parameters and buffers to the CPU.

        Returns
        -------
        Module
            This module.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Linear(1, 1).cpu().weight.device
        device(type='cpu')
        """
        return self._apply(lambda t: t.cpu())

    def cuda(self: _M, device: Any = None) -> _M:
        """Move parameters and buffers to a GPU.

        Parameters
        ----------
        device : int or device, optional
            Which one; by default the current one.

        Returns
        -------
        Module
            This module.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> net = torch.nn.Linear(1, 1)
        >>> if torch.cuda.is_available():
        ...     assert net.cuda().weight.is_cuda
        """
        return self._apply(lambda t: t.cuda(device))

    def xpu(self: _M, device: Any = None) -> _M:
        """Move parameters and buffers to a GPU of Intel's.

        Parameters
        ----------
        device : int or device, optional
            Which one; by default the current one.

        Returns
        -------
        Module
            This module.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Linear(1, 1).xpu()
        Traceback (most recent call last):
        RuntimeError: ...xpu...
        """
        return self._apply(lambda t: t.to("xpu" if device is None else f"xpu:{device}"))

    def share_memory(self: _M) -> _M:
        """Move parameters, gradients and buffers to memory that processes share.

        See :meth:`Tensor.share_memory_`.

        Returns
        -------
        Module
            This module.

        Raises
        ------
        RuntimeError
            If other tensors use the memory of one of them.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Linear(1, 1).share_memory().weight.is_shared()
        True
        """
        return self._apply(lambda t: t.share_memory_())

    def to_empty(self: _M, *, device: Any, recurse: bool = True) -> _M:
        """Give parameters and buffers new memory, without copying their values.

        Parameters
        ----------
        device : device or str
            Where it is.
        recurse : bool, default True
            Whether those of the children get new memory too.

        Returns
        -------
        Module
            This module.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Linear(2, 1).to_empty(device="cpu").weight.shape
        autograd_cy.Size([1, 2])
        """
        return self._apply(lambda t: empty_like(t, device=device), recurse=recurse)


def is_set(way: str) -> bool:
    """Tell whether programs have set "swap" or "overwrite" in ``autograd_cy.__future__``."""
    future = sys.modules.get("autograd_cy.__future__")  # few programs load it
    return future is not None and getattr(future, f"_{way}_module_params_on_conversion")


def _apply_anew(module: Any, fn: Callable[[Tensor], Tensor]) -> None:
    """Convert, with new parameters that take the places of the others, or what these are."""
    for name, param in [*module._parameters.items()]:
        if param is None:
            continue
        grad = param.grad
        with no_grad():
            result = Parameter(fn(param), param.requires_grad)
            if grad is not None:
                result.grad = fn(grad).requires_grad_(grad.requires_grad)
        if not is_set("swap"):
            module._parameters[name] = result
            continue
        from autograd_cy.utils import swap_tensors  # few programs use it

        try:
            param.grad = None
            swap_tensors(param, result)
        except Exception as error:
            param.grad = grad
            raise RuntimeError(
                f"_apply(): Couldn't swap {type(module).__name__}.{name}: {error}"
            ) from error
    for name, buffer in module._buffers.items():
        if buffer is not None:
            module._buffers[name] = fn(buffer)


def _wanted(args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments for ``Tensor.to`` that the arguments of `Module.to` mean."""
    first = args[0] if args else None
    kinds = [(Tensor, "tensor"), (_dtype, "dtype")]
    order = next(([name] for kind, name in kinds if isinstance(first, kind)), ["device", "dtype"])
    names = [*order, "non_blocking", "copy"]
    wanted = dict(zip(names, args))
    for name in kwargs:
        if name in wanted:
            raise TypeError(f"to() got multiple values for argument {name!r}")
    wanted.update(kwargs)
    if "copy" in wanted or len(args) > len(names):
        raise RuntimeError(
            ".to() does not accept copy argument; copy.deepcopy() the module, and convert the copy"
        )
    values = wanted.get("dtype"), wanted.get("device"), wanted.get("non_blocking", False)
    if (
        not isinstance(values[0], (_dtype, type(None)))
        or isinstance(values[1], bool)
        or not isinstance(values[2], bool)
    ):
        raise TypeError(
            "to() received an invalid combination of arguments - got "
            f"({', '.join(type(x).__name__ for x in (*args, *kwargs.values()))}), but expected "
            "(device, dtype, non_blocking), (dtype, non_blocking) or (tensor, non_blocking)"
        )
    example = wanted.pop("tensor", None)
    if example is not None:
        wanted.update(dtype=example.dtype, device=example.device)
    return {name: value for name, value in wanted.items() if value is not None}
