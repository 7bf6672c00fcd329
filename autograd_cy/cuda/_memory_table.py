"""The table that `memory_summary` shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

COLUMNS = (("Cur Usage", "current"), ("Peak Usage", "peak"), ("Tot Alloc", "allocated"),
           ("Tot Freed", "freed"))  # fmt: skip
ROWS = (
    ("Allocated memory", "allocated_bytes"),
    ("Active memory", "active_bytes"),
    ("Requested memory", "requested_bytes"),
    ("GPU reserved memory", "reserved_bytes"),
    ("Non-releasable memory", "inactive_split_bytes"),
    ("Allocations", "allocation"),
    ("Active allocs", "active"),
    ("GPU reserved segments", "segment"),
    ("Non-releasable allocs", "inactive_split"),
)
SHORT = ("allocated_bytes", "reserved_bytes", "allocation", "segment")
UNITS = ("B  ", "KiB", "MiB", "GiB", "TiB", "PiB")
WIDTH = 77
RULE = "|" + "=" * (WIDTH - 2) + "|"
LINE = "|" + "-" * (WIDTH - 2) + "|"


def table(index: int, stats: Mapping[str, int], abbreviated: bool) -> str:
    """Return the figures of one GPU in torch's form."""
    lines = [
        RULE,
        "|" + f"autograd_cy CUDA memory summary, device ID {index}".center(WIDTH - 2) + "|",
        LINE,
        "|" + _ooms(stats).ljust(WIDTH - 2) + "|",
        RULE,
        _row("Metric", [title for title, _ in COLUMNS]),
        LINE,
    ]
    for title, kind in ROWS:
        if abbreviated and kind not in SHORT:
            continue
        text: Callable[[int], str] = _bytes if kind.endswith("bytes") else _count
        figures = (stats.get(f"{kind}.all.{column}", 0) for _, column in COLUMNS)
        lines.append(_row(title, [text(n) for n in figures]))
        lines.append(LINE)
    lines[-1] = RULE
    return "\n".join(lines) + "\n"


def _ooms(stats: Mapping[str, int]) -> str:
    return (
        f"            CUDA OOMs: {stats.get('num_ooms', 0):<12} |        "
        f"cudaMalloc retries: {stats.get('num_alloc_retries', 0)}"
    )


def _row(title: str, cells: list[str]) -> str:
    return "|" + f" {title:<21} |" + "|".join(f"{cell:>11} " for cell in cells) + "|"


def _bytes(n: int) -> str:
    unit = 0
    while n >= 10 * 1024 and unit + 1 < len(UNITS):
        n //= 1024
        unit += 1
    return f"{n} {UNITS[unit]}"


def _count(n: int) -> str:
    unit = 0
    while n >= 1_000_000 and unit < 3:
        n //= 1000
        unit += 1
    return f"{n} {' KMG'[unit]}"
