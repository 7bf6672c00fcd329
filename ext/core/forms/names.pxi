# The name that an error message begins with: that of the function that was called (part of
# forms.pyx).

# Note [Names in errors]
# An operator that is made of others fails where one of its steps does, and the message has the name
# of the step: "mm: mat1 and mat2 shapes cannot be multiplied". The caller wrote matmul. So each
# form, operator of Python and public function in Python (_tensors/public.py) that an error passes
# through puts its own name there, from the innermost one to the outermost. A call that succeeds
# pays nothing. The error keeps the name that its message begins with in `_operator`: only a message
# that begins with the name of an operator gets another one. Errors of programs, of hooks for
# example, stay as they are.

cdef extern from "Python.h":
    void PyErr_NormalizeException(PyObject**, PyObject**, PyObject**)

import re as _re

# mm: ..., mm(): ..., mm() ..., torch.mm: ...
cdef object LEADING = _re.compile(r"(?:torch\.)?([a-z_]\w*(?:\.[a-z_]\w*)*)(\(\):| ?:|\(\)) ")
cdef object ARGUMENT = _re.compile(r"argument '(\w+)'(?: \(position (\d+)\))?")
cdef object COUNT = _re.compile(r"takes (\d+) positional arguments? but (\d+) w\w+ given$")
cdef object BEYOND = _re.compile(
    rf"Dimension out of range \(expected to be in range of \[{-MAX_DIMS}, {MAX_DIMS - 1}\], "
    r"but got (-?\d+)\): argument ")
cdef list families = []             # the forms of each module


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


cdef bint of_package(object trace) except -1:
    """Return whether no function of the program lies between the call and the error."""
    cdef object name
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__")     # a program may have anything there
        if type(name) is not str or not (<str>name).startswith("autograd_cy."):
            return False
        trace = trace.tb_next
    return True


cdef str message_of(object error, object trace):
    """The message of an error of this package; None for others."""
    cdef tuple args = error.args
    if len(args) == 1 and type(args[0]) is str and of_package(trace):
        return <str>args[0]
    return None


cdef int put_message(object error, str text, str name) except -1:
    """Give an error a message that begins with the name of an operator."""
    error.args = (text,)
    error._operator = name
    return 0


cdef int keep_message(object error) except -1:
    """Let an error that a program has raised keep its message."""
    if type(error).__module__ == "builtins":
        error._operator = ""
    return 0


cdef int put_name(object error, object trace, str own, str said) except -1:
    """Let a message begin with the name of a form, `own`, or with that of its operator, `said`."""
    cdef str text = message_of(error, trace), mark = getattr(error, "_operator", None), first
    cdef object match
    if text is None or mark == "":
        return 0
    if isinstance(error, MemoryError) and text.startswith("autograd_cy: "):
        own = said.lstrip("_") if own.startswith("_") else own
        return put_message(error, f"{own}: {text[13:]}", own)
    match = LEADING.match(text)
    if match is None:
        return 0
    first = tail(match[1])
    if first != tail(mark or "") and not is_operator(first):
        return 0
    if first == tail(own) or first == tail(said) or own.startswith("_"):
        error._operator = first
        return 0
    return put_message(error, f"{own}{text[match.end(1):]}", own)


def _parameters_of(function not None):
    """Return the parameters of a callable, which may be wrapped; none where nothing tells them."""
    cdef object code
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    if code is not None:
        return code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    from inspect import signature
    try:
        return tuple(signature(function).parameters)
    except (TypeError, ValueError):     # of what is compiled without a signature
        return ()


cdef int put_public_name(object error, object trace, str name, object function) except -1:
    """Let the message of an operator begin with the name of the public function around it."""
    cdef str text = message_of(error, trace), mark = getattr(error, "_operator", None), place
    cdef object match = None if text is None or not mark else LEADING.match(text), argument
    cdef tuple parameters
    if match is None or tail(match[1]) == tail(name):
        return 0
    argument = ARGUMENT.match(text, match.end())
    if argument is None:
        return put_message(error, f"{name}{text[match.end(1):]}", name)
    parameters = _parameters_of(function)
    if argument[1] not in parameters:       # it says something about the inner function only
        return 0
    place = f" (position {parameters.index(argument[1]) + 1})"
    if getattr(error, "_by_name", False):
        place = ""
    return put_message(
        error, f"{name}(): argument '{argument[1]}'{place}{text[argument.end():]}", name)


def _name_error(error not None, function not None, str name=None, bint method=False):
    """
    Let the message of an error that has just been caught begin with the name of a function.

    One of a method counts arguments as those of methods do.
    """
    name = name or function.__name__
    put_public_name(error, error.__traceback__, name, function)
    if method:
        count_on(error, error.__traceback__, name, name, _parameters_of(function))


# Note [Positions]
# A method counts its arguments from the one after the tensor, as in torch. It has the rows of the
# function, whose positions begin with the tensor, so an error is counted anew when it leaves the
# method: once, although a call may fail in several tries.

cdef int count_on(object error, object trace, str own, str said, tuple names) except -1:
    """Let the message of an error of a method, with these parameters, count without the tensor."""
    cdef str text = message_of(error, trace)
    cdef object match, count
    cdef Py_ssize_t n, passed
    if text is None or type(error) is not TypeError or getattr(error, "_counts_on", False):
        return 0
    match = LEADING.match(text)
    if match is None or tail(match[1]) not in (tail(own), tail(said)):
        return 0
    count = COUNT.match(text, match.end())
    if count is not None:
        n, passed = int(count[1]) - 1, int(count[2]) - 1
        text = (f"{text[:match.end()]}takes {n} positional argument{'s' if n != 1 else ''} but "
                f"{passed} {'were' if passed != 1 else 'was'} given")
    else:
        match = ARGUMENT.match(text, match.end())
        if match is None or match[2] is None or match[1] not in names[1:]:
            return 0
        n = names.index(match[1])
        if int(match[2]) != n + 1:      # it counts without the tensor already
            return 0
        text = f"{text[:match.start(2)]}{n}{text[match.end(2):]}"
    error.args = (text,)
    error._counts_on = True
    return 0


cdef int say_range(object error, Tensor x) except -1:
    """Put the range of a tensor into the message of `dim_arg`, which knows no tensor."""
    cdef str text = str(error), n
    cdef int most = x.nd if x.nd else 1
    match = BEYOND.match(text)
    if match is not None:
        n = match[1]
        error.args = (f"Dimension out of range (expected to be in range of [{-most}, {most - 1}], "
                      f"but got {n})",)
    return 0


cdef tuple names_of(Row* row):
    cdef int i
    return tuple([<object>row.parameters[i].name for i in range(row.n)])


cdef int put_names(object error, object trace, Form form, Row* row) except -1:
    cdef str own = form.__name__, said = <str>row.parameters[0].op if row.n else own
    cdef object public = form.public
    put_name(error, trace, own if public is None else own.rstrip("_"), said)
    if form.counts_on:
        count_on(error, trace, own, said, names_of(row))
    if public is not None:
        put_public_name(error, trace, public.name, public.function)
    return 0


cdef int put_operator_name(object error, object trace, str own, Row* row) except -1:
    return put_name(error, trace, own, own)


ctypedef int (*put_fn)(object, object, object, Row*) noexcept
cdef put_fn put_names_quietly = <put_fn><void*>put_names
cdef put_fn put_operator_name_quietly = <put_fn><void*>put_operator_name


cdef void name_error(put_fn put_quietly, object owner, Row* row) noexcept:
    """Let the error that is on its way begin with the name of what was called."""
    cdef PyObject *kind = NULL, *error = NULL, *trace = NULL
    cdef PyObject *other = NULL, *second = NULL, *third = NULL
    PyErr_Fetch(&kind, &error, &trace)
    PyErr_NormalizeException(&kind, &error, &trace)
    if put_quietly(<object>error, None if trace == NULL else <object>trace, owner, row) != 0:
        PyErr_Fetch(&other, &second, &third)        # without memory the error stays as it is
        drop_error(other, second, third)
    PyErr_Restore(kind, error, trace)


cdef PyObject* failed(Form form, Row* row) noexcept:
    """Return the result of a form that has failed: NULL, with the error named after it."""
    name_error(put_names_quietly, form, row)
    return NULL


cdef void operator_failed(int slot, bint unary) noexcept:
    """Name the error of ``a @ b`` and other operators of Python after them."""
    cdef PyObject* name = <PyObject*>(<list>(UNARY if unary else BINARY))[slot]
    if name != NONE:
        name_error(put_operator_name_quietly, <object>name, NULL)
