"""The base class of modules, as it was: Variables in and out, hooks, states of tensors."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from autograd_cy.utils.hooks import RemovableHandle

from ...autograd import Variable
from ...tensors.wrapping import wrap
from ..parameter import Parameter

__all__ = ["Module"]


def _first_variable(result: Any) -> Any:
    while not isinstance(result, Variable):
        if not isinstance(result, (tuple, list)) or not result:
            return None
        result = result[0]
    return result


def indented(text: str, spaces: int) -> str:
    """All lines but the first moved to the right."""
    return text.replace("\n", "\n" + " " * spaces)


class Module:
    """
    A part of a model, which owns parameters, buffers and other modules.

    Subclasses define ``forward``.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> from autograd_cy.legacy import nn
    >>> class Net(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.fc = nn.Linear(4, 2)
    ...     def forward(self, x):
    ...         return self.fc(x).tanh()
    >>> Net()
    Net (
      (fc): Linear (4 -> 2)
    )
    """

    training: bool

    def __init__(self) -> None:
        self._parameters: OrderedDict[str, Any] = OrderedDict()
        self._buffers: OrderedDict[str, Any] = OrderedDict()
        self._backward_hooks: OrderedDict[int, Callable] = OrderedDict()
        self._forward_hooks: OrderedDict[int, Callable] = OrderedDict()
        self._modules: OrderedDict[str, Any] = OrderedDict()
        self.training = True

    def forward(self, *input: Any) -> Any:
        """Compute the result; every subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def __call__(self, *input: Any, **kwargs: Any) -> Any:
        result = self.forward(*input, **kwargs)
        for hook in self._forward_hooks.values():
            if hook(self, input, result) is not None:
                raise RuntimeError(
                    f"forward hooks should never return any values, but '{hook}' didn't return None"
                )
        if self._backward_hooks:
            variable = _first_variable(result)
            creator = None if variable is None else variable.creator
            if creator is not None:
                for hook in self._backward_hooks.values():
                    wrapper = functools.partial(hook, self)
                    functools.update_wrapper(wrapper, hook)
                    creator.register_hook(wrapper)
        return result

    # What a module owns -------------------------------------------------------------------------

    def register_buffer(self, name: str, tensor: Any) -> None:
        """Own a tensor that isn't trained, such as a running mean."""
        self._buffers[name] = tensor if tensor is None else wrap(tensor)

    def register_parameter(self, name: str, param: Any) -> None:
        """Own a parameter, or None in its place."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type(param).__name__}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        if param is not None and param.creator is not None:
            raise ValueError(
                f"Cannot assign non-leaf Variable to parameter '{name}'. Model parameters must be "
                f"created explicitly. To express '{name}' as a function of another variable, "
                "compute the value in the forward() method."
            )
        self._parameters[name] = param

    def add_module(self, name: str, module: Any) -> None:
        """Own another module."""
        if hasattr(self, name) and name not in self._modules:
            raise KeyError(f"attribute '{name}' already exists")
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._modules[name] = module

    def __getattr__(self, name: str) -> Any:
        for kind in ("_parameters", "_buffers", "_modules"):
            owned = self.__dict__.get(kind)
            if owned is not None and name in owned:
                return owned[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Parameter):
            self.__dict__.pop(name, None)
            self.register_parameter(name, value)
            return
        parameters = self.__dict__.get("_parameters")
        if parameters is not None and name in parameters:
            self.register_parameter(name, value)
            return
        modules = self.__dict__.get("_modules")
        if isinstance(value, Module):
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self.__dict__.pop(name, None)
            modules[name] = value
        elif modules is not None and name in modules:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{type(value).__name__}' object to child module '{name}' "
                    "(torch.nn.Module or None required)"
                )
            modules[name] = value
        elif name in self.__dict__.get("_buffers", ()):
            self._buffers[name] = value
        else:
            object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        for kind in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__.get(kind, ()):
                del self.__dict__[kind][name]
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        owned = (*self._parameters, *self._buffers, *self._modules)
        return sorted({*object.__dir__(self), *owned})

    # Walks --------------------------------------------------------------------------------------

    def parameters(self, memo: Any = None) -> Iterator[Any]:
        """All parameters, each once."""
        for _, param in self.named_parameters(memo):
            yield param

    def named_parameters(self, memo: Any = None, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """All parameters with their names, each once."""
        memo = set() if memo is None else memo
        for name, param in self._parameters.items():
            if param is not None and param not in memo:
                memo.add(param)
                yield prefix + name, param
        for name, module in self.named_children():
            yield from module.named_parameters(memo, f"{prefix}{name}.")

    def children(self) -> Iterator[Any]:
        """The modules that this one owns itself."""
        for _, module in self.named_children():
            yield module

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """The modules that this one owns itself, with their names."""
        memo = set()
        for name, module in self._modules.items():
            if module is not None and module not in memo:
                memo.add(module)
                yield name, module

    def modules(self) -> Iterator[Any]:
        """This module and all below it, each once."""
        for _, module in self.named_modules():
            yield module

    def named_modules(self, memo: Any = None, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """This module and all below it, with their names."""
        memo = set() if memo is None else memo
        if self not in memo:
            memo.add(self)
            yield prefix, self
            for name, module in self._modules.items():
                if module is not None:
                    inner = f"{prefix}.{name}" if prefix else name
                    yield from module.named_modules(memo, inner)

    def apply(self, fn: Callable) -> Module:
        """Call a function with each module below this one, and with this one last."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # States -------------------------------------------------------------------------------------

    def state_dict(self, destination: Any = None, prefix: str = "") -> Any:
        """The tensors of all parameters and buffers, by name."""
        destination = OrderedDict() if destination is None else destination
        for name, param in self._parameters.items():
            if param is not None:
                destination[prefix + name] = param.data
        for name, buffer in self._buffers.items():
            if buffer is not None:
                destination[prefix + name] = buffer
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination, f"{prefix}{name}.")
        return destination

    def load_state_dict(self, state_dict: Any) -> None:
        """Copy tensors into the parameters and buffers of the same names."""
        own = self.state_dict()
        for name, param in state_dict.items():
            if name not in own:
                raise KeyError(f'unexpected key "{name}" in state_dict')
            tensor = param.data if isinstance(param, Variable) else param
            if tuple(tensor.shape) != tuple(own[name].shape):
                raise RuntimeError(
                    f'load_state_dict: "{name}" has size {tuple(tensor.shape)} in the state and '
                    f"{tuple(own[name].shape)} in the module"
                )
            wrap(own[name]).copy_(tensor)
        missing = own.keys() - state_dict.keys()
        if missing:
            raise KeyError(f"missing keys in state_dict: {sorted(missing)}")

    def _apply(self, fn: Callable) -> Module:
        for module in self.children():
            module._apply(fn)
        for param in self._parameters.values():
            if param is not None:
                param.data = fn(wrap(param.data))
                if param._grad is not None:
                    param._grad.data = fn(wrap(param._grad.data))
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def type(self, dst_type: Any) -> Module:
        """Convert all parameters and buffers to a tensor type."""
        return self._apply(lambda t: t.type(dst_type))

    def _floats(self, name: str) -> Module:
        return self._apply(lambda t: getattr(t, name)() if t.dtype.is_floating_point else t)

    def float(self) -> Module:
        """Convert all parameters and buffers to float."""
        return self._floats("float")

    def double(self) -> Module:
        """Convert all parameters and buffers to double."""
        return self._floats("double")

    def half(self) -> Module:
        """Convert all parameters and buffers to half."""
        return self._floats("half")

    def cuda(self, device_id: Any = None) -> Module:
        """Move all parameters and buffers to a GPU; an error where there is none."""
        return self._apply(lambda t: t.cuda(device_id))

    def cpu(self) -> Module:
        """Move all parameters and buffers to the CPU."""
        return self._apply(lambda t: t.cpu())

    def share_memory(self) -> Module:
        """Move all parameters and buffers to memory that child processes share."""
        return self._apply(lambda t: t.share_memory_())

    def train(self, mode: bool = True) -> Module:
        """Set training mode, which dropout and batch normalisation ask for."""
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Module:
        """Leave training mode."""
        return self.train(False)

    def zero_grad(self) -> None:
        """Fill the gradients of all parameters with zeros."""
        for param in self.parameters():
            if param.grad is not None:
                param.grad.data.zero_()

    # Hooks --------------------------------------------------------------------------------------

    def register_forward_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(module, input, output)`` after ``forward``; it returns nothing."""
        handle = RemovableHandle(self._forward_hooks)
        self._forward_hooks[handle.id] = hook
        return handle

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        """
        Call ``hook(module, grad_input, grad_output)`` when gradients reach the module.

        They are those of the last Function in ``forward``; a tuple that the hook returns replaces
        `grad_input`.
        """
        handle = RemovableHandle(self._backward_hooks)
        self._backward_hooks[handle.id] = hook
        return handle

    def _extra(self) -> str | None:
        """Return the text that ``repr`` shows in parentheses, or None."""
        return None

    # Whether there is a space before the parentheses.
    _apart = True

    def __repr__(self) -> str:
        extra = self._extra()
        if extra is not None:
            return f"{type(self).__name__}{' ' if self._apart else ''}({extra})"
        lines = [f"  ({name}): {indented(repr(m), 2)}\n" for name, m in self._modules.items()]
        return f"{type(self).__name__} (\n{''.join(lines)})"
