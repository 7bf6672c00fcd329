"""The memory that the cgroup of this process allows it."""

from __future__ import annotations

import os
import sys

from autograd_cy._environment.threads import _cgroups, _read, _upwards


def cgroup(root: str = "/") -> tuple[int, str] | None:
    """
    Return the least limit of the cgroups (v1, v2) of this process in bytes, and its `memory.stat`.

    None without a limit. `root` is where /proc and /sys are found; tests put a made-up tree there.
    """
    if not sys.platform.startswith("linux"):
        return None
    least = None
    for controllers, path in _cgroups(root):
        if not controllers:
            mounts, name = ("", "unified"), "memory.max"
        elif "memory" in controllers.split(","):
            mounts, name = ("memory", controllers), "memory.limit_in_bytes"
        else:
            continue
        for folder in _upwards(root, mounts, path):
            text = _read(os.path.join(folder, name)).strip()
            if text.isdigit() and (least is None or int(text) < least[0]):
                least = int(text), os.path.join(folder, "memory.stat")
    # Version 1 says "no limit" by a number that no machine has.
    return least if least is not None and least[0] < 1 << 60 else None
