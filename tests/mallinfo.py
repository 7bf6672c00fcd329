"""The memory that malloc() has given, also that of which Python knows nothing."""

import ctypes


class Heap(ctypes.Structure):
    """struct mallinfo2 of glibc."""

    _fields_ = [(name, ctypes.c_size_t) for name in "arena a b c hblkhd d e uordblks f g".split()]


def heap():
    """Bytes that malloc() has given; 0 where unknown."""
    try:
        ask = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError):
        return 0
    ask.restype = Heap
    found = ask()
    return found.uordblks + found.hblkhd
