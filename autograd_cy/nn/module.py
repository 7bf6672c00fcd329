"""The base class of all modules: registration of what they own, walks over it, saving, conversion.

What belongs to a module is kept in three dictionaries, by name: its parameters, its buffers and its
child modules. Every walk goes over the children in the order of their registration.
"""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from autograd_cy import Tensor, no_grad
from autograd_cy import dtype as _dtype

from .parameter import Buffer, Parameter

_M = TypeVar("_M", bound="Module")


class IncompatibleKeys(
    namedtuple("IncompatibleKeys", ("missing_keys", "unexpected_keys")),
):
    """What `Module.load_state_dict` could not match: names it missed, names it did not expect.

    Examples
    --------
    >>> IncompatibleKeys([], [])
    <All keys matched successfully>
    """

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class Module:
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
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _non_persistent_buffers_set: set[str]

    def __init__(self) -> None:
        self.__dict__.update(
            training=True,
            _parameters={},
            _buffers={},
            _modules={},
            _non_persistent_buffers_set=set(),
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
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

    # --- Registration -----------------------------------------------------------------------

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
        >>> module = Module()
        >>> module.register_parameter("bias", None)
        >>> module.bias is None
        True
        """
        self._check_name("parameter", name, "_parameters")
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
        self._parameters[name] = param

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
        self._check_name("buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{type(tensor).__name__}' object to buffer '{name}' "
                "(autograd_cy Tensor or None required)"
            )
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
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
        >>> parent, child = Module(), Module()
        >>> parent.add_module("part", child)
        >>> parent.part is child
        True
        """
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._check_name("module", name, "_modules")
        self._modules[name] = module

    register_module = add_module

    def _check_name(self, kind: str, name: str, registry: str) -> None:
        if registry not in self.__dict__:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {type(name).__name__}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain ".", got: {name}')
        if not name:
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[registry]:
            raise KeyError(f"attribute '{name}' already exists")

    def __getattr__(self, name: str) -> Any:
        # Only asked for what is not in the instance or its class.
        own = self.__dict__
        for registry in ("_parameters", "_buffers", "_modules"):
            if registry in own and name in own[registry]:
                return own[registry][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Parameter):
            self._replace(name, "_parameters", "parameters")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self._replace(name, "_modules", "module")
            self.add_module(name, value)
        elif isinstance(value, Buffer):
            self._replace(name, "_buffers", "buffer")
            self.register_buffer(name, value, value.persistent)
        else:
            self._set_plain(name, value)

    def _replace(self, name: str, registry: str, kind: str) -> None:
        """Forget an attribute that is about to be registered under the same name."""
        own = self.__dict__
        if registry not in own:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        own.pop(name, None)
        for other in ("_parameters", "_buffers", "_modules"):
            if other != registry:
                own[other].pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def _set_plain(self, name: str, value: Any) -> None:
        """Set what is neither parameter nor module; a registered name keeps its kind."""
        own = self.__dict__
        if name in own.get("_parameters", ()):
            self._expect_none(name, value, "parameter", "autograd_cy.nn.Parameter")
            self._parameters[name] = None
        elif name in own.get("_modules", ()):
            self._expect_none(name, value, "child module", "autograd_cy.nn.Module")
            self._modules[name] = None
        elif name in own.get("_buffers", ()):
            if not isinstance(value, Tensor):
                self._expect_none(name, value, "buffer", "autograd_cy.Tensor")
            self._buffers[name] = value
        else:
            super().__setattr__(name, value)

    @staticmethod
    def _expect_none(name: str, value: Any, kind: str, expected: str) -> None:
        if value is not None:
            raise TypeError(
                f"cannot assign '{type(value).__name__}' as {kind} '{name}' "
                f"({expected} or None expected)"
            )

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

    def modules(self) -> Iterator[Module]:
        """Go over this module and everything below it.

        Yields
        ------
        Module

        Examples
        --------
        >>> len(list(Module().modules()))
        1
        """
        for _, module in self.named_modules():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Go over the direct children, with their names.

        Yields
        ------
        (str, Module)

        Examples
        --------
        >>> parent = Module()
        >>> parent.part = Module()
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
        >>> list(Module().children())
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
        yield from self._named_members("_parameters", prefix, recurse, remove_duplicate)

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
        >>> list(Module().named_buffers())
        []
        """
        yield from self._named_members("_buffers", prefix, recurse, remove_duplicate)

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
        >>> list(Module().buffers())
        []
        """
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def _named_members(
        self, registry: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        walk = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for path, module in walk if recurse else [(prefix, self)]:
            for name, member in getattr(module, registry).items():
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
        return self._get_member(target, "_parameters", "an nn.Parameter")

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
        return self._get_member(target, "_buffers", "a buffer")

    def _get_member(self, target: str, registry: str, kind: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        if name not in getattr(module, registry):
            raise AttributeError(f"`{name}` is not {kind}")
        return getattr(module, registry)[name]

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
        >>> Module().train(False).training
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
        >>> Module().eval().training
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

    def _apply(self: _M, fn: Callable[[Tensor], Tensor]) -> _M:
        """Convert parameters, gradients and buffers; parameters keep their identity."""
        for child in self.children():
            child._apply(fn)
        for param in self._parameters.values():
            if param is None:
                continue
            with no_grad():
                param.data = fn(param.data)
                if param.grad is not None:
                    param.grad.data = fn(param.grad.data)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self: _M, *args: Any, **kwargs: Any) -> _M:
        """Convert parameters and buffers, in place: ``to(dtype)``, ``to(device)``, ``to(tensor)``.

        Parameters
        ----------
        *args, **kwargs
            A dtype, a device or both, or a tensor that has the wanted ones. The dtype applies to
            floating-point and complex tensors only.

        Returns
        -------
        Module
            This module.

        Raises
        ------
        TypeError
            If the dtype is neither floating-point nor complex.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Linear(1, 1).to(torch.float64).weight.dtype is torch.float64
        True
        """
        wanted = _wanted(args, kwargs)
        dtype = wanted.pop("dtype", None)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                "nn.Module.to only accepts floating point or complex dtypes, "
                f"but got desired dtype={dtype}"
            )

        def convert(tensor: Tensor) -> Tensor:
            if dtype is not None and (tensor.is_floating_point() or tensor.is_complex()):
                return tensor.to(dtype=dtype, **wanted)
            return tensor.to(**wanted) if wanted else tensor

        return self._apply(convert)

    def type(self: _M, dst_type: Any) -> _M:
        """Convert all parameters and buffers to a dtype.

        Parameters
        ----------
        dst_type : dtype or str
            The dtype.

        Returns
        -------
        Module
            This module.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Linear(1, 1).type(torch.float64).bias.dtype is torch.float64
        True
        """
        return self._apply(lambda tensor: tensor.type(dst_type))

    def float(self: _M) -> _M:
        """Convert floating-point parameters and buffers to float32.

        Returns
        -------
        Module
            This module.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Linear(1, 1).double().float().weight.dtype is torch.float32
        True
        """
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self: _M) -> _M:
        """Convert floating-point parameters and buffers to float64.

        Returns
        -------
        Module
            This module.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Linear(1, 1).double().weight.dtype is torch.float64
        True
        """
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self: _M) -> _M:
        """Convert floating-point parameters and buffers to float16.

        Returns
        -------
        Module
            This module.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Linear(1, 1).half().weight.dtype is torch.float16
        True
        """
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self: _M) -> _M:
        """Convert floating-point parameters and buffers to bfloat16.

        Returns
        -------
        Module
            This module.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Linear(1, 1).bfloat16().weight.dtype is torch.bfloat16
        True
        """
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def cpu(self: _M) -> _M:
        """Move parameters and buffers to the CPU.

        Returns
        -------
        Module
            This module.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Linear(1, 1).cpu().weight.device
        device(type='cpu')
        """
        return self._apply(lambda t: t.cpu())

    def cuda(self: _M, device: Any = None) -> _M:
        """Move parameters and buffers to a GPU.

        Parameters
        ----------
        device : int or device, optional
            Which one; by default the current one.

        Returns
        -------
        Module
            This module.
        """
        return self._apply(lambda t: t.cuda(device))

    # --- Saving -----------------------------------------------------------------------------

    def state_dict(
        self,
        *,
        destination: dict[str, Any] | None = None,
        prefix: str = "",
        keep_vars: bool = False,
    ) -> dict[str, Any]:
        """Return the parameters and persistent buffers by dotted name.

        Parameters
        ----------
        destination : dict, optional
            Where to put them.
        prefix : str, optional
            Put before each name.
        keep_vars : bool, optional
            Whether the tensors keep their history; by default they are detached. Either way they
            share the module's memory.

        Returns
        -------
        dict

        Examples
        --------
        >>> import autograd_cy as torch
        >>> list(torch.nn.Sequential(torch.nn.Linear(2, 1)).state_dict())
        ['0.weight', '0.bias']
        """
        state = OrderedDict() if destination is None else destination
        for name, member in self._own_state().items():
            state[prefix + name] = member if keep_vars else member.detach()
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(destination=state, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return state

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copy values into the parameters and persistent buffers.

        Parameters
        ----------
        state_dict : mapping
            What `state_dict` returned, of this module or of one like it.
        strict : bool, optional
            Whether missing and unexpected names are errors.
        assign : bool, optional
            Whether the given tensors themselves become the module's, instead of being copied.

        Returns
        -------
        IncompatibleKeys
            Names that were missing and that were not expected.

        Raises
        ------
        TypeError
            If ``state_dict`` is not a mapping.
        RuntimeError
            If names do not match and ``strict`` is true, or shapes differ; it lists all of them.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> one, other = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
        >>> one.load_state_dict(other.state_dict())
        <All keys matched successfully>
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        expected, errors = {}, []
        for path, module in self.named_modules(remove_duplicate=False):
            for name in module._own_state():
                expected[_joined(path, name)] = (module, name)
        for key, (module, name) in expected.items():
            if key in state_dict:
                error = module._load_one(name, key, state_dict[key], assign)
                errors += [error] if error else []
        missing = [key for key in expected if key not in state_dict]
        unexpected = [key for key in state_dict if key not in expected]
        if strict:
            errors = _key_errors(missing, unexpected) + errors
        if errors:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t"
                + "\n\t".join(errors)
            )
        return IncompatibleKeys(missing, unexpected)

    def _own_state(self) -> dict[str, Any]:
        """Return this module's own parameters and persistent buffers, without the absent ones."""
        own = {name: param for name, param in self._parameters.items() if param is not None}
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                own[name] = buffer
        return own

    def _load_one(self, name: str, key: str, value: Any, assign: bool) -> str | None:
        """Load one parameter or buffer; return what is wrong, if anything."""
        member = self._own_state()[name]
        if not isinstance(value, Tensor):
            return (
                f'While copying the parameter named "{key}", expected a Tensor from checkpoint '
                f"but received {type(value)}"
            )
        if value.shape != member.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {value.shape} from "
                f"checkpoint, the shape in current model is {member.shape}."
            )
        if not assign:
            with no_grad():
                member.copy_(value)
        elif isinstance(member, Parameter) and not isinstance(value, Parameter):
            setattr(self, name, Parameter(value, requires_grad=member.requires_grad))
        else:
            setattr(self, name, value)
        return None

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

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        parts = self._repr_of_children()
        if not parts and len(lines) <= 1:
            return f"{type(self).__name__}({extra})"
        body = "\n".join([*lines, *parts]).replace("\n", "\n  ")
        return f"{type(self).__name__}(\n  {body}\n)"

    def _repr_of_children(self) -> list[str]:
        return [f"({name}): {child!r}" for name, child in self._modules.items()]


def clear_grad(param: Tensor, set_to_none: bool) -> None:
    """Forget the gradient of one parameter.

    Parameters
    ----------
    param : Tensor
        A leaf.
    set_to_none : bool
        Whether ``grad`` becomes None; otherwise it is cut from its history and filled with zeros.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> x.sum().backward()
    >>> clear_grad(x, set_to_none=False)
    >>> x.grad
    tensor([0., 0.])
    """
    grad = param.grad
    if grad is None:
        return
    if set_to_none:
        param.grad = None
        return
    if grad.grad_fn is not None:
        grad.detach_()
    else:
        grad.requires_grad_(False)
    grad.zero_()


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _wanted(args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments for ``Tensor.to`` that the arguments of `Module.to` mean."""
    wanted = dict(kwargs)
    example = wanted.pop("tensor", None)
    for argument in args:
        if isinstance(argument, Tensor):
            example = argument
        elif isinstance(argument, _dtype):
            wanted["dtype"] = argument
        elif isinstance(argument, bool):
            wanted["non_blocking"] = argument
        elif argument is not None:
            wanted["device"] = argument
    if example is not None:
        wanted.update(dtype=example.dtype, device=example.device)
    return {name: value for name, value in wanted.items() if value is not None}


def _key_errors(missing: list[str], unexpected: list[str]) -> list[str]:
    errors = []
    for kind, keys in (("Missing", missing), ("Unexpected", unexpected)):
        if keys:
            quoted = ", ".join(f'"{key}"' for key in keys)
            errors.append(f"{kind} key(s) in state_dict: {quoted}. ")
    return errors
