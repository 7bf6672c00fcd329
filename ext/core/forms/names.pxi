# Whose name an error has: the function's that was called (part of forms.pyx).

# Note [Names in errors]
# An operator that is made of others fails where one of its steps does, and that names itself:
# "mm: mat1 and mat2 shapes cannot be multiplied". The caller wrote matmul. So where a form or a
# Python operator has failed, the name at the beginning of the message is made the one that was
# called; calls that succeed pay a comparison. A function of the package in Python that calls forms
# is found on the stack. Errors of programs, of hooks for example, stay as they are.

cdef extern from "Python.h":
    void PyErr_NormalizeException(PyObject**, PyObject**, PyObject**)

import re as _re
from sys import _getframe

# mm: ..., mm(): ..., mm() ..., torch.mm: ...
cdef object LEADING = _re.compile(r"(?:torch\.)?([a-z_]\w*(?:\.[a-z_]\w*)*)(\(\):| ?:|\(\)) ")
cdef object ARGUMENT = _re.compile(r"argument '(\w+)'(?: \(position \d+\))?")
cdef list families = []             # the forms of each module
# Where functions in Python stand that hand on to forms.
cdef tuple IN_PYTHON = ("autograd_cy._interpreted.", "autograd_cy._tensors.",
                        "autograd_cy.nn.functional.", "autograd_cy.linalg", "autograd_cy.overrides")
# Where an operator calls what programs gave it, which may be in C and leave no trace of its own.
cdef str HOOK = "autograd_cy._C.saved.pack_with"


cdef bint is_operator(str name) except -1:
    """Return whether this is the name of a form: other words before a colon say something else."""
    cdef dict forms
    for forms in families:
        if name in forms or f"_{name}" in forms:
            return True
    return False


cdef str tail(str name):
    """A name without its module, and without the line below of an in-place form."""
    return name.rpartition(".")[2].rstrip("_")


cdef str module_of(object frame):
    """The name of its module; a program may run with whatever it likes there."""
    cdef object name = frame.f_globals.get("__name__")
    return <str>name if type(name) is str else ""


cdef object public_caller():
    """The code of the function of the package through which Python came here, or None."""
    cdef object frame = _getframe(), found = None
    cdef str name
    while frame is not None and module_of(frame).startswith(IN_PYTHON):
        name = frame.f_code.co_name
        if not name.startswith(("_", "<")) and name != "asking":
            found = frame.f_code
        frame = frame.f_back
    return found


cdef bint of_package(object trace) except -1:
    """Return whether no function of the program lies between the call and the error."""
    while trace is not None:
        if (not module_of(trace.tb_frame).startswith("autograd_cy.")
                or trace.tb_frame.f_code.co_name == HOOK):
            return False
        trace = trace.tb_next
    return True


cdef str renamed(str text, str own, str said):
    """A message with the name of what was called before it, or the same text."""
    cdef object found = LEADING.match(text), argument, caller
    cdef str first, called
    cdef tuple known
    if found is None:
        return text
    first, caller = tail(found[1]), public_caller()
    called = own if caller is None else caller.co_name
    if first == tail(called) or (caller is None and first == tail(said)):
        return text
    if called.startswith("_") or not is_operator(first):
        return text
    argument = ARGUMENT.match(text, found.end())
    if argument is not None and caller is not None:
        known = caller.co_varnames[:caller.co_argcount + caller.co_kwonlyargcount]
        if argument[1] not in known:        # it says something about the inner function only
            return text
        place = known.index(argument[1]) + 1
        return f"{called}(): argument '{argument[1]}' (position {place}){text[argument.end():]}"
    return f"{called}{text[found.end(1):]}"


cdef int put_name(object error, object trace, str own, str said) except -1:
    cdef tuple args = error.args
    cdef object caller
    cdef str text
    if len(args) == 1 and type(args[0]) is str and of_package(trace):
        text = <str>args[0]
        if isinstance(error, MemoryError) and text.startswith("autograd_cy: "):
            caller = public_caller()
            own = said.lstrip("_") if own.startswith("_") else own
            text = f"{own if caller is None else caller.co_name}: {text[13:]}"
        else:
            text = renamed(text, own, said)
        if text is not args[0]:
            error.args = (text,)
    return 0


ctypedef int (*put_fn)(object, object, str, str) noexcept
cdef put_fn put_quietly = <put_fn><void*>put_name


cdef void name_error(str own, str said) noexcept:
    """Let the error that is on its way begin with the name of what was called."""
    cdef PyObject *kind = NULL, *error = NULL, *trace = NULL
    cdef PyObject *other = NULL, *second = NULL, *third = NULL
    PyErr_Fetch(&kind, &error, &trace)
    PyErr_NormalizeException(&kind, &error, &trace)
    if put_quietly(<object>error, None if trace == NULL else <object>trace, own, said) != 0:
        PyErr_Fetch(&other, &second, &third)        # without memory the error stays as it is
        drop_error(other, second, third)
    PyErr_Restore(kind, error, trace)


cdef PyObject* failed(Form form, Row* row) noexcept:
    """Return the result of a form that has failed: NULL, with the error named after it."""
    name_error(form.__name__, <str>row.parameters[0].op if row.n else form.__name__)
    return NULL


cdef void operator_failed(int slot, bint unary) noexcept:
    """Name the error of ``a @ b`` and other operators of Python after them."""
    cdef PyObject* name = <PyObject*>(<list>(UNARY if unary else BINARY))[slot]
    if name != NONE:
        name_error(<str>name, <str>name)
