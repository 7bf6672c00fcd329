"""C functions of the compiled modules, by the capsules that Cython makes for ``cimport``."""

from __future__ import annotations

import ctypes
import importlib
import re
from collections.abc import Callable
from typing import Any

_NAME = ctypes.pythonapi.PyCapsule_GetName
_NAME.restype, _NAME.argtypes = ctypes.c_char_p, [ctypes.py_object]
_POINTER = ctypes.pythonapi.PyCapsule_GetPointer
_POINTER.restype, _POINTER.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]

_PLAIN = {
    "int": ctypes.c_int,
    "Py_ssize_t": ctypes.c_ssize_t,
    "PY_LONG_LONG": ctypes.c_longlong,
    "int64_t": ctypes.c_int64,
    "double": ctypes.c_double,
    "void": None,
}


def _c_type(text: str) -> Any:
    text = text.strip()
    if re.fullmatch(r"(struct )?__pyx_t_\w+ \*", text):
        return ctypes.c_void_p
    if text == "PyObject *" or re.fullmatch(r"struct __pyx_obj_\w+ \*", text):
        return ctypes.py_object
    return _PLAIN[text]


# What stands last: arguments with defaults, of which none is given, and the flag of `cpdef`.
_LAST = re.compile(r"struct __pyx_opt_args_\w+ \*|int __pyx_skip_dispatch")


def function(target: str) -> Callable:
    """The function ``module.name`` of autograd_cy._C, with the types that its capsule names."""
    pointer, function_type, last = _look_up(target)
    call = function_type(pointer)
    if not last:
        return call
    return lambda *args: call(*args, *(None for _ in range(last)))


def kernel(target: str) -> tuple[int, Callable[[int], Callable]]:
    """The address of a kernel, and what makes a function of such an address."""
    pointer, function_type, _ = _look_up(target)
    return pointer, function_type


def _look_up(target: str) -> tuple[int, Any, int]:
    """The address of a function, its type, and the number of arguments that say nothing."""
    module, _, name = target.partition(".")
    capsule = importlib.import_module(f"autograd_cy._C.{module}").__pyx_capi__[name]
    signature: bytes = _NAME(capsule)
    result, _, inside = signature.decode().partition("(")
    taken = [part for part in inside.rstrip(")").split(",") if part.strip() not in ("", "void")]
    last = [part for part in taken if _LAST.match(part.strip())]
    try:
        types = [_c_type(part) for part in taken[: len(taken) - len(last)]]
        function_type = ctypes.PYFUNCTYPE(_c_type(result), *types, *(ctypes.c_void_p for _ in last))
    except KeyError as error:
        raise TypeError(f"{target}: {signature.decode()} is not for Python values") from error
    return _POINTER(capsule, signature), function_type, len(last)
