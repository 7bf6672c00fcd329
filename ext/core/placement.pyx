# cython: language_level=3
# build: plain hot
"""device, layout and memory_format: small value objects. Storage and strides are in tensor.pyx."""

from autograd_cy._C.sealed cimport seal
from autograd_cy._C.storage cimport (
    DEVICES_OF_TYPE, MAX_DEVICES, MAX_DEVICE_TYPES, ON_CPU, ON_META, ON_PINNED, device_type)

cdef extern from *:
    """
    #if defined(__GNUC__) && defined(__linux__)
    static __thread unsigned char ag_index[16] __attribute__((tls_model("initial-exec")));
    #else
    static _Thread_local unsigned char ag_index[16];
    #endif
    """
    unsigned char ag_index[16]      # MAX_DEVICE_TYPES

# Names that programs may write for PyTorch's types. Tensors can be on the types in `_types`.
cdef list _known = ["cpu", "cuda", "xpu", "mps", "meta", "hpu", "mtia", "xla"]
cdef list _types = ["cpu", "meta"]
cdef dict _numbers = {"cpu": 0, "meta": 1}      # of types, by name
cdef list _devices = [None] * MAX_DEVICES       # by code, made when they are first asked for
cdef count_fn[MAX_DEVICE_TYPES] _counts
cdef int _accelerator = 0         # the type that torch.accelerator speaks of
# What a `with` block of a device does; default_device.pyx knows.
cdef object _enter_block = None
cdef object _leave_block = None


def _install_blocks(enter, leave):
    global _enter_block, _leave_block
    _enter_block = enter
    _leave_block = leave


cdef list names_to_show():
    """Torch's names, and that of the accelerator."""
    cdef str own = name_of_type(_accelerator)
    return _known if own in _known else [*_known, own]


cdef object own_index(object index):
    if index is None:
        return None
    if isinstance(index, bool) or not hasattr(index, "__index__"):
        raise TypeError(f"device(): argument 'index' (position 2) must be int, not "
                        f"{type(index).__name__}")
    index = index.__index__()
    if index < 0:
        raise RuntimeError(f"Device index must not be negative, but got {index}")
    return index


cdef class device:
    """
    The place of a tensor's memory.

    Parameters
    ----------
    type : str or device or int
        ``"cpu"``, ``"meta"``, or an accelerator, such as ``"cuda"``, ``"cuda:1"`` or ``"mps"``,
        which tensors can be on where it was registered; a number means that device of the
        accelerator that was registered first, of CUDA if none was.
    index : int, optional

    Raises
    ------
    RuntimeError
        If the text names no device type.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.device("cpu")
    device(type='cpu')
    >>> with ag.device("meta"):
    ...     print(ag.ones(2).device)
    meta
    """

    def __cinit__(self, type, index=None):
        if isinstance(type, device):
            self.type = (<device>type).type
            self.index = (<device>type).index
            return
        if isinstance(type, int) and not isinstance(type, bool):
            self.type = name_of_type(accelerator_type()) if accelerator_type() else "cuda"
            self.index = own_index(type)
            return
        if not isinstance(type, str):
            raise TypeError(f"device(): argument 'type' must be str, not {type.__class__.__name__}")
        name, colon, number = type.partition(":")
        if name not in _known and name not in _types:
            raise RuntimeError(f"Expected one of {', '.join(names_to_show())} device type at start "
                               f"of device string: {type}")
        if colon and not (number.isascii() and number.isdigit() and str(int(number)) == number):
            raise RuntimeError(
                f"Invalid device string: '{type}'; a number such as 0 follows the ':'")
        if colon and index is not None:
            raise RuntimeError(f"type (string) must not include an index because index was passed "
                               f"explicitly: {type}")
        self.type = name
        self.index = int(number) if colon else own_index(index)

    def __repr__(self):
        if self.index is None:
            return f"device(type='{self.type}')"
        return f"device(type='{self.type}', index={self.index})"

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other):
        if isinstance(other, device):
            return self.type == (<device>other).type and self.index == (<device>other).index
        return NotImplemented

    def __hash__(self):
        return hash((self.type, self.index))

    def __reduce__(self):
        return (device, (str(self),))

    def __enter__(self):
        """Make it the device of tensors that are made without one, in this thread."""
        _enter_block(self)
        return self

    def __exit__(self, kind=None, error=None, traceback=None):
        _leave_block()
        return False


cpu_device = device("cpu")
_devices[ON_CPU] = cpu_device
_devices[ON_META] = device("meta")


cdef device device_of_code(int code):
    if _devices[code] is None:
        _devices[code] = device(_types[device_type(code)], code % DEVICES_OF_TYPE)
    return <device>_devices[code]


cdef int add_device_type(str name, count_fn count) except -1:
    """The place of a new type, whose kernels somebody is about to register."""
    cdef int type = <int>len(_types)
    if name in _types:
        raise ValueError(f"a device {name!r} is registered already")
    if not name.isidentifier():
        raise ValueError(f"{name!r} is no name of a device")
    if type == MAX_DEVICE_TYPES:
        raise ValueError(f"at most {MAX_DEVICE_TYPES} types of devices, not another one, {name!r}")
    _types.append(name)
    _numbers[name] = type
    _counts[type] = count
    if not _accelerator:
        set_accelerator(type)
    return type


cdef int type_of_name(object name) except -2:
    return <int>_numbers.get(name, -1)


# Note [The offered device]
# CUDA is part of this package, and is registered when it is first used: by its name, or by what
# means the accelerator where none was registered. Whether it can be used is found out without
# starting it. autograd_cy.cuda._start does both.

cdef str OFFERED = "cuda"


cdef object starter():
    from autograd_cy.cuda import _start
    return _start


cdef int start_offered() except -1:
    """Register CUDA; a RuntimeError says what is missing for it."""
    starter().start()
    if OFFERED not in _types:
        raise RuntimeError("CUDA was started, and isn't registered")
    return 0


cdef bint is_offered() except -1:
    """Tell if CUDA can be used and isn't registered yet."""
    return OFFERED not in _types and starter().why_not() is None


def _need_offered():
    """Let CUDA be the accelerator where none was registered and it can be used."""
    if not _accelerator and is_offered():
        start_offered()


def _offers_accelerator():
    """Tell if CUDA is to be the accelerator as soon as one is used."""
    return not _accelerator and is_offered()


def _is_registered(device d not None):
    """Tell if a device of that type is known to this build, or was registered."""
    return type_of_name(d.type) >= 0


def _why_not():
    """Return the reason why CUDA can't be used, or None."""
    return None if OFFERED in _types else starter().why_not()


def _is_usable(device d not None):
    """Tell if tensors can be on devices of that type; nothing is started to find out."""
    return type_of_name(d.type) >= 0 or (d.type == OFFERED and is_offered())


cdef str name_of_type(int type):
    return <str>_types[type]


cdef int accelerator_type() noexcept:
    return _accelerator


cdef void set_accelerator(int type) noexcept:
    global _accelerator
    _accelerator = type


cdef int devices_of_type(int type) except -1:
    return 1 if type < 2 else _counts[type]()


cdef int check_index(int type, object index) except -1:
    """An index that a device of that type has."""
    cdef int count = devices_of_type(type)
    cdef str name = <str>_types[type]
    if isinstance(index, bool) or not isinstance(index, int):
        raise TypeError(f"{name}: a device has a number, not {index!r}")
    if 0 <= index < count:
        return index
    there = ("there is none now" if count == 0 else f"there is '{name}:0' alone" if count == 1
             else f"there are '{name}:0' to '{name}:{count - 1}'")
    kind, words = RuntimeError, name
    if name == "cuda":
        from autograd_cy._C.cuda_driver import AcceleratorError as kind
        words = "CUDA"
    raise kind(
        f"{words} error: invalid device ordinal: no device '{name}:{index}', {there}; use another "
        "index, or 'cpu'")


cdef int current_index(int type) noexcept nogil:
    return ag_index[type]


cdef int set_current_index(int type, int index) except -1:
    """Let a name without index mean this device, in this thread."""
    ag_index[type] = <unsigned char>check_index(type, index)
    return 0


cdef int device_code(object d) except -1:
    """The code of a device that can hold tensors; of the CPU for None."""
    cdef device r
    cdef int type
    if d is None:
        return ON_CPU
    r = as_device(d)
    type = type_of_name(r.type)
    if type < 2:
        return type * DEVICES_OF_TYPE
    return current_code(type) if r.index is None else type * DEVICES_OF_TYPE + <int>r.index


cdef device as_device(object d):
    """The device that `d` names, which tensors can be on in this build."""
    cdef device r
    cdef int type
    if d is None:
        return cpu_device
    r = <device>d if isinstance(d, device) else device(d)
    type = type_of_name(r.type)
    if type < 0 and r.type == OFFERED:
        why_not = starter().why_not()
        if why_not is not None:
            raise RuntimeError(f"device {str(r)!r} is not available: {why_not}")
        start_offered()
        type = type_of_name(r.type)
    if type < 0:
        raise RuntimeError(
            f"device {str(r)!r} is not available: no such device is registered. Use device='cpu'. "
            "There are 'cpu', 'meta' and 'cuda', and others are registered by packages of theirs."
        )
    if type == 1:
        return <device>_devices[ON_META]
    if type > 1:
        check_index(type, current_index(type) if r.index is None else r.index)
    return r


cdef class layout:
    """
    The storage scheme of elements.

    All tensors are ``strided``. The other layouts exist so that programs can compare with them.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.ones(2).layout
    autograd_cy.strided
    >>> ag.ones(2).layout == ag.sparse_coo
    False
    """

    def __repr__(self):
        return f"autograd_cy.{self.name}"

    def __reduce__(self):
        return self.name


cdef class memory_format:
    """
    The order of the dimensions in memory.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(1, 3, 4, 4).to(memory_format=ag.channels_last)
    >>> x.stride()
    (48, 1, 12, 3)
    """

    def __repr__(self):
        return f"autograd_cy.{self.name}"

    def __reduce__(self):
        return self.name


cdef memory_format make_format(str name, int code):
    cdef memory_format f = memory_format.__new__(memory_format)
    f.name = name
    f.code = code
    return f


cdef layout make_layout(str name):
    cdef layout result = layout.__new__(layout)
    result.name = name
    return result


strided = make_layout("strided")
sparse_coo = make_layout("sparse_coo")
sparse_csr = make_layout("sparse_csr")
sparse_csc = make_layout("sparse_csc")
sparse_bsr = make_layout("sparse_bsr")
sparse_bsc = make_layout("sparse_bsc")
contiguous_format = make_format("contiguous_format", MF_CONTIGUOUS)
preserve_format = make_format("preserve_format", MF_PRESERVE)
channels_last = make_format("channels_last", MF_CHANNELS_LAST)
channels_last_3d = make_format("channels_last_3d", MF_CHANNELS_LAST_3D)

seal(layout, "layout objects cannot be made; use autograd_cy.strided")
seal(memory_format, "memory_format objects cannot be made; use autograd_cy.contiguous_format, "
                    "preserve_format, channels_last or channels_last_3d")


cdef int format_code(object f) except -1:
    if type(f) is memory_format:
        return (<memory_format>f).code
    raise TypeError(f"memory_format must be an autograd_cy.memory_format, not {f!r}")


_ON_PINNED = ON_PINNED


def _device_code(d):
    """The code of the device that `d` names, or the error that says why it can't be used."""
    return device_code(d)


def _require_device(d):
    """The device that `d` names, or the error that says why it can't be used."""
    return as_device(d)
