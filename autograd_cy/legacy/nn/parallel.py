"""Modules that were copied to several GPUs; without one, they run as they are."""

from __future__ import annotations

from typing import Any

from .modules.module import Module

__all__ = ["DataParallel", "data_parallel"]


def data_parallel(
    module: Any,
    inputs: Any,
    device_ids: Any = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: Any = None,
) -> Any:
    """Run a module on its inputs, where its parameters are: they are not shared by GPUs."""
    if not isinstance(inputs, tuple):
        inputs = (inputs,)
    return module(*inputs, **(module_kwargs or {}))


class DataParallel(Module):
    """
    A module whose batch was shared by several GPUs; here that module runs, where it is.

    Parameters
    ----------
    module : Module
        Shown as ``module``, which names in its state begin with.
    device_ids, output_device : optional
        Ignored.
    dim : int, optional
        The dimension of the batch.

    Examples
    --------
    >>> from autograd_cy.legacy import nn
    >>> list(nn.DataParallel(nn.Linear(2, 1)).state_dict())
    ['module.weight', 'module.bias']
    """

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ):
        super().__init__()
        self.dim = dim
        self.module = module
        self.device_ids: list[int] = []
        self.output_device = None

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)
