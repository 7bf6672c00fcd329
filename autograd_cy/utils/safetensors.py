"""
Tensors in files of the safetensors format, by the library of that name.

The functions are those of ``safetensors.torch``. The format holds names and plain tensors, no
objects, so its files are safe to load.
"""

from __future__ import annotations

import os
from collections.abc import Container
from importlib import import_module
from typing import Any

from autograd_cy import Tensor, device, empty
from autograd_cy import dtype as _dtype
from autograd_cy._C.copying import _rebuild_tensor, _storage_from_bytes
from autograd_cy._C.dtypes import _dtype_by_name

__all__ = ["load", "load_file", "load_model", "save", "save_file", "save_model"]

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
    "U16": "uint16",
    "U32": "uint32",
    "U64": "uint64",
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
    specs, owners = _specs(library, tensors)
    written = library.serialize(specs, metadata=metadata)
    del owners
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
    specs, owners = _specs(library, tensors)
    library.serialize_file(specs, os.fspath(filename), metadata=metadata)
    del owners


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
    return {name: _tensor(name, entry) for name, entry in _library().deserialize(data)}


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
        tensors = load(file.read())
    return {name: x.to(device) for name, x in tensors.items()}


def save_model(
    model: Any,
    filename: str | os.PathLike,
    metadata: dict[str, str] | None = None,
    force_contiguous: bool = True,
) -> None:
    """
    Write the state of a module to a file, each memory that several tensors share once.

    Parameters
    ----------
    model : Module
    filename : path
    metadata : dict of str, optional
        Notes about the tensors. For each name that is left out, the one that has its values is
        added.
    force_contiguous : bool, default True
        Whether tensors that aren't contiguous are copied; otherwise they are refused.

    Raises
    ------
    ImportError
        If the library safetensors isn't installed.
    ValueError, RuntimeError
        If a tensor isn't contiguous, or of tensors that share memory none has all of it.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.utils import safetensors
    >>> layer = ag.nn.Linear(2, 1)
    >>> safetensors.save_model(layer, "layer.safetensors")
    >>> safetensors.load_model(ag.nn.Linear(2, 1), "layer.safetensors")
    ([], [])
    """
    state = model.state_dict()
    left_out = _left_out(state)
    unique: dict[str, Tensor] = {}
    memory: set[int] = set()
    for name, x in state.items():
        if name in left_out:
            continue
        if isinstance(x, Tensor) and (force_contiguous or x.is_contiguous()):
            x = x.detach().contiguous()
            if x.untyped_storage().data_ptr() in memory:  # another part of it
                x = x.clone()
            memory.add(x.untyped_storage().data_ptr())
        unique[name] = x
    save_file(unique, filename, {**left_out, **(metadata or {})} if left_out else metadata)


def load_model(
    model: Any,
    filename: str | os.PathLike,
    strict: bool = True,
    device: str | device = "cpu",
) -> tuple[list[str], list[str]]:
    """
    Give a module the state that a file of :func:`save_model` holds.

    Parameters
    ----------
    model : Module
    filename : path
    strict : bool, default True
        Whether names that are missing or unknown are an error.
    device : device or str
        Where the tensors of the file go before they are copied.

    Returns
    -------
    missing, unexpected : list of str
        Names of the module that the file has no values for, and the other way round.

    Raises
    ------
    ImportError
        If the library safetensors isn't installed.
    RuntimeError
        If names or shapes do not match.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.utils import safetensors
    >>> layer = ag.nn.Linear(2, 1)
    >>> safetensors.save_model(layer, "layer.safetensors")
    >>> safetensors.load_model(ag.nn.Linear(2, 1), "layer.safetensors")
    ([], [])
    """
    tensors = load_file(filename, device)
    missing, unexpected = model.load_state_dict(tensors, strict=False)
    left_out = _left_out(model.state_dict(), preferred=tensors)
    missing = sorted(name for name in missing if left_out.get(name) not in tensors)
    unexpected = sorted(unexpected)
    if strict and (missing or unexpected):
        lines = [f"Error(s) in loading state_dict for {type(model).__name__}:"]
        for what, names in (("Missing", missing), ("Unexpected", unexpected)):
            if names:
                quoted = ", ".join(f'"{name}"' for name in names)
                lines.append(f"    {what} key(s) in state_dict: {quoted}")
        raise RuntimeError("\n".join(lines))
    return missing, unexpected


def _left_out(state: dict[str, Any], preferred: Container[str] = ()) -> dict[str, str]:
    """Names whose memory is that of another name, and this other one."""
    places = []
    for name, x in state.items():
        if isinstance(x, Tensor) and x.numel() and not x.is_meta:
            last = sum((n - 1) * step for n, step in zip(x.shape, x.stride()))
            places.append((x.data_ptr(), x.data_ptr() + (last + 1) * x.dtype.itemsize, name))
    others: dict[str, str] = {}
    group: list[tuple[int, int, str]] = []
    for place in [*sorted(places), (1 << 64, 0, "")]:
        if group and place[0] >= max(end for _, end, _ in group):
            if len(group) > 1:
                others |= _representative(state, group, preferred)
            group = []
        group.append(place)
    return others


def _representative(
    state: dict[str, Any], group: list[tuple[int, int, str]], preferred: Container[str]
) -> dict[str, str]:
    """Names of a group that overlaps, and the one that has the values of all of them."""
    start, end = group[0][0], max(last for _, last, _ in group)
    names = sorted(name for _, _, name in group)
    whole = [name for name in names if state[name].nbytes == end - start
             and state[name].data_ptr() == start]  # fmt: skip
    if not whole:
        raise RuntimeError(
            f"The tensors {', '.join(f'`{name}`' for name in names)} share memory, and none of "
            "them has all of it, so that none can stand for the others. Save clones."
        )
    chosen = next((name for name in whole if name in preferred), whole[0])
    return {name: chosen for name in names if name != chosen}


def _library() -> Any:
    try:
        return import_module("safetensors")
    except ImportError as error:
        raise ImportError(
            "autograd_cy.utils.safetensors needs the package safetensors: "
            'pip install "autograd_cy[safetensors]"'
        ) from error


def _specs(library: Any, tensors: dict[str, Tensor]) -> tuple[dict[str, Any], list[Tensor]]:
    """Return the metadata of tensors for the library, and the tensors, whose memory it reads."""
    if not isinstance(tensors, dict):
        raise ValueError(f"expected a dict of name to tensor, got {type(tensors).__name__}")
    specs, tensors_read = {}, []
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
        tensors_read.append(x)
        size = x.numel() * x.dtype.itemsize
        if hasattr(library, "TensorSpec"):
            specs[name] = library.TensorSpec(
                dtype=dtype, shape=list(x.shape), data_ptr=x.data_ptr(), data_len=size
            )
        else:  # before version 0.8
            start = x.storage_offset() * x.dtype.itemsize
            view = memoryview(x.untyped_storage())[start : start + size]  # type: ignore[arg-type]
            specs[name] = {"dtype": dtype, "shape": list(x.shape), "data": bytes(view)}
    return specs, tensors_read


def _tensor(name: str, entry: dict[str, Any]) -> Tensor:
    if entry["dtype"] not in _DTYPES:
        raise ValueError(f"key `{name}` has the dtype {entry['dtype']}, which isn't here")
    dtype: _dtype = _dtype_by_name(_DTYPES[entry["dtype"]])
    shape = tuple(entry["shape"])
    storage = _storage_from_bytes(entry["data"])
    stride = empty(shape, device="meta").stride()
    return _rebuild_tensor(Tensor, storage, dtype, 0, shape, stride, False)
