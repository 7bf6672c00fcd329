"""A run as text, as JSON and as markdown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.summary import Row, summarise

_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_SIZES = ((2.0**30, "GB"), (2.0**20, "MB"), (2.0**10, "kB"), (1.0, "B"))
_WIDTHS = (34, 12, 12, 8, 8, 12)
FORMAT = 1


def quantity(value: float | None, unit: str = "s") -> str:
    """Write a time or a size with three digits and a fitting unit.

    Parameters
    ----------
    value : float or None
        Seconds or bytes.
    unit : {"s", "B"}, optional
        Which of them.

    Returns
    -------
    str

    Examples
    --------
    >>> quantity(3.5e-8), quantity(1.234), quantity(3 * 2**20, "B"), quantity(None)
    ('35.0 ns', '1.23 s', '3.00 MB', '-')
    """
    if value is None:
        return "-"
    scales = _TIMES if unit == "s" else _SIZES
    scale, name = next((pair for pair in scales if value >= pair[0]), scales[-1])
    return f"{_three_digits(value / scale)} {name}"


def rate(row: Row) -> str:
    """Write the work per second of the left side at its best.

    Parameters
    ----------
    row : Row
        A row with ``work``.

    Returns
    -------
    str
        Empty if the row has no work.

    Examples
    --------
    >>> rate(Row("gemm", "64", "ok", work=2e9, work_unit="flop", left={"minimum": 1.0}))
    '2.00 GFLOP/s'
    """
    if not row.work or row.left is None:
        return ""
    name = "GFLOP/s" if row.work_unit == "flop" else "GB/s"
    per_second = row.work / row.left["minimum"] / 1e9
    return f"{_three_digits(per_second)} {name}"


def text_header(group: str, left: str, right: str | None) -> str:
    """Return the head of a group's text table.

    Parameters
    ----------
    group : str
        Name of the group.
    left, right : str
        Names of the libraries.

    Returns
    -------
    str

    Examples
    --------
    >>> print(text_header("gemm", "a", "b").splitlines()[1])
    gemm                                          a            b    ratio     best         rate
    """
    return "\n" + _aligned((group, left, right or "", "ratio", "best", "rate"))


def text_row(row: Row) -> str:
    """Return one line of a text table.

    Parameters
    ----------
    row : Row
        What to print. ``~`` marks a row that other processes disturbed.

    Returns
    -------
    str

    Examples
    --------
    >>> text_row(Row("dispatch", "add", "missing", note="no add")).split()
    ['add', '-', '-', '-', '-', 'missing:', 'no', 'add']
    """
    line = _aligned(_cells(row))
    if row.status not in ("ok", "alone"):
        line += f"  {row.status}: {row.note}"
    return line if row.is_trusted() else line + "  ~"


def text_summary(rows: Sequence[Row]) -> str:
    """Return the table of group means.

    Parameters
    ----------
    rows : sequence of Row
        The whole run.

    Returns
    -------
    str

    Examples
    --------
    >>> side = {"median": 1.0, "minimum": 1.0}
    >>> print(text_summary([Row("gemm", "64", "ok", left=side, right=side)]).splitlines()[-1])
    gemm               1/1     1.00   1.00   1.00 to 1.00
    """
    lines = ["geometric means  cases    ratio   best   range of ratios"]
    for group in summarise(rows):
        span = f"{ratio_text(group['smallest'])} to {ratio_text(group['largest'])}"
        span = span if group["compared"] else ""
        means = [ratio_text(group[f"ratio_{name}"]) for name in ("median", "minimum")]
        lines.append(
            f"{group['group']:<16} {group['compared']:>3}/{group['cases']:<3}"
            f" {means[0]:>6} {means[1]:>6}   {span}"
            + "".join(f"  {word}" for word in _problems(group))
        )
    return "\n".join(lines)


def to_json(rows: Iterable[Row], about: dict[str, Any]) -> str:
    """Return a run as JSON text.

    Parameters
    ----------
    rows : iterable of Row
        The run.
    about : dict
        Machine, libraries, settings and date.

    Returns
    -------
    str

    Examples
    --------
    >>> json.loads(to_json([], {"date": "2026-01-01"}))["format"]
    1
    """
    rows = list(rows)
    run = {
        "format": FORMAT,
        **about,
        "groups": summarise(rows),
        "rows": [row.to_json() for row in rows],
    }
    return json.dumps(run, indent=1) + "\n"


def from_json(text: str) -> tuple[list[Row], dict[str, Any]]:
    """Return the rows of a run and what is known about it.

    Parameters
    ----------
    text : str
        What ``to_json`` returned.

    Returns
    -------
    rows : list of Row
    about : dict

    Raises
    ------
    ValueError
        If the text has another format number.

    Examples
    --------
    >>> from_json(to_json([], {"date": "2026-01-01"}))
    ([], {'date': '2026-01-01'})
    """
    run = json.loads(text)
    if run.get("format") != FORMAT:
        raise ValueError(f"benchmark file has format {run.get('format')}, expected {FORMAT}.")
    rows = [Row.from_json(record) for record in run["rows"]]
    return rows, {name: run[name] for name in run if name not in ("format", "groups", "rows")}


def markdown_tables(rows: Sequence[Row], about: dict[str, Any]) -> dict[str, str]:
    """Return the markdown tables of a run, by name.

    Parameters
    ----------
    rows : sequence of Row
        The run.
    about : dict
        Machine, libraries, settings and date.

    Returns
    -------
    dict of str
        ``machine``, ``summary``, and one table per group.

    Examples
    --------
    >>> sorted(markdown_tables([], {"libraries": {}}))
    ['machine', 'summary']
    """
    tables = {"machine": _machine_table(about), "summary": _summary_table(rows, about)}
    libraries = list(about["libraries"].values())
    names = [library["name"] for library in libraries] + ["-"]
    for group in dict.fromkeys(row.group for row in rows):
        members = [row for row in rows if row.group == group]
        head = ("case", names[0], names[1], "ratio", "ratio of minima", "rate")
        body = [(*_cells(row)[:-1], _markdown_remark(row)) for row in members]
        tables[group] = table(head, body)
    return tables


def markdown_document(rows: Sequence[Row], about: dict[str, Any]) -> str:
    """Return all tables of a run as one markdown text.

    Parameters
    ----------
    rows : sequence of Row
        The run.
    about : dict
        Machine, libraries, settings and date.

    Returns
    -------
    str

    Examples
    --------
    >>> markdown_document([], {"libraries": {}}).splitlines()[0]
    '## machine'
    """
    tables = markdown_tables(rows, about)
    return "\n".join(f"## {name}\n\n{table}\n" for name, table in tables.items())


def _three_digits(value: float) -> str:
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}"


def ratio_text(value: float | None) -> str:
    """Write a ratio with two or three decimals.

    Parameters
    ----------
    value : float or None
        A ratio.

    Returns
    -------
    str

    Examples
    --------
    >>> ratio_text(0.052), ratio_text(1.5), ratio_text(None)
    ('0.052', '1.50', '-')
    """
    if value is None:
        return "-"
    return f"{value:.3f}" if value < 0.0995 else f"{value:.2f}"


def _cells(row: Row) -> tuple[str, ...]:
    sides = [quantity(side and side["median"], row.unit) for side in (row.left, row.right)]
    counted = row.status != "WRONG"
    ratios = [ratio_text(row.ratio(name) if counted else None) for name in ("median", "minimum")]
    return (row.case, *sides, *ratios, rate(row))


def _aligned(cells: Sequence[str]) -> str:
    first, *others = zip(cells, _WIDTHS)
    return f"{first[0]:<{first[1]}} " + " ".join(f"{cell:>{width}}" for cell, width in others)


def _problems(group: dict[str, Any]) -> list[str]:
    words = [f"{group[name]} {name}" for name in ("WRONG", "crash", "error", "missing")]
    words = [word for word in words if not word.startswith("0 ")]
    return words + ([f"{group['untrusted']} disturbed"] if group["untrusted"] else [])


def table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Return a markdown table whose columns after the first are aligned right.

    Parameters
    ----------
    head : sequence of str
        Titles of the columns.
    body : iterable of sequence of str
        Rows.

    Returns
    -------
    str

    Examples
    --------
    >>> print(table(("case", "ratio"), [("add", "0.5")]))
    | case | ratio |
    | --- | ---: |
    | add | 0.5 |
    """
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _markdown_remark(row: Row) -> str:
    words = [rate(row)] if rate(row) else []
    if row.status not in ("ok", "alone"):
        words.append(row.status)
    if not row.is_trusted():
        words.append("disturbed")
    return ", ".join(words)


def _summary_table(rows: Sequence[Row], about: dict[str, Any]) -> str:
    head = ("group", "cases", "ratio", "ratio of minima", "smallest", "largest", "date", "remarks")
    body = [
        (
            group["group"],
            f"{group['compared']} of {group['cases']}",
            *(ratio_text(group[name]) for name in ("ratio_median", "ratio_minimum")),
            *(ratio_text(group[name]) for name in ("smallest", "largest")),
            str(about.get("date", ""))[:10],
            ", ".join(_problems(group)),
        )
        for group in summarise(rows)
    ]
    return table(head, body)


def _machine_table(about: dict[str, Any]) -> str:
    facts = [("date", about.get("date", ""))]
    facts += [(name, str(value)) for name, value in about.get("machine", {}).items()]
    for library in about["libraries"].values():
        facts.append((library["name"], f"{library['version']} (Python {library['python']})"))
    facts += [(name, str(value)) for name, value in about.get("settings", {}).items()]
    return "\n".join(
        ["| | |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in facts)]
    )
