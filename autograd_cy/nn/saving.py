"""Saving and loading of what a module owns: the part of `Module` that does so."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Mapping
from typing import Any

from autograd_cy import Tensor, no_grad
from autograd_cy._C._warned import warn as _warn

from .conversion import is_set
from .hooks import Hooked, table
from .parameter import Parameter, is_lazy

EXTRA = "_extra_state"


class _IncompatibleKeys(namedtuple("_IncompatibleKeys", ("missing_keys", "unexpected_keys"))):
    """The keys that `Module.load_state_dict` could not match: names it missed, names it did not
    expect.

    Examples
    --------
    >>> _IncompatibleKeys([], [])
    <All keys matched successfully>
    """

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class Saving(Hooked):
    """The part of `Module` that gives and takes a ``state_dict``.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.saving import Saving
    >>> isinstance(torch.nn.ReLU(), Saving)
    True
    """

    #: Of the form in which a class saves itself; files tell it to ``_load_from_state_dict``.
    _version: int = 1

    def get_extra_state(self) -> Any:
        """Return what belongs to the state beside tensors; a subclass that has any defines it.

        Returns
        -------
        object
            It is put into ``state_dict`` and given to :meth:`set_extra_state`.

        Raises
        ------
        RuntimeError
            If the class does not define it.
        """
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called: "
            f"{type(self).__name__} defines set_extra_state() and not get_extra_state()."
        )

    def set_extra_state(self, state: Any) -> None:
        """Take what :meth:`get_extra_state` gave, when a ``state_dict`` is loaded.

        Parameters
        ----------
        state : object
            What was saved.

        Raises
        ------
        RuntimeError
            If the class does not define it.
        """
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called: "
            f"{type(self).__name__} defines get_extra_state() and not set_extra_state()."
        )

    def state_dict(
        self,
        *args: Any,
        destination: Any = None,
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
        if args:
            _warn(
                "Positional args are being deprecated, use kwargs instead: state_dict(destination="
                "..., prefix=..., keep_vars=...).",
                FutureWarning,
            )
            values = [*args, *(destination, prefix, keep_vars)[len(args) :]]
            destination, prefix, keep_vars = values
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local: dict[str, Any] = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local
        for hook in tuple(table(self, "_state_dict_pre_hooks").values()):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in tuple(table(self, "_state_dict_hooks").values()):
            result = hook(self, destination, prefix, local)
            destination = destination if result is None else result
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put this module's own state into a dictionary; subclasses may add to it."""
        for name, member in _own_state(self).items():
            destination[prefix + name] = member if keep_vars else member.detach()
        if type(self).get_extra_state is not Saving.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
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
        _IncompatibleKeys
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
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        keys = _IncompatibleKeys(missing, unexpected)
        metadata = getattr(state_dict, "_metadata", None) or {}

        def load(part: Any, state: Any, prefix: str) -> None:
            local = dict(metadata.get(prefix[:-1], {}))
            if assign:
                local["assign_to_params_buffers"] = True
            part._load_from_state_dict(state, prefix, local, True, missing, unexpected, errors)
            for name, child in part._modules.items():
                if child is not None:
                    start = f"{prefix}{name}."
                    # A part of its own, which hooks may change.
                    part_of_child = {k: v for k, v in state.items() if k.startswith(start)}
                    load(child, part_of_child, start)
            for hook in tuple(table(part, "_load_state_dict_post_hooks").values()):
                if hook(part, keys) is not None:
                    raise AssertionError(
                        "Hooks registered with ``register_load_state_dict_post_hook`` are not "
                        "expected to return new values, if incompatible_keys need to be modified, "
                        "it should be done inplace."
                    )

        load(self, OrderedDict(state_dict), "")  # a copy: hooks may change it
        if strict:
            errors = _key_errors(missing, unexpected) + errors
        if errors:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t"
                + "\n\t".join(errors)
            )
        return keys

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load this module's own state; subclasses may mend what older versions of them saved."""
        for hook in tuple(table(self, "_load_state_dict_pre_hooks").values()):
            hook(
                self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                error_msgs,
            )  # fmt: skip
        assign = bool(local_metadata.get("assign_to_params_buffers", False))
        own = _own_state(self)
        for name, member in own.items():
            key = prefix + name
            if key in state_dict:
                error = _load_one(self, name, member, key, state_dict[key], assign)
                error_msgs.extend([error] if error else [])
            elif strict:
                missing_keys.append(key)
        extra = prefix + EXTRA
        takes_extra = type(self).set_extra_state is not Saving.set_extra_state
        if takes_extra and extra in state_dict:
            self.set_extra_state(state_dict[extra])
        elif takes_extra and strict:
            missing_keys.append(extra)
        if not strict:
            return
        for key in state_dict:
            if key.startswith(prefix) and not (takes_extra and key == extra):
                first, dot, _ = key[len(prefix) :].partition(".")
                if first not in (self._modules if dot else own):
                    unexpected_keys.append(key)


def _own_state(module: Any) -> dict[str, Any]:
    """Return this module's own parameters and persistent buffers, without the absent ones."""
    own: dict[str, Any] = {
        name: param for name, param in module._parameters.items() if param is not None
    }
    for name, buffer in module._buffers.items():
        if buffer is not None and name not in module._non_persistent_buffers_set:
            own[name] = buffer
    return own


def _load_one(
    module: Any, name: str, member: Tensor, key: str, value: Any, assign: bool
) -> str | None:
    """Load one parameter or buffer; return what is wrong, if anything."""
    if not isinstance(value, Tensor):
        foreign = hasattr(value, "__dlpack__")
        hint = "; a tensor of another library becomes one by from_dlpack" if foreign else ""
        return (
            f'While copying the parameter named "{key}", expected a Tensor from checkpoint '
            f"but received {type(value)}{hint}"
        )
    if is_lazy(member):
        with no_grad():
            member.copy_(value)  # which has no shape, either: `LazyModuleMixin` has seen to it
        return None
    if member.dim() == 0 and value.dim() == 1 and len(value) == 1:
        value = value[0]  # as files of old have numbers
    if value.shape != member.shape:
        return (
            f"size mismatch for {key}: copying a param with shape {value.shape} from "
            f"checkpoint, the shape in current model is {member.shape}."
        )
    if is_set("swap"):
        return _swap_one(member, key, value, assign)
    if not assign:
        if member.is_meta and not value.is_meta:
            _warn(
                f"for {key}: copying from a non-meta parameter in the checkpoint to a meta "
                "parameter in the current model, which is a no-op. (Did you mean to pass "
                "`assign=True` to assign items in the state dictionary to their corresponding key "
                "in the module instead of copying them in place?)",
            )
        try:
            with no_grad():
                member.copy_(value)
        except Exception as error:
            return (
                f'While copying the parameter named "{key}", whose dimensions in the model are '
                f"{member.shape} and whose dimensions in the checkpoint are {value.shape}, an "
                f"exception occurred : {error.args}."
            )
        return None
    if isinstance(member, Parameter):
        if not isinstance(value, Parameter):
            value = Parameter(value, requires_grad=member.requires_grad)
        else:
            value.requires_grad_(member.requires_grad)
    setattr(module, name, value)
    return None


def _swap_one(member: Tensor, key: str, value: Tensor, assign: bool) -> str | None:
    """Exchange a parameter or buffer with what `module_load` makes of a value."""
    from autograd_cy.utils import swap_tensors  # few programs use it

    try:
        with no_grad():
            result = member.module_load(value, assign=assign)
            if result is value or result is member:
                raise RuntimeError(
                    "module_load returned one of self or other, please .detach() the result if "
                    "returning one of the inputs in module_load"
                )
            if any(_share_memory(result, t) for t in (member, value)):
                result = result.clone()  # tensors that share memory aren't exchanged
        if isinstance(member, Parameter):
            if not isinstance(result, Parameter):
                result = Parameter(result, requires_grad=member.requires_grad)
            else:
                result.requires_grad_(member.requires_grad)
        swap_tensors(member, result)
    except Exception as error:
        return (
            f'While swapping the parameter named "{key}", whose dimensions in the model are '
            f"{member.shape} and whose dimensions in the checkpoint are {value.shape}, an "
            f"exception occurred : {error.args}."
        )
    return None


def _share_memory(a: Tensor, b: Tensor) -> bool:
    return a.untyped_storage() == b.untyped_storage()


def _key_errors(missing: list[str], unexpected: list[str]) -> list[str]:
    errors = []
    for kind, keys in (("Missing", missing), ("Unexpected", unexpected)):
        if keys:
            quoted = ", ".join(f'"{key}"' for key in keys)
            errors.append(f"{kind} key(s) in state_dict: {quoted}. ")
    return errors
