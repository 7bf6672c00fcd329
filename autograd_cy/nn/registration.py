"""The registration of parameters, buffers and child modules by name.

Assigning a parameter or a module as an attribute registers it; this file holds that mechanism and
nothing else. ``module.py`` builds on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_cy import Tensor

from . import global_hooks as _all
from .parameter import Buffer, Parameter

# Name of an attribute -> a function of the module, called when a program has set it.
_when_set: dict[str, Callable[[Any], None]] = {}


class Owner:
    """The owner of parameters, buffers and other owners, in three dictionaries by name.

    `Module` is the class to use; this one is only its first part.

    Examples
    --------
    >>> from autograd_cy.nn.registration import Owner
    >>> owner = Owner()
    >>> owner.part = Owner()
    >>> list(owner._modules)
    ['part']
    """

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]  # of owners, or None for the places of absent ones
    _non_persistent_buffers_set: set[str]

    def __init__(self) -> None:
        self.__dict__.update(
            _parameters={},
            _buffers={},
            _modules={},
            _non_persistent_buffers_set=set(),
        )

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter, or a name that stands for an absent one.

        Parameters
        ----------
        name : str
            Attribute under which it is found.
        param : Parameter or None
            The parameter. None is kept as a place, and left out of ``state_dict``.

        Raises
        ------
        TypeError, KeyError, ValueError
            If the name cannot be used, or ``param`` is not a parameter or has a history.

        Examples
        --------
        >>> from autograd_cy.nn.registration import Owner
        >>> module = Owner()
        >>> module.register_parameter("bias", None)
        >>> module.bias is None
        True
        """
        _check_name(self, "parameter", name, "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type(param).__name__}' object to parameter '{name}' "
                "(autograd_cy.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be "
                f"created explicitly. To express '{name}' as a function of another Tensor, compute "
                "the value in the forward() method."
            )
        self._parameters[name] = _all.value_after_hooks(_all.parameter, self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the module's state but is not trained.

        Parameters
        ----------
        name : str
            Attribute under which it is found.
        tensor : Tensor or None
            The buffer. None is kept as a place, and left out of ``state_dict``.
        persistent : bool, optional
            Whether it is part of ``state_dict``.

        Raises
        ------
        TypeError, KeyError
            If the name cannot be used or ``tensor`` is not a tensor.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> module = torch.nn.Module()
        >>> module.register_buffer("mean", torch.zeros(3))
        >>> list(module.state_dict())
        ['mean']
        """
        _check_name(self, "buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{type(tensor).__name__}' object to buffer '{name}' "
                "(autograd_cy Tensor or None required)"
            )
        self._buffers[name] = _all.value_after_hooks(_all.buffer, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Owner | None) -> None:
        """Add a child module.

        Parameters
        ----------
        name : str
            Attribute under which it is found.
        module : Module or None
            The child. None is kept as a place.

        Raises
        ------
        TypeError, KeyError
            If the name cannot be used or ``module`` is not a module.

        Examples
        --------
        >>> from autograd_cy.nn.registration import Owner
        >>> parent, child = Owner(), Owner()
        >>> parent.add_module("part", child)
        >>> parent.part is child
        True
        """
        if module is not None and not isinstance(module, Owner):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        _check_name(self, "module", name, "_modules")
        self._modules[name] = _all.value_after_hooks(_all.module, self, name, module)

    def register_module(self, name: str, module: Owner | None) -> None:
        """Add a child module: another name of :meth:`add_module`.

        Parameters
        ----------
        name : str
            Attribute under which it is found.
        module : Module or None
            The child. None is kept as a place.

        Examples
        --------
        >>> from autograd_cy.nn.registration import Owner
        >>> parent = Owner()
        >>> parent.register_module("part", Owner())
        >>> list(parent._modules)
        ['part']
        """
        self.add_module(name, module)

    def __getattr__(self, name: str) -> Any:
        # Only asked for what is not in the instance or its class.
        own = self.__dict__
        for registry in ("_parameters", "_buffers", "_modules"):
            if registry in own and name in own[registry]:
                return own[registry][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Parameter):
            _replace(self, name, "_parameters", "parameters")
            self.register_parameter(name, value)
        elif name in self.__dict__.get("_parameters", ()):
            _set_registered(self, name, value)  # which wants a parameter or None
        elif isinstance(value, Owner):
            # Nothing of a subclass is asked: it may have its own `__getattr__` or `add_module`, and
            # an attribute of the class or a method may have the name.
            _replace(self, name, "_modules", "module")
            self._modules[name] = _all.value_after_hooks(_all.module, self, name, value)
        elif isinstance(value, Buffer):
            _replace(self, name, "_buffers", "buffer")
            self.register_buffer(name, value, value.persistent)
        elif not _set_registered(self, name, value):
            super().__setattr__(name, value)
            if name in _when_set:
                _when_set[name](self)

    def __delattr__(self, name: str) -> None:
        for registry in (self._parameters, self._buffers, self._modules):
            if name in registry:
                del registry[name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        owned = (*self._parameters, *self._buffers, *self._modules)
        names = {*super().__dir__(), *owned}
        return sorted(name for name in names if not name[:1].isdigit())


# Functions and no methods: a program's modules may have methods of any private name.


def _check_name(owner: Owner, kind: str, name: str, registry: str) -> None:
    if registry not in owner.__dict__:
        raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
    if not isinstance(name, str):
        raise TypeError(f"{kind} name should be a string. Got {type(name).__name__}")
    if "." in name:
        raise KeyError(f'{kind} name can\'t contain ".", got: {name}')
    if not name:
        raise KeyError(f'{kind} name can\'t be empty string ""')
    if hasattr(owner, name) and name not in owner.__dict__[registry]:
        raise KeyError(f"attribute '{name}' already exists")


def _replace(owner: Owner, name: str, registry: str, kind: str) -> None:
    """Forget an attribute that is about to be registered under the same name."""
    own = owner.__dict__
    if registry not in own:
        raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
    own.pop(name, None)
    for other in ("_parameters", "_buffers", "_modules"):
        if other != registry:
            own[other].pop(name, None)
    owner._non_persistent_buffers_set.discard(name)


def _set_registered(owner: Owner, name: str, value: Any) -> bool:
    """Set what is neither parameter nor module if the name is registered; it keeps its kind."""
    own = owner.__dict__
    if name in own.get("_parameters", ()):
        _expect_none(name, value, "parameter", "autograd_cy.nn.Parameter")
        owner._parameters[name] = None
    elif name in own.get("_modules", ()):
        _expect_none(name, value, "child module", "autograd_cy.nn.Module")
        owner._modules[name] = None
    elif name in own.get("_buffers", ()):
        if not isinstance(value, Tensor):
            _expect_none(name, value, "buffer", "autograd_cy.Tensor")
        owner._buffers[name] = value
    else:
        return False
    return True


def _expect_none(name: str, value: Any, kind: str, expected: str) -> None:
    if value is not None:
        raise TypeError(
            f"cannot assign '{type(value).__name__}' as {kind} '{name}' "
            f"({expected} or None expected)"
        )
