# Classes of nodes made from data, Note [Kinds of nodes] (part of node.pyx).

cdef extern from *:
    """
    /* A class that lives as long as the process, as those do that C declares. */
    static PyTypeObject* agc_class_like(PyTypeObject* base, const char* name) {
        PyTypeObject* made = (PyTypeObject*)PyMem_Calloc(1, sizeof(PyTypeObject));
        if (made == NULL) { PyErr_NoMemory(); return NULL; }
        Py_SET_REFCNT((PyObject*)made, 1);
        made->tp_name = name;
        made->tp_base = base;
        made->tp_basicsize = base->tp_basicsize;
        made->tp_flags = Py_TPFLAGS_DEFAULT;
        return PyType_Ready(made) < 0 ? NULL : made;
    }
    """
    PyTypeObject* agc_class_like(PyTypeObject* base, const char* name) except NULL

cdef extern from "Python.h":
    ctypedef struct NewType "PyTypeObject":
        Node (*tp_new)(NewType*, PyObject*, PyObject*)

cdef tuple _nothing = ()
cdef list _kinds = []               # addresses of all kinds
cdef list _class_names = []         # names of classes


cdef str text_of_kind(NodeKind* kind):
    return kind.text[:strchr(kind.text, c"\n") - kind.text].decode()


cdef int make_kinds(NodeKind* kinds, const char* module, const char* rows) except -1:
    """Give the kinds of a module their lines."""
    cdef int i = 0
    while rows[0]:
        kinds[i].module, kinds[i].text = module, rows
        _kinds.append(<size_t>&kinds[i])
        rows = strchr(rows, c"\n") + 1
        i += 1
    return 0


cdef int make_class(NodeKind* kind) except -1:
    cdef bytes name = f"{kind.module.decode()}.{text_of_kind(kind).partition('; ')[0]}".encode()
    _class_names.append(name)
    kind.cls = <PyObject*>agc_class_like(<PyTypeObject*>Node, name)
    return 0


cdef Node new_node(NodeKind* kind, Py_ssize_t n_edges, Py_ssize_t n_saved, Py_ssize_t n_out):
    """A node of a generated operator."""
    cdef Node n
    if kind.cls == NULL:
        make_class(kind)
    # Not `Node.__new__(cls)`, which Cython would look up by its name.
    n = (<NewType*>kind.cls).tp_new(<NewType*>kind.cls, <PyObject*>_nothing, NULL)
    n.kind = kind
    node_init(n, n_edges, n_saved, n_out)
    return n


def _saved_value(Node n not None, str kind, place):
    return saved_value(n, kind, place)


cdef tuple saved_of(NodeKind* kind):
    """(name, what it is, place) of all that nodes of a kind save."""
    cdef list rows = []
    if kind.saved == NULL:
        for row in text_of_kind(kind).split("; ")[1:]:
            name, what, place = row.split(" ", 2)
            if what == "function":      # an expression over the node
                place = f"lambda n: {place}"
            rows.append((name, what, eval(place, {"saved_value": _saved_value})))
        result = tuple(rows)
        Py_INCREF(result)
        kind.saved = <PyObject*>result
    return <tuple>kind.saved


def _generated_classes():
    """The classes of the nodes of all generated operators."""
    cdef NodeKind* kind
    cdef list classes = []
    for place in _kinds:
        kind = <NodeKind*><size_t>place
        if kind.cls == NULL:
            make_class(kind)
        classes.append(<object>kind.cls)
    return classes
