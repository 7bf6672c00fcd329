"""The plots of docs/performance.md, as SVG: the same results give the same bytes."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from benchmarks.page_tables import ratios_by_size
from benchmarks.report import ratio_text
from benchmarks.summary import Row, geometric_mean

_HERE, _THERE, _LINE = "#1f6fb4", "#d9822b", "#555555"
# Text stays text, no date and no random identifiers: the bytes depend on the results alone.
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "autograd_cy",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "white",
}


def save(results: dict[str, Any], folder: Path) -> list[Path]:
    """Draw all plots.

    Parameters
    ----------
    results : dict
        Results of ``benchmarks.page``.
    folder : Path
        Folder for the SVG files.

    Returns
    -------
    list of Path

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(
            "plots need matplotlib: pip install matplotlib (or autograd_cy[train])."
        ) from None
    folder.mkdir(parents=True, exist_ok=True)
    one = [row for row in results["runs"][0]["rows"] if row.status == "ok"]
    plots = {
        "groups": lambda: _groups(Figure, one),
        "calls": lambda: _calls(Figure, one),
        "models": lambda: _models(Figure, results["runs"]),
        "sizes": lambda: _sizes(Figure, one),
    }
    paths = []
    with matplotlib.rc_context(_STYLE):
        for name, draw in plots.items():
            path = folder / f"performance-{name}.svg"
            draw().savefig(path, format="svg", bbox_inches="tight", metadata={"Date": None})
            path.write_text(_shortened(path.read_text()))
            paths.append(path)
    return paths


def _shortened(text: str) -> str:
    """Round coordinates to a hundredth of a point and strip spaces at the ends of lines."""
    return re.sub(r" +\n", "\n", re.sub(r"(\d\.\d\d)\d+", r"\1", text))


def _ratio_axis(axis: Any, ratios: list[float]) -> None:
    """Make the horizontal axis a logarithmic one of ratios, with a line at 1."""
    axis.set_xscale("log")
    ticks = [digit * 10.0**power for power in range(-4, 3) for digit in (1, 2, 5)]
    ticks = [tick for tick in ticks if min(ratios) / 2 < tick < max(ratios) * 2]
    axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.minorticks_off()
    axis.axvline(1, color=_LINE, linewidth=0.8)
    axis.set_xlabel("time of autograd_cy / time of PyTorch (left of 1: autograd_cy is faster)")


def _groups(figure_class: Any, rows: list[Row]) -> Any:
    names = list(dict.fromkeys(row.group for row in rows))
    figure = figure_class(figsize=(7.5, 0.27 * len(names) + 0.9))
    axis = figure.add_subplot()
    for place, name in enumerate(names):
        ratios = [row.ratio("median") for row in rows if row.group == name]
        # One path for all cases of a group keeps the file small.
        x = [number for ratio in ratios for number in (ratio, ratio, math.nan)]
        y = [place - 0.3, place + 0.3, math.nan] * len(ratios)
        axis.plot(x, y, linewidth=1, alpha=0.6, color=_HERE)
        axis.plot(geometric_mean(ratios), place, "o", markersize=5, color="black")
    axis.set_yticks(range(len(names)), names)
    axis.invert_yaxis()
    _ratio_axis(axis, [row.ratio("median") for row in rows])
    axis.set_title("a line is a case, a point is the geometric mean of a group", fontsize=9)
    return figure


def _calls(figure_class: Any, rows: list[Row]) -> Any:
    rows = [row for row in rows if row.group == "dispatch"]
    figure = figure_class(figsize=(7.5, 0.2 * len(rows) + 0.9))
    axis = figure.add_subplot()
    for side, color, name in (("left", _HERE, "autograd_cy"), ("right", _THERE, "PyTorch")):
        times = [getattr(row, side)["median"] * 1e9 for row in rows]
        axis.plot(times, range(len(rows)), "o", markersize=5, color=color, label=name)
    for place, row in enumerate(rows):
        axis.plot(
            [row.left["median"] * 1e9, row.right["median"] * 1e9], [place] * 2,
            color=_LINE, linewidth=0.6, zorder=0,
        )  # fmt: skip
        x = max(row.left["median"], row.right["median"]) * 1e9
        axis.annotate(
            ratio_text(row.ratio("median")), (x, place), (6, -3), textcoords="offset points"
        )
    axis.set_yticks(range(len(rows)), [row.case for row in rows])
    axis.invert_yaxis()
    axis.set_xscale("log")
    axis.set_xlabel("nanoseconds; the numbers are ratios")
    axis.legend(frameon=False)
    return figure


def _models(figure_class: Any, runs: list[dict[str, Any]]) -> Any:
    wanted = [[r for r in run["rows"] if r.group == "models" and r.status == "ok"] for run in runs]
    names = [row.case for row in wanted[0]]
    figure = figure_class(figsize=(7.5, 0.42 * len(names) + 0.9))
    axis = figure.add_subplot()
    height = 0.8 / len(runs)
    for number, (run, rows) in enumerate(zip(runs, wanted)):
        places = [names.index(row.case) + height * number for row in rows if row.case in names]
        ratios = [row.ratio("median") for row in rows if row.case in names]
        words = "1 thread" if run["threads"] == 1 else f"{run['threads']} threads"
        axis.barh(places, ratios, height=height, label=words, color=(_HERE, "#9ec5e6")[number])
    axis.set_yticks([place + height * (len(runs) - 1) / 2 for place in range(len(names))], names)
    axis.invert_yaxis()
    axis.axvline(1, color=_LINE, linewidth=0.8)
    axis.set_xlabel("time of autograd_cy / time of PyTorch")
    axis.legend(frameon=False)
    return figure


def _sizes(figure_class: Any, rows: list[Row]) -> Any:
    figure = figure_class(figsize=(7.5, 3.6))
    for number, group in enumerate(("elementwise", "reductions")):
        by_size = ratios_by_size(rows, group)
        if not by_size:
            continue
        axis = figure.add_subplot(1, 2, number + 1)
        _lines(axis, by_size)
        axis.set_title(f"{group}, float32", fontsize=9)
        axis.set_ylabel("ratio")
    figure.tight_layout()
    return figure


def _lines(axis: Any, by_size: dict[int, dict[str, float]]) -> None:
    """Draw a line for each operator and a thick one for their mean."""
    sizes = sorted(by_size)
    elements = [10**size for size in sizes]
    for name in sorted({name for ratios in by_size.values() for name in ratios}):
        ratios = [by_size[size].get(name, math.nan) for size in sizes]
        axis.plot(elements, ratios, linewidth=0.9, alpha=0.8, label=name)
    means = [geometric_mean(by_size[size].values()) for size in sizes]
    axis.plot(elements, means, color="black", linewidth=2.5, label="mean")
    axis.axhline(1, color=_LINE, linewidth=0.8)
    axis.set_xscale("log")
    axis.set_yscale("log")
    ticks = (0.05, 0.1, 0.2, 0.5, 1, 2)
    axis.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.minorticks_off()
    axis.set_xlabel("elements")
    below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.18), "ncol": 3}
    axis.legend(frameon=False, fontsize=7, **below)
