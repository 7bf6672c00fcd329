# cython: language_level=3
"""device, layout and memory_format: small value objects. Storage and strides are in tensor.pyx."""

from autograd_cy._C.sealed cimport seal

_KNOWN = ("cpu", "cuda", "meta")


cdef class device:
    """
    The place of a tensor's memory.

    Parameters
    ----------
    type : str or device or int
        ``"cpu"``, ``"cuda"`` or ``"cuda:1"``; a number means that CUDA device.
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
    """

    def __cinit__(self, type, index=None):
        if isinstance(type, device):
            self.type = (<device>type).type
            self.index = (<device>type).index
            return
        if isinstance(type, int) and not isinstance(type, bool):
            self.type = "cuda"
            self.index = type
            return
        if not isinstance(type, str):
            raise TypeError(f"device(): argument 'type' must be str, not {type.__class__.__name__}")
        name, colon, number = type.partition(":")
        if name not in _KNOWN or (colon and not number.isdigit()):
            raise RuntimeError(
                f"Expected one of {', '.join(_KNOWN)} device type at start of device string: {type}"
            )
        if colon and index is not None:
            raise RuntimeError(f"type (string) must not include an index because index was passed "
                               f"explicitly: {type}")
        self.type = name
        self.index = int(number) if colon else index

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


cpu_device = device("cpu")


cdef device as_device(object d):
    """The device that `d` names; only the CPU can hold tensors in this build."""
    cdef device r
    if d is None:
        return cpu_device
    r = <device>d if type(d) is device else device(d)
    if r.type != "cpu":
        raise RuntimeError(
            f"device {str(r)!r} is not available: this build runs on the CPU. "
            "Use device='cpu'. There is no GPU support yet, and no package to install that adds it."
        )
    return r


cdef class layout:
    """How elements are stored; only ``strided`` exists."""

    def __repr__(self):
        return f"autograd_cy.{self.name}"

    def __reduce__(self):
        return self.name


cdef class memory_format:
    """The order of the dimensions in memory."""

    def __repr__(self):
        return f"autograd_cy.{self.name}"

    def __reduce__(self):
        return self.name


cdef memory_format make_format(str name, int code):
    cdef memory_format f = memory_format.__new__(memory_format)
    f.name = name
    f.code = code
    return f


strided = layout.__new__(layout)
(<layout>strided).name = "strided"
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


def _require_device(d):
    """The device that `d` names, or the error that says why it can't be used."""
    return as_device(d)
