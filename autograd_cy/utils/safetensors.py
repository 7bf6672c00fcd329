"""
Tensors in files of the safetensors format, by the library of that name.

The functions are those of ``safetensors.torch``. The format holds names and plain tensors, no
objects, so its files are safe to load.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from autograd_cy import Tensor, device, empty
from autograd_cy import dtype as _dtype
from autograd_cy._C.copying import _rebuild_tensor, _storage_from_bytes
from autograd_cy._C.dtypes import _dtype_by_name

__all__ = ["load", "load_file", "save", "save_file"]

_DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U8": "uint8",
    "BOOL": "bool",
    "C64": "complex64",
}


def save(tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> bytes:
    """
    Return what a file of tensors would hold.

    Parameters
    ----------
    tensors : dict of Tensor
        Contiguous tensors by name, none of which share memory.
    metadata : dict of str, optional
        Notes about them.

    Returns
    -------
    bytes

    Raises
    ------
    ImportError
        If the library safetensors isn't installed.
    ValueError, RuntimeError
        If a tensor isn't contiguous or on the CPU, or two share memory.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.utils import safetensors
    >>> safetensors.load(safetensors.save({"a": ag.ones(2)}))
    {'a': tensor([1., 1.])}
    """
    library = _library()
    specs, kept = _specs(library, tensors)
    written = library.serialize(specs, metadata=metadata)
    del kept
    return written


def save_file(
    tensors: dict[str, Tensor],
    filename: str | os.PathLike,
    metadata: dict[str, str] | None = None,
) -> None:
    """
    Write tensors to a file.

    Parameters
    ----------
    tensors : dict of Tensor
        Contiguous tensors by name, none of which share memory.
    filename : path
    metadata : dict of str, optional
        Notes about them.

    Raises
    ------
    ImportError
        If the library safetensors isn't installed.
    ValueError, RuntimeError
        If a tensor isn't contiguous or on the CPU, or two share memory.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.utils import safetensors
    >>> safetensors.save_file({"a": ag.ones(2)}, "a.safetensors")
    >>> safetensors.load_file("a.safetensors")
    {'a': tensor([1., 1.])}
    """
    library = _library()
    specs, kept = _specs(library, tensors)
    library.serialize_file(specs, os.fspath(filename), metadata=metadata)
    del kept


def load(data: bytes) -> dict[str, Tensor]:
    """
    Return the tensors that the bytes of a file hold.

    Parameters
    ----------
    data : bytes

    Returns
    -------
    dict of Tensor

    Raises
    ------
    ImportError
        If the library safetensors isn't installed.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.utils import safetensors
    >>> data = safetensors.save({"a": ag.ones(2)})
    >>> safetensors.load(data)["a"]
    tensor([1., 1.])
    """
    return {name: _tensor(name, found) for name, found in _library().deserialize(data)}


def load_file(filename: str | os.PathLike, device: str | device = "cpu") -> dict[str, Tensor]:
    """
    Read the tensors of a file.

    Parameters
    ----------
    filename : path
    device : device or str
        Where they go.

    Returns
    -------
    dict of Tensor

    Raises
    ------
    ImportError
        If the library safetensors isn't installed.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.utils import safetensors
    >>> safetensors.save_file({"a": ag.ones(2)}, "a.safetensors")
    >>> safetensors.load_file("a.safetensors")
    {'a': tensor([1., 1.])}
    """
    with open(filename, "rb") as file:
        found = load(file.read())
    return {name: x.to(device) for name, x in found.items()}


def _library() -> Any:
    try:
        return import_module("safetensors")
    except ImportError as error:
        raise ImportError(
            "autograd_cy.utils.safetensors needs the package safetensors: "
            'pip install "autograd_cy[safetensors]"'
        ) from error


def _specs(library: Any, tensors: dict[str, Tensor]) -> tuple[dict[str, Any], list[Tensor]]:
    """What the library wants to know of tensors, and the tensors, whose memory it reads."""
    if not isinstance(tensors, dict):
        raise ValueError(f"expected a dict of name to tensor, got {type(tensors).__name__}")
    specs, kept = {}, []
    owners: dict[int, str] = {}
    for name, x in tensors.items():
        if not isinstance(x, Tensor):
            raise ValueError(f"key `{name}` is no tensor but a {type(x).__name__}")
        dtype = str(x.dtype).rpartition(".")[2]
        if dtype not in _DTYPES.values():
            raise ValueError(f"key `{name}`: safetensors has no dtype for {x.dtype}")
        x = x.detach().resolve_conj().resolve_neg().cpu()
        if not x.is_contiguous():
            raise ValueError(
                f"You are trying to save a non contiguous tensor: `{name}` which is not allowed. "
                "Call `.contiguous()` on it before saving."
            )
        if x.numel():
            first = owners.setdefault(x.untyped_storage().data_ptr(), name)
            if first != name:
                raise RuntimeError(
                    f"Some tensors share memory, which safetensors can't say: `{first}` and "
                    f"`{name}`. Save one of them, or clones."
                )
        kept.append(x)
        size = x.numel() * x.dtype.itemsize
        if hasattr(library, "TensorSpec"):
            specs[name] = library.TensorSpec(
                dtype=dtype, shape=list(x.shape), data_ptr=x.data_ptr(), data_len=size
            )
        else:  # before version 0.8
            start = x.storage_offset() * x.dtype.itemsize
            view = memoryview(x.untyped_storage())[start : start + size]  # type: ignore[arg-type]
            specs[name] = {"dtype": dtype, "shape": list(x.shape), "data": bytes(view)}
    return specs, kept


def _tensor(name: str, found: dict[str, Any]) -> Tensor:
    if found["dtype"] not in _DTYPES:
        raise ValueError(f"key `{name}` has the dtype {found['dtype']}, which isn't here")
    dtype: _dtype = _dtype_by_name(_DTYPES[found["dtype"]])
    shape = tuple(found["shape"])
    storage = _storage_from_bytes(found["data"])
    stride = empty(shape, device="meta").stride()
    return _rebuild_tensor(Tensor, storage, dtype, 0, shape, stride, False)
