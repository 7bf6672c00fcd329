"""Anomaly mode: where a node that fails in backward was made, and the first NaN.

While it is on, every node remembers the Python stack that made it (in ``node.metadata``), backward
checks what each node returns, and in-place writes remember their line.
"""

from __future__ import annotations

import contextlib
import sys

from autograd_cy._C import engine as _engine
from autograd_cy._C import node as _node
from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.batching import _unwrap
from autograd_cy._C.levels import _batch_level
from autograd_cy._C.tensor import (
    _G_ANOMALY,
    _G_NAN_ALLOWED,
    AnomalyContext,
    Tensor,
    _get_global_modes,
    _must_be_bool,
    _type_name,
)

__all__ = [
    "detect_anomaly",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "set_anomaly_enabled",
    "set_detect_anomaly",
]

_TRACEBACK, _PARENT = "traceback_", "parent_"

# Address of a storage -> (version after the write, operation, stack).
_writes: dict[int, tuple[int, str, list[str]]] = {}


def _stack() -> list[str]:
    """The lines of the calling Python code, innermost last, as traceback prints them."""
    import traceback  # of programs that look for a fault

    return traceback.format_list(
        [f for f in traceback.extract_stack(sys._getframe(1)) if f.filename != __file__]
    )


# --- what the core calls ----------------------------------------------------------------------


def _note_creation(node) -> None:
    metadata = node.metadata
    metadata[_TRACEBACK] = _stack()
    parent = _engine._current_node()
    if parent is not None:
        metadata[_PARENT] = parent


def _note_write(tensor, op: str) -> None:
    if len(_writes) > 100_000:  # addresses of long-gone tensors
        _writes.clear()
    _writes[tensor._storage_address()] = (tensor._version + 1, op, _stack())


def _lines_of_creation(node) -> str | None:
    lines = node.metadata.get(_TRACEBACK)
    return None if lines is None else "".join(lines)


def _lines_of_mutation(tensor) -> str | None:
    entry = _writes.get(tensor._storage_address())
    if entry is None or entry[0] != tensor._version:
        return None
    return f"  ({entry[1]})\n" + "".join(entry[2])


def _history(node) -> list[str]:
    """Return the traceback of a node's forward call, then those of the nodes that it was computed
    for."""
    traceback = _lines_of_creation(node)
    if traceback is None:
        text = (
            f"Error detected in {node.name()}. No forward pass information available. Enable "
            "detect anomaly during forward pass for more information."
        )
    else:
        text = (
            f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n"
            + traceback
        )
    texts = [text]
    seen = {id(node)}
    parent = node.metadata.get(_PARENT)
    while parent is not None and id(parent) not in seen:
        seen.add(id(parent))
        traceback = _lines_of_creation(parent)
        if traceback is None:
            texts.append(
                f"\n\nPrevious calculation was induced by {parent.name()}. No forward pass "
                "information is available for it."
            )
        else:
            texts.append(
                f"\n\nPrevious calculation was induced by {parent.name()}. Traceback of forward "
                f"call that induced the previous calculation:\n{traceback}"
            )
        parent = parent.metadata.get(_PARENT)
    return texts


def _tell(text: str) -> None:
    """Warn; where warnings are errors, log the text: the error of backward is what is raised."""
    try:
        _warn(text, UserWarning)
    except UserWarning:
        from autograd_cy._environment import logger  # of programs that look for a fault

        logger.tell(f"UserWarning: {text}", logger.WARNING)


def _failure(node, error: BaseException) -> None:
    """Put the history of a failing node into its exception, and warn with it."""
    if getattr(error, "_anomaly_noted", False):
        return
    texts = _history(node)
    for text in texts:
        _tell(text)
    note = "".join(texts)
    if hasattr(error, "add_note"):
        error.add_note(note)
    else:  # Python 3.10
        error.__notes__ = [*getattr(error, "__notes__", []), note]
        if len(error.args) == 1 and isinstance(error.args[0], str):
            error.args = (f"{error.args[0]}\n{note}",)
    with contextlib.suppress(AttributeError):  # an exception with slots may be told of twice
        error._anomaly_noted = True  # type: ignore[attr-defined]


def _below_vmaps(t: Tensor) -> Tensor:
    """The examples of all running vmaps in one tensor."""
    while (level := _batch_level(t)) >= 0:
        t = _unwrap(t, level)[0]
    return t


def _check_for_nan(node, gradients) -> None:
    if _get_global_modes() & _G_NAN_ALLOWED:
        return
    for i, grad in enumerate(gradients):
        if not isinstance(grad, Tensor) or not (grad.is_floating_point() or grad.is_complex()):
            continue
        whole = _below_vmaps(grad)
        if bool((whole != whole).any()):
            raise RuntimeError(
                f"Function '{node.name()}' returned nan values in its {i}th output. "
                f"({_type_name(grad)} of shape {list(grad.shape)})"
            )


_node._set_anomaly(_note_creation, _note_write, _lines_of_creation, _lines_of_mutation)
_engine._set_anomaly(_check_for_nan, _failure)


# --- switches ---------------------------------------------------------------------------------


class _Anomaly(AnomalyContext):
    _at_once = False
    _forget = _writes.clear


def is_anomaly_enabled() -> bool:
    """
    Return whether anomaly mode is on (in all threads).

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.is_anomaly_enabled()
    False
    """
    return bool(_get_global_modes() & _G_ANOMALY)


def is_anomaly_check_nan_enabled() -> bool:
    """
    Return whether anomaly mode, when on, looks for NaN in gradients.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.is_anomaly_check_nan_enabled()
    True
    """
    return not _get_global_modes() & _G_NAN_ALLOWED


class detect_anomaly(_Anomaly):
    """
    Find the operation behind an error in backward.

    Inside the block, a failing backward tells where in the forward code its node was made (in a
    warning, and as a note of the exception), and a gradient that is NaN is an error. The forward
    pass must run inside the block too. It makes everything slower: for debugging only. The mode is
    that of the whole process.

    Parameters
    ----------
    check_nan : bool, default True

    Examples
    --------
    >>> import autograd_cy as ag, warnings
    >>> warnings.simplefilter("ignore")
    >>> with ag.autograd.detect_anomaly():
    ...     x = ag.zeros(1, requires_grad=True)
    ...     try:
    ...         (x * 0 / x).backward()
    ...     except RuntimeError as error:
    ...         print(str(error)[:56])
    Function 'DivBackward0' returned nan values in its 1th o
    """

    def __init__(self, check_nan: bool = True):
        super().__init__(True, check_nan)  # changes nothing yet
        _warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
            UserWarning,
        )


class set_detect_anomaly(_Anomaly):
    """
    Switch anomaly mode on or off: at once when called, undone at the end of a ``with`` block.

    Parameters
    ----------
    mode : bool
    check_nan : bool, default True
        Whether NaN in gradients is an error.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> with ag.autograd.set_detect_anomaly(True, check_nan=False):
    ...     ag.is_anomaly_enabled()
    True
    """

    _at_once = True


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """
    Switch anomaly mode on or off, as :class:`set_detect_anomaly` does, for good.

    Parameters
    ----------
    enabled : bool
    check_nan : bool, default True
        Whether NaN in gradients is an error.

    Raises
    ------
    TypeError
        Not bools.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.set_anomaly_enabled(True)
    >>> ag.is_anomaly_enabled()
    True
    >>> ag.set_anomaly_enabled(False)
    """
    _must_be_bool("set_anomaly_enabled", "enabled", enabled)
    _must_be_bool("set_anomaly_enabled", "check_nan", check_nan)
    set_detect_anomaly(enabled, check_nan)
