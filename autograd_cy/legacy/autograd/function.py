"""
Functions of the old style: an instance is one operation, called with Variables.

How a call is recorded when it saves or marks something is in `_recording`; `NestedIOFunction`
is in `_nested`, the walk backwards in `engine`.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from autograd_cy.utils.hooks import RemovableHandle

from ..tensors.wrapping import CLASSES, wrap
from . import _recording
from ._state import VariableBase
from ._versions import share

__all__ = ["Function", "InplaceFunction", "NestedIOFunction"]

# The classes of tensors; anything else is made one of them on its way in and out.
ERA: frozenset[type] = frozenset(CLASSES.values())
_new = object.__new__
_NEEDS_GRAD, _NO_GRAD = (True,), (False,)
_Variable: Any = VariableBase


def _bind(variable: type) -> None:
    """Name the class of results: Variables are made of Functions, so they come later."""
    global _Variable
    _Variable = variable
    _recording.bind(variable)


class Function:
    """
    An operation with a derivative that the user writes; an instance of it is one call.

    ``forward`` gets and returns tensors, ``backward`` gets gradients of the outputs and returns
    those of the inputs.

    Attributes
    ----------
    needs_input_grad : tuple of bool
        Which inputs require grad; set before ``forward``.
    num_inputs, num_outputs : int
    previous_functions : tuple
        For each input the Function that made it, or the leaf, and which output it was.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> from autograd_cy.legacy.autograd import Function, Variable
    >>> class Scale(Function):
    ...     def __init__(self, factor):
    ...         self.factor = factor
    ...     def forward(self, x):
    ...         return x * self.factor
    ...     def backward(self, grad):
    ...         return grad * self.factor
    >>> x = Variable(torch.ones(2), requires_grad=True)
    >>> Scale(3)(x).backward(torch.ones(2))
    >>> x.grad.data.tolist()
    [3.0, 3.0]
    """

    needs_input_grad: tuple[bool, ...] = ()
    num_inputs: int = 0
    num_outputs: int = 0
    previous_functions: tuple[tuple[Any, int], ...] = ()

    inplace: bool = False
    to_save: Any = None
    dirty_tensors: Any = None
    shared_pairs: Any = None
    non_differentiable: Any = None

    # Whether gradients are what they should be without a look; so are those of this package.
    _trusted = False
    _is_stochastic = False
    _requires_grad = False
    _saved: tuple[Any, ...] = ()
    _versions: tuple[Any, ...] = ()
    _outputs: Any = None
    _inputs: Any = None
    _output_hooks: Any = None
    _backward_hooks: Any = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._trusted = cls.__module__.startswith(f"{__package__}._functions.")
        # One call less for those of this package; classes derived from them may override it.
        if cls._trusted:
            cls.__call__ = cls._do_forward  # type: ignore[method-assign]
        elif cls.__call__.__name__ == "_do_forward":
            cls.__call__ = Function.__call__  # type: ignore[method-assign]

    # What users write ---------------------------------------------------------------------------

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """Compute the outputs, a tensor or a tuple of tensors, from tensors."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def backward(self, *grad_outputs: Any, **named: Any) -> Any:
        """Compute the gradient of each input, a tensor or None, from those of the outputs."""
        raise NotImplementedError(f"{type(self).__name__} has no backward")

    # What `forward` may say ---------------------------------------------------------------------

    def save_for_backward(self, *tensors: Any) -> None:
        """
        Keep inputs, outputs or None for ``backward``, as ``saved_tensors``.

        Call it at most once, in ``forward``.
        """
        self.to_save = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Say which inputs ``forward`` changes in place."""
        self.dirty_tensors = args

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Say which pairs of an input and an output share memory."""
        self.shared_pairs = pairs

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which outputs have no derivative."""
        self.non_differentiable = args

    @property
    def requires_grad(self) -> bool:
        """True if an input requires grad, and so the outputs do."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: Any) -> None:
        if value is not True and value is not False:
            raise TypeError(f"requires_grad must be a bool, but got {type(value).__name__}")
        self._requires_grad = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The values of ``save_for_backward``, if nothing has changed them since."""
        for version, count in self._versions:
            if version.count != count:
                _recording.refuse_saved(self)
        return self._saved

    # A call -------------------------------------------------------------------------------------

    def __call__(self, *inputs: Any) -> Any:
        return self._do_forward(*inputs)

    def _do_forward(self, *inputs: Any) -> Any:
        """Run ``forward`` on the tensors of Variables and make its results Variables."""
        if self.num_inputs:
            _recording.forget(self)
        volatile = False
        tensors: Any
        if len(inputs) == 1:
            # As below, without its lists.
            (v,) = inputs
            if not isinstance(v, VariableBase):
                _recording.refuse_argument(self, 0, v)
            t = v._tensor
            if type(t) not in ERA:
                t = wrap(t)
            tensors = (t,)
            self.num_inputs = 1
            if v._is_volatile:
                volatile = True
                self.needs_input_grad = _NO_GRAD
            else:
                maker = v._maker
                self.previous_functions = ((v, 0) if maker is None else (maker, v.output_nr),)
                if v._needs_grad:
                    self._requires_grad = True
                    self.needs_input_grad = _NEEDS_GRAD
                else:
                    self.needs_input_grad = _NO_GRAD
        else:
            tensors = []
            needs = []
            previous: list[tuple[Any, int]] = []
            for v in inputs:
                if not isinstance(v, VariableBase):
                    _recording.refuse_argument(self, len(tensors), v)
                t = v._tensor
                tensors.append(t if type(t) in ERA else wrap(t))
                needs.append(v._needs_grad)
                if v._is_volatile:
                    volatile = True
                maker = v._maker
                previous.append((v, 0) if maker is None else (maker, v.output_nr))
            self.num_inputs = len(needs)
            if volatile:
                self.needs_input_grad = (False,) * len(needs)
            else:
                self.needs_input_grad = tuple(needs)
                self.previous_functions = tuple(previous)
                if True in needs:
                    self._requires_grad = True
        if not self._trusted:
            result = self.forward(*tensors)
            return _recording.record(self, inputs, tensors, result, volatile)
        if self.inplace:
            # Before anything changes; those of users are checked by what they have marked.
            inputs[0]._refuse_if_shared()
            if not volatile:
                inputs[0]._refuse_leaf()
        result = self.forward(*tensors)
        if self.dirty_tensors is not None:
            return _recording.record(self, inputs, tensors, result, volatile)
        if type(result) is tuple or self.non_differentiable is not None:
            record = _recording.record if self.shared_pairs else _recording.record_values
            return record(self, inputs, tensors, result, volatile)
        variable = _new(_Variable)
        variable._tensor = result if type(result) in ERA else wrap(result)
        self.num_outputs = 1
        if self.shared_pairs is not None:
            # Views of this package are of their only input.
            self.shared_pairs = None
            share(inputs[0], variable)
        if volatile:
            variable._is_volatile = True
            self.to_save = None
            return variable
        variable._maker = self
        if self._requires_grad:
            variable._needs_grad = True
            if self.to_save is not None:
                _recording.save(self, inputs, tensors, result, variable)
                self.to_save = None
        elif self.to_save is not None:
            self.to_save = None
        return variable

    def _do_backward(self, grad_outputs: Any, retain_variables: bool) -> Any:
        """Run ``backward`` on the gradients of all outputs, and hooks on what it returned."""
        if self._outputs is not None:
            grad_outputs = _recording.filled(self._outputs, grad_outputs)
        grads = self.backward(*grad_outputs)
        if type(grads) is not tuple:
            grads = (grads,)
        if len(grads) != self.num_inputs or not self._trusted:
            grads = _recording.checked_gradients(self, grads)
        if self._backward_hooks:
            grads = _recording.through_function_hooks(self, grads, grad_outputs)
        if not retain_variables and self._saved:
            self._release()
        return grads

    def _release(self) -> None:
        self._saved = ()
        self._versions = _recording.FREED

    # Hooks --------------------------------------------------------------------------------------

    def register_hook(self, hook: Any) -> RemovableHandle:
        """
        Call ``hook(grad_inputs, grad_outputs)`` after ``backward``.

        Both are tuples of Variables or None; a tuple that it returns replaces `grad_inputs`.
        """
        if self._backward_hooks is None:
            self._backward_hooks = OrderedDict()
        handle = RemovableHandle(self._backward_hooks)
        self._backward_hooks[handle.id] = hook
        return handle

    def _hook_output(self, number: int, hooks: Any) -> None:
        """Note the hooks of an output, which fire although its Variable may be gone by then."""
        if self._output_hooks is None:
            self._output_hooks = {}
        self._output_hooks[number] = hooks


class InplaceFunction(Function):
    """A Function that may change its first input in place."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace


from ._nested import NestedIOFunction  # noqa: E402 - derives from Function
