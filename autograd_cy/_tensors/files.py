"""Tensors whose memory is a file's. Loaded at first use."""

from __future__ import annotations

import mmap
import os
from typing import Any

from autograd_cy._C.copying import _rebuild_tensor, _storage_from_bytes
from autograd_cy._C.dtypes import dtype as _dtype
from autograd_cy._C.dtypes import get_default_dtype
from autograd_cy._C.placement import device as _device
from autograd_cy._C.tensor import Tensor
from autograd_cy._tensors.public import public

__all__ = ["from_file"]


@public
def from_file(
    filename: str | os.PathLike,
    shared: bool | None = None,
    size: int = 0,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """
    Return a vector whose memory is that of a file.

    Parameters
    ----------
    filename : path
    shared : bool, optional
        Whether what is written to the tensor is written to the file, which is made, or made longer,
        if it is needed. Otherwise the file stays as it is.
    size : int, optional
        The number of elements.
    dtype : dtype, optional
        Of the elements; by default the default one.
    layout, device, pin_memory : optional
        Of the tensor, which is strided, on the CPU and not pinned.
    requires_grad : bool, optional
        Whether gradients are wanted.

    Returns
    -------
    Tensor
        Of shape (size,).

    Raises
    ------
    RuntimeError
        If the file can't be opened or is too short, or the tensor is to be elsewhere.

    Examples
    --------
    >>> import tempfile
    >>> import autograd_cy as ag
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     x = ag.from_file(file.name, shared=True, size=3)
    ...     _ = x.fill_(2.0)
    ...     ag.from_file(file.name, size=2)
    tensor([2., 2.])
    """
    kind = get_default_dtype() if dtype is None else dtype
    if device is not None and _device(device).type != "cpu":
        raise RuntimeError("from_file: Only CPU tensors can be mapped to files")
    if pin_memory:
        raise RuntimeError("from_file: tensors in files can't be in pinned memory")
    if size < 0:
        raise RuntimeError(f"from_file: size must not be negative, but it is {size}")
    wanted = size * kind.itemsize
    name = os.fspath(filename)
    flags = os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY
    try:
        handle = os.open(name, flags, 0o666)
    except OSError as error:
        mode = "read-write" if shared else "read-only"
        raise RuntimeError(
            f"unable to open file <{name}> in {mode} mode: {error.strerror} ({error.errno})"
        ) from error
    try:
        there = os.fstat(handle).st_size
        if there < wanted:
            if not shared:
                raise RuntimeError(
                    f"file <{name}> size <{there}> is smaller than the required mapping size "
                    f"<{wanted}>"
                )
            os.ftruncate(handle, wanted)
        if wanted:
            access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
            memory: Any = mmap.mmap(handle, wanted, access=access)
        else:
            memory = bytearray()
    finally:
        os.close(handle)
    storage = _storage_from_bytes(memoryview(memory))
    return _rebuild_tensor(Tensor, storage, kind, 0, (size,), (1,), requires_grad)
