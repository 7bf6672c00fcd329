"""Modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autograd_cy._C.ops_joining import stack
from autograd_cy._C.tensor import ItemsContext, Tensor


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]],
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """
    Call a module with other parameters and buffers than its own.

    Parameters
    ----------
    module : Module
    parameter_and_buffer_dicts : dict or sequence of dicts
        Tensors by name, as from ``module.named_parameters()``. What is not named keeps its value.
    args : anything or tuple, optional
        The arguments of the call; one that isn't a tuple is taken as the only one.
    kwargs : dict, optional
        Its keyword arguments.
    tie_weights : bool, default True
        A parameter that the module has under several names is replaced under all of them.
    strict : bool, default False
        Raise unless the names are just those of the module.

    Returns
    -------
    anything
        What the module returns; the module has its own tensors back.

    Raises
    ------
    ValueError
        If two dicts have the same name, or tied names get different tensors.
    AttributeError
        If a name leads to no submodule.
    TypeError
        If a name is of an attribute that isn't a tensor.
    RuntimeError
        If `strict` and names are missing or unknown.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.func import functional_call
    >>> layer = ag.nn.Linear(2, 1)
    >>> functional_call(layer, {"weight": ag.ones(1, 2), "bias": ag.zeros(1)}, ag.ones(2))
    tensor([2.])
    """
    if isinstance(parameter_and_buffer_dicts, Mapping):
        tensors = dict(parameter_and_buffer_dicts)
    else:
        tensors = {}
        for one in parameter_and_buffer_dicts:
            if not isinstance(one, Mapping):
                raise TypeError(
                    "functional_call: expected a dict or a sequence of dicts of tensors, got a "
                    f"sequence with {type(one).__name__}"
                )
            repeated = [name for name in one if name in tensors]
            if repeated:
                raise ValueError(
                    f"{repeated} appeared in multiple dictionaries; behavior of functional call is "
                    "ambiguous"
                )
            tensors.update(one)
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    places = _places(module)
    if tie_weights:
        tensors = _tied(places, tensors)
    if strict:
        _check_names(module, places, tensors)
    for name in tensors:
        if name not in places:
            _check_place(module, name)
    with _swapped(places, tensors):
        return module(*args, **({} if kwargs is None else kwargs))


def _places(module):
    """Where each parameter and buffer lives: name -> (dictionary of its module, key)."""
    places = {}
    for prefix, part in module.named_modules(remove_duplicate=False):
        for own in (part._parameters, part._buffers):
            for key, t in own.items():
                if t is not None:
                    places[f"{prefix}.{key}" if prefix else key] = (own, key)
    return places


def _tied(places, tensors):
    """`tensors` with the other names of the same parameters."""
    names = {}
    for name, (own, key) in places.items():
        names.setdefault(id(own[key]), []).append(name)
    made = dict(tensors)
    for name in tensors:
        if name not in places:
            continue
        own, key = places[name]
        for other in names[id(own[key])]:
            if other in tensors and tensors[other] is not tensors[name]:
                raise ValueError(
                    f"functional_call got multiple values for keys {sorted((name, other))}, which "
                    "are tied. Consider using tie_weights=False"
                )
            made[other] = tensors[name]
    return made


def _check_names(module, places, tensors):
    unknown = [name for name in tensors if name not in places]
    missing = [name for name in places if name not in tensors]
    if unknown or missing:
        text = f"Error(s) in reparametrizing for {type(module).__name__}:"
        if unknown:
            text += "\n\tUnexpected key(s): " + ", ".join(map(repr, unknown)) + "."
        if missing:
            text += "\n\tMissing key(s): " + ", ".join(map(repr, missing)) + "."
        raise RuntimeError(text)


def _check_place(module, name):
    """Raise unless a name that is of no tensor could be one's: it is not used, as in torch."""
    *parts, key = name.split(".")
    for part in parts:
        if part not in module._modules:
            raise AttributeError(
                f"functional_call: {type(module).__name__} has no attribute `{part}`, which "
                f"{name!r} names"
            )
        module = module._modules[part]
    held = module.__dict__.get(key)
    if held is not None:
        raise TypeError(
            f"functional_call: attribute `{key}`, which {name!r} names, is no tensor but a "
            f"{type(held).__name__}"
        )


def _swapped(places, tensors):
    return ItemsContext([(*places[name], t) for name, t in tensors.items() if name in places])


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """
    The parameters and buffers of several models of one kind, stacked for :func:`vmap`.

    Parameters
    ----------
    models : sequence of Modules

    Returns
    -------
    params, buffers : dict of Tensors
        The first dimension counts models. Parameters are new leaves that require grad as those of
        the first model do.

    Raises
    ------
    RuntimeError
        If there is no model, or they differ in class or in training mode.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.func import functional_call, stack_module_state, vmap
    >>> models = [ag.nn.Linear(2, 1) for _ in range(3)]
    >>> params, buffers = stack_module_state(models)
    >>> def call(params, buffers, x):
    ...     return functional_call(models[0], (params, buffers), (x,))
    >>> vmap(call, in_dims=(0, 0, None))(params, buffers, ag.ones(4, 2)).shape
    autograd_cy.Size([3, 4, 1])
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or not any(m.training for m in models)):
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    if not all(type(m) is type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    params = {}
    for name, first in models[0].named_parameters():
        rows = [dict(m.named_parameters())[name].detach() for m in models]
        params[name] = stack(rows, 0).requires_grad_(first.requires_grad)
    buffers = {}
    for name, _ in models[0].named_buffers():
        rows = [dict(m.named_buffers())[name].detach() for m in models]
        buffers[name] = stack(rows, 0)
    return params, buffers
