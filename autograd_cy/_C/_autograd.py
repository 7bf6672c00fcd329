"""The names that programs reach as ``torch._C._autograd``: saved tensors, the running backward,
versions."""

from autograd_cy._C.engine import _keeps_graph as _get_current_graph_task_keep_graph
from autograd_cy._C.saved import SavedTensor, _get_hooks
from autograd_cy._C.tensor import Tensor, _set_version

__all__ = [
    "SavedTensor",
    "_get_current_graph_task_keep_graph",
    "_saved_tensors_hooks_is_enabled",
    "_unsafe_set_version_counter",
]


def _saved_tensors_hooks_is_enabled() -> bool:
    """Return whether saved-tensor hooks may be used in this thread."""
    return _get_hooks()[1] is None


def _unsafe_set_version_counter(tensors, versions) -> None:
    """Set the version counters of tensors: changes in place may no longer be noticed."""
    if isinstance(tensors, Tensor):
        raise TypeError("_unsafe_set_version_counter(): tensors must be a sequence of Tensors")
    if len(tensors) != len(versions):
        raise RuntimeError(f"tensors_len={len(tensors)}, versions_len={len(versions)}")
    for version in versions:
        if version < 0:
            raise RuntimeError(f"Cannot set a version_counter to a value below 0: {version}")
    for t, version in zip(tensors, versions):
        _set_version(t, version)
