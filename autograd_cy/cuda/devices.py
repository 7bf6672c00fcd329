"""GPUs: which there are, what they can do, and which one is current in a thread."""

from __future__ import annotations

from typing import Any

from autograd_cy._C import streams as _streams
from autograd_cy.cuda import _core
from autograd_cy.cuda._properties import Properties

__all__ = [
    "can_device_access_peer",
    "current_device",
    "device",
    "device_count",
    "device_of",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_gencode_flags",
    "init",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "is_tf32_supported",
    "set_device",
    "synchronize",
]


def is_available() -> bool:
    """
    Tell if tensors can be on a GPU: kernels, PyCUDA, a driver and a device are there.

    Returns
    -------
    bool

    Notes
    -----
    Nothing is started to find out, and it never raises. ``x.cuda()`` says what is missing.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> device = "cuda" if ag.cuda.is_available() else "cpu"
    >>> ag.ones(1, device=device).sum().item()
    1.0
    """
    return _core.why_not() is None and _core.count() > 0


def device_count() -> int:
    """
    Count the GPUs that tensors can be on.

    Returns
    -------
    int
        0 where kernels, PyCUDA or the driver are missing.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.device_count() == 0 or ag.cuda.is_available()
    True
    """
    return _core.count()


def is_initialized() -> bool:
    """
    Tell if this process has started to use GPUs, which the first use does.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.is_initialized() in (True, False)
    True
    """
    return _core.registered()


def init() -> None:
    """
    Start CUDA now instead of at the first use.

    Raises
    ------
    RuntimeError
        If kernels, PyCUDA or the driver are missing; the text says which.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.is_available():
    ...     ag.cuda.init()
    """
    _core.start()


def current_device() -> int:
    """
    Return the index of the GPU that ``"cuda"`` means in this thread.

    Returns
    -------
    int

    Raises
    ------
    RuntimeError
        If kernels, PyCUDA or the driver are missing; the text says which.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.is_available():
    ...     assert ag.cuda.current_device() == 0
    """
    _core.start()
    return _core.current()


def set_device(device: Any) -> None:
    """
    Let ``"cuda"`` mean this GPU, in this thread.

    Parameters
    ----------
    device : device or str or int
        A negative number changes nothing.

    Raises
    ------
    RuntimeError
        If there is no such GPU.
    ValueError
        If the device is of another type.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.is_available():
    ...     ag.cuda.set_device(0)
    """
    index = _core.index_of(device)
    if index >= 0:
        _core.start()
        _streams._set_index(index, "cuda")


class device:
    """
    Let ``"cuda"`` mean another GPU inside of a block, in this thread.

    Parameters
    ----------
    device : device or str or int or None
        None or a negative number change nothing.

    Raises
    ------
    ValueError
        If the device is of another type.
    RuntimeError
        On entering, if there is no such GPU.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> with ag.cuda.device(None):
    ...     pass
    """

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None else _core.index_of(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        """Change the current GPU."""
        if self.idx >= 0:
            _core.start()
            before = _core.current()
            _streams._set_index(self.idx, "cuda")
            self.prev_idx = before

    def __exit__(self, *exc_info: object) -> None:
        """Change it back."""
        if self.prev_idx >= 0:
            _streams._set_index(self.prev_idx, "cuda")


class device_of(device):
    """
    Let ``"cuda"`` mean the GPU of a tensor or storage inside of a block, in this thread.

    Parameters
    ----------
    obj : Tensor or storage
        One that is on no GPU changes nothing.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> with ag.cuda.device_of(ag.ones(1)):
    ...     pass
    """

    def __init__(self, obj: Any) -> None:
        place = obj.device
        on_gpu = place.type == "cuda"
        super().__init__(place if on_gpu else None)


def synchronize(device: Any = None) -> None:
    """
    Wait for all work of a GPU, and raise what it raised.

    Parameters
    ----------
    device : device or str or int, optional
        The current one unless given.

    Raises
    ------
    RuntimeError
        If there is no such GPU, or work on it failed.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.is_available():
    ...     ag.cuda.synchronize()
    """
    _streams._synchronize(_core.device_name(device), "cuda")


def get_device_properties(device: Any = None) -> Properties:
    """
    Return the properties of a GPU.

    Parameters
    ----------
    device : device or str or int, optional
        The current one unless given.

    Returns
    -------
    object
        With ``name``, ``major``, ``minor``, ``total_memory``, ``multi_processor_count``, ``uuid``
        and so on.

    Raises
    ------
    RuntimeError
        If there is no such GPU.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.is_available():
    ...     assert ag.cuda.get_device_properties(0).total_memory > 0
    """
    _core.start()
    return Properties.of(_core.index_of(_core.device_name(device)))


def get_device_name(device: Any = None) -> str:
    """
    Return the name of a GPU.

    Parameters
    ----------
    device : device or str or int, optional
        The current one unless given.

    Returns
    -------
    str

    Examples
    --------
    >>> import autograd_cy as ag
    >>> names = [ag.cuda.get_device_name(i) for i in range(ag.cuda.device_count())]
    """
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """
    Return the compute capability of a GPU, as (9, 0).

    Parameters
    ----------
    device : device or str or int, optional
        The current one unless given.

    Returns
    -------
    tuple of int

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.is_available():
    ...     major, minor = ag.cuda.get_device_capability()
    """
    properties = get_device_properties(device)
    return properties.major, properties.minor


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """
    Tell if one GPU can read another one's memory.

    Parameters
    ----------
    device, peer_device : device or str or int

    Returns
    -------
    bool

    Raises
    ------
    RuntimeError
        If there is no such GPU.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.device_count() > 1:
    ...     reached = ag.cuda.can_device_access_peer(0, 1)
    """
    one, other = _core.device_name(device), _core.device_name(peer_device)
    from autograd_cy._C import cuda_driver

    return cuda_driver.can_access_peer(_core.index_of(one), _core.index_of(other))


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """
    Tell if the current GPU computes in bfloat16.

    Parameters
    ----------
    including_emulation : bool, default True
        Whether one that converts to float32 and back counts, too.

    Returns
    -------
    bool
        False where there is no GPU.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.is_bf16_supported() == ag.cuda.is_available()
    True
    """
    if not is_available():
        return False
    return including_emulation or get_device_capability()[0] >= 8


def is_tf32_supported() -> bool:
    """
    Tell if the current GPU has products of float32 with fewer digits.

    Returns
    -------
    bool
        False where there is no GPU.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if not ag.cuda.is_available():
    ...     assert not ag.cuda.is_tf32_supported()
    """
    return is_available() and get_device_capability()[0] >= 8


def get_arch_list() -> list[str]:
    """
    Return the architectures of GPUs that this build has kernels for.

    Returns
    -------
    list of str
        As ``"sm_90"``, or ``"compute_80"`` for code that newer ones can take; empty where it was
        built without CUDA, or there is no GPU.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.get_arch_list() == [] or ag.cuda.is_available()
    True
    """
    if not is_available():
        return []
    from autograd_cy.cuda import _start

    return list(_start.architectures())


def get_gencode_flags() -> str:
    """
    Return the architectures of this build as nvcc's options.

    Returns
    -------
    str

    Examples
    --------
    >>> import autograd_cy as ag
    >>> isinstance(ag.cuda.get_gencode_flags(), str)
    True
    """
    pairs = [name.split("_") for name in get_arch_list()]
    return " ".join(
        f"-gencode compute=compute_{number},code={kind}_{number}" for kind, number in pairs
    )


def ipc_collect() -> None:
    """
    Do nothing: memory of GPUs isn't shared between processes.

    Raises
    ------
    RuntimeError
        If kernels, PyCUDA or the driver are missing; the text says which.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.is_available():
    ...     ag.cuda.ipc_collect()
    """
    _core.start()
