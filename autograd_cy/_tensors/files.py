"""Tensors on the memory of mapped files."""

from __future__ import annotations

from typing import Any

from autograd_cy._C.arguments import bool_arg, dtype_arg, int_arg, str_arg
from autograd_cy._C.copying import _rebuild_tensor
from autograd_cy._C.dtypes import get_default_dtype
from autograd_cy._C.exchange import UntypedStorage
from autograd_cy._C.tensor import Tensor
from autograd_cy.storage import map_file

__all__ = ["from_file"]


def from_file(
    filename: str,
    shared: bool | None = None,
    size: int | None = 0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """
    Return a tensor of one dimension on the memory of a mapped file.

    Parameters
    ----------
    filename : str
    shared : bool, optional
        Write changes to the file, which is made, or made longer, if it has fewer elements. Without
        it, changes stay in this process.
    size : int
        Number of elements.
    dtype : dtype, optional
        By default the default dtype.
    layout, device, pin_memory
        Only strided tensors on the CPU are on mapped files.
    requires_grad : bool

    Returns
    -------
    Tensor

    Raises
    ------
    TypeError
        If an argument is of another type.
    RuntimeError
        If the file can't be opened, or has fewer elements and isn't shared.

    Examples
    --------
    >>> import os
    >>> import tempfile
    >>> import autograd_cy as ag
    >>> path = os.path.join(tempfile.mkdtemp(), "numbers")
    >>> t = ag.from_file(path, shared=True, size=3, dtype=ag.float64)
    >>> _ = t.fill_(2)
    >>> ag.from_file(path, size=2, dtype=ag.float64)
    tensor([2., 2.], dtype=autograd_cy.float64)
    """
    import autograd_cy as ag

    if not isinstance(filename, bytes):
        str_arg(filename, "from_file", "filename", 1)
    if shared is not None:
        bool_arg(shared, "from_file", "shared", 2)
    count = 0 if size is None else int_arg(size, "from_file", "size", 3)
    if dtype is not None:
        dtype_arg(dtype, "from_file", "dtype", 0)
    if (
        layout not in (None, ag.strided)
        or pin_memory
        or (device is not None and ag.device(device).type != "cpu")
    ):
        raise RuntimeError("from_file: only strided tensors on the CPU, not pinned, are on files")
    kind = get_default_dtype() if dtype is None else dtype
    if count < 0:
        raise RuntimeError(f"from_file: a negative size: {count}")
    if count:
        storage = map_file(filename, bool(shared), count * kind.itemsize)
    else:
        storage = UntypedStorage(0)
    result = _rebuild_tensor(Tensor, storage, kind, 0, (count,), (1,), False)
    return result.requires_grad_() if requires_grad else result


from_file.__module__ = "autograd_cy"
