"""The facts about a machine that its numbers need. No host names, users or paths."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def machine_description() -> dict[str, str | int]:
    """Describe processor, cores, caches, memory and system.

    Returns
    -------
    dict
        What the system does not tell is left out.

    Examples
    --------
    >>> machine_description()["cores"] >= 1
    True
    """
    facts = {
        "processor": _field("/proc/cpuinfo", "model name") or platform.processor(),
        "simd": _widest_simd(),
        "cores": usable_cores(),
        "cache": _last_cache(),
        "memory": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "libc": " ".join(platform.libc_ver()),
    }
    return {name: value for name, value in facts.items() if value}


def usable_cores() -> int:
    """Return the number of cores that this process may use.

    Returns
    -------
    int

    Examples
    --------
    >>> usable_cores() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _field(path: str, name: str) -> str:
    try:
        text = Path(path).read_text()
    except OSError:
        return ""
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""


def _widest_simd() -> str:
    flags = _field("/proc/cpuinfo", "flags").split()
    widths = (("avx512f", "AVX-512"), ("avx2", "AVX2"), ("avx", "AVX"), ("sse2", "SSE2"))
    return next((name for flag, name in widths if flag in flags), "")


def _last_cache() -> str:
    caches = []
    for index in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        try:
            level, size = (index / "level").read_text(), (index / "size").read_text()
            caches.append((int(level), int(size.strip().rstrip("K"))))
        except (OSError, ValueError):
            continue
    if not caches:
        return ""
    level, kilobytes = max(caches)
    return f"L{level} {kilobytes / 1024:g} MB"


def _memory() -> str:
    kilobytes = _field("/proc/meminfo", "MemTotal").split()
    return f"{int(kilobytes[0]) / 2**20:.0f} GB" if kilobytes else ""
