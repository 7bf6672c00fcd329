"""States as trees of nodes that JSON can hold, and back.

A node is a number, a text, a truth value or None as it is, or a dict with one tag: ``dict``,
``list``, ``tensor`` ... (see `_TAGS` of the functions below). Nothing in it is code: reading a tree
makes containers, numbers, texts and tensors alone.

Note [Ranks in a tree]
Each rank makes a tree of its state, and :func:`merge` makes one of all. A name that only some ranks
have is of these ranks, as the state that ZeroRedundancyOptimizer spreads. A name whose values are
alike on its ranks is stored once. Where they differ, the node ``by_rank`` has the value of each.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import autograd_cy as ag
from autograd_cy import Tensor
from autograd_cy._C.dtypes import _dtype_by_name
from autograd_cy.distributed._operands import as_input

from .api import Refusal
from .stateful import Stateful

__all__ = [
    "bytes_of",
    "decode",
    "dtype_of",
    "encode",
    "merge",
    "name_of",
    "tensors_of",
    "values_of",
]

_MAPPINGS: dict[type, str] = {
    dict: "dict",
    OrderedDict: "ordered",
    Counter: "counter",
    defaultdict: "dict",
}
_MAPPING_TYPES: dict[str, Callable[[Any], Any]] = {
    "dict": dict,
    "ordered": OrderedDict,
    "counter": lambda pairs: Counter(dict(pairs)),
}
_SEQUENCES: dict[type, str] = {list: "list", tuple: "tuple", set: "set", ag.Size: "size"}
_SEQUENCE_TYPES: dict[str, Callable[[Any], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "size": ag.Size,
}


def name_of(dtype: Any) -> str:
    """Return the name of a dtype, without the package."""
    return str(dtype).rpartition(".")[2]


def dtype_of(name: Any) -> Any:
    """Return the dtype of a name.

    Raises
    ------
    Refusal
    """
    try:
        return _dtype_by_name(name)
    except ValueError:
        raise Refusal(f"the index has the unknown dtype {name!r}: update autograd_cy") from None


def state_of(value: Stateful) -> Any:
    """Return the state of an object, of spread ones this rank's share."""
    share = getattr(value, "_share_of_state", None)
    return value.state_dict() if share is None else share()


def bytes_of(tensor: Tensor) -> tuple[memoryview, Tensor]:
    """Return the bytes of a tensor in C order, and the tensor that has them."""
    plain = as_input(tensor)
    size = plain.numel() * plain.dtype.itemsize
    if not size:
        return memoryview(b""), plain
    start = plain.storage_offset() * plain.dtype.itemsize
    return memoryview(plain.untyped_storage())[start : start + size], plain  # type: ignore


# --- from values to nodes ------------------------------------------------------------------------


def encode(value: Any, path: tuple[Any, ...], tensors: dict[str, Tensor]) -> Any:
    """Return the node of a value.

    Parameters
    ----------
    value : object
    path : tuple
        The keys that lead to it.
    tensors : dict of Tensor
        Gets those of the value, by name.

    Raises
    ------
    Refusal
        If it can't be saved.
    """
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, Tensor):
        return _encode_tensor(value, path, tensors)
    if isinstance(value, np.ndarray):
        return _encode_array(value, path, tensors)
    if type(value) in _MAPPINGS:
        pairs = [
            [encode(key, (*path, "a key"), tensors), encode(each, (*path, key), tensors)]
            for key, each in value.items()
        ]
        return {_MAPPINGS[type(value)]: pairs}
    if type(value) in _SEQUENCES:
        items = [encode(each, (*path, number), tensors) for number, each in enumerate(value)]
        return {_SEQUENCES[type(value)]: items}
    return _encode_rest(value, path, tensors)


def _encode_rest(value: Any, path: tuple[Any, ...], tensors: dict[str, Tensor]) -> Any:
    if type(value) is complex:
        return {"complex": [encode(part, path, tensors) for part in (value.real, value.imag)]}
    if isinstance(value, (bytes, bytearray)):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        data = base64.b64encode(value.tobytes()).decode()
        return {"numpy": [value.dtype.str, data]}
    if isinstance(value, ag.dtype):
        return {"dtype": name_of(value)}
    if isinstance(value, ag.device):
        return {"device": str(value)}
    if isinstance(value, Stateful) and not isinstance(value, type):
        return encode(state_of(value), path, tensors)
    hint = ""
    if isinstance(value, ag.Generator):
        hint = "; give RandomState(generator) in its place"
    raise Refusal(
        f"{_name(path)} is a {type(value).__name__}, which a checkpoint can't hold: save tensors, "
        "numbers, texts, dicts, lists and tuples of them, and objects with state_dict and "
        f"load_state_dict{hint}"
    )


def _name(path: tuple[Any, ...]) -> str:
    return ".".join(map(str, path))


def _encode_tensor(value: Tensor, path: tuple[Any, ...], tensors: dict[str, Tensor]) -> Any:
    name = _name(path)
    if name in tensors:
        raise Refusal(f"two tensors have the name {name}: call one of them otherwise")
    if value.is_meta:
        raise Refusal(f"{name} is on device meta, and has no values: give it memory (to_empty)")
    data, owner = bytes_of(value)
    tensors[name] = value.detach()
    description = {"tensor": name, "dtype": name_of(value.dtype), "shape": list(value.shape)}
    node = {**description, "crc32": zlib.crc32(data)}
    del data, owner
    return node


def _encode_array(value: np.ndarray, path: tuple[Any, ...], tensors: dict[str, Tensor]) -> Any:
    if value.dtype.kind not in "biufc" or value.dtype.itemsize > 16 or value.dtype.str[0] == ">":
        raise Refusal(
            f"{_name(path)} is an array of {value.dtype}, which a checkpoint can't hold: give one "
            "of numbers"
        )
    data = np.ascontiguousarray(value).reshape(-1).view(np.uint8)
    node = _encode_tensor(ag.from_numpy(data.copy()), path, tensors)
    return {"array": node, "as": [value.dtype.str, list(value.shape)]}


# --- from nodes to values ------------------------------------------------------------------------


def decode(node: Any, tensors: Callable[[dict[str, Any]], Tensor]) -> Any:
    """Return the value of a node.

    Parameters
    ----------
    node : object
        Without ``by_rank``; see :func:`values_of`.
    tensors : callable
        Returns the tensor of a node that is one.
    """
    if not isinstance(node, dict):
        return node
    if "tensor" in node:
        return tensors(node)
    if "array" in node:
        dtype, shape = node["as"]
        data = tensors(node["array"]).numpy()
        return data.view(_numpy_dtype(dtype)).reshape(shape)
    ((tag, content),) = node.items()
    if tag in _MAPPING_TYPES:
        pairs = [(decode(key, tensors), decode(each, tensors)) for key, each in content]
        return _MAPPING_TYPES[tag](pairs)
    if tag in _SEQUENCE_TYPES:
        return _SEQUENCE_TYPES[tag]([decode(each, tensors) for each in content])
    if tag == "float":
        return float(content)
    if tag == "complex":
        return complex(*(decode(part, tensors) for part in content))
    if tag == "bytes":
        return base64.b64decode(content)
    if tag == "numpy":
        dtype, data = content
        return np.frombuffer(base64.b64decode(data), dtype=_numpy_dtype(dtype))[0]
    if tag == "dtype":
        return dtype_of(content)
    if tag == "device":
        return ag.device(content)
    raise Refusal(f"the index has a value of the unknown kind {tag!r}: update autograd_cy")


def _numpy_dtype(name: str) -> np.dtype:
    dtype = np.dtype(name)
    if dtype.kind not in "biufc":
        raise Refusal(f"the index has an array of {dtype}, which no checkpoint holds")
    return dtype


def values_of(node: Any, rank: int, size: int, saved_size: int) -> Any:
    """Return a tree with the values that a rank loads where they differ over ranks.

    With as many ranks as saved, each gets its own value again; otherwise all get that of the first
    rank, as DistributedDataParallel spreads buffers.
    """
    if not isinstance(node, dict) or "tensor" in node or "array" in node:
        return node
    if "by_rank" in node:
        values = node["by_rank"]
        own = values.get(str(rank)) if size == saved_size else None
        chosen = values[min(values, key=int)] if own is None else own
        return values_of(chosen, rank, size, saved_size)
    ((tag, content),) = node.items()
    if tag in _MAPPING_TYPES:
        content = [[key, values_of(each, rank, size, saved_size)] for key, each in content]
    elif tag in _SEQUENCE_TYPES:
        content = [values_of(each, rank, size, saved_size) for each in content]
    return {tag: content}


def pairs_of(node: Any) -> list[Any] | None:
    """Return keys and nodes of a mapping, None for another node."""
    if isinstance(node, dict) and "tensor" not in node:
        for tag in _MAPPING_TYPES:
            if tag in node:
                return node[tag]
    return None


def items_of(node: Any) -> list[Any] | None:
    """Return the nodes of a list or tuple, None for another node."""
    if isinstance(node, dict) and "tensor" not in node:
        for tag in ("list", "tuple"):
            if tag in node:
                return node[tag]
    return None


def tensors_of(node: Any) -> Iterator[dict[str, Any]]:
    """Yield the nodes of tensors, in order."""
    if isinstance(node, list):
        for each in node:
            yield from tensors_of(each)
    elif isinstance(node, dict):
        if "tensor" in node:
            yield node
        elif "by_rank" in node:
            yield from tensors_of(list(node["by_rank"].values()))
        else:
            for each in node.values():
                yield from tensors_of(each)


# --- the trees of several ranks ------------------------------------------------------------------

Parts = list[tuple[int, Any]]


def merge(parts: Parts, stored: list[tuple[dict[str, Any], list[int]]]) -> Any:
    """Return one tree of those of several ranks; see Note [Ranks in a tree].

    Parameters
    ----------
    parts : list of (int, object)
        Ranks and their nodes.
    stored : list
        Gets the nodes of tensors, with the ranks that have the tensor.
    """
    first = parts[0][1]
    if isinstance(first, dict):
        if all(node is first for _, node in parts):
            ranks = [rank for rank, _ in parts]
            stored += [(node, ranks) for node in tensors_of(first)]
            return first
        if "tensor" in first:
            if all(node == first for _, node in parts):
                node = dict(first)
                stored.append((node, [rank for rank, _ in parts]))
                return node
            return _merge_differing(parts, stored)
        if "array" in first:
            if all(node == first for _, node in parts):
                inner = merge([(rank, node["array"]) for rank, node in parts], stored)
                return {**first, "array": inner}
            return _merge_differing(parts, stored)
        (tag,) = first
        if all(isinstance(node, dict) and tag in node for _, node in parts):
            if tag in _MAPPING_TYPES:
                return {tag: _merge_pairs([(rank, node[tag]) for rank, node in parts], stored)}
            if tag in _SEQUENCE_TYPES and len({len(node[tag]) for _, node in parts}) == 1:
                each = zip(*(node[tag] for _, node in parts))
                ranks = [rank for rank, _ in parts]
                return {tag: [merge(list(zip(ranks, nodes)), stored) for nodes in each]}
    if all(node == first and type(node) is type(first) for _, node in parts):
        return first
    return _merge_differing(parts, stored)


def _merge_pairs(parts: Parts, stored: list[tuple[dict[str, Any], list[int]]]) -> list[Any]:
    by_key: dict[str, Parts] = {}
    keys: dict[str, Any] = {}
    for rank, pairs in parts:
        for key, node in pairs:
            text = json.dumps(key)
            keys.setdefault(text, key)
            by_key.setdefault(text, []).append((rank, node))
    return [[keys[text], merge(nodes, stored)] for text, nodes in by_key.items()]


def _merge_differing(parts: Parts, stored: list[tuple[dict[str, Any], list[int]]]) -> Any:
    alike: dict[str, Parts] = {}
    for rank, node in parts:
        alike.setdefault(json.dumps(node), []).append((rank, node))
    values = {}
    for same in alike.values():
        node = merge([(rank, same[0][1]) for rank, _ in same], stored)
        values.update({str(rank): node for rank, _ in same})
    return {"by_rank": values}
