"""Tools for tests of what goes wrong: states to compare, allocations that fail."""

import contextlib
import gc
import weakref

import autograd_cy as torch
from autograd_cy._C import storage
from autograd_cy._C.tensor import _get_modes


class Planned(Exception):
    """The failure that a test brings about."""


def fail(*args, **kwargs):
    """A hook, or anything else that is called, that fails."""
    raise Planned("on purpose")


def failing(cls, method, times=1):
    """A copy of a Function, a method of which fails the first times that it is called."""
    original, calls = getattr(cls, method), []

    def attempt(*args):
        calls.append(method)
        if len(calls) <= times:
            fail()
        return original(*args)

    return type(cls.__name__, (cls,), {method: staticmethod(attempt)})


def live_blocks():
    gc.collect()
    return storage.memory_summary()["live_blocks"]


@contextlib.contextmanager
def nothing_stays_behind():
    """The thread's modes and the number of memory blocks are the same before and after."""
    _ = torch.ones(()) * 2 * 2.0  # the tensors of the last int and float stay for the next ones
    modes, blocks = _get_modes(), live_blocks()
    yield
    assert _get_modes() == modes
    assert live_blocks() == blocks


def with_failing_allocations(work):
    """
    Call `work()` with the first allocation failing, then the second, and so on until none fails.

    Yields after each MemoryError; returns after the run without one.
    """
    for n in range(100):
        storage._fail_allocation_after(n)
        try:
            work()
        except MemoryError:
            pass
        else:
            return
        finally:
            storage._fail_allocation_after(-1)
        yield n
    raise AssertionError("there is no end of allocations")


def assert_engine_works():
    x = torch.ones(3, requires_grad=True)
    assert torch.is_grad_enabled()
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def weak(*objects):
    return [weakref.ref(o) for o in objects]


def are_gone(references):
    gc.collect()
    return all(reference() is None for reference in references)
