# cython: language_level=3
"""
The device that tensors are made on where none is named: of the innermost ``with torch.device(...)``
of the thread, else what it has set, else the CPU.

Both are codes in the thread's mode word, so functions that make tensors find in one comparison that
there is nothing to find, and threads that go on with the modes of another have its device, too.
"""
from cpython.ref cimport PyObject

from autograd_cy._C.placement cimport as_device, device as Place, device_code, device_of_code
from autograd_cy._C.storage cimport ON_META, device_type
from autograd_cy._C.tensor cimport (
    Restoring, M_DEVICE_SHIFT, modes_t, tls_modes, tls_set_modes, undo_change)

from autograd_cy._C.placement import _install_blocks

__all__ = ["get_default_device", "set_default_device"]

cdef extern from "Python.h":
    PyObject* PyThreadState_GetDict()      # borrowed

cdef str OPEN = "autograd_cy.default_device"     # blocks of this thread, the innermost last


cdef class _Block(Restoring):
    """One ``with torch.device(...)``."""

    def __cinit__(self):
        self.mask = <modes_t>DEVICE_MASK << M_DEVICE_SHIFT


cdef object default_device():
    return device_of_code(default_code())


cdef modes_t named(object d) except 0:
    """The part of the mode word that stands for a device: see default_device.pxd."""
    cdef Place r = as_device(d)
    cdef int code = device_code(r)
    if r.index is None and code > ON_META:
        return <modes_t>(ANY_INDEX | device_type(code))
    return <modes_t>code + 1


def _enter(device):
    cdef modes_t code = named(device)
    cdef _Block block = _Block()
    cdef dict local = <dict>PyThreadState_GetDict()
    (<list>local.setdefault(OPEN, [])).append(block)
    block.before = tls_modes()
    tls_set_modes((tls_modes() & ~block.mask) | code << M_DEVICE_SHIFT)


def _leave():
    cdef list blocks = (<dict>PyThreadState_GetDict()).get(OPEN)
    if not blocks:
        raise RuntimeError("device.__exit__(): this thread has entered no device")
    undo_change(<_Block>blocks.pop())


_install_blocks(_enter, _leave)


def get_default_device():
    """
    The device that tensors are made on where none is named.

    Returns
    -------
    device
        That of the innermost ``with torch.device(...)``, else that of :func:`set_default_device`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> with ag.device("meta"):
    ...     print(ag.get_default_device(), ag.ones(2).device)
    meta meta
    """
    return default_device()


def set_default_device(device):
    """
    Set the device that this thread makes tensors on where none is named.

    Parameters
    ----------
    device : device or str or int or None
        None for the CPU, as at first.

    Raises
    ------
    RuntimeError
        If the device isn't available.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.set_default_device("meta")
    >>> ag.zeros(3).device
    device(type='meta')
    >>> ag.set_default_device(None)
    """
    cdef int shift = M_DEVICE_SHIFT + DEVICE_BITS
    cdef modes_t code = 0
    if device is not None:
        code = named(device)
    tls_set_modes((tls_modes() & ~(<modes_t>DEVICE_MASK << shift)) | code << shift)
