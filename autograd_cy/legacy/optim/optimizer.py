"""The base class of optimizers, which step on the data of Variables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from ..autograd import Variable
from ..tensors.wrapping import wrap

__all__ = ["Optimizer", "required"]


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required: Any = _Required()


class Optimizer:
    """
    The base of optimizers.

    Parameters
    ----------
    params : iterable of Variable or of dict
        Dicts have Variables under "params" and options that differ from `defaults`.
    defaults : dict
        The options.
    """

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]):
        if (
            isinstance(params, Variable)
            or not hasattr(params, "__iter__")
            or hasattr(params, "dim")
        ):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Variables or "
                f"dicts, but got {type(params).__name__}"
            )
        self.defaults = defaults
        self.state: Any = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, group: dict[str, Any]) -> None:
        """Add Variables with options of their own."""
        params = group["params"]
        group = {**group, "params": [params] if isinstance(params, Variable) else list(params)}
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter "
                    f"{name}"
                )
            group.setdefault(name, default)
        known = {p for other in self.param_groups for p in other["params"]}
        for p in group["params"]:
            if not isinstance(p, Variable):
                raise TypeError(
                    f"optimizer can only optimize Variables, but one of the params is "
                    f"{type(p).__name__}"
                )
            if not p.requires_grad:
                raise ValueError("optimizing a parameter that doesn't require gradients")
            if p.creator is not None:
                raise ValueError("can't optimize a non-leaf Variable")
            if p in known:
                raise ValueError("some parameters appear in more than one parameter group")
            known.add(p)
        self.param_groups.append(group)

    def zero_grad(self) -> None:
        """Fill the gradients with zeros."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad.data.zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """
        Change the parameters once.

        Parameters
        ----------
        closure : callable, optional
            Computes the loss anew, and its gradients; its result is returned.
        """
        loss = None if closure is None else closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self._update(wrap(p.data), wrap(p.grad.data), self.state[p], group)
        return loss

    def _update(self, data: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no step")

    def state_dict(self) -> dict[str, Any]:
        """State and options, with numbers in place of parameters."""
        numbers = {p: i for i, p in enumerate(p for g in self.param_groups for p in g["params"])}
        return {
            "state": {numbers[p]: state for p, state in self.state.items()},
            "param_groups": [
                {**group, "params": [numbers[p] for p in group["params"]]}
                for group in self.param_groups
            ],
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what :meth:`state_dict` gave, for parameters in the same order."""
        groups = state_dict["param_groups"]
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        sizes = [(len(g["params"]), len(s["params"])) for g, s in zip(self.param_groups, groups)]
        if any(own != other for own, other in sizes):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        own = [p for g in self.param_groups for p in g["params"]]
        saved = [number for g in groups for number in g["params"]]
        by_number = dict(zip(saved, own))
        self.state = defaultdict(dict)
        for number, state in state_dict["state"].items():
            self.state[by_number[number]] = dict(state)
        for group, other in zip(self.param_groups, groups):
            group.update({k: v for k, v in other.items() if k != "params"})
