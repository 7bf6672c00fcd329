"""Events, averages and formats of the profiler, under torch's names."""

from autograd_cy.profiler._averages import EventList as EventList
from autograd_cy.profiler._averages import FunctionEventAvg as FunctionEventAvg
from autograd_cy.profiler._events import MEMORY_EVENT_NAME as MEMORY_EVENT_NAME
from autograd_cy.profiler._events import OUT_OF_MEMORY_EVENT_NAME as OUT_OF_MEMORY_EVENT_NAME
from autograd_cy.profiler._events import DeviceType as DeviceType
from autograd_cy.profiler._events import FunctionEvent as FunctionEvent
from autograd_cy.profiler._events import Interval as Interval
from autograd_cy.profiler._events import Kernel as Kernel
from autograd_cy.profiler._events import MemRecordsAcc as MemRecordsAcc
from autograd_cy.profiler._events import StringTable as StringTable
from autograd_cy.profiler._formats import FormattedTimesMixin as FormattedTimesMixin
from autograd_cy.profiler._formats import _format_memory as _format_memory
from autograd_cy.profiler._formats import _format_time as _format_time
from autograd_cy.profiler._formats import _format_time_share as _format_time_share

__all__ = [
    "MEMORY_EVENT_NAME",
    "OUT_OF_MEMORY_EVENT_NAME",
    "DeviceType",
    "EventList",
    "FormattedTimesMixin",
    "FunctionEvent",
    "FunctionEventAvg",
    "Interval",
    "Kernel",
    "MemRecordsAcc",
    "StringTable",
]
