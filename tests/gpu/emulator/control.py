"""The functions by which tests read and set the state of the emulated driver.

All of it needs a process whose ``libcuda.so.1`` is the emulated one (``places.start()``).

>>> before = counts()
>>> (x + 1).sum().item()
>>> spent(before)["launches"]  # also "copies_out", "blocking_copies", "synchronizations", ...
3
"""

import contextlib
import ctypes
import json
import os

OUT_OF_MEMORY = 2
NOT_INITIALIZED = 3
INVALID_VALUE = 1
INVALID_CONTEXT = 201
ILLEGAL_ADDRESS = 700
LAUNCH_FAILED = 719
UNKNOWN = 999

ORDERS = {"late": 0, "random": 1, "now": 2}


def _function(name, *types, result=None):
    function = getattr(ctypes.CDLL("libcuda.so.1"), "emu_" + name)
    function.argtypes, function.restype = types, result
    return function


def report():
    """Counts, what lives, what was found, in one dict.

    ``launches_of`` and ``calls_of`` are dicts by name of kernel and of driver function.
    """
    return json.loads(_function("report", result=ctypes.c_char_p)())


def counts():
    """The numbers of :func:`report`, without dicts and lists."""
    return {k: v for k, v in report().items() if isinstance(v, int)}


def spent(before):
    """Return the counts since ``before = counts()``, without those that are 0."""
    return {k: v - before[k] for k, v in counts().items() if v != before[k]}


def launches():
    """Launches by name of kernel since :func:`reset`."""
    return report()["launches_of"]


def broken():
    """List the program's errors that a GPU doesn't forgive, each as a sentence; looks at guard
    bytes."""
    _function("check_guards", result=ctypes.c_int)()
    return report()["findings"]


def last_message():
    return report()["last_message"]


def order(how=None, seed=None):
    """Choose the order of work: ``late``, ``random`` (any legal order, by a seed) or ``now``.

    Without arguments it is what ``EMU_ORDER`` and ``EMU_SEED`` say, late where they don't.
    """
    how = how or os.environ.get("EMU_ORDER", "late")
    seed = int(os.environ.get("EMU_SEED", 1)) if seed is None else seed
    _function("order", ctypes.c_int, ctypes.c_ulong)(ORDERS[how], seed)


def limit(nbytes, device=-1):
    """Limit the memory of a device, or of each of them."""
    _function("limit", ctypes.c_int, ctypes.c_ulonglong)(device, nbytes)


def fail(function, after=0, code=UNKNOWN, times=1):
    """Let a driver function fail after so many calls: ``fail("cuMemAllocAsync", 2, code=2)``.

    The name is without version (``_v2``). ``times=0`` forgets it.
    """
    _function("fail", ctypes.c_char_p, ctypes.c_long, ctypes.c_long, ctypes.c_int)(
        function.encode(), after, times, code
    )


def break_context(device=0, code=LAUNCH_FAILED):
    """The state after a fault of a kernel: each call in the device's context gives this result."""
    _function("break", ctypes.c_int, ctypes.c_int)(device, code)


def finish():
    """Run all that waits in streams, as if time passed."""
    _function("finish")()


def launch_blocking(on):
    """As ``CUDA_LAUNCH_BLOCKING``, for tests within one process."""
    _function("launch_blocking", ctypes.c_int)(bool(on))


def reset():
    """Forget counts, findings, failures to come and broken contexts; what lives stays."""
    _function("reset")()


@contextlib.contextmanager
def traced():
    """A list that has the names of the kernels that ran, in order, when the block has ended."""
    names = []
    _function("trace", ctypes.c_int)(1)
    try:
        yield names
        names += report()["trace"]
    finally:
        _function("trace", ctypes.c_int)(0)


@contextlib.contextmanager
def ordered(how, seed=None):
    """Another order within a block."""
    order(how, seed)
    try:
        yield
    finally:
        order()
