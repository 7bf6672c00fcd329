"""
Parameters that are computed from others, by modules.

A parametrized tensor leaves its module, and a property computes it whenever it is asked for. What
it is computed from is in ``module.parametrizations``. The property needs a class of the module's
own, a subclass of the one it had.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from autograd_cy import Tensor, no_grad
from autograd_cy._environment.contexts import _Context

from ..container import ModuleDict, ModuleList
from ..module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

#: Tensors by id of the module and name, within `cached`.
_cache: dict[tuple[int, str], Tensor] | None = None


def cached() -> _Context:
    """
    Compute each parametrized tensor once for the time of a ``with`` block.

    Returns
    -------
    context manager

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils import parametrizations, parametrize
    >>> layer = parametrizations.weight_norm(torch.nn.Linear(2, 2))
    >>> with parametrize.cached():
    ...     layer.weight is layer.weight
    True
    """
    return _Context([(globals(), "_cache", {} if _cache is None else _cache)])


class ParametrizationList(ModuleList):
    """
    The parametrizations of one tensor, and what it is computed from.

    Parameters
    ----------
    modules : sequence of Module
        Applied one after the other.
    original : Tensor
        The tensor before.
    unsafe : bool, default False
        Whether shape and dtype may change, and nothing is checked.

    Attributes
    ----------
    original : Parameter or Tensor
        What it is computed from; several are called ``original0``, ``original1`` ...

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 3))
    >>> parts = layer.parametrizations.weight
    >>> type(parts).__name__, [name for name, _ in parts.named_parameters()]
    ('ParametrizationList', ['original0', 'original1'])
    """

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        before = original.dtype, original.shape
        new: Any = original
        with no_grad():
            for module in reversed(list(self)):
                new = _inverse(module, new)
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(new).__name__}"
            )
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if isinstance(new, Tensor) else len(new)
        if isinstance(new, Tensor):
            if original.dtype != new.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
                )
            if original.device != new.device:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the device.\n"
                    f"original.device: {original.device}\n"
                    f"right_inverse(original).device: {new.device}"
                )
            if new is not original:
                original.data = new.detach()  # the parameter that optimizers know stays the same
            _register(self, "original", original)
        else:
            for i, part in enumerate(new):
                if not isinstance(part, Tensor):
                    raise ValueError(
                        "'right_inverse' must return a Tensor or a Sequence of tensors (list, "
                        f"tuple...). Got element {i} of the sequence with type "
                        f"{type(part).__name__}."
                    )
                part = part.detach()
                if isinstance(original, Parameter):
                    part = Parameter(part, original.requires_grad)
                part.requires_grad_(original.requires_grad)
                _register(self, f"original{i}", part)
        if not unsafe:
            _check_form("Registering a parametrization", before, self())

    def _originals(self) -> list[Tensor]:
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Give the originals values from which `value` is computed.

        Parameters
        ----------
        value : Tensor
            What the parametrized tensor shall be.

        Raises
        ------
        RuntimeError, ValueError, TypeError
            If a parametrization has no inverse, or one that gives something else than before.
        """
        with no_grad():
            new: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                new = module.right_inverse(new)
            if self.is_tensor:
                if not isinstance(new, Tensor):
                    raise ValueError(
                        f"`right_inverse` should return a tensor. Got {type(new).__name__}"
                    )
                new = [new]
            elif not isinstance(new, Sequence):
                raise ValueError(
                    f"'right_inverse' must return a sequence of tensors. Got {type(new).__name__}."
                )
            if len(new) != self.ntensors:
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors of length "
                    f"{self.ntensors}. Got a sequence of length {len(new)}."
                )
            for original, part in zip(self._originals(), new):
                if not isinstance(part, Tensor):
                    raise ValueError(
                        f"`right_inverse` should return a tensor. Got {type(part).__name__}"
                    )
                if part.dtype != original.dtype:
                    raise ValueError(
                        "The tensor returned by `right_inverse` has dtype "
                        f"{part.dtype} while the original has dtype {original.dtype}"
                    )
                original.data = part.clone() if part is value else part

    def forward(self) -> Tensor:  # type: ignore[override]
        """Return the tensor, computed from the originals."""
        modules = list(self)
        value = modules[0](*self._originals())
        for module in modules[1:]:
            value = module(value)
        return value


def _inverse(module: Module, value: Any) -> Any:
    """Return the value to give to a parametrization for a result; the result itself where it can't
    say."""
    if not hasattr(module, "right_inverse"):
        return value
    try:
        return module.right_inverse(value)
    except NotImplementedError:
        return value


def _check_form(what: str, before: tuple[Any, Any], value: Any, name: str = "") -> None:
    if not isinstance(value, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(value).__name__}.")
    for kind, old, new in (("dtype", before[0], value.dtype), ("shape", before[1], value.shape)):
        if old != new:
            raise ValueError(
                f"{what} may not change the {kind} of the tensor, unless the `unsafe` flag is "
                f"enabled.\n{f'module.{name}.' if name else 'unparametrized '}{kind}: {old}\n"
                f"{f'parametrization(module.{name}).' if name else 'parametrized '}{kind}: {new}"
            )


def _register(module: Module, name: str, value: Tensor) -> None:
    if isinstance(value, Parameter):
        module.register_parameter(name, value)
    else:
        module.register_buffer(name, value)


def _give_own_class(module: Module) -> None:
    """Make the module's class one of its own, which properties can be put into."""
    before = type(module)

    def no_pickle(self: Module, *args: Any) -> Any:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict()."
        )

    def deepcopy(self: Module, memo: dict[int, Any]) -> Module:
        result = memo.get(id(self))
        if result is None:
            result = memo[id(self)] = self.__new__(type(self))
            result.__dict__ = copy.deepcopy(self.__dict__, memo)
        return result

    name = f"Parametrized{before.__name__}"
    methods: dict[str, Any] = {"__module__": __name__, "__getstate__": no_pickle}
    if not hasattr(before, "__deepcopy__"):
        methods["__deepcopy__"] = deepcopy
    module.__class__ = type(name, (before,), methods)


def _put_property(module: Module, name: str) -> None:
    def get(self: Module) -> Tensor:
        if _cache is not None:
            key = id(self), name
            if key not in _cache:
                _cache[key] = self.parametrizations[name]()
            return _cache[key]
        return self.parametrizations[name]()

    def put(self: Module, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, put))


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """
    Compute a parameter or a buffer by a module from now on.

    Parameters
    ----------
    module : Module
        What owns the tensor.
    tensor_name : str
        Its name. With a parametrization that is there already it becomes a chain.
    parametrization : Module
        Its ``forward`` gives the tensor. A method ``right_inverse`` of it says from what the tensor
        is computed that is there now, one tensor or several; without one that is the tensor itself.
    unsafe : bool, default False
        Whether shape and dtype may change, and nothing is checked.

    Returns
    -------
    Module
        The module, whose class is a new subclass of the one it had.

    Raises
    ------
    ValueError
        If there is no such tensor, or the parametrization doesn't keep shape and dtype.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils import parametrize
    >>> class Symmetric(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).t()
    >>> layer = parametrize.register_parametrization(torch.nn.Linear(3, 3), "weight", Symmetric())
    >>> torch.equal(layer.weight, layer.weight.t())
    True
    >>> list(layer.state_dict())
    ['bias', 'parametrizations.weight.original']
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        chain = module.parametrizations[tensor_name]
        if not unsafe:
            before = getattr(module, tensor_name)
            form = before.dtype, before.shape
            after = parametrization(before)
            _check_form("Registering a parametrization", form, after, tensor_name)
            back = _inverse(parametrization, after)
            _check_form("The right_inverse of a parametrization", form, back, tensor_name)
        chain.append(parametrization)
        chain.unsafe |= unsafe
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    original = getattr(module, tensor_name)
    values = original.detach()
    try:
        chain = ParametrizationList([parametrization], original, unsafe)
    except BaseException:
        original.data = values
        raise
    delattr(module, tensor_name)
    if not is_parametrized(module):
        _give_own_class(module)
        module.parametrizations = ModuleDict()
    _put_property(module, tensor_name)
    module.parametrizations[tensor_name] = chain
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """
    Return whether a module has parametrizations, or one of a certain tensor.

    Parameters
    ----------
    module : Module
    tensor_name : str, optional

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils.parametrize import is_parametrized
    >>> is_parametrized(torch.nn.Linear(1, 1), "weight")
    False
    """
    chains = module._modules.get("parametrizations")
    if not isinstance(chains, ModuleDict):
        return False
    return len(chains) > 0 if tensor_name is None else tensor_name in chains


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """
    Make a tensor a plain one again.

    Parameters
    ----------
    module : Module
        What owns it.
    tensor_name : str
        Its name.
    leave_parametrized : bool, default True
        Whether it has the value that was computed; otherwise the one it was computed from.

    Returns
    -------
    Module
        The module.

    Raises
    ------
    ValueError
        If it isn't parametrized, or was computed from several tensors that none can stand for.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils import parametrizations, parametrize
    >>> layer = parametrizations.weight_norm(torch.nn.Linear(2, 2))
    >>> parametrize.remove_parametrizations(layer, "weight")
    Linear(in_features=2, out_features=2, bias=True)
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    chain = module.parametrizations[tensor_name]
    if chain.is_tensor:
        original = chain.original
        if leave_parametrized:
            with no_grad():
                value = getattr(module, tensor_name)
            original.data = value.detach()
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """
    Return the class that a module had before it was parametrized.

    Parameters
    ----------
    module : Module

    Returns
    -------
    type

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils import parametrizations, parametrize
    >>> layer = parametrizations.weight_norm(torch.nn.Linear(2, 2))
    >>> parametrize.type_before_parametrizations(layer) is torch.nn.Linear
    True
    """
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """
    Give a module the parametrizations of another, and the values of what they belong to.

    Parameters
    ----------
    from_module, to_module : Module
    tensor_name : str, optional
        Only those of this tensor.

    Returns
    -------
    Module
        The second one.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.utils import parametrizations, parametrize
    >>> layer = parametrizations.weight_norm(torch.nn.Linear(2, 2))
    >>> other = parametrize.transfer_parametrizations_and_params(layer, torch.nn.Linear(2, 2))
    >>> parametrize.is_parametrized(other, "weight")
    True
    """
    if not is_parametrized(from_module):
        return to_module
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        if not hasattr(to_module, name):
            _register(to_module, name, copy.deepcopy(from_module.parametrizations[name].original))
        chain = from_module.parametrizations[name]
        for parametrization in chain:
            register_parametrization(to_module, name, parametrization, unsafe=True)
        target = to_module.parametrizations[name]
        with no_grad():
            for mine, theirs in zip(target._originals(), chain._originals()):
                mine.data = theirs.detach().clone()
    return to_module
