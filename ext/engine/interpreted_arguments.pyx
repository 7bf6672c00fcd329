# cython: language_level=3
"""The helpers of generated modules of interpreted operators: converted arguments, metadata of
edges."""
from autograd_cy._C import placement as _placement
from autograd_cy._C.arguments cimport dtype_arg, format_arg, sizes_of_call, number_alone, tensor_arg
from autograd_cy._C.dtypes cimport dt_code, dt_is_complex, dt_object
from autograd_cy._C.metadata cimport known_dims, widest_nd
from autograd_cy._C.node cimport Node
from autograd_cy._C.node_io cimport edge_dtype, edge_ndim, edge_numel, edge_shape
from autograd_cy._C.placement cimport memory_format
from autograd_cy._C.tensor cimport Tensor, normal_dim, F_WRAPPED

cdef dict FORMATS = {
    f.code: f for f in vars(_placement).values() if isinstance(f, memory_format)}


def dtype_value(x, str op, str name, int position):
    """A dtype, from what means one, or None."""
    cdef int code = dtype_arg(x, op, name, position)
    return None if code < 0 else dt_object(code)


def format_value(x, str op, str name, int position):
    """A memory format or None."""
    format_arg(x, op, name, position)
    return x


def dtype_code(x):
    """The code of a dtype, as C functions take it; -1 for None."""
    return -1 if x is None else dt_code(x)


def format_code_of(x):
    return format_arg(x, "", "", 0)


def format_of(int code):
    """The memory format of a code, or None."""
    return FORMATS.get(code)


cpdef tuple known_arguments(tuple dims, tuple args):
    """The arguments; of `dims` (place, kind), no number of a dimension is negative."""
    cdef list changed = list(args)
    cdef object first = args[0]
    cdef Py_ssize_t nd = (
        (<Tensor>first).nd if isinstance(first, Tensor) else widest_nd(<tuple>first))
    for place, kind in dims:
        if kind == "dim":
            if args[place] < 0:
                changed[place] = normal_dim(args[place], nd)
        else:
            changed[place] = known_dims(args[place], nd)
    return tuple(changed)


def sizes_given(tuple args, named, str op, str name):
    """Sizes that were given one by one, in a sequence or by name."""
    return sizes_of_call(args, named, op, name)


def alone(tuple args not None, first, second, str op, str name, bint method):
    """The arguments, the first two of them operands: two numbers make no operation."""
    cdef Tensor a = <Tensor>args[0]
    if isinstance(first, Tensor) or not (a.flags & (<Tensor>args[1]).flags & F_WRAPPED):
        return args
    if not method:
        tensor_arg(second, op, name, 2)     # its error
    return (number_alone(a),) + args[1:]


def shape_behind(Node node not None, int edge):
    """The shape of the input behind an edge; formulas that know its shape save no tensor."""
    return edge_shape(node, edge)


def ndim_behind(Node node not None, int edge):
    return edge_ndim(node, edge)


def dtype_behind(Node node not None, int edge):
    return dt_object(edge_dtype(node, edge))


def numel_behind(Node node not None, int edge):
    return edge_numel(node, edge)


def is_complex_behind(Node node not None, int edge):
    return dt_is_complex(edge_dtype(node, edge))
