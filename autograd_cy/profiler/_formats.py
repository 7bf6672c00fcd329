"""Times, bytes and shares as text, in torch's form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["FormattedTimesMixin", "_format_memory", "_format_time", "_format_time_share"]

KB, MB, GB = 1024, 1024**2, 1024**3


def _format_time(time_us: float) -> str:
    """Return a length of time in the unit that suits it."""
    if time_us >= 1e6:
        return f"{time_us / 1e6:.3f}s"
    if time_us >= 1e3:
        return f"{time_us / 1e3:.3f}ms"
    return f"{time_us:.3f}us"


def _in_unit(time_us: float, unit: str) -> str:
    scale = {"s": 1e6, "ms": 1e3, "us": 1.0}
    if unit not in scale:
        raise ValueError(f"table: time_unit must be 's', 'ms' or 'us', not {unit!r}")
    return f"{time_us / scale[unit]:.3f}{unit}"


def _format_memory(nbytes: int) -> str:
    """Return a number of bytes in the unit that suits it."""
    size, unit = _memory_unit(nbytes)
    return f"{nbytes / size:.2f} {unit}" if size > 1 else f"{int(nbytes)} B"


def _memory_unit(nbytes: int) -> tuple[int, str]:
    """Return the unit that suits a number of bytes, and its name."""
    for size, unit in ((GB, "GB"), (MB, "MB"), (KB, "KB")):
        if abs(nbytes) >= size:
            return size, unit
    return 1, "B"


def _format_time_share(time_us: float, total_time_us: float) -> str:
    """Return a part of a total in percent; NaN if the total is nothing."""
    if total_time_us == 0:
        if time_us != 0:
            raise AssertionError(f"Expected time_us == 0 but got {time_us}")
        return "NaN"
    return f"{time_us * 100.0 / total_time_us:.2f}%"


class FormattedTimesMixin:
    """
    Means of the totals, and the text of each time, under the names of torch.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> event = ag.autograd.profiler_util.FunctionEvent(0, "aten::mul", 1, 2.0, 3.5)
    >>> event.cpu_time, event.cpu_time_str
    (1.5, '1.500us')
    """

    if TYPE_CHECKING:
        count: int

        @property
        def cpu_time_total(self) -> float: ...
        @property
        def self_cpu_time_total(self) -> float: ...
        @property
        def device_time_total(self) -> float: ...
        @property
        def self_device_time_total(self) -> float: ...

    @property
    def cpu_time(self) -> float:
        """Mean length of a call."""
        return 0.0 if self.count == 0 else 1.0 * self.cpu_time_total / self.count

    @property
    def device_time(self) -> float:
        """Mean time of a call on the device."""
        return 0.0 if self.count == 0 else 1.0 * self.device_time_total / self.count

    @property
    def cpu_time_str(self) -> str:
        """`cpu_time` as text."""
        return _format_time(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        """`cpu_time_total` as text."""
        return _format_time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        """`self_cpu_time_total` as text."""
        return _format_time(self.self_cpu_time_total)

    @property
    def device_time_str(self) -> str:
        """`device_time` as text."""
        return _format_time(self.device_time)

    @property
    def device_time_total_str(self) -> str:
        """`device_time_total` as text."""
        return _format_time(self.device_time_total)

    @property
    def self_device_time_total_str(self) -> str:
        """`self_device_time_total` as text."""
        return _format_time(self.self_device_time_total)

    def __getattr__(self, name: str) -> Any:
        # The older names: cuda_time_total is device_time_total.
        for old, new in (("self_cuda_", "self_device_"), ("cuda_", "device_")):
            if name.startswith(old):
                return getattr(self, new + name[len(old) :])
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
