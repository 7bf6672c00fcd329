# cython: language_level=3
# build: plain hot
"""Python forms of operators: one binder of arguments for all of them.

# Note [Forms]
What Python calls is a `Form`, ``torch.add`` and, with the same rows, ``Tensor.add``. It has no code
of its own but lines of text, one for each
signature, and for each line a C function. A line names the parameters in their order, with kinds
(what the value becomes in C, see _types.py), the positions that errors name, and defaults::

    add lone; operand@1 input; operand@2 other; *; +; object alpha=1; tensor? out=None

After ``*`` parameters come by keyword only, after ``+`` those that the record doesn't know. Of the
words after the name, ``as=name`` is the operator in errors about values, ``lone`` and ``numbers``
say what two numbers alone mean (a number that is made a tensor, or an error), ``spread`` lets the
ints of the last parameter be given one by one, ``key=key`` asks for a form of this signature alone,
``form_<key>``, and ``autocast=policy`` is what `_autocast` returns. With ``calls=ooi`` the C
function is the operator itself, and these are the types of its arguments; otherwise it gets the
array of values. A line that begins with ``|`` is another signature of the form before it. Others
stand for functions: ``>`` for the one that writes into ``out=``, ``:`` for the one that gets the
values if a parameter after ``+`` isn't the default, ``?`` for the one that chooses among
signatures.

A line is read when its form is first called, so that importing costs one small object a form. A
call then fills an array of C values on the stack: positional arguments, those by name, defaults,
which were converted once. The values that programs usually pass are tested here: a call with
nothing else, and no names, does no more than that. All others dispatch to classes of arguments
first (overrides.pyx, through `look_closely`) and go through the converters of arguments.pyx, whose
new objects are released after the call.
"""
cimport cython
from cpython.object cimport PyTypeObject
from cpython.ref cimport PyObject, Py_INCREF
from libc.stdlib cimport calloc, free
from libc.string cimport strchr, strlen, strncmp
from sys import intern, modules as _modules

from autograd_cy._C.arguments cimport number_alone
from autograd_cy._C.sealed cimport seal
from autograd_cy._C.tensor cimport Tensor, upcalls, F_WRAPPED, MAX_DIMS

cdef extern from "Python.h":
    ctypedef struct TypeObject "PyTypeObject":
        Py_ssize_t tp_vectorcall_offset
        unsigned long tp_flags
        void* tp_call
    unsigned long Py_TPFLAGS_HAVE_VECTORCALL, Py_TPFLAGS_METHOD_DESCRIPTOR
    TypeObject PyLong_Type, PyUnicode_Type
    PyObject* new_tuple "PyTuple_New"(Py_ssize_t) except NULL
    void set_item "PyTuple_SET_ITEM"(PyObject*, Py_ssize_t, PyObject*)
    void incref "Py_INCREF"(PyObject*)
    TypeObject* TYPE_OF "Py_TYPE"(PyObject*)
    PyObject* TRUE "Py_True"
    PyObject* FALSE "Py_False"
    object PyVectorcall_Call(object f, tuple args, dict kwargs)
    object PyMethod_New(object f, object x)
    Py_ssize_t PyVectorcall_NARGS(size_t)
    Py_ssize_t PyTuple_GET_SIZE(PyObject*)
    PyObject* PyTuple_GET_ITEM(PyObject*, Py_ssize_t)
    void decref "Py_DECREF"(PyObject*)
    void Py_XDECREF(PyObject*)
    void PyErr_Fetch(PyObject**, PyObject**, PyObject**)
    void PyErr_Restore(PyObject*, PyObject*, PyObject*)
    PyObject* PyExc_IndexError
    PyObject* PyExc_OverflowError
    PyObject* PyExc_TypeError
    int same_text "PyUnicode_Compare"(PyObject*, PyObject*)
    void PyType_Modified(PyTypeObject*)
    long long whole "PyLong_AsLongLongAndOverflow"(PyObject*, int*) noexcept

cdef enum:
    MOST = 16                       # parameters of a form; MOST_PARAMETERS of check_table.py

cdef enum Quick:                    # values that need no converter
    NOT_QUICK, QUICK_TENSOR, QUICK_BOOL, QUICK_INT, QUICK_DIM, QUICK_DIMS, QUICK_STR, AS_IT_IS

cdef struct Parameter:
    PyObject* name
    PyObject* op                    # the operator, in errors
    PyObject* words                 # what may be given, of a choice
    PyObject* fallback              # the default; NULL: there is none
    Value value                     # the default as C has it
    int position
    int kind
    int quick
    bint optional                   # None is not converted
    bint afresh                     # the default is converted for each call, which may change it

ctypedef PyObject* (*body_fn)(Value* v) noexcept
ctypedef PyObject* (*caller_fn)(void* function, Value* v) noexcept
ctypedef int (*which_fn)(CallArguments* arguments) noexcept

cdef struct Row:
    Parameter parameters[MOST]
    void* function
    caller_fn caller                # NULL: the function takes the values
    void* out_function              # the same for out=, the last parameter
    caller_fn out_caller
    body_fn more                    # for other values than the defaults of what follows `own`
    which_fn which                  # of the first row, if there are several
    PyObject* shown                 # the name of the form
    int n
    int positional
    int own                         # parameters of the record
    int needed                      # those before this one have no default that is converted once
    bint lone, numbers, spread

cdef TypeObject* tensor_type = <TypeObject*><PyObject*>Tensor

include "argument_kinds.pxi"
include "operator_names.pxi"
include "forms/names.pxi"

cdef dict QUICK = {"tensor": QUICK_TENSOR, "operand": QUICK_TENSOR, "bool": QUICK_BOOL,
                   "int": QUICK_INT, "dim": QUICK_DIM, "dims": QUICK_DIMS, "str": QUICK_STR,
                   "object": AS_IT_IS}


# --- reading lines --------------------------------------------------------------------------

cdef str line_of(const char** text):
    """The line at `text`, which is moved to the next one."""
    cdef const char* end = strchr(text[0], c"\n")
    cdef bytes line
    if end == NULL:
        end = text[0] + strlen(text[0])
    line = text[0][:end - text[0]]
    text[0] = end + (end[0] != 0)
    return line.decode()


cdef int read(Form form) except -1:
    """Make the rows of a form of its lines. Another thread may, too: the first counts."""
    cdef list owned = []
    cdef Row* rows
    cdef const char* text
    cdef int place = 0, k = -1
    cdef str line
    if form.function is not None:
        if form.function.rows == NULL:
            read(form.function)
        form.rows = form.function.rows
        return 0
    if form.text == NULL:
        copy_lines(form, form.public.operator(form.__name__))
    text = form.text
    rows = <Row*>calloc(form.n_rows, sizeof(Row))
    if rows == NULL:
        raise MemoryError()
    while True:
        line = line_of(&text)
        if line.startswith(">"):
            rows[k].out_function = form.bodies[place]
        elif line.startswith(":"):
            rows[k].more = <body_fn>form.bodies[place]
        elif line.startswith("?"):
            rows[0].which = <which_fn>form.bodies[place]
        elif k + 1 < form.n_rows:
            k += 1
            read_row(form, owned, &rows[k], line)
            rows[k].function = form.bodies[place]
        else:
            break
        place += 1
    if form.alone >= 0:
        rows[0] = rows[form.alone]
        rows[0].which = NULL
    if form.each:
        rows[0].positional = rows[0].own    # the body reads the others, which have their defaults
        rows[0].spread = False
        rows[0].out_function = NULL
        rows[0].more = NULL
    if form.rows != NULL:
        free(rows)
        return 0
    form.owned = owned
    form.rows = rows
    return 0


cdef PyObject* own_object(list owned, object x):
    owned.append(x)
    return <PyObject*>x


cdef int read_row(Form form, list owned, Row* row, str line) except -1:
    cdef list cells = line.lstrip("| ").split("; ")
    cdef Parameter* p
    cdef str op = form.__name__
    cdef str cell, kind, name, default
    row.positional = row.own = -1
    row.shown = own_object(owned, form.__name__)
    for word in (<str>cells[0]).split()[1:]:
        if word.startswith("as="):
            op = word[3:]
        elif word == "lone":
            row.lone = True
        elif word == "numbers":
            row.numbers = True
        elif word == "spread":
            row.spread = True
        elif word.startswith("calls="):
            row.caller = <caller_fn><void*><size_t>CALLERS[word[6:]]
            row.out_caller = <caller_fn><void*><size_t>CALLERS.get(word[6:] + "o", 0)
        elif word.startswith(("key=", "autocast=")):
            pass                    # read by make_forms and Form._autocast
        else:
            raise SystemError(f"{form.__name__}: what is {word!r} in {line!r}?")
    for cell in cells[1:]:
        if cell == "*":
            row.positional = row.n
            continue
        if cell == "+":
            row.own = row.n
            continue
        if row.n == MOST:
            raise SystemError(f"{form.__name__}: more than {MOST} parameters")
        p = &row.parameters[row.n]
        kind, _, name = cell.partition(" ")
        name, has_default, default = name.partition("=")
        kind, _, position = kind.partition("@")
        kind, _, words = kind.partition(":")
        p.position = int(position) if position else 0
        p.optional = kind.endswith("?")
        kind = kind.rstrip("?")
        p.kind = KINDS.index(kind)
        p.quick = QUICK.get(kind, NOT_QUICK)
        if p.optional and p.quick in (QUICK_INT, QUICK_DIM):
            p.quick = NOT_QUICK         # an object, as None is one
        p.name = own_object(owned, intern(name))      # as those of calls are: the same object
        p.op = own_object(owned, op)
        p.words = own_object(owned, tuple(words.split(",")))
        if has_default:
            p.fallback = own_object(owned, eval(default, {}))
            p.afresh = kind in ("operand", "number") and p.fallback != NONE
            if convert(&p.value, p.fallback, p):
                owned.append(<object>p.value.o)
                decref(p.value.o)
        row.n += 1
        if not has_default or p.afresh:
            row.needed = row.n
    if row.positional < 0:
        row.positional = row.n
    if row.own < 0:
        row.own = row.n
    return 0


# --- calls ----------------------------------------------------------------------------------

cdef bint has_named(CallArguments* g, str name) except -1:
    return g.names != NULL and name in <tuple>g.names


cdef int refuse_name(Row* row, object key) except -1:
    """Say what is wrong with an argument given by name."""
    cdef int i
    for i in range(row.n):
        if <object>row.parameters[i].name == key:
            raise TypeError(f"{<object>row.shown}() got multiple values for argument '{key}'")
    raise TypeError(f"{<object>row.shown}() got an unexpected keyword argument '{key}'")


cdef int take_names(Row* row, PyObject** args, Py_ssize_t n, PyObject* names,
                    PyObject** values) except -1:
    """Put the arguments given by name into their places."""
    cdef Py_ssize_t k
    cdef int i, place
    cdef PyObject* key
    for k in range(PyTuple_GET_SIZE(names)):
        key = PyTuple_GET_ITEM(names, k)
        place = -1
        for i in range(row.n):
            if row.parameters[i].name == key:
                place = i
                break
        if place < 0:
            for i in range(row.n):
                if same_text(row.parameters[i].name, key) == 0:
                    place = i
                    break
        if place < 0 or values[place] != NULL:
            refuse_name(row, <object>key)
        values[place] = args[n + k]
    return 0


cdef PyObject* several(PyObject** args, Py_ssize_t n) except NULL:
    """A new tuple of arguments that were given one by one."""
    cdef PyObject* t = new_tuple(n)
    cdef Py_ssize_t i
    for i in range(n):
        incref(args[i])
        set_item(t, i, args[i])
    return t


cdef int refuse_count(Row* row, Py_ssize_t n) except -1:
    raise TypeError(f"{<object>row.shown}() takes {row.positional} positional "
                    f"argument{'s' if row.positional != 1 else ''} but {n} "
                    f"{'were' if n != 1 else 'was'} given")


cdef int refuse_missing(Row* row, int i) except -1:
    raise TypeError(f"{<object>row.shown}() missing 1 required positional argument: "
                    f"'{<object>row.parameters[i].name}'")


cdef inline bint quickly(Value* v, PyObject* x, Parameter* p) noexcept:
    """Take a value of the usual type; False for all others."""
    cdef int overflow = 0
    cdef int quick = p.quick
    if quick == QUICK_TENSOR:
        v.o = x
        return TYPE_OF(x) == tensor_type
    if quick == QUICK_INT or quick == QUICK_DIM:
        if TYPE_OF(x) != &PyLong_Type:
            return False
        v.i = whole(x, &overflow)
        return not overflow and (quick == QUICK_INT or -MAX_DIMS <= v.i < MAX_DIMS)
    if quick == QUICK_BOOL:
        v.i = x == TRUE
        return x == TRUE or x == FALSE
    v.o = x
    if quick == QUICK_DIMS and TYPE_OF(x) == &PyLong_Type:
        whole(x, &overflow)
        return not overflow
    return quick == AS_IT_IS or (quick == QUICK_STR and TYPE_OF(x) == &PyUnicode_Type)


cdef int convert_arguments(Row* row, PyObject** args, Py_ssize_t n, PyObject* names, Value* v,
                           PyObject** values, PyObject** owned, int* n_owned) except -1:
    """Convert the arguments of a call; new objects are put into `owned`."""
    cdef int i
    cdef Parameter* p
    cdef PyObject* x
    cdef PyObject* args_of
    cdef Tensor number
    if n > row.positional or (
            row.spread and n == row.positional and TYPE_OF(args[n - 1]) == &PyLong_Type):
        if not row.spread:
            refuse_count(row, n)
        args_of = several(args + row.positional - 1, n - row.positional + 1)
        owned[n_owned[0]] = args_of
        n_owned[0] += 1
        for i in range(row.positional - 1):
            values[i] = args[i]
        values[row.positional - 1] = args_of
        for i in range(row.positional, row.n):
            values[i] = NULL
    else:
        for i in range(<int>n):
            values[i] = args[i]
        for i in range(<int>n, row.n):
            values[i] = NULL
    if names != NULL:
        take_names(row, args, n, names, values)
    for i in range(row.n):
        p = &row.parameters[i]
        x = values[i]
        if x == NULL:
            x = values[i] = p.fallback
            if x == NULL:
                refuse_missing(row, i)
            if not p.afresh:
                v[i] = p.value
                continue
        if not quickly(&v[i], x, p) and convert(&v[i], x, p):
            owned[n_owned[0]] = v[i].o
            n_owned[0] += 1
    if ((row.lone or row.numbers) and values[0] != v[0].o and TYPE_OF(v[1].o) == tensor_type
            and (<Tensor>v[0].o).flags & (<Tensor>v[1].o).flags & F_WRAPPED):
        p = &row.parameters[1]
        if row.numbers:             # no operator on numbers only
            tensor_arg(<object>values[1], <str>p.op, <str>p.name, p.position)
        number = number_alone(<Tensor>v[0].o)
        Py_INCREF(number)
        v[0].o = <PyObject*>number
        owned[n_owned[0]] = v[0].o
        n_owned[0] += 1
    return 0


# Called through a pointer, so that what it made is released if it fails.
ctypedef int (*fill_fn)(Row*, PyObject**, Py_ssize_t, PyObject*, Value*, PyObject**, PyObject**,
                        int*) noexcept
cdef fill_fn filled = <fill_fn><void*>convert_arguments


# The same of what comes below.
ctypedef PyObject* (*older_fn)(Form, PyObject**, Py_ssize_t, PyObject*) noexcept


cdef bint differs(Row* row, Value* v) noexcept:
    """Return whether some parameter between the record's and ``out=`` has not its default."""
    cdef int i
    for i in range(row.own, row.n - (row.out_function != NULL)):
        if v[i].o != row.parameters[i].value.o:
            return True
    return False


cdef PyObject* plainly(PyObject* f, PyObject** args, size_t nargsf, PyObject* names) except NULL:
    """Call a form without dispatch to classes or modes."""
    cdef Value v[MOST]
    cdef PyObject* values[MOST]
    cdef PyObject* owned[MOST + 2]
    cdef PyObject* result = NULL
    cdef Py_ssize_t n = PyVectorcall_NARGS(nargsf)
    cdef Row* row = (<Form>f).rows
    cdef CallArguments g
    cdef int n_owned = 0, k
    if row == NULL:
        read(<Form>f)
        row = (<Form>f).rows
    if row.which != NULL:
        g.args, g.n, g.names = args, n, names
        k = row.which(&g)
        if k < 0:
            return NULL
        row += k
    if filled(row, args, n, names, v, values, owned, &n_owned) == 0:
        if row.caller == NULL:
            result = (<body_fn>row.function)(v)
        elif row.more != NULL and differs(row, v):
            result = row.more(v)
        elif row.out_function != NULL and v[row.n - 1].o != NONE:
            v[row.own] = v[row.n - 1]       # next to the record's, over what has its default
            result = row.out_caller(row.out_function, v)
        else:
            result = row.caller(row.function, v)
    else:
        result = (<older_fn><void*>numbers_first)(<Form>f, args, n, names)
    for k in range(n_owned):
        decref(owned[k])
    return result if result != NULL else failed(<Form>f, row)


cdef PyObject* numbers_first(Form form, PyObject** args, Py_ssize_t n,
                             PyObject* names) except NULL:
    """Try the older order of a call whose arguments didn't fit, if the form has one, and ints of
    64 bits without a sign; otherwise the error stays (`numbers_first` and `unsigned_numbers` of
    _tensors know)."""
    cdef PyObject *kind = NULL, *value = NULL, *trace = NULL
    cdef dict named = {}
    cdef Py_ssize_t k
    cdef object call = None, arguments, result
    PyErr_Fetch(&kind, &value, &trace)
    if kind == PyExc_IndexError and n and isinstance(<object>args[0], Tensor):
        PyErr_NormalizeException(&kind, &value, &trace)
        say_range(<object>value, <Tensor>args[0])
    if kind != PyExc_TypeError and kind != PyExc_OverflowError:
        PyErr_Restore(kind, value, trace)
        return NULL
    try:
        from autograd_cy._tensors.numbers_first import rearranged
        from autograd_cy._tensors.unsigned_numbers import unsigned_taken
        if names != NULL:
            for k in range(PyTuple_GET_SIZE(names)):
                named[<object>PyTuple_GET_ITEM(names, k)] = <object>args[n + k]
        arguments = tuple([<object>args[k] for k in range(n)])
        call = (unsigned_taken if kind == PyExc_OverflowError else rearranged)(
            form.__name__, arguments, named)
    except BaseException:
        drop_error(kind, value, trace)
        raise
    if call is None:
        PyErr_Restore(kind, value, trace)
        return NULL
    drop_error(kind, value, trace)
    result = form(*call[0], **call[1])
    Py_INCREF(result)
    return <PyObject*>result


cdef void drop_error(PyObject* kind, PyObject* value, PyObject* trace) noexcept:
    """Drop an error that was taken."""
    Py_XDECREF(kind)
    Py_XDECREF(value)
    Py_XDECREF(trace)


cdef vectorcall_fn _plainly = <vectorcall_fn><void*>plainly
upcalls.operator_failed = operator_failed
form_upcalls.plainly = _plainly
form_upcalls.look_closely = _plainly
form_upcalls.dispatching = 0


cdef PyObject* call(PyObject* f, PyObject** args, size_t nargsf, PyObject* names) noexcept:
    """The vectorcall of forms; here is what most calls need."""
    cdef Value v[MOST]
    cdef Py_ssize_t n = PyVectorcall_NARGS(nargsf)
    cdef Row* row = (<Form>f).rows
    cdef PyObject* result
    cdef CallArguments g
    cdef int i
    if names == NULL and row != NULL and not form_upcalls.dispatching:
        if row.which != NULL:
            g.args, g.n, g.names = args, n, names
            i = row.which(&g)
            if i < 0:
                return NULL
            row += i
        if row.needed <= n <= row.positional:
            i = 0
            while i < n and quickly(&v[i], args[i], &row.parameters[i]):
                i += 1
            if i == n:
                while i < row.n:
                    v[i] = row.parameters[i].value
                    i += 1
                if row.caller == NULL:
                    result = (<body_fn>row.function)(v)
                else:
                    result = row.caller(row.function, v)
                return result if result != NULL else failed(<Form>f, row)
    if (<Form>f).dispatches:
        return form_upcalls.look_closely(f, args, nargsf, names)
    return _plainly(f, args, nargsf, names)


# --- the class ------------------------------------------------------------------------------

@cython.final
cdef class Form:
    """A compiled function of the package, which is a method, too."""

    def __call__(self, *args, **kwargs):
        return PyVectorcall_Call(self, args, kwargs)

    def __get__(self, x, kind):
        return self if x is None else PyMethod_New(self, x)

    def __repr__(self):
        return f"<function {self.__name__} at {<size_t><PyObject*>self:#x}>"

    def __reduce__(self):
        public = _modules.get(self.module)
        if public is None or getattr(public, self.__name__, None) is self:
            return self.__name__    # found by its name, as functions are
        from autograd_cy._C.tensor import Tensor
        return getattr, (Tensor, self.__name__)     # the function of that name is another one

    @property
    def __module__(self):
        return self.module

    @property
    def __qualname__(self):
        return self.__name__

    @property
    def _autocast(self):
        """The policy of mixed precision, as `autocast` of the record says it, or None."""
        cdef const char* word = self.text
        while word[0] not in (c";", c"\n", 0):
            if strncmp(word, b" autocast=", 10) == 0:
                word += 10
                return word_at(&word)
            word += 1
        return None

    @property
    def __signature__(self):
        from inspect import Parameter as Shown, Signature
        cdef list shown = []
        cdef Parameter* p
        cdef int i
        if self.rows == NULL:
            read(self)
        if self.n_rows > 1 and self.alone < 0:
            return Signature([Shown("args", Shown.VAR_POSITIONAL),
                              Shown("kwargs", Shown.VAR_KEYWORD)])
        for i in range(self.rows.n):
            p = &self.rows.parameters[i]
            kind = Shown.POSITIONAL_OR_KEYWORD if i < self.rows.positional else Shown.KEYWORD_ONLY
            default = Shown.empty if p.fallback == NULL else <object>p.fallback
            name = <object>p.name
            if self.rows.spread and i == self.rows.positional - 1:
                shown.append(Shown(f"{name}_", Shown.VAR_POSITIONAL))
                kind, default = Shown.KEYWORD_ONLY, None
            shown.append(Shown(name, kind, default=default))
        return Signature(shown)

    @property
    def __doc__(self):
        if self.words is None:
            if self.function is not None:
                return self.function.__doc__
            if self.rows == NULL:
                read(self)
            text = self.doc.decode()
            if self.__name__.endswith("_") and not text:
                from autograd_cy._environment.in_place_texts import in_place_text
                name = self.__name__.removesuffix("_")
                text = in_place_text(name, operator_text(name))
            self.words = f"{self.__name__}{self.__signature__}\n\n{text}"
        return self.words

    @__doc__.setter
    def __doc__(self, text):
        self.words = text


cdef Form new_form(object module, str name):
    cdef Form form = Form.__new__(Form)
    form.vectorcall = <vectorcall_fn><void*>call
    form.__name__, form.module = name, module
    form.alone = -1
    return form


cdef str word_at(const char** text):
    """The word at `text`, which is moved behind it."""
    cdef const char* start = text[0]
    while text[0][0] not in (c" ", c";", c"\n", 0):
        text[0] += 1
    return start[:text[0] - start].decode()


cdef dict make_forms(dict module, const char* rows, const char* docs, void** bodies):
    """Put the forms of a module into its names; the result has them, too."""
    cdef dict forms = {}
    cdef Form form = None
    cdef object where = module["__name__"]
    cdef const char* word
    cdef str name
    cdef int place = 0
    while rows[0]:
        word = rows + 2 * (rows[0] == c"|")
        name = word_at(&word)
        if rows[0] not in (c"|", c">", c":", c"?"):
            form = new_form(where, name)
            form.text, form.doc, form.bodies = rows, docs, &bodies[place]
            docs += strlen(docs) + 1
            forms[name] = form
        if rows[0] not in (c">", c":", c"?"):
            form.n_rows += 1
            if strncmp(word, b" key=", 5) == 0:
                word += 5
                module[f"form_{word_at(&word)}"] = signature(form, form.n_rows - 1)
        place += 1
        rows = strchr(rows, c"\n") + 1
    module.update(forms)
    families.append(forms)
    return forms


cdef str operator_text(str name):
    """Return the name of the operator by which an in-place form introduces itself."""
    cdef dict forms
    for forms in families:
        if name in forms:
            return (<Form>forms[name]).doc.decode()
    return ""


cdef Form signature(Form form, int row):
    """A form of one signature of another one."""
    cdef Form result = new_form(form.module, form.__name__)
    result.text, result.doc, result.bodies = form.text, form.doc, form.bodies
    result.alone, result.n_rows = row, row + 1      # the lines after that are not read
    return result


cdef Form positional(Form form, int row):
    """A form of one signature that takes what the record has, all by position."""
    cdef Form result = signature(form, row)
    result.each = True
    return result


cdef Form as_method(dict forms, str name, Form form):
    """
    The method of a function, whose errors count arguments as methods do (Note [Positions]).

    `forms` are those of the module, which get it under a name that no function has.
    """
    cdef Form method
    name = f"Tensor.{name}"
    if name not in forms:
        method = only_method(new_form(form.module, form.__name__))
        method.text, method.doc, method.bodies = form.text, form.doc, form.bodies
        method.alone, method.n_rows, method.each = form.alone, form.n_rows, form.each
        method.function = form
        forms[name] = method
    return forms[name]


cdef Form only_method(Form form):
    """Let errors of a form that is a method alone count as those of methods do."""
    form.counts_on = True
    return form


cdef Form forwarding(object public, str name):
    """
    A form of an operator that dispatches, and raises, as a public function in Python.

    `public` describes the function (`PublicFunction` of _tensors/public.py), which finds the
    operator when the form is first called.
    """
    cdef Form result = new_form(public.module, name)
    result.public = public
    return result


cdef int copy_lines(Form form, Form operator) except -1:
    form.doc, form.bodies = operator.doc, operator.bodies
    form.alone, form.n_rows, form.each = operator.alone, operator.n_rows, operator.each
    form.text = operator.text
    return 0


cdef int set_up() except -1:
    cdef Form form = new_form(None, "")
    cdef TypeObject* kind = TYPE_OF(<PyObject*>form)
    kind.tp_vectorcall_offset = <char*>&form.vectorcall - <char*><PyObject*>form
    kind.tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR
    kind.tp_call = <void*>PyVectorcall_Call
    PyType_Modified(<PyTypeObject*>kind)
    seal(Form, "functions of the package are not made by Python")
    return 0


set_up()
