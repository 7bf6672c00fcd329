"""Pruning: weights that are multiplied by a mask of zeros and ones.

A pruned parameter ``weight`` becomes ``weight_orig``, beside a buffer ``weight_mask``; a hook
computes ``weight`` of both before each forward. The hooks, which choose the masks, are in
``_pruning_methods.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autograd_cy import Tensor, cat, ones_like

from ._pruning_methods import (
    BasePruningMethod,
    CustomFromMask,
    Identity,
    L1Unstructured,
    LnStructured,
    PruningContainer,
    RandomStructured,
    RandomUnstructured,
)

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]


for _method in [globals()[_name] for _name in __all__ if _name[0].isupper()]:
    _method.__module__ = __name__  # where programs find it, and pickles


def identity(module: Any, name: str) -> Any:
    """Give a parameter the names and the mask of a pruned one, and prune nothing.

    Parameters
    ----------
    module : Module
    name : str
        The name of the parameter.

    Returns
    -------
    Module
        `module`, which is changed.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils import prune
    >>> prune.identity(torch.nn.Linear(2, 1), "bias").bias_mask
    tensor([1.])
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: Any) -> Any:
    """Prune elements of a parameter by chance.

    Parameters
    ----------
    module : Module
    name : str
        The name of the parameter.
    amount : int or float
        How many, or which part of all.

    Returns
    -------
    Module
        `module`, which is changed.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils import prune
    >>> pruned = prune.random_unstructured(torch.nn.Linear(4, 1), "weight", amount=1)
    >>> int(pruned.weight_mask.sum())
    3
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: Any, name: str, amount: Any, importance_scores: Tensor | None = None
) -> Any:
    """Prune the elements of a parameter that are nearest to 0.

    Parameters
    ----------
    module : Module
    name : str
        The name of the parameter.
    amount : int or float
        How many, or which part of all.
    importance_scores : Tensor, optional
        The importance of each element, in place of the parameter.

    Returns
    -------
    Module
        `module`, which is changed.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils import prune
    >>> layer = torch.nn.Linear(2, 1)
    >>> layer.weight.data = torch.tensor([[0.5, -2.0]])
    >>> prune.l1_unstructured(layer, "weight", amount=0.5).weight_mask
    tensor([[0., 1.]])
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: Any, dim: int) -> Any:
    """Prune slices of a parameter by chance.

    Parameters
    ----------
    module : Module
    name : str
        The name of the parameter.
    amount : int or float
        How many, or which part of all.
    dim : int
        The dimension along which they lie.

    Returns
    -------
    Module
        `module`, which is changed.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils import prune
    >>> pruned = prune.random_structured(torch.nn.Linear(3, 2), "weight", amount=1, dim=0)
    >>> sorted(pruned.weight_mask.sum(1).tolist())
    [0.0, 3.0]
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Any,
    name: str,
    amount: Any,
    n: Any,
    dim: int,
    importance_scores: Tensor | None = None,
) -> Any:
    """Prune the slices of a parameter with the least norm.

    Parameters
    ----------
    module : Module
    name : str
        The name of the parameter.
    amount : int or float
        How many, or which part of all.
    n : float or str
        The order of the norm.
    dim : int
        The dimension along which they lie.
    importance_scores : Tensor, optional
        The importance of each element, in place of the parameter.

    Returns
    -------
    Module
        `module`, which is changed.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils import prune
    >>> layer = torch.nn.Linear(2, 2)
    >>> layer.weight.data = torch.tensor([[1.0, 1.0], [3.0, 0.0]])
    >>> prune.ln_structured(layer, "weight", amount=0.5, n=2, dim=0).weight_mask
    tensor([[0., 0.],
            [1., 1.]])
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Tensor) -> Any:
    """Prune a parameter by a given mask.

    Parameters
    ----------
    module : Module
    name : str
        The name of the parameter.
    mask : Tensor
        Ones where elements are kept, of the shape of the parameter.

    Returns
    -------
    Module
        `module`, which is changed.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils import prune
    >>> layer = torch.nn.Linear(1, 2)
    >>> prune.custom_from_mask(layer, "bias", torch.tensor([0, 1])).bias_mask
    tensor([0., 1.])
    """
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Any, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: Any = None,
    **kwargs: Any,
) -> None:
    """Prune several parameters as if they were one.

    Parameters
    ----------
    parameters : iterable of (Module, str)
        Modules, and names of their parameters.
    pruning_method : type
        A class of `PRUNING_TYPE` ``'unstructured'``.
    importance_scores : dict, optional
        (module, name) -> the importance of each element, in place of the parameter.
    **kwargs
        What the class takes, such as ``amount``.

    Raises
    ------
    TypeError
        If the parameters aren't such pairs, or the method isn't unstructured.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils import prune
    >>> first, second = torch.nn.Linear(3, 1), torch.nn.Linear(5, 1)
    >>> pairs = [(first, "weight"), (second, "weight")]
    >>> prune.global_unstructured(pairs, prune.L1Unstructured, amount=2)
    >>> int(first.weight_mask.sum() + second.weight_mask.sum())
    6
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    if importance_scores is not None and not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    scores = importance_scores or {}
    pairs = [*parameters]
    flat = [scores.get(pair, getattr(*pair)).detach().reshape(-1) for pair in pairs]
    masks = [
        getattr(module, f"{name}_mask", ones_like(getattr(module, name))).detach().reshape(-1)
        for module, name in pairs
    ]
    whole = PruningContainer()
    whole._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    whole.add_pruning_method(method)
    mask = whole.compute_mask(cat(flat), cat(masks))
    start = 0
    for module, name in pairs:
        param = getattr(module, name)
        count = param.numel()
        custom_from_mask(module, name, mask=mask[start : start + count].view_as(param))
        start += count


def remove(module: Any, name: str) -> Any:
    """Make the pruning of a parameter permanent: it has zeros, and no mask.

    Parameters
    ----------
    module : Module
    name : str
        The name of the parameter.

    Returns
    -------
    Module
        `module`, which is changed.

    Raises
    ------
    ValueError
        If the parameter isn't pruned.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils import prune
    >>> layer = prune.identity(torch.nn.Linear(2, 1), "weight")
    >>> sorted(prune.remove(layer, "weight").state_dict())
    ['bias', 'weight']
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(
        f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
    )


def is_pruned(module: Any) -> bool:
    """Return whether a module, or one below it, has a pruned parameter.

    Parameters
    ----------
    module : Module

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils import prune
    >>> prune.is_pruned(torch.nn.Sequential(torch.nn.Linear(1, 1)))
    False
    """
    return any(
        isinstance(hook, BasePruningMethod)
        for part in module.modules()
        for hook in part._forward_pre_hooks.values()
    )
