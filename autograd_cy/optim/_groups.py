"""Groups of parameters, whose learning rate is also in memory that steps read when they run."""

from __future__ import annotations

from typing import Any

from autograd_cy import (
    Tensor,
    float64,
    get_default_dtype,
    view_as_complex,
    view_as_real,
    zeros_like,
)
from autograd_cy._C.launch import is_capturing
from autograd_cy._C.optimize import put_number, state_like, state_number


class ParamGroup(dict[str, Any]):
    """A group of parameters with its options: a dict that writes its learning rate into memory.

    A step that was captured reads the rate there, so that it follows what a schedule, or a program
    with ``group["lr"] = x``, has put into the group since.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
    >>> isinstance(optimizer.param_groups[0], dict)
    True
    """

    # By device: the rate in memory, and the number that was written there last.
    rates: dict[Any, tuple[Tensor, Any]]
    # Whether it was made while launches are captured, which then make its state anew as well.
    captured: bool

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.rates = {}
        self.captured = is_capturing()

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        if name == "lr":
            self._write()

    def update(self, *args: Any, **options: Any) -> None:
        super().update(*args, **options)
        self._write()

    def __ior__(self, other: Any) -> ParamGroup:  # type: ignore[misc, override]
        self.update(other)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (ParamGroup, (dict(self),))

    def __deepcopy__(self, memo: dict[int, Any]) -> ParamGroup:
        from copy import deepcopy

        return ParamGroup(deepcopy(dict(self), memo))

    def __copy__(self) -> ParamGroup:
        return ParamGroup(self)

    def rate_on(self, param: Tensor) -> Tensor:
        """Return the rate in memory on the device of a parameter."""
        rate = float(self["lr"])
        known = self.rates.get(param.device)
        if known is None:
            memory = state_number(param, rate, wide=True, again=is_made_anew(self))
            known = self.rates[param.device] = (memory, rate)
        elif known[1] != rate:
            self._write()
        return known[0]

    def _write(self) -> None:
        """Write the rate to where steps read it."""
        rate = self.get("lr")
        for place, (memory, before) in self.rates.items():
            if isinstance(rate, Tensor):
                memory.copy_(rate.detach().reshape(()))
                self.rates[place] = (memory, None)
            elif isinstance(rate, (int, float)) and rate != before:
                put_number(memory, float(rate))
                self.rates[place] = (memory, float(rate))


def part_of(group: dict[str, Any], params: list[Tensor]) -> dict[str, Any]:
    """Return a group of some of the parameters, which has the rate of all in the same memory."""
    part = ParamGroup({**group, "params": params})
    if isinstance(group, ParamGroup):
        part.rates, part.captured = group.rates, group.captured
    return part


def is_made_anew(group: dict[str, Any]) -> bool:
    """Tell whether what is captured now begins with the making of the group."""
    return getattr(group, "captured", False) and is_capturing()


def first_array(group: dict[str, Any], param: Tensor, value: float | Tensor = 0.0) -> Tensor:
    """Return state of its parameter's strides; a recorded step keeps the value's history."""
    if group.get("differentiable"):
        zeros = zeros_like(param)
        if param.is_complex():  # whose parts are parameters of their own
            return view_as_complex(view_as_real(zeros) + value)
        return zeros + value
    return state_like(param, float(value), is_made_anew(group))


def first_number(group: dict[str, Any], param: Tensor, value: float | Tensor = 0.0) -> Tensor:
    """Return a number of a state, on the device of its parameter, in the dtype that torch has."""
    if group.get("differentiable") and isinstance(value, Tensor):
        return value
    wide = get_default_dtype() is float64
    return state_number(param, float(value), wide, is_made_anew(group))
