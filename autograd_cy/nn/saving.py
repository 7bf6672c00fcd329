"""Saving and loading of what a module owns; `Module.state_dict` and its counterpart call this."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Mapping
from typing import Any

from autograd_cy import Tensor, no_grad

from .parameter import Parameter


class IncompatibleKeys(namedtuple("IncompatibleKeys", ("missing_keys", "unexpected_keys"))):
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


def load_state(
    module: Any, state_dict: Mapping[str, Any], strict: bool, assign: bool
) -> IncompatibleKeys:
    """Do what `Module.load_state_dict` says.

    Parameters
    ----------
    module : Module
        Where to load into.
    state_dict : mapping
        Tensors by dotted name.
    strict, assign : bool
        See `Module.load_state_dict`.

    Returns
    -------
    IncompatibleKeys

    Raises
    ------
    TypeError, RuntimeError
        See `Module.load_state_dict`.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> load_state(torch.nn.ReLU(), {"extra": 1}, strict=False, assign=False).unexpected_keys
    ['extra']
    """
    if not isinstance(state_dict, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    state = OrderedDict(state_dict)  # hooks may change it
    missing: list[str] = []
    unexpected: list[str] = []
    errors: list[str] = []
    keys = IncompatibleKeys(missing, unexpected)
    expected: set[str] = set()

    def load(part: Any, prefix: str) -> None:
        for hook in tuple(part._load_state_dict_pre_hooks.values()):
            hook(part, state, prefix, {}, strict, missing, unexpected, errors)
        for name in part._own_state():
            key = prefix + name
            expected.add(key)
            if key not in state:
                missing.append(key)
                continue
            error = _load_one(part, name, key, state[key], assign)
            errors.extend([error] if error else [])
        for name, child in part._modules.items():
            if child is not None:
                load(child, f"{prefix}{name}.")
        if not prefix:
            unexpected.extend(key for key in state if key not in expected)
        for hook in tuple(part._load_state_dict_post_hooks.values()):
            if hook(part, keys) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not "
                    "expected to return new values, if incompatible_keys need to be modified, it "
                    "should be done inplace."
                )

    load(module, "")
    if strict:
        errors = _key_errors(missing, unexpected) + errors
    if errors:
        raise RuntimeError(
            f"Error(s) in loading state_dict for {type(module).__name__}:\n\t" + "\n\t".join(errors)
        )
    return keys


def _load_one(module: Any, name: str, key: str, value: Any, assign: bool) -> str | None:
    """Load one parameter or buffer; return what is wrong, if anything."""
    member = module._own_state()[name]
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
        setattr(module, name, Parameter(value, requires_grad=member.requires_grad))
    else:
        setattr(module, name, value)
    return None


def _key_errors(missing: list[str], unexpected: list[str]) -> list[str]:
    errors = []
    for kind, keys in (("Missing", missing), ("Unexpected", unexpected)):
        if keys:
            quoted = ", ".join(f'"{key}"' for key in keys)
            errors.append(f"{kind} key(s) in state_dict: {quoted}. ")
    return errors
