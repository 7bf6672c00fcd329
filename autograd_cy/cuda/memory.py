"""Memory of GPUs: what tensors hold, what is kept for them, and what is free."""

from __future__ import annotations

import operator
from collections import OrderedDict
from typing import Any

from autograd_cy._C import streams as _streams
from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.creation import empty as _empty
from autograd_cy._C.dtypes import uint8
from autograd_cy._C.storage import OutOfMemoryError
from autograd_cy.cuda import _core
from autograd_cy.cuda import _memory_table as _table

__all__ = [
    "OutOfMemoryError",
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "empty_cache",
    "get_allocator_backend",
    "get_per_process_memory_fraction",
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "reset_accumulated_host_memory_stats",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_host_memory_stats",
    "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
]

COLUMNS = ("current", "peak", "allocated", "freed")
POOLS = ("all", "large_pool", "small_pool")
NONE = (0, 0, 0, 0)
# torch's names -> the backend's. There is one pool of blocks, which are not split.
KINDS = {
    "active": "allocation",
    "active_bytes": "allocated_bytes",
    "allocated_bytes": "allocated_bytes",
    "allocation": "allocation",
    "inactive_split": None,
    "inactive_split_bytes": None,
    "requested_bytes": "requested_bytes",
    "reserved_bytes": "reserved_bytes",
    "segment": "segment",
}
COUNTS = {
    "num_alloc_retries": "retries",
    "num_device_alloc": "device_allocs",
    "num_device_free": "device_frees",
    "num_ooms": "ooms",
    "num_sync_all_streams": "synchronisations",
}
# The same of pinned memory of the host.
HOST_KINDS = ("allocated_bytes", "allocation", "requested_bytes", "reserved_bytes", "segment")
HOST_COUNTS = {"num_host_alloc": "device_allocs", "num_host_free": "device_frees"}

_raw_blocks: dict[int, Any] = {}  # memory of `caching_allocator_alloc` by its address

_fractions: dict[int, float] = {}  # that were set, by index


def _memory() -> Any:
    """Return the module of the backend's that allocates, once CUDA was started."""
    from autograd_cy._C import cuda_memory

    return cuda_memory


def _index(device: Any) -> int | None:
    """Return the index of a GPU, or None before the start."""
    return _core.index_of(_core.device_name(device)) if _core.registered() else None


def _nested(flat: dict[str, int]) -> dict[str, Any]:
    """Cut keys at their dots."""
    nested: dict[str, Any] = {}
    for key, value in flat.items():
        *parents, last = key.split(".")
        inner = nested
        for parent in parents:
            inner = inner.setdefault(parent, {})
        inner[last] = value
    return nested


def memory_stats(device: Any = None) -> OrderedDict[str, int]:
    """
    Return figures of a GPU's memory by torch's names, as ``"allocated_bytes.all.current"``.

    Parameters
    ----------
    device : device or str or int, optional
        The current one unless given.

    Returns
    -------
    OrderedDict
        Empty where GPUs haven't been used.

    Notes
    -----
    There is one pool, so that figures of ``large_pool`` and ``small_pool`` are 0, as with torch's
    backend ``cudaMallocAsync``. Blocks are not split.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.memory_stats().get("allocated_bytes.all.current", 0) >= 0
    True
    """
    index = _index(device)
    if index is None:
        return OrderedDict()
    counts = _memory().stats(index)
    result = {"max_split_size": -1} | {name: counts[source] for name, source in COUNTS.items()}
    for kind, source in KINDS.items():
        for pool in POOLS:
            figures = counts[source] if source and pool == "all" else NONE
            result |= _columns(f"{kind}.{pool}", figures)
    for kind in ("oversize_allocations", "oversize_segments"):
        result |= _columns(kind, NONE)
    return OrderedDict(sorted(result.items()))


def _columns(name: str, figures: tuple[int, ...]) -> dict[str, int]:
    return {f"{name}.{column}": n for column, n in zip(COLUMNS, figures, strict=True)}


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """
    Return the figures of :func:`memory_stats`, in dicts within dicts.

    Parameters
    ----------
    device : device or str or int, optional
        The current GPU unless given.

    Returns
    -------
    dict
        Empty where GPUs haven't been used.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if not ag.cuda.is_initialized():
    ...     assert ag.cuda.memory_stats_as_nested_dict() == {}
    """
    return _nested(memory_stats(device))


def memory_allocated(device: Any = None) -> int:
    """
    Return the bytes of a GPU that tensors hold.

    Parameters
    ----------
    device : device or str or int, optional
        The current one unless given.

    Returns
    -------
    int
        0 where GPUs haven't been used.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.memory_allocated() >= 0
    True
    """
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device: Any = None) -> int:
    """
    Return the most bytes of a GPU that tensors have held since :func:`reset_peak_memory_stats`.

    Parameters
    ----------
    device : device or str or int, optional
        The current one unless given.

    Returns
    -------
    int
        0 where GPUs haven't been used.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.max_memory_allocated() >= ag.cuda.memory_allocated()
    True
    """
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def memory_reserved(device: Any = None) -> int:
    """
    Return the bytes of a GPU that tensors hold, or that are kept for them.

    Parameters
    ----------
    device : device or str or int, optional
        The current one unless given.

    Returns
    -------
    int
        0 where GPUs haven't been used.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.memory_reserved() >= ag.cuda.memory_allocated()
    True
    """
    return memory_stats(device).get("reserved_bytes.all.current", 0)


def max_memory_reserved(device: Any = None) -> int:
    """
    Return the most of :func:`memory_reserved` since :func:`reset_peak_memory_stats`.

    Parameters
    ----------
    device : device or str or int, optional
        The current one unless given.

    Returns
    -------
    int
        0 where GPUs haven't been used.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.max_memory_reserved() >= ag.cuda.memory_reserved()
    True
    """
    return memory_stats(device).get("reserved_bytes.all.peak", 0)


def memory_cached(device: Any = None) -> int:
    """
    :func:`memory_reserved` by its older name, which is deprecated.

    Examples
    --------
    >>> import autograd_cy as ag, warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     ag.cuda.memory_cached() == ag.cuda.memory_reserved()
    True
    """
    _renamed("memory_cached", "memory_reserved")
    return memory_reserved(device)


def max_memory_cached(device: Any = None) -> int:
    """
    :func:`max_memory_reserved` by its older name, which is deprecated.

    Examples
    --------
    >>> import autograd_cy as ag, warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     ag.cuda.max_memory_cached() == ag.cuda.max_memory_reserved()
    True
    """
    _renamed("max_memory_cached", "max_memory_reserved")
    return max_memory_reserved(device)


def _renamed(old: str, new: str) -> None:
    _warn(f"`torch.cuda.{old}` has been renamed to `torch.cuda.{new}`", FutureWarning)


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """
    Return the figures of :func:`memory_stats` as a table.

    Parameters
    ----------
    device : device or str or int, optional
        The current GPU unless given.
    abbreviated : bool, default False
        Fewer rows.

    Returns
    -------
    str

    Examples
    --------
    >>> import autograd_cy as ag
    >>> "memory summary, device ID 0" in ag.cuda.memory_summary()
    True
    """
    return _table.table(_index(device) or 0, memory_stats(device), abbreviated)


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """
    Return the bytes of a GPU that are free, and all of them, whoever uses it.

    Parameters
    ----------
    device : device or str or int, optional
        The current one unless given.

    Returns
    -------
    tuple of int

    Raises
    ------
    RuntimeError
        If GPUs can't be used; the text says what is missing.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.is_available():
    ...     free, total = ag.cuda.mem_get_info()
    ...     assert 0 <= free <= total
    """
    index = _core.index_of(_core.device_name(device))
    return _memory().memory_info(index)


def empty_cache() -> None:
    """
    Give what is kept for tensors, and free, back to the GPUs; without GPUs, do nothing.

    Notes
    -----
    It waits for the work of the GPUs: what is free may be in use there until then.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.empty_cache()
    """
    if _core.registered():
        _memory().empty_cache()


def reset_peak_memory_stats(device: Any = None) -> None:
    """
    Start counting the peaks of :func:`memory_stats` anew.

    Parameters
    ----------
    device : device or str or int, optional
        The current GPU unless given.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.reset_peak_memory_stats()
    """
    if _core.registered():
        place = _core.device_name(device)
        _memory().reset_peak(_core.index_of(place))
        _streams._reset_device_peak(place, "cuda")


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """
    Start counting ``allocated``, ``freed`` and the events of :func:`memory_stats` anew.

    Parameters
    ----------
    device : device or str or int, optional
        The current GPU unless given.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.reset_accumulated_memory_stats()
    """
    if _core.registered():
        _memory().reset_accumulated(_core.index_of(_core.device_name(device)))


def reset_max_memory_allocated(device: Any = None) -> None:
    """
    :func:`reset_peak_memory_stats` by its older name, which resets all peaks.

    Examples
    --------
    >>> import autograd_cy as ag, warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     ag.cuda.reset_max_memory_allocated()
    """
    _resets_all("reset_max_memory_allocated")
    reset_peak_memory_stats(device)


def reset_max_memory_cached(device: Any = None) -> None:
    """
    :func:`reset_peak_memory_stats` by its older name, which resets all peaks.

    Examples
    --------
    >>> import autograd_cy as ag, warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     ag.cuda.reset_max_memory_cached()
    """
    _resets_all("reset_max_memory_cached")
    reset_peak_memory_stats(device)


def _resets_all(old: str) -> None:
    _warn(
        f"torch.cuda.{old} now calls torch.cuda.reset_peak_memory_stats, which resets /all/ peak "
        "memory stats.",
        FutureWarning,
    )


def host_memory_stats() -> OrderedDict[str, int]:
    """
    Return figures of pinned memory of the host, as ``"allocated_bytes.current"``.

    Returns
    -------
    OrderedDict
        Empty where GPUs haven't been used.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.host_memory_stats().get("allocated_bytes.current", 0) >= 0
    True
    """
    if not _core.registered():
        return OrderedDict()
    counts = _memory().host_stats()
    result = {name: counts[source] for name, source in HOST_COUNTS.items()}
    for kind in HOST_KINDS:
        result |= _columns(kind, counts[kind])
    return OrderedDict(sorted(result.items()))


def host_memory_stats_as_nested_dict() -> dict[str, Any]:
    """
    Return the figures of :func:`host_memory_stats`, in dicts within dicts.

    Returns
    -------
    dict
        Empty where GPUs haven't been used.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if not ag.cuda.is_initialized():
    ...     assert ag.cuda.host_memory_stats_as_nested_dict() == {}
    """
    return _nested(host_memory_stats())


def reset_peak_host_memory_stats() -> None:
    """
    Start counting the peaks of :func:`host_memory_stats` anew.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.reset_peak_host_memory_stats()
    """
    if _core.registered():
        _memory().reset_peak(-1)


def reset_accumulated_host_memory_stats() -> None:
    """
    Start counting ``allocated`` and ``freed`` of :func:`host_memory_stats` anew.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.reset_accumulated_host_memory_stats()
    """
    if _core.registered():
        _memory().reset_accumulated(-1)


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """
    Let this process take no more than a part of a GPU's memory.

    Parameters
    ----------
    fraction : float
        From 0 to 1. What is beyond is an :class:`OutOfMemoryError`.
    device : device or str or int, optional
        The current GPU unless given.

    Raises
    ------
    TypeError
        If `fraction` is no float.
    ValueError
        If it isn't from 0 to 1.
    RuntimeError
        If GPUs can't be used; the text says what is missing.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.is_available():
    ...     ag.cuda.set_per_process_memory_fraction(1.0)
    """
    place = _core.device_name(device)
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    index = _core.index_of(place)
    # A limit of 0 stands for none.
    limit = 0 if fraction == 1 else max(int(mem_get_info(index)[1] * fraction), 1)
    _memory().set_limit(index, limit)
    _fractions[index] = fraction


def get_per_process_memory_fraction(device: Any = None) -> float:
    """
    Return the part of a GPU's memory that this process may take.

    Parameters
    ----------
    device : device or str or int, optional
        The current GPU unless given.

    Returns
    -------
    float
        1.0 unless :func:`set_per_process_memory_fraction` said otherwise.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.is_available():
    ...     assert 0 <= ag.cuda.get_per_process_memory_fraction() <= 1
    """
    return _fractions.get(_core.index_of(_core.device_name(device)), 1.0)


def caching_allocator_alloc(size: int, device: Any = None, stream: Any = None) -> int:
    """
    Memory of a GPU for other libraries, from what is kept for tensors.

    Parameters
    ----------
    size : int
        Bytes.
    device : device or str or int, optional
        The current GPU unless given.
    stream : Stream or int, optional
        On which it is used: the current one of the GPU unless given. A number is the handle of a
        stream that another library made.

    Returns
    -------
    int
        Its address; :func:`caching_allocator_delete` gives it back.

    Raises
    ------
    OutOfMemoryError
        If there is not so much.
    ValueError
        If `size` is negative.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.is_available():
    ...     address = ag.cuda.caching_allocator_alloc(1024)
    ...     ag.cuda.caching_allocator_delete(address)
    """
    place = _core.device_name(device)
    size = operator.index(size)
    if size < 0:
        raise ValueError(f"caching_allocator_alloc: size must not be negative, got {size}")
    from autograd_cy.cuda.streams import ExternalStream, StreamContext

    if isinstance(stream, int):
        stream = ExternalStream(stream, place)
    with StreamContext(stream):
        held = _empty(max(size, 1), dtype=uint8, device=place)
    address = held.data_ptr()
    _raw_blocks[address] = held
    return address


def caching_allocator_delete(mem_ptr: int) -> None:
    """
    Give memory of :func:`caching_allocator_alloc` back.

    Parameters
    ----------
    mem_ptr : int
        Its address.

    Raises
    ------
    RuntimeError
        If it isn't the address of such memory.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.caching_allocator_delete(1)
    Traceback (most recent call last):
    RuntimeError: caching_allocator_delete: invalid device pointer: 0x1 ...
    """
    if mem_ptr not in _raw_blocks:
        raise RuntimeError(
            f"caching_allocator_delete: invalid device pointer: {mem_ptr:#x} is not one of "
            "caching_allocator_alloc, or was given back"
        )
    del _raw_blocks[mem_ptr]


def get_allocator_backend() -> str:
    """
    Return the name of what allocates, which is the one cache that there is.

    Returns
    -------
    str

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.get_allocator_backend()
    'native'
    """
    return "native"
