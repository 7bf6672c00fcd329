"""Losses scaled up before backward, so that small gradients of float16 don't become zero."""

from __future__ import annotations

import enum
import inspect
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.creation import full, zeros
from autograd_cy._C.dtypes import float16, float32, int32
from autograd_cy._C.launch import _note_term, is_capturing
from autograd_cy._C.tensor import Tensor
from autograd_cy._interpreted import Family
from autograd_cy.amp.autocast_mode import is_autocast_available
from autograd_cy.autograd.grad_mode import enable_grad, no_grad

__all__ = ["GradScaler"]

_lists = Family("ops_optimizers")


class OptState(enum.Enum):
    """The progress of an optimizer since the last ``update``."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class GradScaler:
    """
    Scale losses, take the scale out of gradients, and find one that doesn't overflow.

    Training in bfloat16 needs none: its range is that of float32.

    Parameters
    ----------
    device : str, default "cuda"
        ``"cpu"``, or another one that was registered; for others it does nothing, and says so for
        ``"cuda"``.
    init_scale : float
        The first scale.
    growth_factor, backoff_factor : float
        By which it is multiplied after `growth_interval` steps without, and after each with an
        overflow, which is left out.
    growth_interval : int
    enabled : bool, default True
        False makes every method do the plain thing.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> w = torch.nn.Parameter(torch.ones(1))
    >>> optimizer = torch.optim.SGD([w], lr=0.5)
    >>> scaler = torch.amp.GradScaler("cpu")
    >>> scaler.scale(w.sum()).backward()
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> w.item()
    0.5
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        kind = str(device).partition(":")[0]
        self._enabled = enabled and _computes(kind)
        if enabled and kind == "cuda" and not self._enabled:
            _warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.",
            )
        if self._enabled and growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if self._enabled and backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        # Tensors from the first `scale` on, as fused optimizers take them.
        self._scale: Tensor | None = None
        self._growth_tracker: Tensor | None = None
        self._init_scale = float(init_scale)
        self._init_growth_tracker = 0
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        # Since the last update, by the id of an optimizer: how far it is, and by device 1.0 if a
        # gradient was infinite or NaN.
        self._per_optimizer_states: defaultdict[int, dict[str, Any]] = defaultdict(_fresh_state)

    # Other scalers override methods with one underscore, and steps that get the scaler call them.

    def _lazy_init_scale_growth_tracker(self, dev: Any) -> None:
        """Make the scale a tensor, on the device of the first losses."""
        if self._growth_tracker is not None:
            raise AssertionError("_growth_tracker initialized before _scale")
        self._scale = full((), self._init_scale, dtype=float32, device=dev)
        self._growth_tracker = full((), self._init_growth_tracker, dtype=int32, device=dev)

    def _check_scale_growth_tracker(self, funcname: str) -> tuple[Tensor, Tensor]:
        """Return scale and count, or raise AssertionError before the first losses."""
        if self._scale is None or self._growth_tracker is None:
            raise AssertionError(
                f"Attempted {funcname} but _scale is None.  This may indicate your script did not "
                "use scaler.scale(loss or outputs) earlier in the iteration."
            )
        return self._scale, self._growth_tracker

    def scale(self, outputs: Any) -> Any:
        """
        Multiply losses by the scale.

        Parameters
        ----------
        outputs : Tensor or iterable of Tensor

        Returns
        -------
        Tensor or iterable of Tensor
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._lazy_init_scale_growth_tracker(outputs.device)
            scale, _ = self._check_scale_growth_tracker("scale")
            return outputs * _on(scale, outputs.device)
        if isinstance(outputs, Iterable):
            scaled = map(self.scale, outputs)
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Any) -> None:
        """
        Take the scale out of the gradients of an optimizer, as clipping them needs.

        Parameters
        ----------
        optimizer : Optimizer

        Raises
        ------
        RuntimeError
            If that was done since the last update.
        ValueError
            If a gradient is float16: it would lose what the scale has kept.
        """
        if not self._enabled:
            return
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        scale, _ = self._check_scale_growth_tracker("unscale_")
        # A reciprocal of float32 would not be rounded as that of float64 is.
        inverse = scale.double().reciprocal().float()
        found_inf = zeros((), dtype=float32, device=scale.device)
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, inverse, found_inf, False)
        state["stage"] = OptState.UNSCALED

    def _unscale_grads_(
        self, optimizer: Any, inv_scale: Tensor, found_inf: Tensor, allow_fp16: bool
    ) -> dict[Any, Tensor]:
        """Multiply gradients; return `found_inf` by device, 1 where one is infinite or NaN."""
        return _unscale_grads(optimizer, inv_scale, found_inf, allow_fp16)

    def _check_inf_per_device(self, optimizer: Any) -> dict[Any, Tensor]:
        """Look for gradients that aren't finite, and leave the scale in them."""
        scale, _ = self._check_scale_growth_tracker("_check_inf_per_device")
        one = full((), 1.0, dtype=float32, device=scale.device)
        found_inf = zeros((), dtype=float32, device=scale.device)
        per_device = self._unscale_grads_(optimizer, one, found_inf, True)
        self._per_optimizer_states[id(optimizer)]["found_inf_per_device"] = per_device
        return per_device

    def _found_inf_per_device(self, optimizer: Any) -> dict[Any, Tensor]:
        """Return what was found since the last update."""
        return self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]  # type: ignore[no-any-return]

    def _maybe_opt_step(
        self, optimizer: Any, optimizer_state: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        """Let the optimizer step if all gradients were finite."""
        return None if _overflow(optimizer_state) else optimizer.step(*args, **kwargs)

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """
        Let an optimizer step, unless a gradient is infinite or NaN.

        Parameters
        ----------
        optimizer : Optimizer
            One with a true ``_step_supports_amp_scaling`` unscales and looks for overflow itself:
            it gets this scaler if its ``step`` has an argument ``grad_scaler``, and otherwise finds
            tensors as its attributes ``grad_scale`` (None if gradients are unscaled already) and
            ``found_inf``.
        *args, **kwargs
            For its ``step``; a closure isn't possible.

        Returns
        -------
        object
            What ``step`` returns, or None.

        Raises
        ------
        RuntimeError
            If it stepped since the last update, or a closure is given.
        AssertionError
            If no parameter has a gradient, or nothing was scaled yet.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale_growth_tracker("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            result = self._step_of_one_that_scales(optimizer, state, args, kwargs)
        else:
            if state["stage"] is OptState.READY:
                self.unscale_(optimizer)
            if not state["found_inf_per_device"]:
                raise AssertionError(NO_CHECKS)
            result = self._maybe_opt_step(optimizer, state, *args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def _step_of_one_that_scales(
        self, optimizer: Any, state: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            _warn(
                "GradScaler is going to stop passing itself as a keyword argument to the passed "
                "optimizer. In the near future GradScaler registers `grad_scale: Tensor` and "
                "`found_inf: Tensor` to the passed optimizer and let the optimizer use them "
                "directly.",
                FutureWarning,
            )
            return optimizer.step(*args, **kwargs, grad_scaler=self)
        scale, _ = self._check_scale_growth_tracker("step")
        if state["stage"] is OptState.READY:
            self._check_inf_per_device(optimizer)
        if not state["found_inf_per_device"]:
            state["stage"] = OptState.UNSCALED  # as others are, of which nothing is found, too
            raise AssertionError(NO_CHECKS)
        optimizer.grad_scale = None if state["stage"] is OptState.UNSCALED else scale
        optimizer.found_inf = _together([state], scale.device)
        try:
            return optimizer.step(*args, **kwargs)
        finally:
            del optimizer.grad_scale, optimizer.found_inf

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """
        Adapt the scale, after all steps of an iteration.

        Parameters
        ----------
        new_scale : float or Tensor, optional
            The scale from now on.

        Raises
        ------
        AssertionError
            If no gradients were looked at since the last update.
        """
        if not self._enabled:
            return
        scale, tracker = self._check_scale_growth_tracker("update")
        states = self._per_optimizer_states.values()
        if is_capturing():
            _note_term(self, _make_replay_check)
        if new_scale is not None:
            if isinstance(new_scale, Tensor) and (
                new_scale.numel() != 1 or new_scale.requires_grad
            ):
                raise AssertionError(
                    "new_scale should be a float or a 1-element torch.FloatTensor with "
                    "requires_grad=False."
                )
            with no_grad():
                scale.copy_(new_scale) if isinstance(new_scale, Tensor) else scale.fill_(new_scale)
        elif not any(state["found_inf_per_device"] for state in states):
            raise AssertionError("No inf checks were recorded prior to update.")
        else:
            _lists._amp_update_scale_(
                scale,
                tracker,
                _together(states, scale.device),
                self._growth_factor,
                self._backoff_factor,
                self._growth_interval,
            )
        self._per_optimizer_states.clear()

    def _get_scale_async(self) -> Tensor | None:
        return self._scale

    def get_scale(self) -> float:
        """Return the scale; 1.0 if this is not enabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self) -> float:
        """Return the growth factor."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set the growth factor."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """Return the backoff factor."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set the backoff factor."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Return the growth interval."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set the growth interval."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Return whether this does anything."""
        return self._enabled

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        tracker = self._growth_tracker
        return self._init_growth_tracker if tracker is None else int(tracker.item())

    def state_dict(self) -> dict[str, Any]:
        """
        Return scale, factors and counts; nothing if this is not enabled.

        Returns
        -------
        dict
        """
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """
        Take what `state_dict` gave.

        Parameters
        ----------
        state_dict : dict

        Raises
        ------
        RuntimeError
            If it is empty, as of a scaler that was not enabled.
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled "
                "instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(state_dict["_growth_tracker"])

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if self._enabled:
            if self._per_optimizer_states:
                raise AssertionError(
                    "A GradScaler instance may only be pickled at the beginning of an iteration, "
                    "or at the end after scaler.update()."
                )
            # The copy begins with numbers.
            state["_init_scale"] = self.get_scale()
            state["_init_growth_tracker"] = self._get_growth_tracker()
            state["_scale"] = state["_growth_tracker"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def _fresh_state() -> dict[str, Any]:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


NO_CHECKS = "No inf checks were recorded for this optimizer: no parameter of it has a gradient."


def _computes(kind: str) -> bool:
    """Tell whether there are tensors with values on a kind of device."""
    try:
        return is_autocast_available(kind)
    except RuntimeError:
        return False


def _on(number: Tensor, device: Any) -> Tensor:
    """Return a number on a device; its memory is shared if it is there."""
    return number if number.device == device else number.to(device)


def _overflow(state: dict[str, Any]) -> bool:
    """Read whether a gradient wasn't finite, for optimizers that don't do it themselves."""
    return any(flag.item() != 0 for flag in state["found_inf_per_device"].values())


def _make_replay_check(scaler: GradScaler, births: set[int]) -> Callable[[], str | None]:
    """Return a function that says which number of a captured update was changed since."""
    there = weakref.ref(scaler)
    names = ("growth_factor", "backoff_factor", "growth_interval")
    before = [getattr(scaler, f"_{name}") for name in names]

    def reason() -> str | None:
        current = there()
        for name, value in zip(names, before):
            if current is not None and getattr(current, f"_{name}") != value:
                return f"GradScaler: the {name} has changed"
        return None

    return reason


def _together(states: Iterable[dict[str, Any]], device: Any) -> Tensor:
    """Return a tensor that isn't 0 where some gradient on some device wasn't finite."""
    flags = [x for state in states for x in state["found_inf_per_device"].values()]
    total = _on(flags[0], device)
    for one in flags[1:]:
        total = total + _on(one, device)
    return total


def _unscale_grads(
    optimizer: Any, inverse: Tensor, found_inf: Tensor, halves: bool
) -> dict[Any, Tensor]:
    """Do what `GradScaler._unscale_grads_` says; `halves`: gradients may be float16."""
    grads: dict[Any, list[Tensor]] = {}
    recorded: list[Tensor] = []
    differentiable = (getattr(optimizer, "defaults", None) or {}).get("differentiable")
    for group in optimizer.param_groups:
        for param in group["params"]:
            if param.grad is None:
                continue
            if not halves and param.grad.dtype is float16:
                raise ValueError("Attempting to unscale FP16 gradients.")
            if differentiable and param.grad.requires_grad:
                recorded.append(param)
            else:
                grads.setdefault(param.grad.device, []).append(param.grad)
    per_device: dict[Any, Tensor] = {}
    with no_grad():
        for device, some in grads.items():
            per_device[device] = _on(found_inf, device)
            _lists._amp_foreach_non_finite_check_and_unscale_(
                some, per_device[device], _on(inverse, device)
            )
    if recorded:
        _unscale_in_graph(recorded, inverse, found_inf, per_device)
    return per_device


def _unscale_in_graph(
    params: list[Tensor], inverse: Tensor, found_inf: Tensor, per_device: dict[Any, Tensor]
) -> None:
    """Unscale gradients of steps that are recorded as a part of the graph; note in `per_device`."""
    one = full((), 1.0, dtype=float32)
    for param in params:
        with enable_grad():
            grad = param.grad = param.grad * _on(inverse, param.device)
        if grad.device not in per_device:
            per_device[grad.device] = _on(found_inf, grad.device)
        with no_grad():  # by 1, since they are unscaled already
            _lists._amp_foreach_non_finite_check_and_unscale_(
                [grad.detach()], per_device[grad.device], _on(one, grad.device)
            )
