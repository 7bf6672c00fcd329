"""Functions whose arguments and results are nested lists and tuples with None."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from autograd_cy import Tensor

from ._state import VariableBase
from .function import Function

__all__ = ["NestedIOFunction"]


def _is_variable(x: Any) -> bool:
    return isinstance(x, VariableBase)


def _is_tensor(x: Any) -> bool:
    return isinstance(x, Tensor)


def _mapped(
    nest: Any, is_item: Callable[[Any], bool], change: Callable[[Any], Any], what: str
) -> Any:
    """A nest with each item replaced."""
    if nest is None:
        return None
    if is_item(nest):
        return change(nest)
    if isinstance(nest, (list, tuple)):
        parts = [_mapped(part, is_item, change, what) for part in nest]
        return parts if isinstance(nest, list) else tuple(parts)
    raise ValueError(
        f"NestedIOFunction doesn't know how to process a {type(nest).__name__}; {what} may be "
        "nested in lists and tuples, with None"
    )


def _flat(nest: Any, is_item: Callable[[Any], bool], what: str) -> tuple[Any, ...]:
    """The items of a nest, without None."""
    items: list[Any] = []
    _mapped(nest, is_item, items.append, what)
    return tuple(items)


def _with_none(nest: Any) -> Iterator[Any]:
    """The gradients of a nest in order; those that are None too."""
    if isinstance(nest, (list, tuple)):
        for part in nest:
            yield from _with_none(part)
    else:
        yield nest


class _Place:
    """The stand-in of an item where only the shape of a nest is kept."""


def _skeleton(nest: Any, is_item: Callable[[Any], bool], what: str) -> Any:
    return _mapped(nest, is_item, lambda _: _Place, what)


def _refill(skeleton: Any, items: Any) -> Any:
    """The nest of a skeleton with its places filled in order."""
    rest = iter(items)
    return _mapped(skeleton, lambda x: x is _Place, lambda _: next(rest), "places")


class NestedIOFunction(Function):
    """
    A Function of nested arguments and results; users write the two ``extended`` methods.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> from autograd_cy.legacy.autograd import NestedIOFunction, Variable
    >>> class Both(NestedIOFunction):
    ...     def forward_extended(self, pair, scale):
    ...         return [pair[0] * 2, (pair[1] * 3, None)]
    ...     def backward_extended(self, grad, rest):
    ...         return (grad * 2, rest[0] * 3), None
    >>> x, y = (Variable(torch.ones(1), requires_grad=True) for _ in range(2))
    >>> double, (triple, nothing) = Both()((x, y), None)
    >>> (double + triple).backward()
    >>> y.grad.data.tolist()
    [3.0]
    """

    _nested_input: Any = None
    _nested_output: Any = None
    _to_save_nested: Any = None
    retain_variables = False

    def _do_forward(self, *inputs: Any) -> Any:
        variables = _flat(inputs, _is_variable, "Variables")
        self._nested_input = _skeleton(inputs, _is_variable, "Variables")
        self._to_save_nested = None
        outputs = super()._do_forward(*variables)
        return _refill(self._nested_output, outputs)

    def _do_backward(self, grad_outputs: Any, retain_variables: bool) -> Any:
        self.retain_variables = retain_variables
        return super()._do_backward(grad_outputs, retain_variables)

    def forward(self, *tensors: Any) -> Any:
        """Give the tensors in their nest to :meth:`forward_extended`."""
        result = self.forward_extended(*_refill(self._nested_input, tensors))
        self._nested_output = _skeleton(result, _is_tensor, "tensors")
        return _flat(result, _is_tensor, "tensors")

    def backward(self, *grad_outputs: Any, **named: Any) -> Any:
        """Give the gradients in the nest of the outputs to :meth:`backward_extended`."""
        nested = _refill(self._nested_output, grad_outputs)
        if not isinstance(nested, (list, tuple)):
            nested = (nested,)
        result = self.backward_extended(*nested)
        if not isinstance(result, tuple):
            result = (result,)
        flat = tuple(_with_none(result))
        if len(flat) != self.num_inputs and len(result) == len(self._nested_input):
            # In the nest of the arguments, where None stands for None or for a whole part.
            return tuple(_matched(self._nested_input, result))
        return flat

    def forward_extended(self, *inputs: Any, **named: Any) -> Any:
        """Compute nested outputs from nested inputs; the user writes it."""
        raise NotImplementedError(f"{type(self).__name__} has no forward_extended")

    def backward_extended(self, *grad_outputs: Any, **named: Any) -> Any:
        """Compute gradients in the nest of the inputs; the user writes it."""
        raise NotImplementedError(f"{type(self).__name__} has no backward_extended")

    # Marks keep the nest ------------------------------------------------------------------------

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep nested inputs and outputs for ``backward_extended``."""
        self.to_save = _flat(tensors, _is_tensor, "tensors")
        self._to_save_nested = _skeleton(tensors, _is_tensor, "tensors")

    @property
    def saved_tensors(self) -> Any:
        """The values of ``save_for_backward``, nested as they were."""
        flat = super().saved_tensors
        return () if self._to_save_nested is None else _refill(self._to_save_nested, flat)

    def mark_dirty(self, *args: Any) -> None:
        """Say which of the nested inputs are changed in place."""
        self.dirty_tensors = _flat(args, _is_tensor, "tensors")

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which of the nested outputs have no derivative."""
        self.non_differentiable = _flat(args, _is_tensor, "tensors")


def _matched(skeleton: Any, grads: Any) -> Iterator[Any]:
    """Gradients where the skeleton has places; None for a part stands for all of its places."""
    if skeleton is _Place:
        yield grads
    elif isinstance(skeleton, (list, tuple)):
        for i, part in enumerate(skeleton):
            yield from _matched(part, grads[i] if grads is not None and i < len(grads) else None)
