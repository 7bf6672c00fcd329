"""Modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
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
        Tensors by name, as from ``module.named_parameters()``. What is not named keeps its value;
        a name that the module lacks is an attribute of it during the call. What the module assigns
        under one of the names is in the dict afterwards; of a sequence of dicts none is changed.
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
    KeyError
        If a name is empty.
    TypeError
        If what is given isn't a tensor, or a name is of an attribute that isn't a tensor.
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
    dicts = parameter_and_buffer_dicts
    if isinstance(dicts, Mapping):
        tensors = dict(dicts)
    else:
        tensors = {}
        if not isinstance(dicts, (list, tuple)):
            raise ValueError(
                "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but "
                f"got {type(dicts)}"
            )
        for one in dicts:
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
    places, items = _replacements(module, tensors, tie_weights, strict)
    with ItemsContext(items):
        try:
            return module(*args, **({} if kwargs is None else kwargs))
        finally:
            if isinstance(dicts, MutableMapping):
                _hand_back(dicts, places, tensors)


@contextmanager
def _reparametrize_module(
    module: Any,
    parameters_and_buffers: Mapping[str, Tensor],
    tie_weights: bool = False,
    strict: bool = False,
    stack_weights: bool = False,
) -> Iterator[None]:
    """Give a module other parameters for a ``with`` block, as `functional_call` does."""
    tensors = dict(parameters_and_buffers)
    places, items = _replacements(module, tensors, tie_weights, strict)
    with ItemsContext(items):
        try:
            yield
        finally:
            if isinstance(parameters_and_buffers, MutableMapping):
                _hand_back(parameters_and_buffers, places, tensors)


def _replacements(module, tensors, tie_weights, strict):
    """Return where each tensor goes, by its name, and all items of dictionaries that change."""
    if strict:
        _check_names(module, tensors, tie_weights)
    owners = {"": module}
    places = {name: _place(owners, name, t) for name, t in tensors.items()}
    items = [(*places[name], t) for name, t in tensors.items()]
    if tie_weights:
        items += _tied(module, places, tensors)
    return places, items


def _hand_back(target, places, tensors):
    """Put into the caller's dict what the module assigned while it was called."""
    for name, (own, key) in places.items():
        now = own.get(key, tensors[name])  # one that was deleted stays as it was given
        if now is not tensors[name]:
            target[name] = now


def _place(owners, name, value):
    """Return the dictionary of the module that a name is set in, and its key there."""
    path, _, key = name.rpartition(".")
    module = owners.get(path)
    if module is None:
        module = owners[""]
        for part in path.split("."):
            if part not in module._modules:
                raise AttributeError(
                    f"functional_call: {type(module).__name__} has no attribute `{part}`, which "
                    f"{name!r} names"
                )
            module = module._modules[part]
        owners[path] = module
    if value is not None and not isinstance(value, Tensor):
        raise TypeError(
            f"functional_call: {value!r} is not an instance of autograd_cy.Tensor, but it is given "
            f"for {name!r}"
        )
    for own in (module._parameters, module._buffers):
        if key in own:
            return own, key
    if not key:
        raise KeyError('tensor name can\'t be empty string ""')
    held = getattr(module, key, None)
    if held is not None and not isinstance(held, Tensor):
        raise TypeError(
            f"functional_call: attribute `{key}`, which {name!r} names: {held} is not an instance "
            "of autograd_cy.Tensor"
        )
    # What the module lacks is there while it is called, and a parameter is one of its parameters.
    from autograd_cy.nn import Parameter

    return (module._parameters if isinstance(value, Parameter) else module.__dict__), key


def _slots(module, every_name=False):
    """Each parameter and buffer: (name, dictionary of its module, key)."""
    for prefix, part in module.named_modules(remove_duplicate=not every_name):
        for own in (part._parameters, part._buffers):
            for key, t in own.items():
                if t is not None:
                    yield f"{prefix}.{key}" if prefix else key, own, key


def _tied(module, places, tensors):
    """Return items for the other places of the parameters that are replaced."""
    others = {}
    for _, own, key in _slots(module):
        others.setdefault(id(own[key]), []).append((own, key))
    first = {}
    items = []
    for name, (own, key) in places.items():
        held = own.get(key)
        if held is None or id(held) not in others:
            continue
        other = first.setdefault(id(held), name)
        if tensors[other] is not tensors[name]:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted((name, other))}, which "
                "are tied. Consider using tie_weights=False"
            )
        items += [
            (*place, tensors[name])
            for place in others[id(held)]
            if place[0] is not own or place[1] != key
        ]
    return items


def _check_names(module, tensors, tie_weights):
    names = {name: id(own[key]) for name, own, key in _slots(module, every_name=True)}
    unknown = sorted(str(name) for name in tensors if name not in names)
    known = {names[name] for name in tensors if name in names} if tie_weights else ()
    missing = sorted(n for n, held in names.items() if n not in tensors and held not in known)
    if unknown or missing:
        text = f"Error(s) in reparametrizing for {type(module).__name__}:"
        if unknown:
            text += "\n\tUnexpected key(s): " + ", ".join(map(repr, unknown)) + "."
        if missing:
            text += "\n\tMissing key(s): " + ", ".join(map(repr, missing)) + "."
        raise RuntimeError(text)


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """
    Return the parameters and buffers of several models of one kind, stacked for :func:`vmap`.

    Parameters
    ----------
    models : sequence of Modules

    Returns
    -------
    params, buffers : dict of Tensors
        The first dimension counts models. They are new leaves, which require grad as those of the
        models do.

    Raises
    ------
    RuntimeError
        If there is no model, or they differ in class, in training mode, or in what requires grad.

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
    params = _stacked(models, lambda model: dict(model.named_parameters()))
    buffers = _stacked(models, lambda model: dict(model.named_buffers()))
    return params, buffers


def _stacked(models, members):
    dicts = [members(model) for model in models]
    result = {}
    for name, first in dicts[0].items():
        rows = [one[name] for one in dicts]
        if any(t.requires_grad != first.requires_grad for t in rows):
            raise RuntimeError(
                f"stack_module_state: Expected {name} from each model to have the same "
                ".requires_grad; set it alike in all models"
            )
        result[name] = stack([t.detach() for t in rows], 0).requires_grad_(first.requires_grad)
    return result
