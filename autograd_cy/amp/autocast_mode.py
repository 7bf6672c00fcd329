"""
Mixed precision: which operators compute in the lower dtype, which in float32, and what custom
Functions say about it.

While a thread is in `autocast`, a mode (``overrides.py``) sees its calls and converts arguments.
Without one there is no mode, so it costs nothing. The record of an operator says as `autocast` what
its arguments become, as torch documents it for the CPU. A function of ``nn.functional`` has the
policy of the operator of its name; others say it by `autocast_policy`.
Operators that others are made of aren't seen: what is made of several products has a policy of its
own.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from autograd_cy._C import overrides as _overrides
from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.dtypes import bfloat16, float16, float32, float64
from autograd_cy._C.dtypes import dtype as _dtype
from autograd_cy._C.placement import _is_usable, device
from autograd_cy._C.tensor import Tensor, _must_be_bool
from autograd_cy._interpreted import find_function, names_of
from autograd_cy._tensors import namespace, overriding

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]


class _State(threading.local):
    """The state of mixed precision in a thread."""

    def __init__(self) -> None:
        self.enabled = False
        self.dtype: _dtype = bfloat16
        self.cache_enabled = True
        self.nesting = 0
        self.pushed = 0  # how often the mode is in the stack
        self.regions = 0  # that are on, of whatever device
        self.cache: dict[tuple[int, _dtype], tuple[Tensor, int, Tensor]] = {}


_state = _State()


class _Mode(overriding.TorchFunctionMode):
    """The mode that all calls dispatch to while some `autocast` is on."""

    def __torch_function__(
        self,
        func: Callable,
        types: Any,
        args: tuple = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if not (_state.enabled or _state.regions) or kwargs.get("out") is not None:
            return func(*args, **kwargs)
        policy = getattr(func, "_autocast", "")
        if policy == "":
            policy = _policy_of_record(func)
        if policy == "padding":  # by constants and from the other end it is no arithmetic
            mode = kwargs.get("mode", args[2] if len(args) > 2 else "constant")
            policy = "float32" if mode in ("reflect", "replicate") else None
        if policy == "lower":
            return func(*_cast(args, None), **_cast(kwargs, None))
        if policy == "float32":
            return func(*_cast(args, float32), **_cast(kwargs, float32))
        if policy == "widest":
            wide = _widest([*args, *kwargs.values()])
            if wide is not None:
                args, kwargs = _cast(args, wide), _cast(kwargs, wide)
        elif policy == "input" and args and isinstance(args[0], Tensor):
            if args[0].dtype in (bfloat16, float16) and _is_on(args[0].device.type):
                return func(*_cast(args, float32), **_cast(kwargs, float32)).to(args[0].dtype)
        elif getattr(func, "_dispatches", False):
            # A function in Python: what it calls is seen as well.
            plain = func.__wrapped__  # type: ignore[attr-defined]
            return _overrides._call_within_mode(self, plain, tuple(args), dict(kwargs))
        return func(*args, **kwargs)


_mode = _Mode()


def _policy_of_record(func: Callable) -> str | None:
    """Return the policy of the operator that a function of nn.functional has its name from."""
    if not isinstance(func, FunctionType):
        return None
    policy, name = None, func.__name__
    if func.__module__ == "autograd_cy.nn.functional":
        place = names_of("nn.functional").get(name)
        operator = getattr(namespace, name, None) if place is None else find_function(*place)
        policy = getattr(operator, "_autocast", None)
    func._autocast = policy  # type: ignore[attr-defined]
    return policy


def _is_on(kind: str) -> bool:
    """Tell whether tensors on devices of a type are converted."""
    return _state.enabled if kind == "cpu" else vars(_state).get(f"enabled on {kind}", False)


def _lower(kind: str) -> _dtype:
    chosen = _state.dtype if kind == "cpu" else vars(_state).get(f"dtype on {kind}")
    return chosen or float16


def _regions() -> dict[str, _dtype]:
    """Return the dtype of each type of devices for which a region is on in this thread."""
    kinds = [name.removeprefix("enabled on ") for name in vars(_state) if name[:10] == "enabled on"]
    return {kind: _lower(kind) for kind in ("cpu", *kinds) if _is_on(kind)}


def _casts(x: Any) -> bool:
    """Return whether a value is a tensor that is converted."""
    return (
        isinstance(x, Tensor)
        and x.is_floating_point()
        and x.dtype is not float64
        and _is_on(x.device.type)
    )


def _cast(x: Any, dtype: _dtype | None) -> Any:
    """Convert the tensors of a value to a dtype (None: that of the region); containers keep their
    form."""
    if isinstance(x, Tensor):
        if x.dtype is dtype or not _casts(x):
            return x
        dtype = _lower(x.device.type) if dtype is None else dtype
        if x.dtype is dtype:
            return x
        # Parameters are converted once: they meet many products, and forwards, in a region.
        if not (_state.cache_enabled and x.requires_grad and x.is_leaf and dtype is not float32):
            return x.to(dtype)
        key = id(x), dtype
        known = _state.cache.get(key)
        if known is not None and known[0] is x and known[1] == x._version:
            return known[2]
        result = x.to(dtype)
        if result.requires_grad:  # not if gradients are off now
            _state.cache[key] = x, x._version, result
        return result
    if type(x) in (list, tuple):
        return type(x)(_cast(y, dtype) for y in x)
    if type(x) is dict:
        return {key: _cast(y, dtype) for key, y in x.items()}
    return x


def _widest(values: Any) -> _dtype | None:
    """float32 if a tensor has that, the dtype of half types that are all there is, or None."""
    dtypes: set[_dtype] = set()

    def look(x: Any) -> None:
        if isinstance(x, (list, tuple)):
            for y in x:
                look(y)
        elif _casts(x):
            dtypes.add(x.dtype)

    look(values)
    if len(dtypes) < 2:
        return None
    return float32


class autocast(_overrides.AutocastContext):
    """
    A context, or a decorator, in which products compute in a lower precision.

    Matrix products, linear layers, convolutions and attention convert float32 arguments to `dtype`;
    losses, products of elements, decompositions and a few others compute in float32; all else in
    the dtype of its arguments. Parameters are converted once and kept until the region is left.
    Backward belongs outside of it: each node computes in the dtype of its forward.

    Parameters
    ----------
    device_type : str
        ``"cpu"``, or a registered one; a region for one that isn't here changes nothing.
    dtype : dtype, optional
        ``bfloat16`` or ``float16``; by default that of `get_autocast_dtype`.
    enabled : bool, default True
        False switches off what is around.
    cache_enabled : bool, optional
        Whether converted parameters are kept.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.Linear(2, 2)
    >>> with torch.autocast("cpu", dtype=torch.bfloat16):
    ...     y = layer(torch.ones(1, 2))
    >>> y.dtype
    autograd_cy.bfloat16
    >>> y.sum().backward()
    >>> layer.weight.grad.dtype
    autograd_cy.float32
    """

    _state = _state
    _mode = _mode

    def __init__(
        self,
        device_type: str,
        dtype: _dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = device_type
        here = is_autocast_available(device_type)
        if not here and enabled:
            _warn(
                "CUDA is not available or torch_xla is imported. Disabling autocast."
                if device_type == "cuda"
                else f"User provided device_type of '{device_type}', but it is not available. "
                "Disabling",
            )
        _must_be_bool("autocast", "enabled", enabled)
        if cache_enabled is not None:
            _must_be_bool("autocast", "cache_enabled", cache_enabled)
        kind = device(device_type).type if here else "cpu"
        chosen = get_autocast_dtype(kind) if dtype is None else dtype
        if here and enabled and chosen not in (bfloat16, float16):
            _warn(
                f"In {kind.upper()} autocast, but the target dtype is not supported. Disabling "
                f"autocast.\n{kind.upper()} Autocast only supports dtype of bfloat16, float16 "
                f"currently, not {chosen}.",
            )
            enabled = False
        self._hold(kind, bool(enabled and here), here, chosen, cache_enabled)

    def clone(self) -> autocast:
        """Return a fresh context of the same kind."""
        return autocast(*self.__reduce__()[1])

    def __reduce__(self) -> tuple[Any, ...]:
        return autocast, (self.device, self.fast_dtype, self._enabled, self._cache_enabled)

    def __call__(self, func: Callable) -> Callable:
        @functools.wraps(func)
        def within(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return func(*args, **kwargs)

        return within


def _push() -> None:
    _state.pushed += 1
    overriding._push_mode(_mode)


def _pop() -> None:
    overriding._pop_mode()
    _state.pushed -= 1


def is_autocast_available(device_type: str) -> bool:
    """
    Return whether `autocast` does something for a device.

    Parameters
    ----------
    device_type : str

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.amp.is_autocast_available("cpu")
    True
    """
    place = device(device_type)
    if place.type in ("cpu", "meta"):
        return place.type == "cpu"
    if not _is_usable(place):
        return False
    from autograd_cy._C.streams import _device_count  # which the CPU needs for nothing

    return _device_count(place.type) > 0


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """
    Return whether this is run in an `autocast` for a device.

    Parameters
    ----------
    device_type : str, default "cuda"
        As in torch; one asks for ``"cpu"``.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as torch
    >>> with torch.autocast("cpu"):
    ...     torch.is_autocast_enabled("cpu"), torch.is_autocast_enabled()
    (True, False)
    """
    return _is_on(device(device_type).type)


def set_autocast_enabled(device_type: str | bool, enabled: bool | None = None) -> None:
    """
    Switch conversion on or off in this thread, until an `autocast` is entered or left.

    Parameters
    ----------
    device_type : str
        ``"cpu"``, or a registered one; for others nothing happens.
    enabled : bool

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.set_autocast_enabled("cpu", False)
    """
    if isinstance(device_type, bool) or not is_autocast_available(device_type):
        return
    _must_be_bool("set_autocast_enabled", "enabled", enabled)
    kind = device(device_type).type
    if kind == "cpu":
        _state.enabled = bool(enabled)
    else:
        _state.regions += bool(enabled) - _is_on(kind)
        vars(_state)[f"enabled on {kind}"] = bool(enabled)
    if enabled and not _state.pushed:
        _push()
    elif not enabled and _state.pushed and not _state.nesting:
        _pop()


def get_autocast_dtype(device_type: str) -> _dtype:
    """
    Return the dtype in which an `autocast` computes that names none.

    Parameters
    ----------
    device_type : str

    Returns
    -------
    dtype

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.get_autocast_dtype("cpu")
    autograd_cy.bfloat16
    """
    return _lower(device(device_type).type)


def set_autocast_dtype(device_type: str, dtype: _dtype) -> None:
    """
    Choose the dtype in which an `autocast` computes that names none, in this thread.

    Parameters
    ----------
    device_type : str
        ``"cpu"``, or a registered one; for others nothing happens.
    dtype : dtype

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.set_autocast_dtype("cpu", torch.bfloat16)
    """
    kind = device(device_type).type
    if kind == "cpu":
        _state.dtype = dtype
    elif is_autocast_available(kind):
        vars(_state)[f"dtype on {kind}"] = dtype


def is_autocast_cpu_enabled() -> bool:
    """
    Return ``is_autocast_enabled("cpu")``, which took its place.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.is_autocast_cpu_enabled()
    False
    """
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """
    Call ``set_autocast_enabled("cpu", enabled)``, which took its place.

    Parameters
    ----------
    enabled : bool

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.set_autocast_cpu_enabled(False)
    """
    set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> _dtype:
    """
    Return ``get_autocast_dtype("cpu")``, which took its place.

    Returns
    -------
    dtype

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.get_autocast_cpu_dtype()
    autograd_cy.bfloat16
    """
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> _dtype:
    """Return ``get_autocast_dtype("cuda")``, which took its place."""
    return get_autocast_dtype("cuda")


def set_autocast_cpu_dtype(dtype: _dtype) -> None:
    """
    Call ``set_autocast_dtype("cpu", dtype)``, which took its place.

    Parameters
    ----------
    dtype : dtype

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.set_autocast_cpu_dtype(torch.bfloat16)
    """
    set_autocast_dtype("cpu", dtype)


def is_autocast_cache_enabled() -> bool:
    """
    Return whether converted parameters are kept until the region is left.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.is_autocast_cache_enabled()
    True
    """
    return _state.cache_enabled


def set_autocast_cache_enabled(enabled: bool) -> None:
    """
    Say whether converted parameters are kept, in this thread.

    Parameters
    ----------
    enabled : bool

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.set_autocast_cache_enabled(True)
    """
    _must_be_bool("set_autocast_cache_enabled", "enabled", enabled)
    _state.cache_enabled = enabled


def clear_autocast_cache() -> None:
    """
    Forget the converted parameters, as the end of the outermost `autocast` does.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.clear_autocast_cache()
    """
    _state.cache.clear()


def autocast_increment_nesting() -> int:
    """
    Begin a region by hand; what is converted in it is kept until its end.

    Returns
    -------
    int
        How many regions are around, with this one.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.autocast_increment_nesting(), torch.autocast_decrement_nesting()
    (1, 0)
    """
    _state.nesting += 1
    return _state.nesting


def autocast_decrement_nesting() -> int:
    """
    End a region that `autocast_increment_nesting` began.

    Returns
    -------
    int
        How many are still around.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.autocast_increment_nesting(), torch.autocast_decrement_nesting()
    (1, 0)
    """
    _state.nesting -= 1
    return _state.nesting


def custom_fwd(
    fwd: Callable | None = None, *, device_type: str, cast_inputs: _dtype | None = None
) -> Callable:
    """
    Decorate the ``forward`` of a Function, for use in and outside of `autocast`.

    Parameters
    ----------
    fwd : callable
        The method.
    device_type : str
        ``"cpu"``.
    cast_inputs : dtype, optional
        In an `autocast`, floating-point tensors among the arguments are converted to it, and the
        method runs without. Left out, it runs as its surroundings do.

    Returns
    -------
    callable

    Examples
    --------
    >>> import autograd_cy as torch
    >>> class Product(torch.autograd.Function):
    ...     @staticmethod
    ...     @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    ...     def forward(ctx, x, y):
    ...         ctx.save_for_backward(x, y)
    ...         return x @ y
    ...
    ...     @staticmethod
    ...     @torch.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, grad):
    ...         x, y = ctx.saved_tensors
    ...         return grad @ y.t(), x.t() @ grad
    >>> with torch.autocast("cpu"):
    ...     Product.apply(torch.ones(1, 1), torch.ones(1, 1)).dtype
    autograd_cy.float32
    """
    _check_device_type(device_type, "custom_fwd")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        ctx._dtype = get_autocast_dtype(device_type)
        within = is_autocast_enabled(device_type)
        if cast_inputs is None or not within:
            ctx._fwd_used_autocast = within and cast_inputs is None
            return fwd(*args, **kwargs)
        ctx._fwd_used_autocast = False
        with autocast(device_type, enabled=False):
            return fwd(*_converted(args, cast_inputs), **_converted(kwargs, cast_inputs))

    return decorated


def custom_bwd(bwd: Callable | None = None, *, device_type: str) -> Callable:
    """
    Decorate the ``backward`` of a Function so that it runs as `custom_fwd` ran its ``forward``.

    Parameters
    ----------
    bwd : callable
        The method.
    device_type : str
        ``"cpu"``.

    Returns
    -------
    callable

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.amp import custom_bwd, custom_fwd
    >>> class Product(torch.autograd.Function):
    ...     @staticmethod
    ...     @custom_fwd(device_type="cpu")
    ...     def forward(ctx, a, b):
    ...         ctx.save_for_backward(a, b)
    ...         return a @ b
    ...     @staticmethod
    ...     @custom_bwd(device_type="cpu")
    ...     def backward(ctx, grad):
    ...         a, b = ctx.saved_tensors
    ...         return grad @ b.T, a.T @ grad
    >>> a = torch.ones(2, 2, requires_grad=True)
    >>> with torch.autocast("cpu"):
    ...     c = Product.apply(a, torch.ones(2, 2))
    >>> c.float().sum().backward()
    >>> a.grad
    tensor([[2., 2.],
            [2., 2.]])
    """
    _check_device_type(device_type, "custom_bwd")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(*args, **kwargs)

    return decorated


def _check_device_type(device_type: Any, name: str) -> None:
    if not isinstance(device_type, str):
        raise ValueError(
            f"Expected `device_type` of type `str` in {name}, got: `{type(device_type)}`"
        )


def _converted(value: Any, dtype: _dtype) -> Any:
    if isinstance(value, Tensor):
        if value.is_floating_point() and value.dtype is not float64:
            return value.to(dtype)
        return value
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, Mapping):
        return {_converted(k, dtype): _converted(v, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_converted(v, dtype) for v in value)
    return value
