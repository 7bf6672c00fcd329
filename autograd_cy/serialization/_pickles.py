"""Limits for the pickle of a stranger: no more memory than its own length explains."""

from __future__ import annotations

import collections
import functools
import pickle
import re
from collections.abc import Callable
from types import FunctionType
from typing import Any

from autograd_cy._C.tensor import Size


class LoadError(RuntimeError, pickle.UnpicklingError):
    """A file that is damaged, cut off, or of another kind."""


def _refuse(what: str) -> None:
    raise LoadError(f"load: the file is damaged: {what}")


CLASSES: dict[Any, Any] = {}  # what stands in for a class: the class


def modest(make: Callable[..., Any]) -> Callable[..., Any]:
    """`make`, which makes nothing of a bare length: `bytes(2**40)`, `set(range(2**40))`."""

    @functools.wraps(
        make, assigned=("__module__", "__name__", "__qualname__", "__doc__"), updated=()
    )
    def modest_make(*args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], (int, range)):
            _refuse(f"it asks for {make.__name__} of {args[0]!r}")
        return make(*args, **kwargs)

    CLASSES[modest_make] = make
    return modest_make


def encode(text: Any, encoding: Any = "utf-8", *rest: Any) -> bytes:
    """`codecs.encode` of texts: that is how old protocols write bytes."""
    if not isinstance(text, str):
        _refuse(f"it encodes an object of {type(text).__name__}")
    return text.encode(encoding, *rest)


def dimensions(of: Any) -> tuple[Any, ...]:
    """A size or strides, as a tuple."""
    if not isinstance(of, (tuple, list)):
        _refuse(f"a tensor's size or strides are an object of {type(of).__name__}")
    return tuple(of)


SAFE: dict[tuple[str, str], Any] = {
    ("_codecs", "encode"): encode,
    ("autograd_cy", "Size"): modest(Size),
    ("autograd_cy._C.tensor", "Size"): modest(Size),  # of older files
    ("builtins", "bytearray"): modest(bytearray),
    ("builtins", "bytes"): modest(bytes),
    ("builtins", "frozenset"): modest(frozenset),
    ("builtins", "set"): modest(set),
    ("collections", "Counter"): modest(collections.Counter),
    ("collections", "deque"): modest(collections.deque),
}


def classes_again(obj: Any) -> Any:
    """Replace stand-ins of a loaded object by the classes themselves, where a file names them and
    makes nothing."""
    seen: set[int] = set()
    todo = [obj]
    while todo:
        x = todo.pop()
        if id(x) in seen or not isinstance(x, (dict, list, tuple, set, collections.deque)):
            continue
        seen.add(id(x))
        if isinstance(x, dict):
            if any(_class_again(key) is not key for key in x):
                items = [*x.items()]
                x.clear()  # so that all keys keep their order
                x.update((_class_again(key), value) for key, value in items)
            for key, value in [*x.items()]:
                x[key] = _class_again(value)
            todo += x.values()
        elif isinstance(x, set):
            again = [(y, _class_again(y)) for y in x]
            x.difference_update(y for y, z in again if y is not z)
            x.update(z for _, z in again)
        else:
            if not isinstance(x, tuple):
                for i, y in enumerate([*x]):
                    x[i] = _class_again(y)
            todo += x
    return _class_again(obj)


def _class_again(x: Any, depth: int = 0) -> Any:
    """The class of a function that stood in for it, in tuples and frozen sets too."""
    if type(x) in (tuple, frozenset) and depth < 100:
        items = [_class_again(y, depth + 1) for y in x]
        return type(x)(items) if any(a is not b for a, b in zip(items, x)) else x
    return CLASSES.get(x, x) if type(x) is FunctionType else x


# How the argument of an opcode ends: after so many bytes, after lines, or after as many bytes as
# a number before them says. Source: Lib/pickletools.py, whose names say which is which.
_PUTS = b"r", b"p"
_LENGTHS = {-2: 1, -3: 4, -4: 4, -5: 8}


@functools.cache
def _opcodes() -> tuple[re.Pattern[bytes], dict[int, int], dict[int, int]]:
    """A pattern of runs of opcodes of fixed length; the lines of others; how wide lengths are."""
    import pickletools

    fixed: dict[int, bytes] = collections.defaultdict(bytes)
    lines, widths = {}, {}
    for op in pickletools.opcodes:
        code = op.code.encode("latin-1")
        n = 0 if op.arg is None else op.arg.n
        if n == pickletools.UP_TO_NEWLINE:
            lines[code[0]] = 2 if op.name in ("GLOBAL", "INST") else 1
        elif n < 0:
            widths[code[0]] = _LENGTHS[n]
        elif code not in (b".", *_PUTS):
            fixed[n] += code
    kinds = [b"[" + re.escape(codes) + b"]" + b"." * n for n, codes in fixed.items()]
    # The usual index of what is remembered: below a million.
    kinds.append(rb"r..[\0-\x0f]\0")
    # Behind them, mostly, the length of a short text.
    text = b"(?:" + b"|".join(kinds) + rb"){0,1000}(X.\0\0\0)?"
    return re.compile(text, re.DOTALL), lines, widths


def check_memo(data: Any) -> None:
    """
    Refuse a pickle that numbers what it remembers beyond its own length.

    Python's unpickler allocates memory for all numbers up to the largest: twelve bytes take 64 GB.

    Parameters
    ----------
    data : buffer

    Raises
    ------
    pickle.UnpicklingError
    """
    runs, lines, widths = _opcodes()
    view = memoryview(data).cast("B")
    at, end = 0, len(view)
    while at < end:
        run = runs.match(view, at)
        assert run is not None  # it matches nothing, too
        if run.end() > at:
            at = run.end()
            if run.lastindex:
                at += view[at - 4]
            continue
        code = view[at]
        at += 1
        if code in widths:
            width = widths[code]
            at += width + int.from_bytes(view[at : at + width], "little")
            if at > end:
                _refuse("it ends within bytes or a text")
        elif code == ord("r"):
            _check_place(int.from_bytes(view[at : at + 4], "little"), end)
            at += 4
        elif code in lines or code == ord("p"):
            for _ in range(lines.get(code, 1)):
                start = at
                while at < end and view[at] != ord("\n"):
                    at += 1
                at += 1
            if code == ord("p"):
                try:
                    place = int(bytes(view[start : at - 1]))
                except ValueError:
                    return  # the unpickler says so better
                _check_place(place, end)
        else:
            return  # the end, or no opcode: the unpickler goes no further, either


def _check_place(place: int, end: int) -> None:
    if place > end:
        _refuse(f"it remembers an object in place {place} of {end} bytes")
