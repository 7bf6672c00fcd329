"""The base class of optimizers: parameter groups, per-parameter state, saving and loading."""

from __future__ import annotations

import functools
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

from autograd_cy import Tensor, enable_grad, float32, float64, full, get_default_dtype
from autograd_cy._C import recorder as _recorder
from autograd_cy._C._warned import warn as _warn
from autograd_cy._lazy import attach as _attach
from autograd_cy.nn.parameter import clear_grad

from . import _hooks
from ._groups import ParamGroup as _ParamGroup
from ._groups import part_of as _part_of
from ._hooks import Hooked as _Hooked
from ._hooks import register_optimizer_step_post_hook as register_optimizer_step_post_hook
from ._hooks import register_optimizer_step_pre_hook as register_optimizer_step_pre_hook


def _labelled(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, with a label such as ``Optimizer.step#SGD.step`` in profiles."""

    @functools.wraps(method)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        run = method
        # Hooks run once where a step calls that of its base.
        if _hooks.around_step(self) and type(self).step is called:
            run = functools.partial(_hooks.hooked_step, method)
        if not _recorder._enabled():
            result = run(self, *args, **kwargs)
        else:
            name = method.__name__
            with _recorder.record_function(f"Optimizer.{name}#{type(self).__name__}.{name}"):
                result = run(self, *args, **kwargs)
        counts = sys.modules.get("autograd_cy.profiler._counts")
        # Steps are counted if somebody counts, and once where a step calls that of its base.
        if counts is not None and type(self).step is called:
            counts.KinetoStepTracker.increment_step(type(self).__name__)
        return result

    return called


#: Options that nearly all methods have got after their first files were written.
LATER: dict[str, Any] = {"maximize": False, "foreach": None, "differentiable": False}

#: Stands in ``defaults`` for an option that every group must give.
required = object()


class Optimizer(_Hooked):
    """The base class of optimizers.

    A subclass passes its options to ``super().__init__`` and defines `step`.

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor) or of dict
        What to optimize: leaves, also with their names, or groups of them with options of their
        own. Names stand in the groups as ``"param_names"`` and change nothing.
    defaults : dict
        Options that hold where a group gives none.

    Attributes
    ----------
    param_groups : list of dict
        Each has ``"params"`` and the options.
    state : dict
        What the method remembers, per parameter.

    Raises
    ------
    TypeError
        If ``params`` is a single tensor or holds anything but tensors.
    ValueError
        If there is nothing to optimize, a tensor is no leaf, one comes in two groups, or some have
        names and others have none.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> class Descent(torch.optim.Optimizer):
    ...     def __init__(self, params, lr):
    ...         super().__init__(params, {"lr": lr})
    ...
    ...     def step(self):
    ...         with torch.no_grad():
    ...             for group in self.param_groups:
    ...                 for param in group["params"]:
    ...                     param -= group["lr"] * param.grad
    >>> x = torch.tensor([2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> Descent([x], lr=0.25).step()
    >>> x
    tensor([1.], requires_grad=True)
    """

    # What states hold as tensors without dimensions, and files of others perhaps as numbers.
    _numbers_of_state: ClassVar[tuple[str, ...]] = ()
    # Options that groups in older files lack, and what the method does without them.
    _later_options: ClassVar[dict[str, Any]] = {}

    # Optimizers of others call what follows. Here steps have their hooks and names by their class,
    # and refuse by themselves what can't be captured.

    def _patch_step_function(self) -> None:
        pass

    def _cuda_graph_capture_health_check(self) -> None:
        pass

    def _accelerator_graph_capture_health_check(self) -> None:
        pass

    @staticmethod
    def profile_hook_step(func: Callable[..., Any]) -> Callable[..., Any]:
        """Return a step as it is, since the class of an optimizer adds hooks and labels."""
        return func

    @staticmethod
    def _group_tensors_by_device_and_dtype(
        tensorlistlist: list[list[Any]], with_indices: bool = False
    ) -> dict[Any, Any]:
        from ._of_others import _group_tensors_by_device_and_dtype  # for others only

        return _group_tensors_by_device_and_dtype(tensorlistlist, with_indices)

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {type(params).__name__}"
            )
        self.defaults = defaults
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __getstate__(self) -> dict[str, Any]:
        # What schedules and programs hang on the object stays with it.
        return {name: getattr(self, name) for name in ("defaults", "state", "param_groups")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Subclasses add options here that their older files lack; load_state_dict calls it, too.
        self.__dict__.update(state)
        for group in self.param_groups:
            for name, value in self._later_options.items():
                group.setdefault(name, value)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _labelled(cls.step)  # type: ignore[method-assign]

    @_labelled
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters once. A subclass defines `_update` of one group, or its own step.

        Parameters
        ----------
        closure : callable, optional
            Computes the loss anew, with gradients, and returns it.

        Returns
        -------
        Tensor or None
            What the closure returned.

        Raises
        ------
        NotImplementedError
            If the subclass defines neither.
        """
        loss = call_closure(closure)
        for group in self.param_groups:
            self._update(group)
        return loss

    def _update(self, group: dict[str, Any]) -> None:
        raise NotImplementedError(f"{type(self).__name__} defines no step.")

    @_labelled
    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters.

        Parameters
        ----------
        set_to_none : bool, optional
            Whether ``grad`` becomes None; otherwise it is filled with zeros.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> x = torch.ones(2, requires_grad=True)
        >>> x.sum().backward()
        >>> torch.optim.SGD([x], lr=0.1).zero_grad()
        >>> x.grad is None
        True
        """
        for group in self.param_groups:
            for param in group["params"]:
                clear_grad(param, set_to_none)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters with options of their own.

        Parameters
        ----------
        param_group : dict
            ``"params"`` and any options; the others come from the defaults.

        Raises
        ------
        TypeError
            If it is no dict, its parameters are a set, or hold anything but tensors.
        ValueError
            If an option is missing, a tensor is no leaf, it is in another group already, or the
        parameters of the other groups have names and these have none.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> first, second = (torch.ones(1, requires_grad=True) for _ in range(2))
        >>> optimizer = torch.optim.SGD([first], lr=0.1)
        >>> optimizer.add_param_group({"params": second, "lr": 0.2})
        >>> [group["lr"] for group in optimizer.param_groups]
        [0.1, 0.2]
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params, names = _names_apart(_as_list(param_group["params"]))
        for param in params:
            _check_leaf(param, self.defaults)
        group: dict[str, Any] = _ParamGroup({**param_group, "params": params})
        if names is not None:
            group["param_names"] = names
        if self.param_groups and ("param_names" in self.param_groups[0]) != (names is not None):
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group "
                f"{'without' if names is None else 'with'} names to the optimizer"
            )
        for name, default in self.defaults.items():
            if group.setdefault(name, default) is required:
                raise ValueError(
                    "parameter group didn't specify a value of required optimization parameter "
                    f"{name}"
                )
        self._check_duplicates(group["params"])
        self.param_groups.append(group)

    def _check_duplicates(self, params: list[Tensor]) -> None:
        ids = {id(param) for param in params}
        if len(ids) != len(params):
            _warn(
                "optimizer contains a parameter group with duplicate parameters; "
                "in future, this will cause an error",
            )
        known = chain.from_iterable(group["params"] for group in self.param_groups)
        if not ids.isdisjoint(map(id, known)):
            raise ValueError("some parameters appear in more than one parameter group")

    def state_dict(self) -> dict[str, Any]:
        """Return the state by number of parameter, and the groups with numbers for parameters.

        Returns
        -------
        dict
            ``"state"`` and ``"param_groups"``. Tensors share memory with the optimizer's.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
        >>> optimizer.state_dict()["param_groups"][0]["params"]
        [0]
        """
        _hooks.tell(self._optimizer_state_dict_pre_hooks, self)
        numbers: dict[int, int] = {}
        for param in self._params():
            numbers.setdefault(id(param), len(numbers))
        groups = [
            {**options, "params": [numbers[id(param)] for param in group["params"]]}
            for group, options in zip(self.param_groups, _without_params(self.param_groups))
        ]
        state = {numbers.get(id(key), key): value for key, value in self.state.items()}
        saved: dict[str, Any] = {"state": state, "param_groups": groups}
        return _hooks.state_after(self._optimizer_state_dict_post_hooks, self, saved)  # type: ignore[no-any-return]

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the options and the state that another optimizer of the same kind had.

        Parameters
        ----------
        state_dict : dict
            What `state_dict` returned. Tensors of floating-point state take the parameter's dtype.

        Raises
        ------
        ValueError
            If the groups do not match.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> one, other = (torch.optim.SGD([torch.ones(1)], lr=lr) for lr in (0.1, 0.2))
        >>> one.load_state_dict(other.state_dict())
        >>> one.param_groups[0]["lr"]
        0.2
        """
        before = self._optimizer_load_state_dict_pre_hooks
        if before:
            state_dict = _hooks.state_after(before, self, {**state_dict})
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        sizes = [len(group["params"]) for group in self.param_groups]
        if sizes != [len(group["params"]) for group in saved]:
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        numbers = chain.from_iterable(group["params"] for group in saved)
        params = dict(zip(numbers, self._params()))
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            param = params.get(key)
            state[key if param is None else param] = _state_for(
                param, value, self._numbers_of_state
            )
        groups = [
            _replaced(old, {**_names_of(old), **deepcopy(new), "params": old["params"]})
            for new, old in zip(_without_params(saved), self.param_groups)
        ]
        self.__setstate__({"state": state, "param_groups": groups})
        _hooks.tell(self._optimizer_load_state_dict_post_hooks, self)

    def _params(self) -> list[Tensor]:
        return list(chain.from_iterable(group["params"] for group in self.param_groups))

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
            lines.append("" if number < len(self.param_groups) - 1 else ")")
        return "\n".join(lines)


def call_closure(closure: Callable[[], Any] | None) -> Any:
    """Call a closure with recording on, and return what it returns."""
    if closure is None:
        return None
    with enable_grad():
        return closure()


def check_implementation(options: dict[str, Any]) -> None:
    """Raise a RuntimeError where two implementations are asked for at once."""
    if options["fused"] and options["differentiable"]:
        raise RuntimeError(
            "`fused` does not support `differentiable`; leave one of them out: a fused step is "
            "not recorded"
        )
    if options["foreach"] and options["fused"]:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together; leave one of them out")


def check_option(what: str, value: Any, valid: bool) -> None:
    """Raise a ValueError unless an option is valid; `what` is its name in the message."""
    if not valid:
        raise ValueError(f"Invalid {what}: {value}")


def check_rate(lr: Any) -> None:
    """Raise a ValueError where a learning rate is a tensor, but not of one element."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError(f"Tensor lr must be 1-element, but it has the shape {list(lr.shape)}")


def check_pair(name: str, value: Any) -> None:
    """Raise a TypeError, IndexError or ValueError unless an option consists of two."""
    if not hasattr(value, "__len__"):
        raise TypeError(f"{name} must be two numbers, but got {type(value).__name__}")
    if len(value) != 2:
        kind = IndexError if len(value) < 2 else ValueError
        raise kind(f"{name} must be two numbers, but got {value}")


def each_in_turn(group: dict[str, Any], params: list[Tensor]) -> list[dict[str, Any]]:
    """
    Return groups of one parameter each, if one is listed twice, and none if all differ.

    Each step of such a parameter begins with what the one before it has left, also in its state.
    """
    if len(set(map(id, params))) == len(params):
        return []
    return [_part_of(group, [param]) for param in params]


def _as_list(params: Any) -> list[Any]:
    if isinstance(params, Tensor):
        return [params]
    if isinstance(params, (set, frozenset)):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of "
            "tensors in sets will change between runs. Please use a list instead."
        )
    return list(params)


def _names_apart(params: list[Any]) -> tuple[list[Any], list[str] | None]:
    """Return the parameters, and the names if they come with them."""
    named = [isinstance(param, tuple) for param in params]
    if not any(named):
        return params, None
    if not all(named):
        raise ValueError(
            "all optimizer params should be with/without names. Some param names are missing"
        )
    for pair in params:
        if len(pair) != 2 or not isinstance(pair[0], str):
            raise TypeError(
                "optimizer can only optimize Tensors and pairs of name and Tensor, but one of the "
                f"params is a tuple of {', '.join(type(x).__name__ for x in pair) or 'nothing'}"
            )
    return [param for _, param in params], [name for name, _ in params]


def _replaced(old: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Return a group with other options, whose rate is in the same memory."""
    group = _ParamGroup(options)
    group.rates = getattr(old, "rates", {})
    group._write()
    return group


def _names_of(group: dict[str, Any]) -> dict[str, Any]:
    """Return the names of a group, which remain if loaded options have none."""
    return {"param_names": group["param_names"]} if "param_names" in group else {}


def _way_out(param: Any) -> str:
    """Return the advice that an error adds for an array, or a tensor of another library."""
    if not hasattr(param, "__array__"):
        return ""
    return (
        "; what another library made becomes a parameter by nn.Parameter(from_dlpack(x.detach())), "
        "or by nn.Parameter(from_numpy(x)) of an array"
    )


def _check_leaf(param: Any, defaults: dict[str, Any]) -> None:
    if not isinstance(param, Tensor):
        from autograd_cy import typename  # of errors

        raise TypeError(
            "optimizer can only optimize Tensors, but one of the params is "
            f"{typename(param)}{_way_out(param)}"
        )
    recorded = defaults.get("differentiable")  # such a step is given clones
    if not (recorded or param.is_leaf or param.retains_grad):
        raise ValueError("can't optimize a non-leaf Tensor")


def _without_params(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: group[name] for name in group if name != "params"} for group in groups]


def as_number(value: float) -> Tensor:
    """Return a number of a state as torch keeps it: a tensor without dimensions."""
    dtype = float64 if get_default_dtype() is float64 else float32
    return full((), value, dtype=dtype, device="cpu")


def _state_for(param: Tensor | None, value: Any, numbers: tuple[str, ...]) -> Any:
    """Return saved state in the dtype and on the device of its parameter, but for its numbers."""
    if isinstance(value, dict):
        return {
            name: _number_for(param, item, name in numbers)
            if name == "step" or name in numbers
            else _state_for(param, item, numbers)
            for name, item in value.items()
        }
    if isinstance(value, Tensor) and param is not None:
        dtype = param.dtype if param.is_floating_point() else value.dtype
        return value.to(device=param.device, dtype=dtype)
    if type(value) in (list, tuple, set):  # a list that steps change is not that of the other
        return type(value)(_state_for(param, item, numbers) for item in value)
    return value


def _number_for(param: Tensor | None, value: Any, is_tensor: bool) -> Any:
    if not is_tensor:
        return value
    value = as_number(value) if isinstance(value, (int, float)) else value
    if isinstance(value, Tensor) and param is not None and value.device != param.device:
        return value.to(param.device)  # steps read and write it there
    return value


def _find(name: str) -> Any:
    from autograd_cy.optim import _of_others

    return getattr(_of_others, name) if name in _of_others.__all__ else None


if not TYPE_CHECKING:  # type checkers name what isn't there themselves
    __getattr__ = _attach(__name__, find=_find)[0]
