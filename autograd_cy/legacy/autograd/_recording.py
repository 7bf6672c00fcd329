"""The records that a call of a Function leaves behind: Variables, versions, saved tensors; and its
refusals."""

from __future__ import annotations

from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor

from ..tensors.wrapping import CLASSES, era, typename, wrap
from ._state import VariableBase, described
from ._versions import Version, share

__all__ = [
    "FREED",
    "bind",
    "checked_gradients",
    "filled",
    "forget",
    "leaf_of",
    "record",
    "record_values",
    "refuse_argument",
    "refuse_saved",
    "save",
    "through_function_hooks",
    "through_variable_hooks",
    "volatile_of",
]

_new = object.__new__
_ERA: frozenset[type] = frozenset(CLASSES.values())
_Variable: Any = VariableBase


def bind(variable: type) -> None:
    """Name the class of results."""
    global _Variable
    _Variable = variable


# What is known of an output without derivative, whose gradient is None.
_CONSTANT = (None, None, None, False)


class _Freed:
    """The stand-in of the count of what was let go: no count is equal to it."""

    count = None


# The versions of saved tensors after a backward that didn't retain.
FREED = ((_Freed, 0),)


def name_of(function: Any) -> str:
    """The name of a Function in messages."""
    return type(function).__name__


def volatile_of(t: Tensor | None) -> Any:
    """A gradient as hooks see it."""
    if t is None:
        return None
    result = leaf_of(wrap(t))
    result._is_volatile = True
    return result


def leaf_of(t: Tensor) -> Any:
    """A Variable on a tensor that needs no gradient."""
    result = _new(_Variable)
    result._tensor = t
    return result


def forget(function: Any) -> None:
    """Make an instance that is called again as if it were new; hooks of the Function stay."""
    function._requires_grad = False
    function._saved = function._versions = ()
    function._outputs = function._inputs = function._output_hooks = None
    function._node = function._shape = function._leaves = function._sizes = None
    function.to_save = function.dirty_tensors = None
    function.shared_pairs = function.non_differentiable = None
    function.previous_functions = ()


def refuse_argument(function: Any, place: int, got: Any) -> None:
    """Raise the error of an argument that is no Variable."""
    way_out = "; wrap it, Variable(tensor)" if isinstance(got, Tensor) else ""
    raise RuntimeError(
        f"{name_of(function)}: expected a Variable argument, but got {type(got).__name__} "
        f"(argument {place}){way_out}"
    )


def refuse_saved(function: Any) -> None:
    """Raise the error of saved tensors that can't be used."""
    if function._versions is FREED:
        raise RuntimeError(
            "Trying to backward through the graph second time, but the buffers have already been "
            f"freed (by {name_of(function)}). Please specify retain_variables=True when calling "
            "backward for the first time."
        )
    tensors = [t for t in function._saved if t is not None]
    pairs = zip(tensors, function._versions, strict=True)
    t, (version, count) = next(pair for pair in pairs if pair[1][0].count != pair[1][1])
    raise RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation (a {described(t)} saved by {name_of(function)}: version {version.count}, "
        f"expected {count}); clone() before the operation"
    )


# The outputs -----------------------------------------------------------------------------------


def _by_identity(tensors: Any, variables: Any) -> dict[int, Any]:
    result: dict[int, Any] = {}
    for t, v in zip(tensors, variables, strict=True):
        result.setdefault(id(t), v)
    return result


def _change(function: Any, by_tensor: dict[int, Any], volatile: bool) -> dict[int, Any]:
    """Check and count the inputs that were marked dirty; those by the identity of tensors."""
    dirty: dict[int, Any] = {}
    for place, t in enumerate(function.dirty_tensors):
        v = by_tensor.get(id(t))
        if v is None:
            raise RuntimeError(
                f"{name_of(function)}: mark_dirty only accepts input tensors, but argument {place} "
                "isn't one"
            )
        v._refuse_if_shared()
        if not volatile:
            v._refuse_leaf()
        dirty[id(t)] = v
    for v in dirty.values():
        v._changed()
    return dirty


def _cut_from_itself(function: Any, inputs: Any, variable: Any) -> None:
    """A leaf that a Function moves can't be what came before that Function: a dummy is."""
    if not any(v is variable for v in inputs):
        return
    dummy = leaf_of(variable._tensor)
    function.previous_functions = tuple(
        (dummy, 0) if previous is variable else (previous, number)
        for previous, number in function.previous_functions
    )


def _marked(function: Any, marks: Any, raw: Any) -> set[int]:
    outputs = {id(t) for t in raw}
    for place, t in enumerate(marks):
        if id(t) not in outputs:
            raise RuntimeError(
                f"{name_of(function)}: mark_non_differentiable only accepts output tensors, but "
                f"argument {place} isn't an output"
            )
    return {id(t) for t in marks}


def _share_pairs(function: Any, by_tensor: dict[int, Any], by_result: dict[int, Any]) -> None:
    for place, pair in enumerate(function.shared_pairs):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise RuntimeError(
                f"{name_of(function)}: mark_shared_storage expects pairs, but argument {place} is "
                f"a {type(pair).__name__}"
            )
        one, other = by_tensor.get(id(pair[0])), by_result.get(id(pair[1]))
        if one is None or other is None:
            raise RuntimeError(
                f"{name_of(function)}: mark_shared_storage only accepts pairs of input and output "
                f"tensors, but argument {place} doesn't satisfy this condition"
            )
        if one is not other:
            share(one, other)


def _output(function: Any, t: Any, place: int) -> Any:
    if not isinstance(t, Tensor):
        way_out = "; compute with its .data" if isinstance(t, VariableBase) else ""
        raise TypeError(
            f"{name_of(function)}.forward: expected a tensor or a tuple of tensors, but output "
            f"{place} is a {type(t).__name__}{way_out}"
        )
    return leaf_of(era(t, f"{name_of(function)}.forward"))


def record(function: Any, inputs: Any, tensors: Any, result: Any, volatile: bool) -> Any:
    """Make Variables of what ``forward`` returned, by all that it has marked and saved."""
    raw = result if type(result) is tuple else (result,)
    by_tensor = _by_identity(tensors, inputs)
    dirty = _change(function, by_tensor, volatile) if function.dirty_tensors else {}
    marks = function.non_differentiable
    constant = _marked(function, marks, raw) if marks else ()
    recorded = function._requires_grad and not volatile
    outputs: list[Any] = []
    by_result: dict[int, Any] = {}
    for number, t in enumerate(raw):
        v = dirty.get(id(t))
        if v is None:
            v = _output(function, t, number)
            original = by_tensor.get(id(t), by_result.get(id(t)))
            if original is not None:  # its truth would be that of its length
                share(original, v)
        elif v._maker is None:
            _cut_from_itself(function, inputs, v)
        if volatile:
            v._is_volatile, v._needs_grad, v._maker, v.output_nr = True, False, None, 0
        else:
            v._maker, v.output_nr = function, number
            v._needs_grad = recorded and id(t) not in constant
        if v._hooks is not None:
            v._hooks = None  # they belong to the value before
        by_result.setdefault(id(t), v)
        outputs.append(v)
    if function.shared_pairs:
        _share_pairs(function, by_tensor, by_result)
    function.num_outputs = len(outputs)
    if recorded:
        if function.to_save is not None:
            save(function, inputs, tensors, raw, outputs)
        if not function._trusted or len(raw) > 1:
            function._outputs = [
                (v._tensor.dtype, v._tensor.shape, v._tensor.device, v._needs_grad) for v in outputs
            ]
        if not function._trusted:
            function._inputs = [(t.dtype, t.shape) for t in tensors]
    function.to_save = function.dirty_tensors = None
    function.shared_pairs = function.non_differentiable = None
    return tuple(outputs) if type(result) is tuple else outputs[0]


def record_values(function: Any, inputs: Any, tensors: Any, result: Any, volatile: bool) -> Any:
    """As :func:`record`, of a Function of this package that makes new tensors."""
    marks = function.non_differentiable
    if marks is not None and marks is function.to_save and type(result) is tuple and not volatile:
        return _record_choice(function, *result)
    recorded = function._requires_grad
    outputs: list[Any] = []
    known = []
    for t in result if type(result) is tuple else (result,):
        v = _new(_Variable)
        v._tensor = t if type(t) in _ERA else wrap(t)
        if volatile:
            v._is_volatile = True
        else:
            v._maker = function
            if outputs:
                v.output_nr = len(outputs)
        differentiable = recorded
        if marks is not None:
            for mark in marks:
                if t is mark:
                    differentiable = False
        if differentiable:
            v._needs_grad = True
            known.append((type(v._tensor).kind, t.shape, t.device, True))
        else:
            known.append(_CONSTANT)
        outputs.append(v)
    function.num_outputs = len(outputs)
    results = tuple(outputs) if type(result) is tuple else outputs[0]
    if recorded:
        if function.to_save is not None:
            save(function, inputs, tensors, result, results)
        if len(outputs) > 1:
            function._outputs = known
    function.to_save = function.non_differentiable = None
    return results


def _record_choice(function: Any, values: Any, indices: Any) -> Any:
    """As :func:`record_values`, of elements and their indices, which have no gradient."""
    of_values, of_indices = _new(_Variable), _new(_Variable)
    of_values._tensor, of_indices._tensor = values, indices
    of_values._maker = of_indices._maker = function
    of_indices.output_nr = 1
    function.num_outputs = 2
    if function._requires_grad:
        of_values._needs_grad = True
        version = of_indices._ver = Version()
        function._saved = (indices,)
        function._versions = ((version, 0),)
    function.to_save = function.non_differentiable = None
    return of_values, of_indices


def save(function: Any, inputs: Any, tensors: Any, raw: Any, outputs: Any) -> None:
    """
    Keep what was given to ``save_for_backward``, with the versions of now.

    `raw` and `outputs` are the result of ``forward`` and its Variable, or tuples of these.
    """
    to_save = function.to_save
    versions = []
    for t in to_save:
        if t is None:
            continue
        # The ends first: with one or two inputs and outputs that is all of them.
        if t is raw:
            v = outputs
        elif t is tensors[0]:
            v = inputs[0]
        elif t is tensors[-1]:
            v = inputs[-1]
        elif type(raw) is tuple and t is raw[-1]:
            v = outputs[-1]
        else:
            v = _of_others(function, t, inputs, tensors, raw, outputs)
        version = v._ver
        if version is None:
            version = v._ver = Version()
        versions.append((version, version.count))
    if not function._trusted:
        to_save = tuple([t if t is None else wrap(t) for t in to_save])
    function._saved = to_save
    function._versions = tuple(versions)


def _of_others(function: Any, t: Any, inputs: Any, tensors: Any, raw: Any, outputs: Any) -> Any:
    """The Variable of a tensor among all inputs and outputs."""
    for other, v in zip(tensors, inputs, strict=True):
        if other is t:
            return v
    if type(raw) is tuple:
        for other, v in zip(raw, outputs, strict=True):
            if other is t:
                return v
    place = next(i for i, other in enumerate(function.to_save) if other is t)
    raise RuntimeError(
        f"{name_of(function)}: save_for_backward can only save input or output tensors, but "
        f"argument {place} doesn't satisfy this condition; keep others as attributes"
    )


# Gradients ---------------------------------------------------------------------------------------


def filled(outputs: Any, grads: Any) -> tuple[Any, ...]:
    """The gradients of all outputs: zeros for one not used, None for one without derivative."""
    complete: list[Any] = []
    for grad, (dtype, shape, device, differentiable) in zip(grads, outputs, strict=True):
        if not differentiable:
            complete.append(None)
        elif grad is None:
            complete.append(wrap(ag.zeros(shape, dtype=dtype, device=device)))
        else:
            complete.append(wrap(grad))
    return tuple(complete)


def checked_gradients(function: Any, grads: tuple[Any, ...]) -> tuple[Any, ...]:
    """Check the results of ``backward``: one gradient for each input, of its sizes."""
    count = function.num_inputs
    if len(grads) < count or any(grad is not None for grad in grads[count:]):
        raise RuntimeError(
            f"{name_of(function)}.backward returned an invalid number of gradient tensors "
            f"(expected {count}, but got {len(grads)})"
        )
    grads = grads[:count]
    if function._inputs is None:
        return grads
    return tuple(
        grad if grad is None else _fitting(function, grad, place)
        for place, grad in enumerate(grads)
    )


def _fitting(function: Any, grad: Any, place: int) -> Any:
    where = f"{name_of(function)}.backward: gradient {place}"
    if not isinstance(grad, Tensor):
        raise TypeError(f"{where} is a {type(grad).__name__}; expected a tensor or None")
    if not function.needs_input_grad[place]:
        return grad
    dtype, shape = function._inputs[place]
    return fitted(grad, dtype, shape, where)


def fitted(grad: Tensor, dtype: Any, shape: Any, where: str) -> Any:
    """A gradient in the type and shape of what it belongs to."""
    if grad.dtype is not dtype:
        raise TypeError(
            f"{where} is a {typename(grad)}, but belongs to a {typename(ag.empty(0, dtype=dtype))}"
        )
    if grad.shape == shape:
        return grad
    if Tensor.numel(grad) != ag.Size(shape).numel():
        raise RuntimeError(
            f"{where} has size {tuple(grad.shape)}, but belongs to a tensor of size {tuple(shape)}"
        )
    return ag.reshape(grad, shape)


def through_variable_hooks(hooks: Any, grad: Tensor) -> Any:
    """A complete gradient after the hooks of its Variable."""
    seen = volatile_of(grad)
    for hook in tuple(hooks.values()):
        returned = hook(seen)
        if returned is not None:
            _check_hooked(hook, seen, returned)
            seen = returned
    return seen._tensor


def _check_hooked(hook: Any, before: Any, after: Any) -> None:
    name = getattr(hook, "__name__", type(hook).__name__)
    if not isinstance(after, VariableBase):
        raise TypeError(f"expected Variable, but hook '{name}' returned '{type(after).__name__}'")
    old, new = before._tensor, after._tensor
    if old.dtype is not new.dtype:
        raise RuntimeError(
            f"hook '{name}' has changed the type of value (was {typename(old)} got {typename(new)})"
        )
    if old.shape != new.shape:
        raise RuntimeError(
            f"hook '{name}' has changed the size of value (was {tuple(old.shape)} got "
            f"{tuple(new.shape)})"
        )


def through_function_hooks(function: Any, grads: Any, grad_outputs: Any) -> tuple[Any, ...]:
    """The gradients of inputs after the hooks of their Function."""
    outputs = tuple(volatile_of(grad) for grad in grad_outputs)
    seen = tuple(volatile_of(grad) for grad in grads)
    for hook in tuple(function._backward_hooks.values()):
        returned = hook(seen, outputs)
        if returned is None:
            continue
        name = getattr(hook, "__name__", type(hook).__name__)
        if not isinstance(returned, tuple):
            raise TypeError(
                f"hook '{name}' of {name_of(function)} returned a {type(returned).__name__}; "
                "expected a tuple of gradients or None"
            )
        if len(returned) != len(seen):
            raise RuntimeError(
                f"hook '{name}' of {name_of(function)} returned an incorrect number of values "
                f"(expected {len(seen)}, but got {len(returned)})"
            )
        for before, after in zip(seen, returned, strict=True):
            if before is not None and after is not None:
                _check_hooked(hook, before, after)
            elif after is not None and not isinstance(after, VariableBase):
                raise TypeError(
                    f"expected Variable, but hook '{name}' returned '{type(after).__name__}'"
                )
        seen = returned
    return tuple(None if v is None else v._tensor for v in seen)
