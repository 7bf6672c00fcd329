# cython: language_level=3
"""Operators find each other by name and C signature while the package is imported.

A module that calls operators has a struct of pointers `T` for those that it uses, and no others
(`include "operators_of_<module>.pxi"`, which the generator writes). So a new operator changes
nothing but its own family. Modules that are loaded before an operator get their pointer when it is
published.

Families of operators that the import leaves out (`_expect`) are loaded when a module that calls one
of theirs is.
"""
import sys
from collections import namedtuple as _namedtuple
from importlib import import_module as _import_module


cdef dict _places = {}         # signature -> address of the function
cdef dict _waiting = {}        # signature -> [(module, address of its pointer)]
cdef dict _later = {}          # module that is loaded at first use -> names of its operators
cdef bint _complete = False


cdef int publish(void** functions, str signatures) except -1:
    cdef Py_ssize_t i
    cdef object where
    for i, signature in enumerate(signatures.split("\n")):
        _places[signature] = <size_t>functions[i]
        for _, where in _waiting.pop(signature, ()):
            (<void**><size_t>where)[0] = functions[i]
    return 0


cdef int link(str module, void** functions, str signatures) except -1:
    cdef Py_ssize_t i
    cdef list missing = []
    for i, signature in enumerate(signatures.split("\n")):
        place = _places.get(signature)
        if place is None:
            missing.append(signature)
            _waiting.setdefault(signature, []).append((module, <size_t>&functions[i]))
        else:
            functions[i] = <void*><size_t>place
    if missing and _complete:
        missing = [signature for signature in missing if not found_later(signature)]
    if missing and _complete:
        raise ImportError(f"{module} was built for other operators than there are; build it again. "
                          f"It calls {', '.join(missing)}")
    return 0


cdef bint found_later(str signature) except -1:
    """Return whether a family that is loaded now, or by now half loaded, publishes an operator."""
    cdef str key = signature.partition("(")[0].rpartition(" ")[2]
    for name, keys in _later.items():
        if key in keys:
            path = f"autograd_cy._C.{name}"
            if path not in sys.modules:
                _import_module(path)
            # One that is being loaded, and calls the module that asks, publishes soon.
            loading = getattr(sys.modules[path].__spec__, "_initializing", False)
            return signature in _places or loading
    return False


def _expect(dict families not None):
    """Make known {module: its operators, separated by spaces} that are loaded at first use."""
    for name, keys in families.items():
        _later[name] = frozenset(keys.split())


cdef dict _functions = {}      # (family, name) -> function of the interpreted tier


def _interpreted(str family, str name):
    """A function of the interpreted tier, for the formulas of compiled records."""
    function = _functions.get((family, name))
    if function is None:
        function = getattr(_import_module(f"autograd_cy._interpreted.{family}"), name)
        _functions[family, name] = function
    return function


def _unfilled():
    """Operators that a module calls and none has published; from then on every link is complete."""
    global _complete
    _complete = True
    return [f"{signature} (called in {module})"
            for signature, users in _waiting.items() for module, _ in users]


def named_results(str name not None, tuple fields not None):
    """The class of several results with names, which `autograd_cy.return_types` has.

    Like those of torch it takes one sequence, too, and shows a line for each result.
    """
    result_class = _namedtuple(name, fields, module="autograd_cy.return_types")
    by_name = result_class.__new__
    cdef Py_ssize_t n = len(fields)

    def new(cls, *values, **named):
        if not named and len(values) == 1:
            values = tuple(values[0])
        if named or len(values) != n:
            return by_name(cls, *values, **named)
        return tuple.__new__(cls, values)

    def shown(self):
        lines = [f"{field}={value!r}" for field, value in zip(fields, self)]
        return f"autograd_cy.return_types.{name}(\n" + ",\n".join(lines) + ")"

    result_class.__new__ = staticmethod(new)
    result_class.__repr__ = shown
    return result_class
