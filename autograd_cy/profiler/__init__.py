"""Profiles of the time and the memory of a program, by steps, as in ``torch.profiler``.

Everything is loaded when first used, so that programs pay nothing for what they don't ask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autograd_cy.profiler._events import DeviceType as DeviceType
    from autograd_cy.profiler._labels import record_function as record_function
    from autograd_cy.profiler._reports import load as load
    from autograd_cy.profiler._steps import ProfilerAction as ProfilerAction
    from autograd_cy.profiler._steps import ProfilerActivity as ProfilerActivity
    from autograd_cy.profiler._steps import profile as profile
    from autograd_cy.profiler._steps import schedule as schedule
    from autograd_cy.profiler._steps import supported_activities as supported_activities
    from autograd_cy.profiler._steps import (
        tensorboard_trace_handler as tensorboard_trace_handler,
    )
    from autograd_cy.profiler._steps import trace_handler as trace_handler
    from autograd_cy.profiler._tools import load_nsys as load_nsys

__all__ = [
    "DeviceType",
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "load",
    "load_nsys",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
    "trace_handler",
]

_PLACES = {
    "DeviceType": "_events",
    "load": "_reports",
    "load_nsys": "_tools",
    "record_function": "_labels",
}


def kineto_available() -> bool:
    """
    Return whether traces, schedules and stacks work: yes, and without a library of that name.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.profiler.kineto_available()
    True
    """
    return True


def __getattr__(name: str) -> object:
    if name == "ExecutionTraceObserver":
        raise AttributeError(
            "module 'autograd_cy.profiler' has no ExecutionTraceObserver: export_chrome_trace and "
            "save write what was recorded"
        )
    if name not in __all__:
        raise AttributeError(f"module 'autograd_cy.profiler' has no attribute {name!r}")
    import importlib

    module = importlib.import_module(f"autograd_cy.profiler.{_PLACES.get(name, '_steps')}")
    globals()[name] = found = getattr(module, name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
