"""The base class of all modules: walks over what they own, changes to it, saving, text.

Every walk goes over the children in the order of their registration (``registration.py``).
Conversion is in ``conversion.py``, hooks are in ``hooks.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from autograd_cy import Tensor

from .conversion import Convertible
from .hooks import TABLES, add_tables, call, new_tables
from .parameter import Parameter, clear_grad
from .registration import Owner
from .saving import Saving

_M = TypeVar("_M", bound="Module")


class Module(Saving, Convertible):
    """The base class of models and of their parts.

    A subclass calls ``super().__init__()``, assigns parameters and other modules as attributes, and
    defines ``forward``. Calling the module runs ``forward``.

    Attributes
    ----------
    training : bool
        Whether the module trains; `Dropout` and its like behave differently then.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> class Scale(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = torch.nn.Parameter(torch.tensor(2.0))
    ...
    ...     def forward(self, x):
    ...         return self.factor * x
    >>> Scale()(torch.tensor(3.0)).item()
    6.0
    """

    training: bool
    dump_patches: bool = False
    # Whether `__init__` goes on with that of the next base class, with its arguments.
    call_super_init: bool = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        go_on = self.call_super_init
        if not go_on and (args or kwargs):
            what = (
                f"takes 1 positional argument but {len(args) + 1} were given"
                if args
                else f"got an unexpected keyword argument {next(iter(kwargs))!r}"
            )
            raise TypeError(f"{type(self).__name__}.__init__() {what}")
        Owner.__init__(self)
        self.__dict__.update(new_tables())
        self.training = True
        if go_on:
            super(Owner, self).__init__(*args, **kwargs)  # type: ignore[misc]

    def __getstate__(self) -> dict[str, Any]:
        # Most dictionaries of hooks are empty, and made again.
        own = self.__dict__
        return {name: value for name, value in own.items() if value or name not in TABLES}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Subclasses add here what their older files lack.
        own = self.__dict__
        own.update(state)
        add_tables(own)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._hooked:
            return call(self, args, kwargs)
        return self.forward(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the module's output; every subclass defines its own.

        Raises
        ------
        NotImplementedError
            If the subclass does not.
        """
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    # --- Walks ------------------------------------------------------------------------------

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Go over this module and everything below it, with dotted names.

        Parameters
        ----------
        memo : set of Module, optional
            Modules to leave out; those that are met are added.
        prefix : str, optional
            Name of this module.
        remove_duplicate : bool, optional
            Whether a module that is found twice is given once.

        Yields
        ------
        (str, Module)

        Examples
        --------
        >>> import autograd_cy as torch
        >>> model = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.ReLU())
        >>> [name for name, _ in model.named_modules()]
        ['', '0', '1']
        """
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(memo, _joined(prefix, name), remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """Go over this module and everything below it.

        Parameters
        ----------
        remove_duplicate : bool, optional
            Whether a module that is found twice is given once.

        Yields
        ------
        Module

        Examples
        --------
        >>> import autograd_cy as torch
        >>> len(list(torch.nn.Module().modules()))
        1
        """
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Go over the direct children, with their names.

        Yields
        ------
        (str, Module)

        Examples
        --------
        >>> import autograd_cy as torch
        >>> parent = torch.nn.Module()
        >>> parent.part = torch.nn.Module()
        >>> [name for name, _ in parent.named_children()]
        ['part']
        """
        seen: set[Module] = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[Module]:
        """Go over the direct children.

        Yields
        ------
        Module

        Examples
        --------
        >>> import autograd_cy as torch
        >>> list(torch.nn.Module().children())
        []
        """
        for _, child in self.named_children():
            yield child

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Go over the parameters, with dotted names.

        Parameters
        ----------
        prefix : str, optional
            Put before each name.
        recurse : bool, optional
            Whether those of the children are included.
        remove_duplicate : bool, optional
            Whether a parameter that is found twice is given once.

        Yields
        ------
        (str, Parameter)

        Examples
        --------
        >>> import autograd_cy as torch
        >>> [name for name, _ in torch.nn.Linear(2, 1).named_parameters()]
        ['weight', 'bias']
        """
        yield from self._named_members(
            lambda module: module._parameters.items(), prefix, recurse, remove_duplicate
        )

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Go over the parameters, as an optimizer wants them.

        Parameters
        ----------
        recurse : bool, optional
            Whether those of the children are included.

        Yields
        ------
        Parameter

        Examples
        --------
        >>> import autograd_cy as torch
        >>> sum(p.numel() for p in torch.nn.Linear(2, 3).parameters())
        9
        """
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Go over the buffers, with dotted names.

        Parameters
        ----------
        prefix : str, optional
            Put before each name.
        recurse : bool, optional
            Whether those of the children are included.
        remove_duplicate : bool, optional
            Whether a buffer that is found twice is given once.

        Yields
        ------
        (str, Tensor)

        Examples
        --------
        >>> import autograd_cy as torch
        >>> list(torch.nn.Module().named_buffers())
        []
        """
        yield from self._named_members(
            lambda module: module._buffers.items(), prefix, recurse, remove_duplicate
        )

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Go over the buffers.

        Parameters
        ----------
        recurse : bool, optional
            Whether those of the children are included.

        Yields
        ------
        Tensor

        Examples
        --------
        >>> import autograd_cy as torch
        >>> list(torch.nn.Module().buffers())
        []
        """
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        # Programs call it for members of their own kind.
        seen: set[int] = set()
        walk = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for path, module in walk if recurse else [(prefix, self)]:
            for name, member in get_members_fn(module):
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield _joined(path, name), member

    def get_submodule(self, target: str) -> Module:
        """Return the module with a dotted name.

        Parameters
        ----------
        target : str
            The name; an empty one means this module.

        Returns
        -------
        Module

        Raises
        ------
        AttributeError
            If there is none.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> model = torch.nn.Sequential(torch.nn.Sequential(torch.nn.ReLU()))
        >>> model.get_submodule("0.0")
        ReLU()
        """
        module = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module in the place of a dotted name.

        Parameters
        ----------
        target : str
            The name; its last part may be new.
        module : Module
            What to put there.
        strict : bool, default False
            Whether there must be a module of that name already.

        Raises
        ------
        ValueError
            If the name is empty, or `module` is not a module.
        AttributeError
            If something on the way is no module or isn't there.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> model = torch.nn.Sequential(torch.nn.Sequential(torch.nn.ReLU()))
        >>> model.set_submodule("0.0", torch.nn.Tanh())
        >>> model.get_submodule("0.0")
        Tanh()
        """
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path) if path else self
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter with a dotted name.

        Parameters
        ----------
        target : str
            The name.

        Returns
        -------
        Parameter

        Raises
        ------
        AttributeError
            If there is none.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Sequential(torch.nn.Linear(2, 3)).get_parameter("0.weight").numel()
        6
        """
        return _get_member(self, target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer with a dotted name.

        Parameters
        ----------
        target : str
            The name.

        Returns
        -------
        Tensor

        Raises
        ------
        AttributeError
            If there is none.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> module = torch.nn.Module()
        >>> module.register_buffer("count", torch.tensor(1))
        >>> module.get_buffer("count").item()
        1
        """
        return _get_member(self, target, "_buffers", "a buffer")

    # --- Changes to everything below --------------------------------------------------------

    def apply(self: _M, fn: Callable[[Module], Any]) -> _M:
        """Call a function on every module below and then on this one.

        Parameters
        ----------
        fn : callable
            Takes a module.

        Returns
        -------
        Module
            This module.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> def clear(module):
        ...     if isinstance(module, torch.nn.Linear):
        ...         torch.nn.init.zeros_(module.bias)
        >>> torch.nn.Linear(2, 2).apply(clear).bias.tolist()
        [0.0, 0.0]
        """
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def train(self: _M, mode: bool = True) -> _M:
        """Set the module and everything below it to training or to evaluation.

        Parameters
        ----------
        mode : bool, optional
            True for training.

        Returns
        -------
        Module
            This module.

        Raises
        ------
        ValueError
            If ``mode`` is not a bool.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Module().train(False).training
        False
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self: _M) -> _M:
        """Set the module and everything below it to evaluation.

        Returns
        -------
        Module
            This module.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Module().eval().training
        False
        """
        return self.train(False)

    def requires_grad_(self: _M, requires_grad: bool = True) -> _M:
        """Say for all parameters whether gradients are wanted; False freezes the module.

        Parameters
        ----------
        requires_grad : bool, optional
            Whether they are.

        Returns
        -------
        Module
            This module.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Linear(1, 1).requires_grad_(False).weight.requires_grad
        False
        """
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters.

        Parameters
        ----------
        set_to_none : bool, optional
            Whether ``grad`` becomes None; otherwise it is filled with zeros.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> layer = torch.nn.Linear(2, 1)
        >>> layer(torch.ones(2)).sum().backward()
        >>> layer.zero_grad()
        >>> layer.weight.grad is None
        True
        """
        for param in self.parameters():
            clear_grad(param, set_to_none)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """
        Leave the module as it is, as :func:`autograd_cy.compile` does.

        Parameters
        ----------
        *args, **kwargs
            Options of a compiler; without effect.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Linear(2, 1).compile(mode="reduce-overhead")
        """

    # --- Text -------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """Return what the module's text form says besides its children; subclasses define it.

        Returns
        -------
        str

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Linear(2, 1).extra_repr()
        'in_features=2, out_features=1, bias=True'
        """
        return ""

    def _get_name(self) -> str:
        """Return the name of the class, as the text form begins."""
        return type(self).__name__

    def __repr__(self) -> str:
        children = [f"({name}): {child!r}" for name, child in self._modules.items()]
        return shown(self, self.extra_repr(), children)


def _get_member(module: Module, target: str, registry: str, kind: str) -> Any:
    path, _, name = target.rpartition(".")
    module = module.get_submodule(path)
    if not hasattr(module, name):
        raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
    if name not in getattr(module, registry):
        raise AttributeError(f"`{name}` is not {kind}")
    return getattr(module, registry)[name]


def shown(module: Module, extra: str, children: list[str]) -> str:
    """Return the text form of a module: what it says itself, and a text for each child."""
    lines = extra.split("\n") if extra else []
    if not children and len(lines) <= 1:
        return f"{module._get_name()}({extra})"
    body = "\n".join([*lines, *children]).replace("\n", "\n  ")
    return f"{module._get_name()}(\n  {body}\n)"


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
