"""
States of modules and optimizers by names that don't depend on wrappers.

A module in :class:`~autograd_cy.nn.parallel.DistributedDataParallel` has the names of the module
itself, and the state of an optimizer is by names of parameters instead of numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from autograd_cy import Tensor

from ._tree import state_of

__all__ = [
    "StateDictOptions",
    "get_model_state_dict",
    "get_optimizer_state_dict",
    "get_state_dict",
    "set_model_state_dict",
    "set_optimizer_state_dict",
    "set_state_dict",
]


@dataclass
class StateDictOptions:
    """
    Options of the functions of this module.

    Parameters
    ----------
    full_state_dict : bool, default False
        Without effect on modules, which every rank has whole; not supported for spread optimizers.
    cpu_offload : bool, default False
        Whether tensors are copied to the host.
    ignore_frozen_params : bool, default False
        Whether parameters that don't record are left out.
    keep_submodule_prefixes : bool, default True
        Only True is supported.
    strict : bool, default True
        Whether names that are missing or unknown are an error when a module is loaded.
    broadcast_from_rank0, flatten_optimizer_state_dict : bool, default False
        Only False is supported.

    Raises
    ------
    ValueError
        If an option isn't supported.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed.checkpoint import state_dict
    >>> options = state_dict.StateDictOptions(ignore_frozen_params=True)
    >>> model = ag.nn.Linear(2, 1)
    >>> _ = model.weight.requires_grad_(False)
    >>> list(state_dict.get_model_state_dict(model, options=options))
    ['bias']
    """

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False

    def __post_init__(self) -> None:
        for name, supported in (
            ("keep_submodule_prefixes", True),
            ("broadcast_from_rank0", False),
            ("flatten_optimizer_state_dict", False),
        ):
            if getattr(self, name) != supported:
                raise ValueError(
                    f"StateDictOptions: {name}={not supported} isn't supported; leave it out, and "
                    "load by distributed.checkpoint.load on all ranks"
                )


def get_model_state_dict(
    model: Any, *, submodules: Any = None, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """
    Return the state of a module, by names without those of wrappers.

    Parameters
    ----------
    model : Module
    submodules : None
        Not supported.
    options : StateDictOptions, optional

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        If `submodules` is given.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed.checkpoint.state_dict import get_model_state_dict
    >>> list(get_model_state_dict(ag.nn.DataParallel(ag.nn.Linear(2, 1))))
    ['weight', 'bias']
    """
    _check_submodules(submodules, "get_model_state_dict")
    options = options or StateDictOptions()
    frozen: set[str] = set()
    if options.ignore_frozen_params:
        frozen = {name for name, p in model.named_parameters() if not p.requires_grad}
    names = _Names(model)
    state = {
        names.without_wrappers(name): value
        for name, value in model.state_dict().items()
        if name not in frozen
    }
    return _on_host(state) if options.cpu_offload else state


def get_optimizer_state_dict(
    model: Any,
    optimizers: Any,
    *,
    submodules: Any = None,
    options: StateDictOptions | None = None,
) -> dict[str, Any]:
    """
    Return the state of optimizers, by names of the module's parameters.

    An optimizer that hasn't stepped has no state, and none is made:
    :func:`~autograd_cy.distributed.checkpoint.load` fills it. Of
    :class:`~autograd_cy.distributed.optim.ZeroRedundancyOptimizer` it is this rank's share.

    Parameters
    ----------
    model : Module
    optimizers : Optimizer or iterable of Optimizer
    submodules : None
        Not supported.
    options : StateDictOptions, optional

    Returns
    -------
    dict
        With ``"state"`` and ``"param_groups"``.

    Raises
    ------
    ValueError
        If an optimizer has a parameter that the module hasn't, or an option isn't supported.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed.checkpoint.state_dict import get_optimizer_state_dict
    >>> model = ag.nn.Linear(2, 1)
    >>> state = get_optimizer_state_dict(model, ag.optim.SGD(model.parameters(), lr=0.1))
    >>> state["param_groups"][0]["params"]
    ['weight', 'bias']
    """
    _check_submodules(submodules, "get_optimizer_state_dict")
    options = options or StateDictOptions()
    names = _Names(model)
    states: dict[str, Any] = {}
    groups: list[dict[str, Any]] = []
    for optimizer in _optimizers(optimizers):
        if options.full_state_dict and hasattr(optimizer, "_share_of_state"):
            raise ValueError(
                "get_optimizer_state_dict: full_state_dict isn't supported for a spread optimizer; "
                "leave it out, or use its consolidate_state_dict and state_dict"
            )
        state = state_of(optimizer)
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        own = [names.of_parameter(p) for p in parameters]
        states.update({own[number]: dict(value) for number, value in state["state"].items()})
        groups += [
            {**group, "params": [own[number] for number in group["params"]]}
            for group in state["param_groups"]
        ]
    result = {"state": states, "param_groups": groups}
    return _on_host(result) if options.cpu_offload else result


def get_state_dict(
    model: Any,
    optimizers: Any,
    *,
    submodules: Any = None,
    options: StateDictOptions | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """
    Return the states of a module and of its optimizers, by names without those of wrappers.

    Parameters
    ----------
    model : Module
    optimizers : Optimizer or iterable of Optimizer
    submodules : None
        Not supported.
    options : StateDictOptions, optional

    Returns
    -------
    dict, dict
        As of :func:`get_model_state_dict` and :func:`get_optimizer_state_dict`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed import checkpoint
    >>> from autograd_cy.distributed.checkpoint.state_dict import get_state_dict
    >>> model = ag.nn.Linear(2, 1)
    >>> optimizer = ag.optim.Adam(model.parameters())
    >>> weights, moments = get_state_dict(model, optimizer)
    >>> state = {"model": weights, "optimizer": moments}
    >>> metadata = checkpoint.save(state, checkpoint_id="six")
    >>> list(metadata.state_dict_metadata)
    ['model.weight', 'model.bias']
    """
    return (
        get_model_state_dict(model, submodules=submodules, options=options),
        get_optimizer_state_dict(model, optimizers, submodules=submodules, options=options),
    )


def set_model_state_dict(
    model: Any, model_state_dict: dict[str, Any], *, options: StateDictOptions | None = None
) -> Any:
    """
    Load the state of a module.

    Parameters
    ----------
    model : Module
    model_state_dict : dict
        As :func:`get_model_state_dict` returned it.
    options : StateDictOptions, optional

    Returns
    -------
    named tuple
        Missing and unexpected names, as of ``Module.load_state_dict``.

    Raises
    ------
    RuntimeError
        If names or shapes don't match.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed.checkpoint.state_dict import set_model_state_dict
    >>> state = ag.nn.Linear(2, 1).state_dict()
    >>> set_model_state_dict(ag.nn.DataParallel(ag.nn.Linear(2, 1)), state)
    <All keys matched successfully>
    """
    options = options or StateDictOptions()
    names = _Names(model)
    wrapped = {names.without_wrappers(name): name for name in model.state_dict()}
    state = {wrapped.get(name, name): value for name, value in model_state_dict.items()}
    return model.load_state_dict(state, strict=options.strict)


def set_optimizer_state_dict(
    model: Any,
    optimizers: Any,
    optim_state_dict: dict[str, Any],
    *,
    options: StateDictOptions | None = None,
) -> None:
    """
    Load the state of optimizers.

    Parameters
    ----------
    model : Module
    optimizers : Optimizer or iterable of Optimizer
    optim_state_dict : dict
        As :func:`get_optimizer_state_dict` returned it, or more.
    options : StateDictOptions, optional

    Raises
    ------
    ValueError
        If the state has no options for a parameter, or different ones within a group.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed.checkpoint.state_dict import (
    ...     get_optimizer_state_dict,
    ...     set_optimizer_state_dict,
    ... )
    >>> model = ag.nn.Linear(2, 1)
    >>> state = get_optimizer_state_dict(model, ag.optim.SGD(model.parameters(), lr=0.1))
    >>> optimizer = ag.optim.SGD(model.parameters(), lr=0.2)
    >>> set_optimizer_state_dict(model, optimizer, state)
    >>> optimizer.param_groups[0]["lr"]
    0.1
    """
    names = _Names(model)
    group_of = {
        name: group for group in optim_state_dict["param_groups"] for name in group["params"]
    }
    for optimizer in _optimizers(optimizers):
        states: dict[int, Any] = {}
        groups: list[dict[str, Any]] = []
        number = 0
        for group in optimizer.param_groups:
            numbers = []
            saved: dict[str, Any] | None = None
            for parameter in group["params"]:
                name = names.of_parameter(parameter)
                if name not in group_of or saved not in (None, group_of[name]):
                    raise ValueError(
                        f"set_optimizer_state_dict: the state has no options for {name}, or "
                        "other ones than for parameters of the same group; use the same groups of "
                        "parameters as when it was saved"
                    )
                saved = group_of[name]
                if name in optim_state_dict["state"]:
                    states[number] = optim_state_dict["state"][name]
                numbers.append(number)
                number += 1
            groups.append({**(saved or group), "params": numbers})
        optimizer.load_state_dict({"state": states, "param_groups": groups})


def set_state_dict(
    model: Any,
    optimizers: Any,
    *,
    model_state_dict: dict[str, Any],
    optim_state_dict: dict[str, Any],
    options: StateDictOptions | None = None,
) -> Any:
    """
    Load the states of a module and of its optimizers.

    Parameters
    ----------
    model : Module
    optimizers : Optimizer or iterable of Optimizer
    model_state_dict, optim_state_dict : dict
        As :func:`get_state_dict` returned them.
    options : StateDictOptions, optional

    Returns
    -------
    named tuple
        Missing and unexpected names of the module.

    Raises
    ------
    RuntimeError, ValueError
        If they don't match.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
    >>> model = ag.nn.Linear(2, 1)
    >>> optimizer = ag.optim.Adam(model.parameters())
    >>> weights, moments = get_state_dict(model, optimizer)
    >>> set_state_dict(model, optimizer, model_state_dict=weights, optim_state_dict=moments)
    <All keys matched successfully>
    """
    result = set_model_state_dict(model, model_state_dict, options=options)
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return result


class _Names:
    """The names of a module's parameters, without those of wrappers."""

    def __init__(self, model: Any) -> None:
        from autograd_cy.nn.parallel import DataParallel, DistributedDataParallel

        wrappers = (DataParallel, DistributedDataParallel)
        modules = model.named_modules()
        paths = [f"{name}." if name else "" for name, each in modules if isinstance(each, wrappers)]
        # From the innermost on, so that the outer prefixes stay as they are.
        self._prefixes = sorted((f"{path}module." for path in paths), key=len, reverse=True)
        self._of = {
            id(p): self.without_wrappers(name)
            for name, p in model.named_parameters(remove_duplicate=False)
        }

    def without_wrappers(self, name: str) -> str:
        """Return a name without the parts that wrappers add."""
        for prefix in self._prefixes:
            if name.startswith(prefix):
                name = prefix.removesuffix("module.") + name[len(prefix) :]
        return name

    def of_parameter(self, parameter: Tensor) -> str:
        """Return the name of a parameter.

        Raises
        ------
        ValueError
        """
        if id(parameter) not in self._of:
            raise ValueError(
                f"an optimizer has a parameter of shape {list(parameter.shape)} that the module "
                "hasn't: give the module whose parameters it steps"
            )
        return self._of[id(parameter)]


def _optimizers(optimizers: Any) -> list[Any]:
    return list(optimizers) if isinstance(optimizers, Iterable) else [optimizers]


def _check_submodules(submodules: Any, function: str) -> None:
    if submodules is not None:
        raise ValueError(f"{function}: submodules isn't supported; call it for the submodule")


def _on_host(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.cpu()
    if isinstance(value, dict):
        return {key: _on_host(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_on_host(each) for each in value]
    return value
