# What users see of nodes: calling them, and what they have saved (part of node.pyx).

cdef object call_node(Node n, tuple gradients):
    cdef PyObject** gin = NULL
    cdef PyObject** gout = NULL
    cdef int i
    if n.edges == NULL:
        raise RuntimeError(f"this {n.node_name()} is empty: nodes are made by operators")
    if len(gradients) != n.n_out:
        raise TypeError(f"expected {n.n_out} arguments, got {len(gradients)} instead "
                        f"({n.node_name()} takes one gradient per output)")
    for i in range(n.n_out):
        if gradients[i] is not None and not isinstance(gradients[i], Tensor):
            raise TypeError(f"argument {i} is not a Variable ({n.node_name()} takes Tensors or "
                            f"None, got {type(gradients[i]).__name__})")
    gin = <PyObject**>PyMem_Malloc((n.n_out + n.n_edges) * sizeof(PyObject*))
    if gin == NULL:
        raise MemoryError()
    gout = gin + n.n_out
    for i in range(n.n_out):
        gin[i] = NULL if gradients[i] is None else <PyObject*>gradients[i]
    for i in range(n.n_edges):
        gout[i] = NULL
    try:
        n.apply(gin, gout)
        results = [<object>gout[i] if gout[i] != NULL else None
                   for i in range(first_edge(n), n.n_edges)]
    finally:
        for i in range(n.n_edges):
            Py_XDECREF(gout[i])
        PyMem_Free(gin)
    return results[0] if len(results) == 1 else tuple(results)


cdef bint holds_tensor(Node n, str kind, object slot) except -1:
    if kind == "operand":
        return not is_plain_number(n, slot)
    return kind == "tensor" or kind == "indices"


cdef object raw_value(Node n, str kind, object slot):
    """A `_raw_saved_*` attribute: the handle of a slot, or of each slot with an index tensor."""
    if kind != "indices":
        return graph_upcalls.raw_saved(n, slot)
    if n.args == NULL:
        raise freed_error(n)
    return tuple([None if place is None else graph_upcalls.raw_saved(n, place)
                  for place in get_args(n)[slot]])


cdef bint is_plain_number(Node n, int slot) noexcept:
    cdef PyObject* p = NULL
    if n.saved != NULL:                 # it is there, unless made by __new__ alone
        p = n.saved[slot].obj
    if p == NULL:
        return False
    if isinstance(<object>p, Tensor):
        return (<Tensor>p).flags & F_WRAPPED != 0
    return isinstance(<object>p, (int, float))


cdef object saved_value(Node n, str kind, object where):
    """A `_saved_*` attribute, by the descriptor that the generator wrote."""
    cdef int slot
    if n.edges == NULL:
        raise freed_error(n)            # made by __new__ alone
    if kind == "constant":
        return where
    if kind == "function":
        return where(n)
    if kind == "edge_size":
        shape = saved_value(n, "edge", where[0])
        return None if shape is None else shape[where[1]]
    if kind == "edge_or_saved":
        # An operand without an edge is one that the gradient of another reads.
        shape = saved_value(n, "edge", where[0])
        if shape is None:
            tensor = saved_value(n, "tensor", where[1])
            shape = None if tensor is None else tensor.shape
        return shape
    if kind == "edge_or_numbers" or kind == "edge_strides":
        # Strides of a matrix with an edge, sizes of one without (NodeText.plan_dimensions).
        shape = saved_value(n, "edge", where[0])
        slot = where[1]
        if kind == "edge_strides":
            return () if shape is None else (n.attrs[slot].i, n.attrs[slot + 1].i)
        return (n.attrs[slot].i, n.attrs[slot + 1].i) if shape is None else shape
    slot = where
    if kind == "tensor" or kind == "operand":
        if kind == "operand" and is_plain_number(n, slot):
            number = <object>n.saved[slot].obj
            return number.item() if isinstance(number, Tensor) else number
        return recorded(n, slot)
    if kind.startswith("edge"):
        if slot >= n.n_edges or n.edges[slot].node == NULL:
            return None
        shape = meta_shape(<Node>n.edges[slot].node, n.edges[slot].nr)
        if kind == "edge":
            return shape
        return len(shape) if kind == "edge_ndim" else _prod(shape)
    if kind == "indices":
        return tuple([None if place is None else recorded(n, place) for place in get_args(n)[slot]])
    if kind == "int":
        return n.attrs[slot].i
    if kind == "float":
        return n.attrs[slot].d
    if kind == "bool":
        return bool(n.attrs[slot].i)
    if kind == "number":
        return show_number(n.attrs[slot].d)
    value = get_args(n)[slot]
    if kind == "dims" and isinstance(value, int):
        return (value,)
    return show_number(value) if kind == "whole" else value


cdef object show_number(double x):
    """A number as users write it."""
    return int(x) if (<object>x).is_integer() else x
