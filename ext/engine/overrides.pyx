# cython: language_level=3
"""Dispatch to ``__torch_function__`` of other classes, before a function does its work.

# Note [Dispatch to overrides]
Functions and methods that are compiled get another vectorcall (PEP 590; `_intercept`): it looks at
the arguments, and calls the function's own one if all are plain. A tensor is recognised by its
exact type, numbers and the like by theirs; only of what is left the attribute is looked up. Forms,
the functions of operators, do that while they convert their arguments (forms.pyx). So there is one
place for all of them, and arguments arrive as the caller wrote them. A sequence counts for
its elements.

Operators, attributes and methods that are slots of the class have no such function object. A
subclass gets forms of these that dispatch, when it is made (_tensors/overriding.py); plain tensors
never meet them. Operators of two operands look at both all the same (`answer`): Python calls those
of Tensor where a Parameter is on the left, where the subclass has refused, and by ``super()``.

# Note [NumPy's names]
As in torch, ``axis``, ``keepdims``, ``x``, ``a``, ``x1`` and ``x2`` mean ``dim``, ``keepdim``,
``input`` and ``other`` in compiled functions. A call is tried as it is written; only where that is
a TypeError and one of these names occurs it is tried again with the names of torch, so other calls
pay nothing. The first try refused the name before it did anything. Names that torch has beside
those of its documents (``sections``, ``input`` of a matrix ``A``) are tried last.
"""
from cpython.ref cimport PyObject, Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from autograd_cy._C.forms cimport Form, form_upcalls, forwarding
from autograd_cy._C.tensor cimport (
    Restoring, Tensor, Upcalls, binary_fn, getitem_fn, setitem_fn, hold_change, upcalls,
    M_NO_OVERRIDES, tls_modes, tensor_as, B_LT, B_NE, U_NEG, U_POS, U_INVERT, U_ABS)
from autograd_cy._C.tensor import _exchange, _set_alias
include "operators_of_overrides.pxi"
include "dispatched_operators.pxi"

import re as _re
import threading as _threading

cdef object placed = _re.compile(r"(\w+\(\): argument '(\w+)')(?: \(position \d+\))?")

cdef extern from "Python.h":
    void PyErr_Fetch(PyObject** kind, PyObject** error, PyObject** trace)
    void PyErr_NormalizeException(PyObject** kind, PyObject** error, PyObject** trace)
    void PyErr_Restore(PyObject* kind, PyObject* error, PyObject* trace)
    int PyErr_ExceptionMatches(PyObject* kind)
    void Py_XDECREF(PyObject* x)
    ctypedef PyObject* (*vectorcall_fn "vectorcallfunc")(
        PyObject*, PyObject**, size_t, PyObject*) noexcept
    ctypedef struct TypeObject "PyTypeObject":
        Py_ssize_t tp_vectorcall_offset
    ctypedef PyObject* (*keywords_fn "PyCFunctionWithKeywords")(
        PyObject*, PyObject*, PyObject*) noexcept
    ctypedef struct MethodDef "PyMethodDef":
        void* ml_meth
        int ml_flags
    ctypedef struct FunctionObject "PyCFunctionObject":
        MethodDef* m_ml
        PyObject* m_self
    int METH_VARARGS, METH_KEYWORDS
    TypeObject* TYPE_OF "Py_TYPE"(PyObject*)
    PyObject* new_tuple "PyTuple_New"(Py_ssize_t)
    void set_item "PyTuple_SET_ITEM"(PyObject*, Py_ssize_t, PyObject*)
    void incref "Py_INCREF"(PyObject*)
    void decref "Py_DECREF"(PyObject*)
    Py_ssize_t PyVectorcall_NARGS(size_t)
    Py_ssize_t PyTuple_GET_SIZE(PyObject*)
    Py_ssize_t PyList_GET_SIZE(PyObject*)
    PyObject* PyTuple_GET_ITEM(PyObject*, Py_ssize_t)
    PyObject* PyList_GET_ITEM(PyObject*, Py_ssize_t)
    PyObject* _PyType_Lookup(TypeObject*, PyObject*)
    bint PyObject_TypeCheck(PyObject*, TypeObject*)
    TypeObject PyTuple_Type, PyList_Type, PyLong_Type, PyFloat_Type, PyBool_Type, PyUnicode_Type
    TypeObject PySlice_Type, PyComplex_Type


def _disabled_torch_function_impl(*args, **kwargs):
    """The ``__torch_function__`` of classes that don't override functions, such as Parameter."""
    return NotImplemented


cdef object _name = "__torch_function__"
cdef object _disabled = staticmethod(_disabled_torch_function_impl)
cdef PyObject* _name_p = <PyObject*>_name
cdef PyObject* _disabled_p = <PyObject*>_disabled
cdef object _keep = _disabled_torch_function_impl
cdef PyObject* _disabled_function = <PyObject*>_keep
cdef TypeObject* _tensor = <TypeObject*><PyObject*>Tensor
cdef TypeObject* _none = TYPE_OF(<PyObject*>None)


def _disabled_method():
    """``__torch_function__`` of a class that overrides nothing."""
    return _disabled


cdef bint overriding(PyObject* x) noexcept:
    """Return whether the class of x overrides functions."""
    cdef TypeObject* kind = TYPE_OF(x)
    cdef PyObject* method
    if (kind == _tensor or kind == &PyLong_Type or kind == &PyFloat_Type or kind == _none
            or kind == &PyBool_Type or kind == &PyUnicode_Type or kind == &PySlice_Type
            or kind == &PyComplex_Type):
        return False
    method = _PyType_Lookup(kind, _name_p)
    return (method != NULL and method != _disabled_p and method != _disabled_function
            and not tls_modes() & M_NO_OVERRIDES)


cdef bint has_override(PyObject* x) noexcept:
    """Return whether an argument, which may be a sequence, overrides functions."""
    cdef Py_ssize_t i
    if TYPE_OF(x) == &PyTuple_Type:
        for i in range(PyTuple_GET_SIZE(x)):
            if overriding(PyTuple_GET_ITEM(x, i)):
                return True
        return False
    if TYPE_OF(x) == &PyList_Type:
        for i in range(PyList_GET_SIZE(x)):
            if overriding(PyList_GET_ITEM(x, i)):
                return True
        return False
    return overriding(x)


include "overrides/function_modes.pxi"

# --- functions ------------------------------------------------------------------------------

cdef enum:
    ROOM = 8192        # a power of two, several times the number of functions

cdef struct Entry:
    PyObject* function
    vectorcall_fn original
    vectorcall_fn within        # what `of_own_class` calls, of a method that is one of its class
    TypeObject* owner

cdef Entry[8192] _table


cdef Entry* entry_of(PyObject* f) noexcept:
    cdef size_t i = (<size_t>f >> 4) & <size_t>(ROOM - 1)
    while _table[i].function != f and _table[i].function != NULL:
        i = (i + 1) & <size_t>(ROOM - 1)
    return &_table[i]


cdef PyObject* looking(PyObject* f, PyObject** args, size_t nargsf, PyObject* names) noexcept:
    """The vectorcall of intercepted functions. What most calls need is done without a call."""
    cdef PyObject** arg = args
    cdef PyObject** end = args + PyVectorcall_NARGS(nargsf)
    cdef TypeObject* kind
    cdef Entry* e = &_table[(<size_t>f >> 4) & <size_t>(ROOM - 1)]
    if names != NULL or modes_alive or e.function != f:
        return _looking_closely(f, args, nargsf, names)
    while arg < end:
        kind = TYPE_OF(arg[0])
        if kind != _tensor and kind != &PyLong_Type and kind != &PyFloat_Type:
            return _looking_closely(f, args, nargsf, names)
        arg += 1
    return e.original(f, args, nargsf, names)


cdef PyObject* looking_closely(PyObject* f, PyObject** args, size_t nargsf,
                               PyObject* names) except NULL:
    cdef Py_ssize_t n = PyVectorcall_NARGS(nargsf), i
    cdef PyObject* result
    if modes_alive and mode_stack():
        return dispatch(f, args, n, names)
    if names != NULL:
        n += PyTuple_GET_SIZE(names)
    for i in range(n):
        if TYPE_OF(args[i]) != _tensor and has_override(args[i]):
            return dispatch(f, args, PyVectorcall_NARGS(nargsf), names)
    result = entry_of(f).original(f, args, nargsf, names)
    if result == NULL and names != NULL:
        return again(f, args, PyVectorcall_NARGS(nargsf), names)
    return result


cdef PyObject* gathering(PyObject* f, PyObject** args, size_t nargsf, PyObject* names) except NULL:
    """The vectorcall of functions that take a tuple and a dict, which is what tp_call does."""
    return gathered(f, (<FunctionObject*>f).m_self, args, PyVectorcall_NARGS(nargsf), names)


cdef PyObject* gathering_method(PyObject* f, PyObject** args, size_t nargsf,
                                PyObject* names) except NULL:
    """Dispatch a method, whose first argument is an instance already."""
    return gathered(f, args[0], args + 1, PyVectorcall_NARGS(nargsf) - 1, names)


cdef PyObject* gathered(PyObject* f, PyObject* owner, PyObject** args, Py_ssize_t n,
                        PyObject* names) except NULL:
    cdef Py_ssize_t i
    cdef dict named = None if names == NULL else named_args(args + n, names)
    cdef PyObject* positional = new_tuple(n)
    cdef PyObject* result
    if positional == NULL:
        return NULL
    for i in range(n):
        incref(args[i])
        set_item(positional, i, args[i])
    result = (<keywords_fn>(<FunctionObject*>f).m_ml.ml_meth)(
        owner, positional, NULL if names == NULL else <PyObject*>named)
    decref(positional)
    return result


cdef dict named_args(PyObject** values, PyObject* names):
    cdef dict named = {}
    cdef Py_ssize_t i
    for i in range(PyTuple_GET_SIZE(names)):
        named[<object>PyTuple_GET_ITEM(names, i)] = <object>values[i]
    return named


cdef tuple positional_args(PyObject** args, Py_ssize_t n):
    cdef tuple positional = PyTuple_New(n)
    cdef Py_ssize_t i
    cdef object x
    for i in range(n):
        x = <object>args[i]
        Py_INCREF(x)
        PyTuple_SET_ITEM(positional, i, x)
    return positional


cdef dict numpy_names = {
    "axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}


# What is said of the names of arguments, not of what they are.
misplaced = _re.compile("unexpected keyword argument|missing .* argument")
# Torch's own names where it has one for each signature.
cdef dict other_names = {
    **numpy_names, "tensor": "input", "sections": "indices_or_sections",
    "indices": "indices_or_sections", "tensor_indices_or_sections": "indices_or_sections",
    "element": "elements", "test_element": "test_elements", "scalar": "other",
    "scalar1": "tensor", "scalar2": "other", "src": "other"}
# In Python a matrix or vector may have the name of torch's documents; it takes `input`.
cdef tuple documented = ("input", "A", "x")


def _names_of_torch(dict kwargs not None, known not None):
    """Arguments by the names in `known`, if they are others for these."""
    cdef dict renamed = {}
    for name, value in kwargs.items():
        if name not in known:
            new = numpy_names.get(name, name)
            names = [x for x in (new, other_names.get(name)) if x in known]
            if not names and new == "input":
                names = [x for x in documented if x in known]
            if not names:
                return None
            name = names[0]
        if name in renamed:
            return None
        renamed[name] = value
    return renamed


cdef dict renamed_by(dict table, dict kwargs):
    """Arguments with names replaced; None without such names, or if one came twice."""
    cdef dict renamed = {}
    for name, value in kwargs.items():
        name = table.get(name, name)
        if name in renamed:
            return None
        renamed[name] = value
    return None if renamed.keys() == kwargs.keys() else renamed


cdef PyObject* again(PyObject* f, PyObject** args, Py_ssize_t n, PyObject* names) except NULL:
    """The second try of a call that has just failed (Note [NumPy's names])."""
    cdef PyObject* kind
    cdef PyObject* error
    cdef PyObject* trace
    cdef dict renamed
    if not PyErr_ExceptionMatches(<PyObject*>TypeError):
        return NULL
    PyErr_Fetch(&kind, &error, &trace)
    for table in (numpy_names, other_names):
        renamed = renamed_by(table, named_args(args + n, names))
        if renamed is None:
            continue
        try:
            result = (<object>f)(*positional_args(args, n), **renamed)
        except BaseException as second:
            # If it is about a name that the caller didn't write, the first one says more.
            if type(second) is not TypeError or misplaced.search(str(second)) is None:
                Py_XDECREF(kind)
                Py_XDECREF(error)
                Py_XDECREF(trace)
                raise
        else:
            Py_XDECREF(kind)
            Py_XDECREF(error)
            Py_XDECREF(trace)
            Py_INCREF(result)
            return <PyObject*>result
    PyErr_NormalizeException(&kind, &error, &trace)
    _unplace(<object>error, <object>names)
    PyErr_Restore(kind, error, trace)
    return NULL


def _unplace(error, names):
    """Take the position out of an error about an argument that came by name, as torch does."""
    text = error.args[0] if len(error.args) == 1 else None
    if type(error) is TypeError and isinstance(text, str):
        match = placed.match(text)
        if match is not None and match[2] in names:
            error.args = (match[1] + text[match.end():],)
            error._by_name = True       # a public function around it gives no position either


cdef PyObject* dispatch(PyObject* f, PyObject** args, Py_ssize_t n, PyObject* names) except NULL:
    """Dispatch to the classes of the arguments."""
    cdef tuple positional = positional_args(args, n)
    cdef dict named = {} if names == NULL else named_args(args + n, names)
    x = dispatch_to_classes(<object>f, (*positional, *named.values()), positional, named)
    Py_INCREF(x)
    return <PyObject*>x


cdef PyObject* of_own_class(PyObject* f, PyObject** args, size_t nargsf,
                            PyObject* names) noexcept:
    """A method of a class takes its first argument for an instance, and never looks."""
    cdef Entry* e = entry_of(f)
    if PyVectorcall_NARGS(nargsf) == 0 or not PyObject_TypeCheck(args[0], e.owner):
        return _foreign_self(f, args, nargsf, names)
    return e.within(f, args, nargsf, names)


cdef PyObject* foreign_self(PyObject* f, PyObject** args, size_t nargsf,
                            PyObject* names) except NULL:
    cdef object owner = <object><PyObject*>entry_of(f).owner
    name = (<object>f).__name__
    if PyVectorcall_NARGS(nargsf) == 0:
        raise TypeError(f"unbound method {owner.__name__}.{name}() needs an argument")
    raise TypeError(f"descriptor '{name}' for '{owner.__name__}' objects doesn't apply to a "
                    f"'{type(<object>args[0]).__name__}' object")


# Called through pointers: their errors pass through `looking` as they are.
cdef vectorcall_fn _looking_closely = <vectorcall_fn><void*>looking_closely
cdef vectorcall_fn _gathering = <vectorcall_fn><void*>gathering
cdef vectorcall_fn _gathering_method = <vectorcall_fn><void*>gathering_method
cdef vectorcall_fn _foreign_self = <vectorcall_fn><void*>foreign_self
form_upcalls.look_closely = _looking_closely


def _check_first_argument(f, type owner not None):
    """Let a method that is written within a compiled class refuse what is no instance of it."""
    cdef Py_ssize_t offset = TYPE_OF(<PyObject*>f).tp_vectorcall_offset
    cdef vectorcall_fn* slot
    cdef Entry* e
    if type(f).__name__ != "cython_function_or_method" or offset <= 0:
        return False
    slot = <vectorcall_fn*>(<char*><PyObject*>f + offset)
    if f.__qualname__ != f"{owner.__name__}.{f.__name__}" or (
            slot[0] == NULL and (<FunctionObject*><PyObject*>f).m_ml.ml_flags != (
                METH_VARARGS | METH_KEYWORDS)):
        return False
    e = entry_of(<PyObject*>f)
    if e.owner != NULL:
        return True
    e.owner = <TypeObject*><PyObject*>owner
    if e.function == NULL:
        Py_INCREF(f)
        e.function = <PyObject*>f
        e.within = slot[0] if slot[0] != NULL else _gathering_method
        slot[0] = <vectorcall_fn><void*>of_own_class
    else:
        e.within = e.original if e.original != _gathering else _gathering_method
        e.original = <vectorcall_fn><void*>of_own_class
    return True


def _intercept(f):
    """Let a compiled function dispatch to classes of arguments; False for other callables."""
    cdef Py_ssize_t offset = TYPE_OF(<PyObject*>f).tp_vectorcall_offset
    cdef vectorcall_fn* slot
    cdef Entry* e
    if type(f) is Form:
        e = entry_of(<PyObject*>f)
        if e.function == NULL:
            Py_INCREF(f)
            e.function, e.original = <PyObject*>f, form_upcalls.plainly
            (<Form>f).dispatches = True
        return True
    if type(f).__name__ != "cython_function_or_method" or offset <= 0:
        return False
    slot = <vectorcall_fn*>(<char*><PyObject*>f + offset)
    if slot[0] == NULL and (<FunctionObject*><PyObject*>f).m_ml.ml_flags != (
            METH_VARARGS | METH_KEYWORDS):
        return False
    e = entry_of(<PyObject*>f)
    if e.original == NULL:
        Py_INCREF(f)
        e.function = <PyObject*>f
        e.original = slot[0] if slot[0] != NULL else _gathering
        slot[0] = <vectorcall_fn><void*>looking
    return True


def _is_intercepted(f):
    """Return whether a function dispatches."""
    return entry_of(<PyObject*>f).original != NULL


# --- dispatch -------------------------------------------------------------------------------

cdef list overriding_args(tuple relevant):
    """Arguments to dispatch to, one of each class, those of subclasses before their bases."""
    cdef list overrides = []
    cdef Py_ssize_t i, place
    flat = []
    for x in relevant:
        if type(x) is tuple or type(x) is list:
            flat.extend(x)
        else:
            flat.append(x)
    for x in flat:
        if not overriding(<PyObject*>x) or type(x) in [type(y) for y in overrides]:
            continue
        place = len(overrides)
        for i in range(len(overrides)):
            if issubclass(type(x), type(overrides[i])):
                place = i
                break
        overrides.insert(place, x)
    return overrides


cdef object _running = _threading.local()


def _is_call(call, f, tuple args not None, dict kwargs not None):
    """Return whether `call`, a (function, arguments, named ones) or None, is this one."""
    if call is None or call[0] != f or len(call[1]) != len(args) or len(call[2]) != len(kwargs):
        return False
    for x, y in zip(call[1], args):
        if x is not y:
            return False
    for name in kwargs:
        if call[2].get(name, _running) is not kwargs[name]:
            return False
    return True


def _mixed(f, other):
    """The error of a call with our tensors and `other`, a class or function of another library."""
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", repr(f))
    library = (getattr(other, "__module__", None) or "").partition(".")[0]
    theirs = "torch.from_dlpack(x)" if library in ("", "torch") else f"{library}.from_dlpack(x)"
    kind = f"{library}.{other.__name__}" if isinstance(other, type) else "another library"
    error = TypeError(
        f"{name}: can't mix autograd_cy.Tensor with tensors or functions of {kind}. Convert to one "
        f"kind first: autograd_cy.from_dlpack(x) or autograd_cy.tensor(x.numpy()) for what is "
        f"computed here, {theirs} or x.numpy() for what is computed there")
    error._is_final = True      # for operators, which let the other side try after other errors
    return error


cdef object call_override(object x, object f, tuple types, tuple args, dict kwargs):
    """
    Call the override of the class of x. One of another library may take f for its own, and call it
    again.
    """
    if isinstance(x, Tensor):
        return x.__torch_function__(f, types, args, kwargs)
    outer = getattr(_running, "call", None)
    if _is_call(outer, f, args, kwargs):
        raise _mixed(f, type(x))
    _running.call = (f, args, kwargs)
    try:
        return x.__torch_function__(f, types, args, kwargs)
    finally:
        _running.call = outer


cdef object first_answer(object f, list overrides, tuple args, dict kwargs):
    """Return the result of the innermost mode, or else of the first of the classes, or
    NotImplemented."""
    cdef tuple types = tuple([type(x) for x in overrides])
    if mode_stack():
        result = dispatch_to_innermost(f, types, args, kwargs)
        if result is not NotImplemented:
            return result
    for x in overrides:
        result = call_override(x, f, types, args, kwargs)
        if result is not NotImplemented:
            return result
    return NotImplemented


def _forwarding(public not None, str name not None):
    """
    The form of an operator that a public function in Python calls.

    Dispatch shows the function for it, so that the function itself needn't dispatch.
    """
    form = forwarding(public, name)
    _intercept(form)
    return form


cdef object dispatch_to_classes(object f, tuple relevant, tuple args, dict kwargs):
    cdef list overrides = overriding_args(relevant)
    cdef tuple modes = mode_stack()
    if type(f) is Form and (<Form>f).public is not None:
        f, args, kwargs = (<Form>f).public.called(f, args, kwargs)
    result = first_answer(f, overrides, args, kwargs)
    if result is not NotImplemented:
        return result
    nor = f", nor by the mode {modes[len(modes) - 1]!r}" if modes else ""
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", repr(f))
    raise TypeError(
        f"Multiple dispatch failed for '{name}'; all __torch_function__ handlers returned "
        f"NotImplemented: no implementation found for '{name}' on types that implement "
        f"__torch_function__: {[type(x) for x in overrides]}{nor}")


cdef object answer(object f, int slot, object a, object b):
    """Return the result of overrides by classes of operands that are neither tensors nor
    numbers."""
    cdef list overrides = overriding_args((a, b))
    cdef tuple types = tuple([type(x) for x in overrides]), args = (a, b)
    shown = f
    if overrides and not B_LT <= slot <= B_NE:      # comparisons dispatch as functions do
        shown, args = shown_for(slot, a, b)
    for x in overrides:
        result = call_override(x, shown, types, args, {})
        if result is not NotImplemented:
            return result
    return f(a, b) if is_huge(a) or is_huge(b) else NotImplemented


cdef bint is_huge(object x):
    """Return whether a number is an int of more than 64 bits, which `foreign_operand` leaves to
    forms."""
    return type(x) is int and not -0x8000000000000000 <= x < 0x8000000000000000


def _dispatch(f, relevant, args, kwargs):
    """Return the first result that an override gives for ``f(*args, **kwargs)``."""
    return dispatch_to_classes(f, tuple(relevant), tuple(args), dict(kwargs))


def _overriding_args(relevant):
    """Those of the arguments whose classes override functions, one of each class."""
    return overriding_args(tuple(relevant))


def _has_override(*args):
    """Return whether there is a mode, or an override of the class of some argument or element of a
    sequence."""
    if modes_alive and mode_stack():
        return True
    for x in args:
        if TYPE_OF(<PyObject*>x) != _tensor and has_override(<PyObject*>x):
            return True
    return False


def _viewed(Tensor t not None):
    """Make the view that ``Tensor(tensor)`` is."""
    cdef Tensor view = T._alias(t)
    return view if type(view) is Tensor else tensor_as(view, Tensor)


_set_alias(_viewed)


def as_subclass(Tensor self not None, cls):
    """
    A view of this tensor that is an instance of a subclass; gradients flow through.

    Parameters
    ----------
    cls : type
        A subclass of Tensor.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> class Length(ag.Tensor):
    ...     pass
    >>> type(ag.ones(2).as_subclass(Length) * 2).__name__
    'Length'
    """
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(f"as_subclass(): argument 'cls' must be a subclass of Tensor, not {cls!r}")
    return tensor_as(T._alias(self), cls)
