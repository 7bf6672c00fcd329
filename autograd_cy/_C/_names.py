"""Functions that programs reach as ``torch._C.<name>``; the package gives them when asked."""

import weakref

from autograd_cy._C import _autograd, _functions, _nn
from autograd_cy._C.engine import _current_node as _current_autograd_node
from autograd_cy._C.engine import _execution_order as _current_graph_task_execution_order
from autograd_cy._C.engine import _will_execute as _will_engine_execute_node
from autograd_cy._C.engine import current_task_id as _current_graph_task_id
from autograd_cy._C.tensor import _M_NO_FORWARD_AD, Tensor, _get_modes, _set_modes

__all__ = [
    "_TensorMeta",
    "_WeakTensorRef",
    "_add_cached_tensor",
    "_are_functorch_transforms_active",
    "_autograd",
    "_current_autograd_node",
    "_current_graph_task_execution_order",
    "_current_graph_task_id",
    "_functions",
    "_get_tracing_state",
    "_is_cached_tensor",
    "_is_fwd_grad_enabled",
    "_log_api_usage_once",
    "_nn",
    "_remove_cached_tensor",
    "_set_fwd_grad_enabled",
    "_will_engine_execute_node",
]

_TensorMeta = type(Tensor)

# Identity of a tensor -> weak reference; entries of tensors that are gone go with them.
_cached: dict[int, weakref.ref] = {}


def _is_fwd_grad_enabled() -> bool:
    """Return whether forward mode computes tangents in this thread."""
    return not _get_modes() & _M_NO_FORWARD_AD


def _set_fwd_grad_enabled(enabled: bool) -> None:
    """Switch forward mode of this thread on or off."""
    word = _get_modes()
    _set_modes(word & ~_M_NO_FORWARD_AD if enabled else word | _M_NO_FORWARD_AD)


def _are_functorch_transforms_active() -> bool:
    """Return whether a function is being vectorised in this thread."""
    from autograd_cy._C.batching import _rule_of_random

    return _rule_of_random() is not None


def _log_api_usage_once(event: str) -> None:
    """Do nothing: nobody counts which parts of the package are used."""


def _get_tracing_state() -> None:
    """Return what traces the program: None, as nothing does."""


class _WeakTensorRef:
    """Tell whether a tensor is gone."""

    def __init__(self, tensor: Tensor):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"_WeakTensorRef expects a Tensor, not {type(tensor).__name__}")
        self._ref = weakref.ref(tensor)

    def expired(self) -> bool:
        return self._ref() is None


def _add_cached_tensor(tensor: Tensor) -> None:
    """Note that a cache holds a tensor."""
    key = id(tensor)
    _cached[key] = weakref.ref(tensor, lambda ref: _cached.pop(key, None))


def _remove_cached_tensor(tensor: Tensor) -> None:
    """Undo :func:`_add_cached_tensor`."""
    _cached.pop(id(tensor), None)


def _is_cached_tensor(tensor: Tensor) -> bool:
    """Return whether a cache holds a tensor (see :func:`_add_cached_tensor`)."""
    ref = _cached.get(id(tensor))
    return ref is not None and ref() is tensor
