"""The blocks between the marks of docs/performance.md and README.md: tables and sentences.

A block named ``calls`` stands between ``<!-- begin: calls -->`` and ``<!-- end: calls -->``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.report import quantity, ratio_text
from benchmarks.report import table as markdown_table
from benchmarks.summary import Row, geometric_mean, summarise

#: Cases with this ratio and above are listed by name.
SLOW = 1.1
_MOST_SLOW = 60
_PICTURES = "pictures/performance-{}.svg"
_README = (
    ("dispatch", "a + b", "`a + b` of 4 elements"),
    ("backward", "chain of 100", "100 operations and backward"),
    ("train", "MLP 784-256-128-10, batch 64, SGD", "step of a perceptron, batch 64"),
    ("models", "LeNet, batch 32", "step of LeNet, batch 32"),
    ("models", "ResNet-18 of 32x32, batch 8", "step of ResNet-18 on 32 x 32, batch 8"),
    ("models", "transformer block 4 x 32 x 64", "step of a transformer block, 4 x 32 x 64"),
    ("models", "transformer block 8 x 128 x 256", "step of a transformer block, 8 x 128 x 256"),
    ("models", "LSTM 1 x 100, 4 to 16", "step of an LSTM, 1 x 100, 4 to 16"),
    ("startup", "import", "`import`"),
)  # fmt: skip


def fill(text: str, contents: dict[str, str]) -> str:
    """Put blocks between the marks of a page.

    Parameters
    ----------
    text : str
        The page.
    contents : dict of str
        Blocks by name.

    Returns
    -------
    str
        The page with its blocks replaced.

    Raises
    ------
    ValueError
        If the page has a mark without a block.

    Examples
    --------
    >>> fill("<!-- begin: a --><!-- end: a -->", {"a": "text"}).splitlines()[2]
    'text'
    """

    def put(match: re.Match) -> str:
        name = match["name"]
        if name not in contents:
            raise ValueError(f"there is no block {name!r}; there are {', '.join(contents)}.")
        return f"<!-- begin: {name} -->\n\n{contents[name]}\n\n<!-- end: {name} -->"

    marks = r"<!-- begin: (?P<name>[\w-]+) -->.*?<!-- end: (?P=name) -->"
    return re.sub(marks, put, text, flags=re.DOTALL)


def blocks(results: dict[str, Any]) -> dict[str, str]:
    """Return all blocks of some results.

    Parameters
    ----------
    results : dict
        Results of ``benchmarks.page``.

    Returns
    -------
    dict of str
    """
    one = results["runs"][0]["rows"]
    several = results["runs"][1] if len(results["runs"]) > 1 else {"threads": 1, "rows": []}
    return {
        "machine": _machine(results),
        "groups": _picture("groups", "Ratios of all cases by group") + _groups(one),
        "calls": _picture("calls", "Times of single calls").strip(),
        "models": _picture("models", "Ratios of training steps") + _models(one, several),
        "sizes": _picture("sizes", "Ratios by number of elements") + _sizes(one),
        "masks": _cases(one, "masks"),
        "threads": _threads(one, several),
        "profiler": _cases(one, "profiler"),
        "startup": _cases(one, "startup"),
        "slow": _slow(results["runs"]),
        "readme": _readme(results),
    }


def _picture(name: str, text: str) -> str:
    return f"![{text}]({_PICTURES.format(name)})\n\n"


def _machine(results: dict[str, Any]) -> str:
    facts = [("date", results["date"]), *results["machine"].items()]
    for library in results["libraries"].values():
        facts.append((library["name"], f"{library['version']} (Python {library['python']})"))
    facts.append(("threads", " and ".join(str(run["threads"]) for run in results["runs"])))
    cases = sum(row.status == "ok" for run in results["runs"] for row in run["rows"])
    facts.append(("compared cases", cases))
    disturbed = sum(not row.is_trusted() for run in results["runs"] for row in run["rows"])
    facts.append(("disturbed cases", disturbed))
    return markdown_table(("", ""), [(name, str(value)) for name, value in facts])


def _groups(rows: Sequence[Row]) -> str:
    body = []
    for group in summarise(rows):
        ratios = [row.ratio("median") for row in rows if row.group == group["group"] and _ok(row)]
        slow = sum(ratio >= SLOW for ratio in ratios)
        numbers = (group["ratio_median"], group["smallest"], group["largest"])
        cases = str(group["compared"])
        if group["compared"] < group["cases"]:
            cases += f" of {group['cases']}"
        body.append((group["group"], cases, *map(ratio_text, numbers), str(slow or "")))
    head = ("group", "cases", "mean ratio", "smallest", "largest", f"cases of {SLOW} and more")
    return markdown_table(head, body)


def _cases(rows: Iterable[Row], group: str) -> str:
    body = [
        (f"`{row.case}`" if group == "masks" else row.case, *_times(row))
        for row in rows
        if row.group == group
    ]
    return markdown_table(("case", "autograd_cy", "PyTorch", "ratio"), body)


def _models(one: Sequence[Row], several: dict[str, Any]) -> str:
    threads = several["threads"]
    many = {row.case: row for row in several["rows"] if row.group == "models"}
    body = []
    for row in one:
        if row.group == "models":
            other = many.get(row.case)
            body.append((row.case, *_times(row), *(_times(other) if other else ("-",) * 3)))
    head = ("training step", "autograd_cy", "PyTorch", "ratio, 1 thread")
    return markdown_table((*head, "autograd_cy", "PyTorch", f"ratio, {threads} threads"), body)


def _sizes(rows: Sequence[Row]) -> str:
    body = []
    for group in ("elementwise", "reductions"):
        by_size = ratios_by_size(rows, group)
        means = [geometric_mean(by_size[size].values()) for size in sorted(by_size)]
        body.append((group, *map(ratio_text, means)))
    sizes = sorted(ratios_by_size(rows, "elementwise")) or sorted(
        ratios_by_size(rows, "reductions")
    )
    return markdown_table(("mean ratio", *(f"1e{size}" for size in sizes)), body)


def ratios_by_size(rows: Iterable[Row], group: str) -> dict[int, dict[str, float]]:
    """Return the ratios of float32 cases, by the power of ten of their size and by operator.

    Parameters
    ----------
    rows : iterable of Row
        Rows of any groups.
    group : str
        ``elementwise`` or ``reductions``.

    Returns
    -------
    dict of dict of float

    Examples
    --------
    >>> side = {"median": 1.0, "minimum": 1.0}
    >>> rows = [Row("elementwise", "add 1e3 float32", "ok", left=side, right=side)]
    >>> ratios_by_size(rows, "elementwise")
    {3: {'add': 1.0}}
    """
    found: dict[int, dict[str, float]] = {}
    for row in rows:
        match = re.fullmatch(r"(.+) 1e(\d) float32", row.case)
        if row.group == group and _ok(row) and match and match[1] != "median":
            found.setdefault(int(match[2]), {})[match[1]] = row.ratio("median")
    return found


def _threads(one: Sequence[Row], several: dict[str, Any]) -> str:
    single = {(row.group, row.case): row for row in one}
    rows = several["rows"]
    body = []
    for group in summarise(rows):
        members = [row for row in rows if row.group == group["group"] and _ok(row)]
        gains = []
        for side in ("left", "right"):
            pairs = [(getattr(single[key], side), getattr(row, side)) for row in members
                     if (key := (row.group, row.case)) in single and _ok(single[key])]  # fmt: skip
            gain = geometric_mean(before["median"] / after["median"] for before, after in pairs)
            gains.append(f"{gain:.2f}" if gain else "-")
        ratio = ratio_text(group["ratio_median"])
        body.append((group["group"], str(group["compared"]), ratio, *gains))
    head = ("group", "cases", f"mean ratio, {several['threads']} threads")
    return markdown_table((*head, "gain of autograd_cy", "gain of PyTorch"), body)


def _slow(runs: Sequence[dict[str, Any]]) -> str:
    found = [
        (row.ratio("median"), run["threads"], row)
        for run in runs
        for row in run["rows"]
        if _ok(row) and row.ratio("median") >= SLOW
    ]
    found.sort(key=lambda item: -item[0])
    body = []
    for _, threads, row in found[:_MOST_SLOW]:
        remark = "" if row.is_trusted() else "disturbed"
        names = (row.group, f"`{row.case}`", str(threads))
        body.append((*names, *_times(row), ratio_text(row.ratio("minimum")), remark))
    head = ("group", "case", "threads", "autograd_cy", "PyTorch", "ratio")
    text = markdown_table((*head, "ratio of minima", "remark"), body)
    if len(found) > _MOST_SLOW:
        text += f"\n\n{len(found) - _MOST_SLOW} more are below {ratio_text(found[_MOST_SLOW][0])}."
    return text


def _readme(results: dict[str, Any]) -> str:
    machine, libraries = results["machine"], results["libraries"]
    rows = {(row.group, row.case): row for row in results["runs"][0]["rows"]}
    body = [
        (text, *_times(rows[group, case])) for group, case, text in _README if (group, case) in rows
    ]
    table = markdown_table(("", "autograd_cy", "PyTorch", "ratio"), body)
    facts = [machine[name] for name in ("processor", "simd") if name in machine]
    facts += ["one thread", results["date"], f"PyTorch {libraries['right']['version']}"]
    sentence = f"{', '.join(facts)}. The ratio is the time of autograd_cy over that of PyTorch."
    return f"{sentence}\n\n{table}"


def _ok(row: Row) -> bool:
    return row.status == "ok"


def _times(row: Row) -> tuple[str, str, str]:
    left, right = (quantity(side and side["median"], row.unit) for side in (row.left, row.right))
    if row.status in ("ok", "alone"):
        return left, right, ratio_text(row.ratio("median"))
    return left, right, row.status
