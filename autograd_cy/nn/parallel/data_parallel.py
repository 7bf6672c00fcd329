"""The module that spreads a batch over GPUs, of which there are none."""

from __future__ import annotations

from collections.abc import Sequence
from types import GenericAlias
from typing import Any

from autograd_cy.nn.module import Module

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """
    Call a module as it is, as torch does where there are no GPUs.

    Parameters
    ----------
    module : Module
        Found by the name ``module``, which the keys of ``state_dict()`` begin with.
    device_ids, output_device
        Of GPUs; without effect.
    dim : int, default 0
        The dimension of the batch; without effect.

    Attributes
    ----------
    device_ids : list
        Empty.
    module : Module

    Examples
    --------
    >>> import autograd_cy as ag
    >>> model = ag.nn.DataParallel(ag.nn.Linear(2, 1))
    >>> list(model.state_dict()), model(ag.ones(3, 2)).shape
    (['module.weight', 'module.bias'], autograd_cy.Size([3, 1]))
    """

    __class_getitem__: Any = classmethod(GenericAlias)

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[Any] | None = None,
        output_device: Any = None,
        dim: int = 0,
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """
    Call a module once, as torch does where there are no GPUs.

    Parameters
    ----------
    module : Module
    inputs : object or tuple
        What it is called with; of a tuple, its elements.
    device_ids, output_device, dim
        As of :class:`DataParallel`; without effect.
    module_kwargs : dict, optional
        Arguments by name.

    Returns
    -------
    object
        What the module returns.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.nn.parallel.data_parallel(ag.nn.Flatten(), ag.ones(2, 1, 3)).shape
    autograd_cy.Size([2, 3])
    """
    inputs = inputs if isinstance(inputs, tuple) else () if inputs is None else (inputs,)
    return module(*inputs, **(module_kwargs or {}))
