# cython: language_level=3
"""The tensor: a strided window on a storage, and its place in the autograd graph.

Fields have names of their own where a Python attribute has the usual one (`sizes` is what
`shape` shows). Fields that other modules own (the node behind `grad_fn`,
the gradient) are plain PyObject
pointers here: layers point one way, and the cyclic garbage collector sees them through
tensor_traverse in tensor.pyx.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from autograd_cy._C.storage cimport StorageImpl
from autograd_cy._C.dtypes cimport DT_SIZE

cdef enum:
    INLINE_DIMS = 5    # shape and strides up to this many dimensions need no allocation
    MAX_DIMS = 64

# Tensor.flags. F_SLOW tells in one test whether an operation must leave its fast path.
cdef enum:
    F_REQUIRES_GRAD = 1     # a leaf's own flag, or a grad_fn is there
    F_VIEW = 2              # `base` is set
    F_STRIDED = 4           # not C-contiguous
    F_WRAPPED = 8           # a Python number on its way through an operator
    F_RAW = 16              # bools whose bytes somebody else may have written: not only 0 and 1
    F_DUAL = 32             # has a forward-mode tangent
    F_BATCHED = 64          # a vmap wrapper
    F_INFERENCE = 128       # made in inference mode
    F_DEVICE = 256          # memory is not on the CPU
    F_RETAINS_GRAD = 512
    F_CONJ = 1024           # the values are the conjugates of what is in memory
    F_NEG = 2048            # the values are the negatives of what is in memory
    F_TURNED = 3072         # F_CONJ | F_NEG
    F_LAZY = 3088           # F_TURNED | F_RAW: memory is not to be read as it is
    F_LAYERED = 3152        # F_BATCHED | F_LAZY: a kernel needs something else
    F_BLANK = 4096          # made by __new__ alone, so far
    F_REPLAY = 8192         # a view that is made anew as it was made, after a change
    F_GRAD_PATH = 3         # F_REQUIRES_GRAD | F_VIEW: autograd must have a look
    F_SLOW = 3312           # F_DUAL | F_BATCHED | F_INFERENCE | F_LAZY; a device is no reason

# Thread-local mode word (zero is the default state). Its upper half says where tensors are made.
ctypedef uint64_t modes_t
cdef enum:
    M_NO_GRAD = 1
    M_INFERENCE = 2
    M_NO_FORWARD_AD = 4
    M_SAVED_HOOKS = 8
    M_IN_BACKWARD = 16
    M_NO_OVERRIDES = 32     # no call dispatches to the __torch_function__ of a class
    M_GUARD_SAVED = 64      # somebody wants to hear of in-place writes before they happen
    M_ONE_THREAD = 128      # deep re-entrant backward stays in this thread
    M_VMAP_SHIFT = 8        # a byte: how many vmaps are running
    M_VMAP_MASK = 0xFF00
    M_GRAD_ASKED = 0x100000   # enable_grad within inference mode: reported, nothing is recorded
    M_VIEW_REPLAY = 0x200000  # views that are made get F_REPLAY
    M_DEVICE_SHIFT = 32       # two codes of 16 bits (default_device.pxd)

# Process-wide mode word.
cdef enum:
    G_PROFILE = 1
    G_ANOMALY = 2
    G_FORWARD = 4           # some level of forward mode is alive
    G_NAN_ALLOWED = 8       # anomaly mode doesn't look for NaN

# How a view came to be, for the checks on in-place operations.
cdef enum:
    CREATED_DEFAULT = 0
    CREATED_IN_FUNCTION = 1
    CREATED_MULTI_OUTPUT = 2
    CREATED_NO_GRAD = 3
    CREATED_INFERENCE = 4

cdef enum:  # whose the tangents of a view are; 0: those of `base`
    OWN_TANGENT = 1    # its own: `base` doesn't know them
    OF_DUAL = 2        # those of `extra.dual_base`

cdef modes_t tls_modes() noexcept nogil
cdef void tls_set_modes(modes_t m) noexcept nogil
cdef unsigned int g_modes

cdef class Restoring:
    """A change that undo_change() takes back; see Note [Interrupts and modes] in modes.pxi."""
    cdef modes_t mask                 # bits of the thread's mode word that come back
    cdef modes_t before
    cdef unsigned int global_mask     # and of the process's
    cdef unsigned int global_before
    cdef list old_items               # items that come back: (container, key, value), or None
    cdef tuple ending                 # (function of C, its arguments), called at the end, or None
    cdef unsigned long thread
    cdef bint held

cdef void hold_change(Restoring r) noexcept
cdef int undo_change(Restoring r) except -1

cdef class ForwardLevel:
    """One forward-mode differentiation that is going on; the newest is the innermost."""
    cdef readonly unsigned long long serial
    cdef readonly int batches         # how many vmaps were running when it began
    cdef readonly bint alive
    cdef PyObject* first              # borrowed TensorExtra with a tangent of this level, or NULL

cdef class TensorExtra:
    """The fields that few tensors need."""
    cdef public object tangent        # forward-mode tangent of level `forward`, or None
    cdef readonly ForwardLevel forward
    cdef public object primal         # the same value with the tangents of outer levels, or None
    cdef PyObject* owner              # borrowed Tensor that this belongs to (set with a tangent)
    cdef PyObject* next_dual          # the level's list of duals, so that its end clears them
    cdef PyObject** dual_link         # where the pointer to this one is, or NULL
    cdef public object dual_base      # see Note [Tangents and memory] in forward.pyx, or None
    cdef public object hooks          # list of pre-hooks of a leaf, or None
    cdef public object post_hooks     # post-accumulate-grad hooks of a leaf, or None
    cdef public object retain_hook    # handle of retain_grad on a non-leaf
    cdef public object value          # physical tensor of a vmap wrapper
    cdef public int bdim              # -1: all examples of that vmap share the value
    cdef public int level
    cdef public object name

cdef class Tensor:
    cdef StorageImpl* mem             # NULL only between __new__ and initialisation
    cdef char* ptr                    # first element
    cdef Py_ssize_t count             # number of elements
    cdef Py_ssize_t* sizes            # inline below, or allocated beyond INLINE_DIMS
    cdef Py_ssize_t* strides          # in elements
    cdef uint32_t flags
    cdef uint8_t dt                   # dtype code
    cdef uint8_t nd                   # number of dimensions
    cdef uint8_t creation             # CREATED_*, of a view
    cdef uint8_t own_tangent          # whose the tangents of a view are: see OWN_TANGENT
    cdef uint32_t out_nr              # which output of grad_fn this is
    cdef uint32_t attr_version        # version at which a view's grad_fn was made
    cdef PyObject* fn                 # owned Node, or NULL
    cdef PyObject* gradient           # owned Tensor, or NULL
    cdef PyObject* base               # owned Tensor whose memory this views, or NULL
    cdef PyObject* accumulator        # borrowed AccumulateGrad node of a leaf, or NULL
    cdef TensorExtra extra
    cdef Py_ssize_t dims[10]          # 2 * INLINE_DIMS
    cdef PyObject* attributes         # the instance's dict, made when first needed
    cdef object __weakref__

# --- making tensors (no autograd metadata is set) -------------------------------------------
cdef Tensor tensor_empty(int dt, int ndim, const Py_ssize_t* shape)
cdef Tensor tensor_empty_strided(int dt, int ndim, const Py_ssize_t* shape,
                                 const Py_ssize_t* strides)
cdef Tensor tensor_empty_on(int device, int dt, int ndim, const Py_ssize_t* shape,
                            const Py_ssize_t* strides)     # NULL: C order
# keeps the order of a dense tensor's dimensions, and the device
cdef Tensor tensor_empty_like(Tensor t, int dt)
cdef Tensor tensor_on(StorageImpl* s, char* data, int dt, int ndim, const Py_ssize_t* shape,
                      const Py_ssize_t* strides)     # takes a new reference to s
cdef Tensor mark_raw(Tensor t)                       # gives t itself F_RAW if it holds bools
cdef Tensor tensor_alias(Tensor t)                   # same memory, no autograd metadata
cdef Tensor tensor_turned(Tensor t, uint32_t bits)   # an alias with these of F_LAZY exchanged
cdef Tensor tensor_window(Tensor t, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides,
                          Py_ssize_t offset)         # `offset` elements after t's first one
cdef Tensor wrap_number(object x)                    # 0-d tensor that promotes as a number
cdef Tensor wrap_double(double x)
cdef Tensor wrap_int(long long x)
cdef bint is_python_number(object x)                 # Python and NumPy numbers
cdef Tensor as_operand(object x, str op, str argument)
cdef int set_geometry(Tensor t, int ndim, const Py_ssize_t* shape,
                      const Py_ssize_t* strides) except -1
cdef int replace_storage(Tensor t, Tensor source) except -1
cdef int take_memory(Tensor t, Tensor source) except -1    # and go on counting versions

cdef Py_ssize_t normal_dim(Py_ssize_t dim, Py_ssize_t ndim) except? -1    # negative ones counted
cdef object missing_dim(Py_ssize_t dim, Py_ssize_t ndim, str text)  # the error of a size it lacks

# --- reading them ---------------------------------------------------------------------------
cdef object scalar_value(Tensor t)                   # the only element as a Python number
cdef object shown_value(Tensor t)                    # the same, only to be looked at
cdef object element_value(const char* p, int dt)
cdef int check_holds(object value, int dt) except -1       # RuntimeError if it overflows
cdef object beyond_64_bits(object x)
cdef int warn_once(str text) except -1               # a UserWarning
cdef int check_fits(Tensor value, int dt) except -1
cdef int store_element(char* p, int dt, object value) except -1
cdef object size_object(int ndim, const Py_ssize_t* shape)
cdef object sizes_of(Tensor t)                       # a Size, for users
cdef tuple dims_of(Tensor t)                         # a plain tuple, for operators
cdef str tensor_type_name(Tensor t)                         # "autograd_cy.FloatTensor"
cdef str describe_tensor(Tensor t)                          # dtype and shape, for messages
cdef bint tensor_is_contiguous(Tensor t) noexcept
cdef bint tensor_is_dense(Tensor t) noexcept         # no gaps, no overlap
cdef bint tensor_has_overlap(Tensor t) noexcept      # some element is reached twice
cdef bint tensor_matches_format(Tensor t, int format) noexcept
cdef int preserved_strides(Tensor t, Py_ssize_t* out) noexcept     # dense, in t's order
cdef int format_strides(int ndim, const Py_ssize_t* shape, int format, Py_ssize_t* out) except -1
cdef TensorExtra need_extra(Tensor t)
cdef int put_dual(Tensor t, Tensor tangent, ForwardLevel level, Tensor primal) except -1
cdef int drop_dual(Tensor t) except -1               # without its innermost tangent
cdef int stand_alone(Tensor t) except -1
cdef int stand_on(Tensor view, Tensor base) except -1
cdef int copy_special(Tensor t, Tensor source) except -1    # vmap wrapper and tangents of `source`
cdef int vmap_level() noexcept nogil                 # how many vmaps are running in this thread
cdef Tensor wrap_at(Tensor physical, int bdim, int level)   # a vmap wrapper
cdef Tensor below_vmaps(Tensor t)                    # what holds all examples
cdef bint has_examples(Tensor t) noexcept            # a wrapper whose examples differ
cdef int refuse_examples(Tensor t, str what) except -1
cdef Tensor tensor_as(Tensor t, object cls)          # a fresh tensor as instance of a subclass
cdef uint32_t lazy_bits(Tensor t) noexcept           # F_CONJ and F_NEG, also of what is below vmaps
cdef int track(object o) noexcept                    # let the garbage collector see it

cdef inline bint is_tensor(object x) noexcept:
    return isinstance(x, Tensor)

cdef inline bint same_shape(Tensor a, Tensor b) noexcept nogil:
    cdef int i
    if a.nd != b.nd:
        return False
    for i in range(a.nd):
        if a.sizes[i] != b.sizes[i]:
            return False
    return True

cdef inline bint requires_grad(Tensor t) noexcept:
    """Return whether a gradient can flow to t (a view asks its base, which may have changed)."""
    return (t.flags & F_REQUIRES_GRAD) or (
        (t.flags & F_VIEW) and ((<Tensor>t.base).flags & F_REQUIRES_GRAD))

cdef inline Py_ssize_t itemsize(Tensor t) noexcept nogil:
    return DT_SIZE[t.dt]

cdef inline int device_of(Tensor t) noexcept nogil:
    """The code of the device that the tensor is on."""
    return t.mem.device

cdef inline uint32_t version_of(Tensor t) noexcept nogil:
    return t.mem.version[0]

cdef inline void bump_version(Tensor t) noexcept nogil:
    t.mem.version[0] += 1

# --- what later layers fill in --------------------------------------------------------------
ctypedef object (*binary_fn)(object, object)
ctypedef object (*unary_fn)(Tensor)
ctypedef int (*setitem_fn)(Tensor, object, object) except -1
ctypedef object (*getitem_fn)(Tensor, object)
ctypedef void (*release_fn)(PyObject*) noexcept

cdef enum:  # slots of Upcalls.binary
    B_ADD, B_SUB, B_MUL, B_DIV, B_FLOORDIV, B_MOD, B_POW, B_MATMUL, B_AND, B_OR, B_XOR, B_LSHIFT,
    B_RSHIFT, B_LT, B_LE, B_GT, B_GE, B_EQ, B_NE,
    B_IADD, B_ISUB, B_IMUL, B_IDIV, B_IFLOORDIV, B_IMOD, B_IPOW, B_IAND, B_IOR, B_IXOR,
    B_ILSHIFT, B_IRSHIFT, B_COUNT

cdef enum:  # slots of Upcalls.unary
    U_NEG, U_POS, U_INVERT, U_ABS, U_COUNT

cdef struct Upcalls:
    binary_fn binary[31]              # by slot; NULL: the operator isn't there
    unary_fn unary[4]
    getitem_fn getitem
    setitem_fn setitem
    unary_fn grad_fn                  # current grad_fn; remakes that of a view
    unary_fn repr
    unary_fn to_host                  # a copy of what is on another device, or an error
    unary_fn resolved                 # a plain tensor with the values of one with F_LAZY
    unary_fn iterate
    release_fn release_node           # drops a node without recursion
    void (*accumulator_gone)(PyObject*) noexcept
    void (*operator_failed)(int slot, bint unary) noexcept   # puts its name into the error
    int (*note_write)(Tensor, str) except -1     # before a write that check_inplace doesn't see
    int (*note_read)(Tensor, str) except -1      # NULL unless a thread captures; see reading()

cdef Upcalls upcalls

cdef inline int writing(Tensor t, str op) except -1:
    """To be called before memory is written by other means than an in-place operator."""
    if upcalls.note_write != NULL:
        return upcalls.note_write(t, op)
    return 0

cdef inline int reading(Tensor t, str what) except -1:
    """To be called before values are read, and used, by anything but a launch."""
    if upcalls.note_read != NULL and not t.flags & F_WRAPPED:
        return upcalls.note_read(t, what)
    return 0

cdef int install(type cls, str name, object value) except -1   # sets an attribute of a cdef class
