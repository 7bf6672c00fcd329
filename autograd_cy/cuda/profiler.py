"""NVIDIA's profilers from inside of a program, by PyCUDA's driver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autograd_cy.cuda import _core

__all__ = ["profile", "start", "stop"]


def _driver(purpose: str) -> Any:
    try:
        from pycuda import driver
    except ImportError:
        raise RuntimeError(
            f'{purpose}: PyCUDA is missing: pip install "autograd_cy[cuda]"'
        ) from None
    try:
        driver.init()
        if driver.Device.count() == 0:
            raise RuntimeError("no device")
    except Exception as error:
        raise RuntimeError(f"{purpose}: no GPU is found ({error})") from None
    if _core.why_not() is None:  # the driver's functions are about the context of this thread
        _core.start()
        from autograd_cy._C import cuda_driver

        cuda_driver.start_index(_core.current())
    return driver


def start() -> None:
    """
    Let NVIDIA's profiler record from now on.

    Raises
    ------
    RuntimeError
        Without PyCUDA or GPU; the text says which is missing.
    """
    _driver("cuda.profiler.start").start_profiler()


def stop() -> None:
    """
    Let NVIDIA's profiler pause.

    Raises
    ------
    RuntimeError
        Without PyCUDA or GPU; the text says which is missing.
    """
    _driver("cuda.profiler.stop").stop_profiler()


@contextmanager
def profile() -> Iterator[None]:
    """
    Let NVIDIA's profiler record a block.

    Raises
    ------
    RuntimeError
        On entering, without PyCUDA or GPU; the text says which is missing.
    """
    start()
    try:
        yield
    finally:
        stop()
