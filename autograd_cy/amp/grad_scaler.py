"""Losses scaled up before backward, so that small gradients of float16 don't become zero."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.creation import tensor
from autograd_cy._C.tensor import Tensor
from autograd_cy.autograd.grad_mode import no_grad

__all__ = ["GradScaler"]


class GradScaler:
    """
    Scales losses, takes the scale out of gradients, and finds one that doesn't overflow.

    Training in bfloat16 needs none: its range is that of float32.

    Parameters
    ----------
    device : str, default "cuda"
        ``"cpu"``; for other devices it does nothing, and says so for ``"cuda"``.
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
        self._enabled = enabled and kind == "cpu"
        if enabled and kind == "cuda":
            _warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.",
            )
        if self._enabled and growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if self._enabled and backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._scale = float(init_scale)
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._growth_tracker = 0
        # Since the last update: optimizers, with whether they overflow, and those that stepped.
        self._found: dict[int, bool | None] = {}
        self._stepped: set[int] = set()

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
            return outputs * self._scale
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
        """
        if not self._enabled:
            return
        if id(optimizer) in self._stepped:
            raise RuntimeError("unscale_() is being called after step().")
        if id(optimizer) in self._found:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        inverse = tensor(1.0 / self._scale).item()
        overflow: bool | None = None  # as long as no gradient was looked at
        with no_grad():
            for group in optimizer.param_groups:
                for param in group["params"]:
                    if param.grad is not None:
                        param.grad.mul_(inverse)
                        overflow = overflow or not bool(param.grad.isfinite().all())
        self._found[id(optimizer)] = overflow

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """
        Let an optimizer step, unless a gradient is infinite or NaN.

        Parameters
        ----------
        optimizer : Optimizer
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
            If no parameter has a gradient.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        if id(optimizer) in self._stepped:
            raise RuntimeError("step() has already been called since the last update().")
        if id(optimizer) not in self._found:
            self.unscale_(optimizer)
        if self._found[id(optimizer)] is None:
            raise AssertionError(
                "No inf checks were recorded for this optimizer: no parameter of it has a gradient."
            )
        self._stepped.add(id(optimizer))
        return None if self._found[id(optimizer)] else optimizer.step(*args, **kwargs)

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
        if new_scale is not None:
            self._scale = float(new_scale)
        elif all(overflow is None for overflow in self._found.values()):
            raise AssertionError("No inf checks were recorded prior to update.")
        elif any(self._found.values()):
            self._scale *= self._backoff_factor
            self._growth_tracker = 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                self._scale *= self._growth_factor
                self._growth_tracker = 0
        self._found.clear()
        self._stepped.clear()

    def get_scale(self) -> float:
        """Return the scale; 1.0 if this is not enabled."""
        return self._scale if self._enabled else 1.0

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
            "scale": self._scale,
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
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
        self._scale = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._growth_tracker = state_dict["_growth_tracker"]
