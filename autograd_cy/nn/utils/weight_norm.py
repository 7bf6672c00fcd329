"""Weights of fixed norm by a hook: the older form of `parametrizations.weight_norm`."""

from __future__ import annotations

from typing import Any

from autograd_cy import Tensor
from autograd_cy._C._warned import warn as _warn

from ..module import Module
from ..parameter import Parameter
from .parametrizations import norm_except

__all__ = ["remove_weight_norm", "weight_norm"]


class WeightNorm:
    """The hook: computes a weight of ``<name>_g`` and ``<name>_v`` before each forward.

    Parameters
    ----------
    name : str
    dim : int
    """

    def __init__(self, name: str, dim: int):
        self.name = name
        self.dim = dim

    def compute_weight(self, module: Any) -> Tensor:
        """Return the weight.

        Parameters
        ----------
        module : Module
            What owns it.

        Returns
        -------
        Tensor
        """
        g, v = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        return v * (g / norm_except(v, self.dim))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Deprecated: :func:`parametrizations.weight_norm` took its place.

    Parameters
    ----------
    module : Module
        What owns the weight.
    name : str, default "weight"
        Its name.
    dim : int or None, default 0
        Along which norms are taken; None takes one.

    Returns
    -------
    Module
        The module, with ``<name>_g`` and ``<name>_v`` in place of the weight.

    Examples
    --------
    >>> import warnings
    >>> import autograd_cy as torch
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", FutureWarning)
    ...     layer = torch.nn.utils.weight_norm(torch.nn.Linear(2, 3))
    >>> list(layer.state_dict())
    ['bias', 'weight_g', 'weight_v']
    """
    _warn(
        "`nn.utils.weight_norm` is deprecated in favor of `nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
    )
    if _hook_of(module, name)[1] is not None:
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    hook = WeightNorm(name, -1 if dim is None else dim)
    weight = getattr(module, name)
    del module._parameters[name]
    module.register_parameter(f"{name}_g", Parameter(norm_except(weight.detach(), hook.dim)))
    module.register_parameter(f"{name}_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Make a weight a plain parameter again, of the value that it has.

    Parameters
    ----------
    module : Module
        What owns the weight.
    name : str, default "weight"
        Its name.

    Returns
    -------
    Module
        The module.

    Raises
    ------
    ValueError
        If `weight_norm` wasn't used on it.

    Examples
    --------
    >>> import warnings
    >>> import autograd_cy as torch
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", FutureWarning)
    ...     layer = torch.nn.utils.weight_norm(torch.nn.Linear(2, 3))
    >>> list(torch.nn.utils.remove_weight_norm(layer).state_dict())
    ['bias', 'weight']
    """
    number, hook = _hook_of(module, name)
    if hook is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    weight = hook.compute_weight(module)
    del module._parameters[f"{name}_g"], module._parameters[f"{name}_v"]
    setattr(module, name, Parameter(weight.detach()))
    del module._forward_pre_hooks[number]  # type: ignore[attr-defined]
    return module


def _hook_of(module: Any, name: str) -> tuple[int, WeightNorm | None]:
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            return number, hook
    return -1, None
