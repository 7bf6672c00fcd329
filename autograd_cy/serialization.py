"""Tensors in files: a short header, then a pickle.

By default loading runs no code from the file: only tensors, containers and numbers may come back.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from ._C.copying import _storage_on_meta
from ._C.placement import device
from ._C.tensor import Tensor

__all__ = ["add_safe_globals", "load", "save"]

MAGIC = b"autograd_cy 1\n"

# What a file may name when it is loaded with weights_only=True.
_SAFE = {
    ("autograd_cy._C.copying", "_rebuild_tensor"),
    ("autograd_cy._C.copying", "_storage_from_bytes"),
    ("autograd_cy._C.copying", "_storage_on_meta"),
    ("autograd_cy._C.dtypes", "_dtype_by_name"),
    ("autograd_cy._C.placement", "device"),
    ("autograd_cy._C.placement", "strided"),
    ("autograd_cy._C.random", "_rebuild_generator"),
    ("autograd_cy", "Size"),
    ("autograd_cy._C.tensor", "Size"),  # of older files
    ("_codecs", "encode"),
    ("builtins", "bytearray"),
    ("builtins", "bytes"),
    ("builtins", "complex"),
    ("builtins", "frozenset"),
    ("builtins", "range"),
    ("builtins", "set"),
    ("builtins", "slice"),
    ("collections", "Counter"),
    ("collections", "OrderedDict"),
    ("collections", "deque"),
}


def add_safe_globals(objects: list) -> None:
    """
    Allow :func:`load` to make objects of these classes, or to call these functions.

    Parameters
    ----------
    objects : list of type or function

    Examples
    --------
    >>> from fractions import Fraction
    >>> import autograd_cy as ag
    >>> ag.serialization.add_safe_globals([Fraction])
    """
    _SAFE.update((o.__module__, o.__qualname__) for o in objects)


# What pickle raises for bytes that make no sense, beside UnpicklingError.
_DAMAGE = AttributeError, EOFError, ImportError, LookupError, OverflowError, TypeError, ValueError


class _Unpickler(pickle.Unpickler):
    """Puts all memory where `map_location` says; None leaves each tensor where it was."""

    where: device | None = None

    def find_class(self, module: str, name: str) -> Any:
        if self.where is not None and module == "autograd_cy._C.copying":
            if name == "_storage_from_bytes" and self.where.type == "meta":
                return lambda data: _storage_on_meta(memoryview(data).nbytes)
            if name == "_storage_on_meta" and self.where.type == "cpu":
                raise RuntimeError(
                    "load: the file has tensors on 'meta', of which there are no values to put on "
                    "the CPU; load with map_location='meta'"
                )
        return super().find_class(module, name)


class _SafeUnpickler(_Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        # Protocol 2 writes the names of Python 2.
        modern = ("builtins", "range") if name == "xrange" else (module, name)
        if modern[0] == "__builtin__":
            modern = ("builtins", name)
        if modern in _SAFE:
            return super().find_class(*modern)
        # Parameter and other tensor classes of this package.
        if module.partition(".")[0] == "autograd_cy" and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) and issubclass(found, Tensor):
                return found
        raise pickle.UnpicklingError(
            f"load: the file asks for {module}.{name}, which weights_only=True does not allow. "
            f"Allow it with add_safe_globals([{name}]), or, if you trust the file's author, load "
            "with weights_only=False: that can run any code."
        )


@contextmanager
def _opened(f: str | os.PathLike | IO[bytes], mode: str) -> Iterator[IO[bytes]]:
    if isinstance(f, (str, os.PathLike)):
        with open(f, mode) as handle:
            yield handle
    else:
        yield f


def save(
    obj: Any, f: str | os.PathLike | IO[bytes], *, pickle_protocol: int = pickle.HIGHEST_PROTOCOL
) -> None:
    """
    Write an object to a file.

    Parameters
    ----------
    obj : object
        Tensors, or containers of tensors such as a ``state_dict``. Memory shared by several tensors
        is written once, and wholly: clone a small view of a large tensor first.
    f : path or binary file
    pickle_protocol : int

    Examples
    --------
    >>> import io
    >>> import autograd_cy as ag
    >>> file = io.BytesIO()
    >>> ag.save({"w": ag.ones(2)}, file)
    >>> _ = file.seek(0)
    >>> ag.load(file)
    {'w': tensor([1., 1.])}
    """
    with _opened(f, "wb") as handle:
        handle.write(MAGIC)
        pickle.dump(obj, handle, protocol=pickle_protocol)


def load(
    f: str | os.PathLike | IO[bytes], map_location: Any = None, *, weights_only: bool = True
) -> Any:
    """
    Read an object that :func:`save` wrote.

    Parameters
    ----------
    f : path or binary file
    map_location : device, optional
        Where all tensors go: the CPU, or ``"meta"``, which takes their shapes alone. Left out, each
        goes where it was.
    weights_only : bool
        False lets the file run any code: only for files from those you trust.

    Returns
    -------
    object

    Raises
    ------
    pickle.UnpicklingError
        If the file is of another kind or damaged, or names something that is not here or that
        `weights_only` does not allow.

    Examples
    --------
    >>> import io
    >>> import autograd_cy as ag
    >>> file = io.BytesIO()
    >>> ag.save(ag.arange(3), file)
    >>> _ = file.seek(0)
    >>> ag.load(file)
    tensor([0, 1, 2])
    """
    where = None if map_location is None else device(map_location)
    if where is not None and where.type not in ("cpu", "meta"):
        raise RuntimeError(
            f"load: map_location must be 'cpu' or 'meta', not {map_location!r}; move what was "
            "loaded with .to(device)"
        )
    with _opened(f, "rb") as handle:
        if handle.read(len(MAGIC)) != MAGIC:
            raise pickle.UnpicklingError("load: this is not a file that autograd_cy.save wrote")
        unpickler = (_SafeUnpickler if weights_only else _Unpickler)(handle)
        unpickler.where = where
        try:
            return unpickler.load()
        except _DAMAGE as error:
            raise pickle.UnpicklingError(
                "load: the file is damaged, or names what is not here: "
                f"{type(error).__name__}: {error}"
            ) from error
