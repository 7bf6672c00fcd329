"""Start-up: how long an import takes, and what it costs in memory. Each sample is a new process."""

from __future__ import annotations

from benchmarks.case import Command

_IMPORT = """\
import time
start = time.perf_counter()
import LIBRARY
print(time.perf_counter() - start)
"""

_FROM_START = """\
import LIBRARY, time
print(time.monotonic() - START)
"""

_MEMORY = """\
import resource, sys
scale = 1 if sys.platform == "darwin" else 1024
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
import LIBRARY
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * scale)
"""

CASES = [
    Command("import", _IMPORT),
    Command("interpreter start to end of import", _FROM_START),
    Command("memory of the import", _MEMORY, unit="B", samples=3),
]
