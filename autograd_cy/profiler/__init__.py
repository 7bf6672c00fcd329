"""Profiles of the time and the memory of a program, by steps, as in ``torch.profiler``.

Everything is loaded when first used, so that programs pay nothing for what they don't ask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograd_cy._lazy import attach as _attach

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

_LATER = {
    "profiler._events": "DeviceType",
    "profiler._labels": "record_function",
    "profiler._reports": "load",
    "profiler._steps": "ProfilerAction ProfilerActivity profile schedule supported_activities "
    "tensorboard_trace_handler trace_handler",
    "profiler._tools": "load_nsys",
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


def _find(name: str) -> None:
    if name == "ExecutionTraceObserver":
        raise AttributeError(
            "module 'autograd_cy.profiler' has no ExecutionTraceObserver: export_chrome_trace and "
            "save write what was recorded"
        )


__getattr__, __dir__ = _attach(__name__, attributes=_LATER, find=_find)
