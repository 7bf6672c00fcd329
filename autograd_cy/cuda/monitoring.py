"""The state of GPUs as nvidia-smi shows it, by the package nvidia-ml-py (``pynvml``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_cy._environment.docstrings import described_like
from autograd_cy.cuda import _core

__all__ = [
    "clock_rate",
    "device_memory_used",
    "list_gpu_processes",
    "memory_usage",
    "power_draw",
    "temperature",
    "utilization",
]


def _pynvml() -> Any:
    try:
        import pynvml  # type: ignore[import-not-found]
    except ImportError:
        raise ModuleNotFoundError(
            "nvidia-ml-py does not seem to be installed or it can't be imported; pip install "
            "nvidia-ml-py"
        ) from None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        raise RuntimeError(f"cuda driver can't be loaded, is cuda enabled? ({error})") from None
    return pynvml


def _query(device: Any, question: Callable[[Any, Any], Any]) -> Any:
    """Ask NVML about a GPU that the driver numbers as we do: by its uuid."""
    pynvml = _pynvml()
    from autograd_cy.cuda.devices import get_device_properties

    uuid = get_device_properties(device).uuid
    return question(pynvml, pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}".encode()))


def utilization(device: Any = None) -> int:
    """
    Return the percentage of the past moment in which kernels ran.

    Parameters
    ----------
    device : device or str or int, optional
        The current GPU unless given.

    Returns
    -------
    int

    Raises
    ------
    ModuleNotFoundError
        Without the package nvidia-ml-py.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> try:
    ...     busy = ag.cuda.utilization()
    ... except (ModuleNotFoundError, RuntimeError):
    ...     pass  # there is no GPU to ask, or nothing to ask by
    """
    return _query(device, lambda m, h: m.nvmlDeviceGetUtilizationRates(h).gpu)


def memory_usage(device: Any = None) -> int:
    """
    Return the percentage of the past moment in which memory of the GPU was read or written.

    Parameters
    ----------
    device : device or str or int, optional
        The current GPU unless given.

    Returns
    -------
    int

    Raises
    ------
    ModuleNotFoundError
        Without the package nvidia-ml-py.
    """
    return _query(device, lambda m, h: m.nvmlDeviceGetUtilizationRates(h).memory)


_USAGE = "percentage of the past moment in which memory of the GPU was read or written"


@described_like(memory_usage, {_USAGE: "bytes of a GPU that are in use, by all processes"})
def device_memory_used(device: Any = None) -> int:
    return _query(device, lambda m, h: m.nvmlDeviceGetMemoryInfo(h).used)


@described_like(memory_usage, {_USAGE: "temperature of a GPU in degrees Celsius"})
def temperature(device: Any = None) -> int:
    return _query(device, lambda m, h: m.nvmlDeviceGetTemperature(h, m.NVML_TEMPERATURE_GPU))


@described_like(memory_usage, {_USAGE: "power that a GPU draws, in milliwatts"})
def power_draw(device: Any = None) -> int:
    return _query(device, lambda m, h: m.nvmlDeviceGetPowerUsage(h))


@described_like(memory_usage, {_USAGE: "clock of a GPU's multiprocessors in MHz"})
def clock_rate(device: Any = None) -> int:
    return _query(device, lambda m, h: m.nvmlDeviceGetClockInfo(h, m.NVML_CLOCK_SM))


def list_gpu_processes(device: Any = None) -> str:
    """
    Return the processes that use a GPU, and their memory, a line for each.

    Parameters
    ----------
    device : device or str or int, optional
        The current GPU unless given.

    Returns
    -------
    str

    Examples
    --------
    >>> import autograd_cy as ag
    >>> isinstance(ag.cuda.list_gpu_processes(), str)
    True
    """
    try:
        processes = _query(device, lambda m, h: m.nvmlDeviceGetComputeRunningProcesses(h))
    except ModuleNotFoundError:
        return "pynvml module not found, please install nvidia-ml-py"
    except RuntimeError as error:
        return str(error)
    lines = [f"GPU:{_core.index_of(device)}"]
    lines += [
        f"process {p.pid:>10d} uses {(p.usedGpuMemory or 0) / 2**20:>12.3f} MB GPU memory"
        for p in processes
    ]
    return "\n".join(lines if processes else [*lines, "no processes are running"])
