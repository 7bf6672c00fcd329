# cython: language_level=3
"""Nodes of the backward graph: edges to what comes next, saved tensors, output metadata."""
from cpython.ref cimport PyObject
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t, int32_t
from autograd_cy._C.tensor cimport Tensor

cdef enum:
    INLINE_EDGES = 3
    INLINE_SAVED = 3
    META_DIMS = 5

cdef enum:  # Node.flags
    N_FREED = 1            # saved tensors were released
    N_TRACKED = 2          # visible to the garbage collector
    N_PYTHON = 4           # backward is Python code
    N_ACCUMULATE = 8
    N_SKIP = 32            # perhaps a task that runs doesn't need this node's gradient: ask it
    N_UNWANTED = 64        # the owning task doesn't need it (Note [Marks on nodes], engine.pyx)
    N_COPY_SLICES = 128    # args[0] is the node of an in-place operation on a view
    N_NUMBER_FIRST = 256   # edge 0 is that of a number, and isn't shown
    N_NAMED = 512          # node_name() isn't that of the class
    N_ON_DEVICE = 1024     # some result is where streams are (Note [Streams of backward])

cdef struct Edge:
    PyObject* node         # owned Node, or NULL
    uint32_t nr
    uint32_t pad

cdef struct Saved:
    PyObject* obj          # owned Tensor, number, Packed (hooks), or NULL
    uint32_t version
    int32_t edge           # input: index of its edge, or -1; own output nr: -2 - nr

cdef struct OutMeta:
    Py_ssize_t* shape      # dims below, or allocated
    uint8_t ndim
    uint8_t dt
    uint8_t defined
    uint16_t device        # code (storage.pxd)
    Py_ssize_t dims[5]     # META_DIMS

cdef union Attr:
    long long i
    double d

cdef class NodeExtra:
    """The fields that few nodes need."""
    cdef public dict tensor_hooks      # output number -> list of (id, hook, object)
    cdef public dict retain_hooks      # output number -> tensor (weak) whose grad is kept
    cdef public object pre_hooks       # OrderedDict id -> hook
    cdef public object post_hooks
    cdef public dict metadata
    cdef public list packed            # hooks registered on saved slots
    # Code of a device -> (address, Stream) that was current there; not for default streams.
    cdef dict streams

cdef class Node

cdef struct NodeKind:
    # A class of nodes of generated operators, as data (Note [Kinds of nodes])
    int (*apply)(Node, PyObject**, PyObject**) except -1
    PyObject* cls                      # made with the first node
    const char* module
    const char* text                   # name of the class; what it saves
    PyObject* saved                    # the tuple of saved_names, made when it is asked for

cdef class Node:
    cdef NodeKind* kind                # NULL for classes written by hand
    cdef uint64_t seq                  # creation order; backward runs the newest first
    cdef uint64_t owner                # graph task that owns count and buffers, or 0
    cdef int32_t deps                  # gradients still to arrive in that task
    cdef uint32_t flags
    cdef int32_t n_edges
    cdef int32_t n_saved
    cdef int32_t n_out                 # outputs of the forward operation
    cdef PyObject** buffers            # gradients that have arrived (one per output), or &buffer0
    cdef PyObject* buffer0
    cdef Edge* edges
    cdef Saved* saved
    cdef OutMeta* metas
    cdef PyObject* args                # owned tuple of attributes that are no plain numbers
    cdef NodeExtra extra
    cdef Attr attrs[4]
    cdef Edge edges0[3]
    cdef Saved saved0[3]
    cdef OutMeta meta0
    cdef object __weakref__
    # Fills gout[i] (new reference, or NULL) for each edge; gin[j] is borrowed, or NULL.
    cdef int apply(self, PyObject** gin, PyObject** gout) except -1
    cdef str node_name(self)
    cdef tuple saved_names(self)       # (name, slot or attribute descriptor) of _saved_*

# --- recording (called by generated operators) ----------------------------------------------
cdef int make_kinds(NodeKind* kinds, const char* module, const char* rows) except -1
cdef Node new_node(NodeKind* kind, Py_ssize_t n_edges, Py_ssize_t n_saved, Py_ssize_t n_out)
cdef int node_init(Node n, Py_ssize_t n_edges, Py_ssize_t n_saved, Py_ssize_t n_out) except -1
# known later than node_init
cdef int reserve_saved(Node n, Py_ssize_t n_saved, Py_ssize_t n_out) except -1
cdef int set_edge(Node n, int i, Tensor t) except -1
cdef int set_meta(Node n, int nr, Tensor t) except -1  # shape and dtype of output nr
cdef int set_history(Tensor result, Node n, int nr) except -1
cdef int save_input(Node n, int slot, Tensor t, int edge) except -1
cdef int save_old_value(Node n, int slot, Tensor copy, int edge) except -1   # before a write
cdef int save_output(Node n, int slot, Tensor t, int nr) except -1
cdef Tensor unpack(Node n, int slot)
cdef Tensor peek(Node n, int slot)                     # unpack for those who show it
cdef Tensor recorded(Node n, int slot)                 # with its history, for users
cdef object saved_value(Node n, str kind, object where)  # a `_saved_*` attribute
cdef object freed_error(Node n)
cdef str operation_name(Node n)                        # Add for AddBackward0
cdef Tensor graph_free_alias(Tensor t)                 # the same value without history
cdef int attach(Tensor t, PyObject* node, uint32_t nr) except -1   # make t output nr of a node
cdef int note_write(Tensor t, str op) except -1        # `op` (a constant) is about to write
cdef NodeExtra node_extra(Node n)
cdef int set_args(Node n, tuple args) except -1
cdef tuple get_args(Node n)
cdef int n_tensors(object indices) except -1             # of a list with None between them
cdef tuple save_indices(Node n, int slot, object indices)
cdef tuple saved_indices(Node n, tuple places)           # what save_indices has saved there

cdef inline int run_apply(Node n, PyObject** gin, PyObject** gout) except -1:
    return n.apply(gin, gout) if n.kind == NULL else n.kind.apply(n, gin, gout)

cdef inline int first_edge(Node n) noexcept:
    """The first edge that is shown."""
    return 1 if n.flags & N_NUMBER_FIRST else 0

cdef inline bint edge_defined(Node n, int i) noexcept:
    return n.edges[i].node != NULL

# --- graph ----------------------------------------------------------------------------------
cdef PyObject* gradient_node(Tensor t) except? NULL    # owned; the accumulator for a leaf
cdef int rebase_history(Tensor t, Node n) except -1    # after an in-place operation recorded by n
cdef int move_retained(Tensor t, Node n, int nr) except -1   # retain_grad follows new history
cdef int check_inplace(Tensor t, str op, bint recording) except -1
cdef int set_view(Tensor view, Tensor base, int creation) except -1
cdef Node current_fn(Tensor t)                         # grad_fn of t, remade for a view; None: leaf
cdef int release_saved(Node n) except -1
cdef Tensor accumulated_variable(Node n)               # the leaf of an AccumulateGrad node
cdef int node_track(Node n) except -1
cdef void release_node(PyObject* n) noexcept
cdef object meta_shape(Node n, int nr)
cdef Tensor zeros_for(Node n, int nr)                  # zero gradient of output nr

# --- what later layers fill in --------------------------------------------------------------
cdef struct GraphUpcalls:
    # in-place on a view: rewrite its base's history
    int (*rebase_view)(Tensor, Node) except -1
    # new grad_fn of a view whose base has changed
    object (*remake_view_fn)(Tensor)
    int (*pack_saved)(Node, int, Tensor) except -1     # saved-tensor hooks are on
    object (*unpack_saved)(Node, int)
    object (*raw_saved)(Node, int)                     # handle of a slot
    int (*note_creation)(Node) except -1               # anomaly mode: remember the traceback
    int (*note_mutation)(Tensor, str) except -1        # before a write (see M_GUARD_SAVED)
    bint (*wanted)(PyObject*) noexcept                 # by this thread's backward (see N_SKIP)
    object (*lines_of_mutation)(Tensor)                # anomaly mode: lines of the last write
    object (*lines_of_creation)(Node)                  # anomaly mode: lines that made a node

cdef GraphUpcalls graph_upcalls


cdef inline bint needs(Node n, int i) noexcept:
    """Tell if the backward of this thread must compute the gradient of input i."""
    cdef PyObject* p = n.edges[i].node
    return p != NULL and (not (<Node>p).flags & N_SKIP or graph_upcalls.wanted(p))
